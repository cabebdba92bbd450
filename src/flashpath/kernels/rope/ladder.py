"""The rope ladder: its rungs, the problems it is timed on, and its peers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from flashpath.kernels.building import cuda_rung, triton_compiles_by
from flashpath.kernels.peers import Kept, library, with_compiled
from flashpath.kernels.rope import host
from flashpath.kernels.rope.messages import MESSAGES
from flashpath.kernels.rope.reference import formula, reference, truth
from flashpath.kernels.rung import Case, Ladder, Peer, Rung, always
from flashpath.kernels.tolerance import check_against, check_shape, check_type
from flashpath.messages import Message, told

BASE = 10_000.0  # of the angles: pair i of p turns by position · BASE^(-i / p)
# Elements that are checked at a time: the float64 truth of a whole large case would fill a GPU's memory.
_CHECKED_AT_ONCE = 2**25


@dataclass(frozen=True)
class _Size:
    batch: int
    sequence: int
    heads: int
    kv_heads: int
    dim: int
    pairs: int

    def __str__(self) -> str:
        turning = "" if 2 * self.pairs == self.dim else f", {2 * self.pairs} turn"
        return f"{self.batch} × {self.sequence} × {self.heads}/{self.kv_heads} × {self.dim}{turning}"


def cos_and_sin(rows: int, pairs: int, device: str, dtype: Any) -> tuple[Any, Any]:
    """The usual angles of so many positions."""
    import torch

    speed = BASE ** (-torch.arange(pairs, device=device, dtype=torch.float64) / pairs)
    angles = torch.arange(rows, device=device, dtype=torch.float64)[:, None] * speed
    return angles.cos().to(dtype), angles.sin().to(dtype)


def _case(
    direction: str, size: _Size, dtype: str = "bfloat16", *, interleaved: bool = False, cache: int = 0
) -> Case:
    """With a cache of so many positions each sequence begins somewhere in it, as in a step of decoding."""
    import torch

    kind = getattr(torch, dtype)
    inverse = direction == "backward"
    rows = cache or size.sequence

    def inputs(device: str) -> tuple[Any, ...]:
        tokens = size.batch, size.sequence
        q, k = (
            torch.randn(*tokens, heads, size.dim, device=device, dtype=kind)
            for heads in (size.heads, size.kv_heads)
        )
        cos, sin = cos_and_sin(rows, size.pairs, device, torch.float32)
        positions = None
        if cache:
            positions = torch.randint(cache - size.sequence + 1, (size.batch, 1), device=device)
        return q, k, cos, sin, positions, 0, interleaved, inverse

    elements = size.batch * size.sequence * (size.heads + size.kv_heads) * size.dim
    turning = size.batch * size.sequence * (size.heads + size.kv_heads) * size.pairs
    read = min(rows, size.batch * size.sequence)
    more = ", interleaved" if interleaved else ""
    more += f", from {cache} positions" if cache else ""
    return Case(
        name=f"{direction} {size}{more} {dtype}",
        inputs=inputs,
        bytes=2 * elements * kind.itemsize + 2 * read * size.pairs * 4 + (8 * size.batch if cache else 0),
        flops=6 * turning,
        dtype=dtype,
        parameters={
            "direction": direction,
            "size": str(size),
            "dtype": dtype,
            "interleaved": interleaved,
            "cache": cache,
            "whole": 2 * size.pairs == size.dim,
        },
    )


_LLAMA = _Size(8, 2048, 32, 8, 128, 64)
_LONG = _Size(1, 16384, 32, 8, 128, 64)
_STEP = _Size(256, 1, 32, 8, 128, 64)
_PART = _Size(8, 2048, 32, 32, 80, 16)


def _cases() -> Sequence[Case]:
    return [
        _case("forward", _LLAMA),
        _case("forward", _LONG),
        _case("forward", _LLAMA, interleaved=True),
        _case("forward", _PART),
        _case("forward", _STEP, cache=8192),
        _case("backward", _LLAMA),
        _case("backward", _LONG),
        _case("backward", _LLAMA, interleaved=True),
    ]


def _sized(size: tuple[int, ...]) -> Case:
    batch, sequence, heads, dim = size
    return _case("forward", _Size(batch, sequence, heads, max(heads // 4, 1), dim, dim // 2))


def _more_samples() -> Sequence[Case]:
    return [
        _case("forward", _Size(2, 16, 4, 2, 64, 32), interleaved=True),
        _case("backward", _Size(2, 16, 4, 2, 80, 16), cache=64),
    ]


# ---- Peers -------------------------------------------------------------------------------------------------


def _peers(device: str) -> Mapping[str, Callable[..., Any] | Peer]:
    peers: dict[str, Callable[..., Any] | Peer] = {**with_compiled(device, formula)}
    if device == "cuda" and (liger := library("liger_kernel.ops.rope")):
        peers["Liger"] = Peer(_Liger(liger), _liger_declines)
    if device == "cuda" and (flashinfer := library("flashinfer")):
        peers["FlashInfer"] = Peer(_FlashInfer(flashinfer), _flashinfer_declines)
    return peers


class _Liger:
    """It turns tensors of (batch, heads, sequence, dim) in place: each call goes on from the one before.

    Its cos and sin have the angles of the halves twice, in the type of q.
    """

    def __init__(self, liger: Any) -> None:
        self.liger = liger
        self.ready = Kept(self._ready)

    @staticmethod
    def _ready(q: Any, k: Any, cos: Any, sin: Any) -> tuple[Any, ...]:
        import torch

        twice = [torch.cat((each, each), -1)[None].to(q.dtype) for each in (cos, sin)]
        return *(each.clone().transpose(1, 2) for each in (q, k)), *twice

    def __call__(self, q: Any, k: Any, cos: Any, sin: Any, *rest: Any) -> Any:
        given = self.ready(q, k, cos, sin)
        run = self.liger.rope_backward if rest[3] else self.liger.rope_forward
        return run(*given)[:2]


def _liger_declines(case: Case) -> Message | None:
    if case.parameters["interleaved"]:
        return told("kernels.rope.halves-only")
    if case.parameters["cache"]:
        return told("kernels.rope.with-positions")
    return None if case.parameters["whole"] else told("kernels.rope.whole-heads")


class _FlashInfer:
    """It takes tokens of heads side by side, a position for each, and cos and sin in one table."""

    def __init__(self, flashinfer: Any) -> None:
        self.flashinfer = flashinfer
        self.ready = Kept(self._ready)

    @staticmethod
    def _ready(q: Any, cos: Any, sin: Any, positions: Any | None) -> tuple[Any, Any]:
        import torch

        row = torch.arange(q.shape[1], device=q.device).expand(q.shape[0], -1)
        row = row if positions is None else row + positions
        return row.reshape(-1).contiguous(), torch.cat((cos, sin), -1)

    def __call__(self, q: Any, k: Any, cos: Any, sin: Any, positions: Any | None, *rest: Any) -> Any:
        row, table = self.ready(q, cos, sin, positions)
        flat = [each.view(row.shape[0], -1) for each in (q, k)]
        turn = self.flashinfer.rope.apply_rope_with_cos_sin_cache
        return turn(row, *flat, q.shape[-1], table, is_neox=not rest[1])


def _flashinfer_declines(case: Case) -> Message | None:
    return told("kernels.takes-forward") if case.parameters["direction"] == "backward" else None


# ---- The check ---------------------------------------------------------------------------------------------


def _truth(inputs: tuple[Any, ...]) -> Any:
    return truth(*inputs)


def _check(output: Any, inputs: tuple[Any, ...]) -> None:
    """Against float64: at most twice the error that torch makes in the same type."""
    q, k, cos, sin, positions, *rest = inputs
    for got, given in zip(output, (q, k), strict=True):
        if given is None:
            assert got is None, "an output without an input"
            continue
        check_shape(got, given.shape)
        check_type(got, given.dtype)
    per_sequence = q[:1].numel() + (0 if k is None else k[:1].numel())
    step = max(_CHECKED_AT_ONCE // max(per_sequence, 1), 1)
    for first in range(0, q.shape[0], step):
        part = slice(first, first + step)

        def of(x: Any, part: slice = part) -> Any:
            return x if x is None or x.shape[0] == 1 else x[part]

        angles = [of(each) if each.dim() == 3 else each for each in (cos, sin)]
        given = (of(q), of(k), *angles, of(positions), *rest)
        narrow = (*given[:2], *(each.to(q.dtype) for each in angles), *given[4:])
        for got, exact, of_torch in zip(output, truth(*given), formula(*narrow), strict=True):
            if got is not None and got.numel():
                check_against(of(got), exact, of_torch)


def _one_launch() -> Any:
    return host.triton(*_case("forward", _Size(1, 2, 4, 2, 128, 64)).inputs("cpu"))


_TYPES = "__nv_bfloat16, float, long long, false"

LADDER = Ladder(
    name="rope",
    texts=MESSAGES,
    cases=_cases,
    peers=_peers,
    check=_check,
    truth=_truth,
    dimensions=("batch", "sequence", "heads", "dim"),
    sized=_sized,
    sample=(2, 32, 8, 128),
    more_samples=_more_samples,
    chooses=always("vectorized", Message("kernels.rope-vectorized")),
    rungs=(
        Rung.reference(host.FOLDER, reference),
        cuda_rung(
            host.one_pair,
            f"rope_one_pair<{_TYPES}>",
            improves_on="reference",
            choices={"threads": (64, 128, 256, 512, 1024)},
            readability=5,
            debugging=5,
        ),
        cuda_rung(
            host.by_token,
            f"rope_by_token<{_TYPES}>",
            improves_on="one_pair",
            choices={"threads": (64, 128, 256, 512)},
            readability=4,
            debugging=4,
        ),
        cuda_rung(
            host.vectorized,
            f"rope_vectorized<{_TYPES}, 8, {host.HEADS}>",
            improves_on="by_token",
            choices={"threads": (128, 256, 512), "heads": (1, 2, 4, 8)},
            readability=3,
            debugging=3,
        ),
        Rung(
            name="triton",
            language="triton",
            file=host.FOLDER / "triton_rope.py",
            function=host.triton,
            improves_on="vectorized",
            choices={"elements": (1024, 2048, 4096, 8192), "warps": (2, 4, 8)},
            compile_for=triton_compiles_by(_one_launch),
            readability=4,
            debugging=3,
        ),
    ),
)
