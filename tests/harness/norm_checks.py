"""What the tests of layer_norm and rms_norm share: their rungs, samples, and whether a result is right."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from flashpath import kernels
from flashpath.kernels.common.norm import rows as shared
from flashpath.kernels.common.norm import triton_host
from flashpath.kernels.layer_norm import host as layer_norm
from flashpath.kernels.rms_norm import host as rms_norm

LADDERS = {name: kernels.ladder(name) for name in ("layer_norm", "rms_norm")}
EPS = {"layer_norm": layer_norm.EPS, "rms_norm": rms_norm.EPS}
FORWARD = [
    ("layer_norm", "two_pass"),
    ("layer_norm", "welford"),
    ("layer_norm", "vectorized"),
    ("layer_norm", "read_twice"),
    ("layer_norm", "triton"),
    ("rms_norm", "two_pass"),
    ("rms_norm", "vectorized"),
    ("rms_norm", "read_twice"),
    ("rms_norm", "triton"),
]
WITH_RESIDUAL = [(name, rung) for name in LADDERS for rung in ("fused_residual", "triton")]
BACKWARD = [(name, rung) for name in LADDERS for rung in ("backward", "backward_fused", "triton_backward")]
EVERY = [(name, rung.name) for name in LADDERS for rung in LADDERS[name].rungs[1:]]

INF, NAN = float("inf"), float("nan")
HALF, BRAIN, SINGLE = torch.float16, torch.bfloat16, torch.float32
GPU_SHAPES = [
    ((1, 1), 0),
    ((70_001, 3), 1),
    ((1000, 129), 0),
    ((4099, 1024), 0),
    ((513, 4096), 0),
    ((33, 5003), 3),
    ((40, 16_384), 0),
    ((3, 131_072), 0),
    ((2, 100_003), 1),
]


def sample(shape: tuple[int, ...], dtype: Any, offset: int = 0, device: str = "cpu", seed: int = 0) -> Any:
    """Random values with a mean that is not 0, `offset` elements into their storage."""
    full = torch.empty(*shape).numel() + offset
    generator = torch.Generator(device=device).manual_seed(full * 31 + seed)
    values = torch.randn(full, generator=generator, device=device) * 2 + 1
    return values.to(dtype)[offset:].view(shape)


def vectors(name: str, n: int, dtype: Any, device: str = "cpu") -> tuple[Any, ...]:
    """weight, and for layer_norm bias."""
    many = 2 if name == "layer_norm" else 1
    return tuple(sample((n,), dtype, device=device, seed=7 + i) for i in range(many))


def poisoned(like: Any) -> tuple[Any, Any]:
    """A tensor of NaN between two guards, and the storage it lies in."""
    width = 16 // like.element_size()
    guarded = torch.full((like.numel() + 2 * width,), NAN, dtype=like.dtype, device=like.device)
    return guarded[width:-width].view(like.shape), guarded


def guards_hold(like: Any, guarded: Any) -> bool:
    width = 16 // like.element_size()
    return bool(guarded[:width].isnan().all() and guarded[-width:].isnan().all())


def verify(name: str, rung: str, x: Any, *rest: Any) -> Any:
    """Right to the last element, all of it written, nothing beside it, and the inputs as they were."""
    inputs = (x, *rest)
    before = [each.clone() for each in inputs if isinstance(each, torch.Tensor)]
    out, guarded = poisoned(x)
    options: dict[str, Any] = {"out": out}
    if rest and isinstance(rest[-1], torch.Tensor):  # a residual
        options["total"], guarded_total = poisoned(x)
    result = LADDERS[name][rung](*inputs, **options)
    LADDERS[name].check(result, inputs)
    assert guards_hold(x, guarded), "it wrote beside its output"
    if "total" in options:
        assert guards_hold(x, guarded_total), "it wrote beside the sum"  # pyright: ignore[reportPossiblyUnboundVariable]
    after = [each for each in inputs if isinstance(each, torch.Tensor)]
    for one, other in zip(before, after, strict=True):
        torch.testing.assert_close(one, other, rtol=0, atol=0, equal_nan=True)
    return result


def several_rows_at_once(monkeypatch: pytest.MonkeyPatch, many: int) -> None:
    """Whatever the length of a row of layer_norm, and however few there are, threads hold packs of `many`."""
    choices = [each._replace(rows=many) for each in shared.SHARES["layer_norm"]]
    monkeypatch.setitem(shared.SHARES, "layer_norm", choices)
    monkeypatch.setattr(shared, "WAVES_OF_SEVERAL_ROWS", 0)


def triton_reads_rows_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows of more than 32 columns are long for Triton's rungs, and come in pairs of blocks of 2048."""
    monkeypatch.setattr(triton_host, "MOST_COLUMNS", 32)
    monkeypatch.setattr(triton_host, "MOST_COLUMNS_ALONE", 32)
    monkeypatch.setattr(triton_host, "LONG_BLOCK", 2048)
    monkeypatch.setattr(triton_host, "LONG_WARPS", 4)


def saved(name: str, x: Any, eps: float | None = None) -> tuple[Any, ...]:
    """What a forward pass leaves for the backward pass."""
    eps = EPS[name] if eps is None else eps
    wide = x.double()
    kind = torch.float64 if x.dtype == torch.float64 else torch.float32
    if name == "layer_norm":
        return wide.mean(1).to(kind), ((wide - wide.mean(1, keepdim=True)).square().mean(1) + eps).rsqrt().to(
            kind
        )
    return ((wide.square().mean(1) + eps).rsqrt().to(kind),)


def verify_backward(name: str, rung: str, shape: tuple[int, int], dtype: Any, **how: Any) -> None:
    device, offset = how.get("device", "cpu"), how.get("offset", 0)
    x, dy = (sample(shape, dtype, offset, device, seed) for seed in (1, 2))
    weight = how.get("weight", vectors(name, shape[1], dtype, device)[0])
    inputs = (dy, x, weight, *saved(name, x))
    before = [each.clone() for each in inputs if each is not None]
    result = LADDERS[name][rung](*inputs)
    LADDERS[name].check(result, inputs)
    for one, other in zip(before, [each for each in inputs if each is not None], strict=True):
        assert torch.equal(one, other)
