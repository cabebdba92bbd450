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
from tests.harness.guarded_output import Guarded, unchanged

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


def verify(name: str, rung: str, x: Any, *rest: Any) -> Any:
    """Right to the last element, all of it written, nothing beside it, and the inputs as they were."""
    outputs = {"out": Guarded(x)}
    if rest and isinstance(rest[-1], torch.Tensor):  # a residual
        outputs["total"] = Guarded(x)
    with unchanged(x, *rest):
        result = LADDERS[name][rung](x, *rest, **{key: guarded.output for key, guarded in outputs.items()})
    LADDERS[name].check(result, (x, *rest))
    for guarded in outputs.values():
        guarded.check()
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
    with unchanged(*inputs):
        result = LADDERS[name][rung](*inputs)
    LADDERS[name].check(result, inputs)
