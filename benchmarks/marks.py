"""What the ladders are to reach on an H200, and what they reached: read from the records of one run.

A mark is a ratio: the time of a peer over the time of the best rung, both of the same run. Where a mark is
missed, `MISSED` says why, and what was tried; by how much is computed.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from flashpath.bench import Record
from flashpath.bench.report import newest
from flashpath.kernels.attention import cases as problems


@dataclass(frozen=True)
class Mark:
    """The best of `rungs` (all, where none are named) against the fastest of `peers` on one case."""

    ladder: str
    case: str
    at_least: float = 1.0
    rungs: tuple[str, ...] = ()
    peers: tuple[str, ...] = ()
    against_case: str | None = None  # the peers' time is taken from this case of the same ladder

    @property
    def name(self) -> str:
        best = f" ({', '.join(self.rungs)})" if self.rungs else ""
        beside = f", against {', '.join(self.peers)}" if self.peers else ""
        return f"{self.ladder}: {self.case}{best}{beside}"


@dataclass(frozen=True)
class Verdict:
    mark: Mark
    rung: str | None = None
    peer: str | None = None
    ratio: float | None = None
    untimed: tuple[str, ...] = ()  # peers that failed in that run, and may be faster

    @property
    def is_met(self) -> bool:
        return self.ratio is not None and self.ratio >= self.mark.at_least and not self.untimed

    @property
    def words(self) -> str:
        """Met, missed and why, or open: who beats the peers that were timed has not beaten the others yet."""
        if self.ratio is not None and self.ratio < self.mark.at_least:
            return f"missed. {MISSED.get(self.mark.name, '')}".rstrip()
        return f"open: {', '.join(self.untimed)} failed in this run" if self.untimed else "met"


def _each(
    ladder: str,
    cases: Iterable[str],
    at_least: float = 1.0,
    rungs: tuple[str, ...] = (),
    peers: tuple[str, ...] = (),
) -> list[Mark]:
    return [Mark(ladder, case, at_least, rungs, peers) for case in cases]


def _attention(
    direction: str,
    dims: Sequence[int],
    masks: Sequence[bool] = (True, False),
    lengths: Sequence[int] = problems.LENGTHS,
) -> list[str]:
    return [case.name for case in problems.cases((direction,), dims, masks, lengths)]


_FLASH_2 = ("torch (FlashAttention 2)",)
_TRITON_BACKWARD = ("flash_v2_triton_backward", "flash_v2_triton_backward_adds")
_SIMPLE = ("scale", "add", "relu", "gelu", "gelu_tanh", "silu", "clamp")
_TWO_TENSORS = ("swiglu", "geglu", "geglu_tanh")
_COLUMNS = (1024, 4096, 16384)
_MMA_SYNC = ("wmma", "mma_ldmatrix", "mma_pipelined")
_NORMS = [f"{way} 32768 × {n} bfloat16" for way in ("forward", "add", "backward") for n in _COLUMNS]
_LOSSES = ("forward", "backward", "both")
_ROWS = [f"32768 × {n}" for n in _COLUMNS]
_CACHES = [f"{batch} × {keys}" for batch in (1, 8, 64) for keys in (1024, 8192, 65536)]
_WITHOUT_PAGES = ("torch (cuDNN)", "torch (cuDNN, heads as queries)")

MARKS: Sequence[Mark] = [
    *_each("vector_add", ["2^28 float32", "2^28 bfloat16"], 0.98),
    *_each(
        "elementwise",
        [
            *(f"{name} 2^28 bfloat16" for name in _SIMPLE),
            "add 2^28 float32",
            "gelu 2^28 float32",
            *(f"silu_and_mul 32768×{n} bfloat16" for n in _COLUMNS),
            "gelu_and_mul 32768×4096 bfloat16",
            "gelu_tanh_and_mul 32768×4096 bfloat16",
            *(f"{name} 32768×4096 bfloat16" for name in _TWO_TENSORS),
            *(f"{name}_backward 32768×4096 bfloat16" for name in _TWO_TENSORS),
            "scale_add_gelu 2^28 bfloat16",
            *(f"{name}_backward 2^28 bfloat16" for name in ("relu", "gelu", "gelu_tanh", "silu", "clamp")),
            *(f"silu_and_mul_backward 32768×{n} bfloat16" for n in _COLUMNS),
            "gelu_and_mul_backward 32768×4096 bfloat16",
            "gelu_tanh_and_mul_backward 32768×4096 bfloat16",
            "scale_add_gelu_backward 2^28 bfloat16",
        ],
        0.98,
    ),
    *(
        Mark(
            "transpose",
            f"transpose {size}",
            0.95,
            peers=("copy", "torch", "torch.compile"),
            against_case=f"copy {size}",
        )
        for size in ("16384 × 16384 bfloat16", "16384 × 16384 float32")
    ),
    *_each("transpose", ["transpose 16384 × 16384 bfloat16", "transpose 16384 × 16384 float32"]),
    *_each("reduction", ["sum 2^28 float32"], peers=("CuPy (CUB)",)),
    *_each("reduction", ["max 2^28 float32", "mean 2^28 float32", "argmax 2^28 float32"]),
    *_each("reduction", [f"sum {rows} bfloat16" for rows in _ROWS]),
    *_each("scan", ["sum 2^26 float32", "sum 2^28 float32"], 1.2),
    *_each("sort", ["keys 2^24 int32", "keys 2^24 float32"], peers=("torch",)),
    *_each("sort", ["keys 2^24 int32", "keys 2^24 float32"], 0.9, peers=("CuPy (CUB)",)),
    *_each("sort", ["key and index 2^24 float32"], peers=("torch",)),
    *_each("histogram", ["uniform 2^26 float32, 256 bins", "equal 2^26 float32, 256 bins"], 2.0),
    *_each("quantize", ["packbits 2^28 big"]),
    *_each("quantize", [f"quantize_{code} 32768×{n} bfloat16" for code in ("int8", "fp8") for n in _COLUMNS]),
    *_each(
        "rope",
        [
            f"{direction} {size} bfloat16"
            for direction in ("forward", "backward")
            for size in (
                "8 × 2048 × 32/8 × 128",
                "1 × 16384 × 32/8 × 128",
                "8 × 2048 × 32/8 × 128, interleaved",
            )
        ],
    ),
    *_each(
        "rope",
        [
            "forward 8 × 2048 × 32/32 × 80, 32 turn bfloat16",
            "forward 256 × 1 × 32/8 × 128, from 8192 positions bfloat16",
        ],
    ),
    *_each("matmul", ["4096³ float32"], 0.90),
    *_each("matmul", ["4096³ bfloat16", "8192³ bfloat16"], 0.62, rungs=_MMA_SYNC),
    *_each(
        "matmul",
        ["4096³ bfloat16", "8192³ bfloat16"],
        0.92,
        rungs=("triton_descriptors", "triton_persistent", "triton_autotuned"),
    ),
    *_each("matmul", ["4096³ bfloat16, bias and gelu"], peers=("torch.compile",)),
    *_each(
        "matmul",
        ["256 × 256³ bfloat16", "64 × 1024×1024×128 bfloat16", "256 × 256³ float32"],
        peers=("torch",),
    ),
    *_each("softmax", [*(f"forward {rows} bfloat16" for rows in _ROWS), "forward 4096 × 131072 bfloat16"]),
    *_each("cross_entropy", [f"{way} 8192 × {n} bfloat16" for way in _LOSSES for n in (50257, 128256)]),
    *_each("layer_norm", _NORMS),
    *_each("rms_norm", _NORMS),
    *_each("attention", _attention("forward", (64, 128)), 1.05, ("flash_v2_triton",), ("Triton (plain)",)),
    *_each(
        "attention",
        _attention("forward", (128,), (True,), (4096, 8192, 16384)),
        0.85,
        rungs=("flash_v2_triton",),
        peers=("torch (cuDNN)",),
    ),
    *_each("attention", _attention("backward", (64, 128)), 1.3, _TRITON_BACKWARD, _FLASH_2),
    *_each("attention", _attention("forward", (64, 128)), 1.05, ("flash_v2_cuda",), _FLASH_2),
    *_each("attention", _attention("backward", (64, 128)), 1.05, ("flash_v2_cuda_backward",), _FLASH_2),
    *_each("attention_decode", [f"{cache} dense bfloat16" for cache in _CACHES], 0.97),
    *_each("attention_decode", [f"{cache} pages of 16 bfloat16" for cache in _CACHES], 0.97),
    *(
        Mark(
            "attention_decode",
            f"{cache} pages of 16 bfloat16",
            0.97,
            peers=_WITHOUT_PAGES,
            against_case=f"{cache} dense bfloat16",
        )
        for cache in _CACHES
    ),
    *_each("spmv", ["uniform 2^20 × 32 float32", "power law 2^20 float32", "5-point stencil 2048² float32"]),
]

# Why a mark is missed, and what was tried: by the mark's name.
_TRANSPOSE = (
    "The fastest copy of the same matrix is torch.compile's, 4.22 TB/s; the ladder's own copy has 3.93 "
    "and 4.01, and beside that a transpose has 0.99. Tried: tiles of 128 and 512 bytes, squares that stay "
    "in registers, stores without a hint, 128 threads: all slower; copies in other shapes gain 3 %."
)
_QUANTIZE_1024 = (
    "A sweep of 28 shapes had 1.01 and 1.00 for 64 lanes with 2 packs each, blocks of 64 threads and room "
    "for 32 of them, with a branch around the lifting of tiny scales; the rung has 32 lanes with 4 packs. "
    "Other blocks, 16-byte stores and rows fetched ahead were between 0.98 and 1.00."
)
_SHORT_FULL = (
    "A program has few tiles of keys, so that its start and end weigh. 71 variants had at most 1.00 at 512 "
    "and 1.03 at 1,024 tokens: k and v by pointers, which leaves room for a fourth block on an SM, 0.99 and "
    "1.01; heads abreast, which the rung has, 0.99 and 1.03; q and out by descriptors, prefetching, "
    "persistent programs and tiles of 128 queries less. The peer's tensors have heads first, whose rows lie "
    "side by side, and it writes no lse."
)
_PLAIN = "(flash_v2_triton), against Triton (plain)"
MISSED: dict[str, str] = {
    "transpose: transpose 16384 × 16384 bfloat16, against copy, torch, torch.compile": _TRANSPOSE,
    "transpose: transpose 16384 × 16384 float32, against copy, torch, torch.compile": _TRANSPOSE,
    "quantize: quantize_int8 32768×1024 bfloat16": _QUANTIZE_1024,
    "quantize: quantize_fp8 32768×1024 bfloat16": _QUANTIZE_1024,
    "matmul: 8192³ bfloat16 (wmma, mma_ldmatrix, mma_pipelined)": (
        "Here the power limit sets the clocks, of both; runs of this kernel had 0.61 to 0.64. mma.sync "
        "reaches half of what wgmma does on this GPU, and at 4096³ this kernel has 0.95 of that half."
    ),
    "rms_norm: forward 32768 × 4096 bfloat16": (
        "Within the spread: the run before had 1.001, of the same two kernels, both with the speed of a copy."
    ),
    "rms_norm: add 32768 × 1024 bfloat16": (
        "Within the spread: 26 shapes had between 0.990 and 1.002 in a sweep, with the speed of a copy."
    ),
    f"attention: forward 32 × 512 × 32 × 64 full bfloat16 {_PLAIN}": _SHORT_FULL,
    f"attention: forward 16 × 1024 × 32 × 64 full bfloat16 {_PLAIN}": _SHORT_FULL,
}


def verdicts(records: Sequence[Record], marks: Sequence[Mark] = MARKS) -> list[Verdict]:
    return [judge(mark, records) for mark in marks]


def judge(mark: Mark, records: Sequence[Record]) -> Verdict:
    of_ladder = newest([record for record in records if record.ladder == mark.ladder])
    ours = fastest(
        record
        for record in of_ladder
        if record.case == mark.case
        and not record.is_peer
        and (record.implementation in mark.rungs if mark.rungs else record.language != "pytorch")
    )
    peers = [
        record
        for record in of_ladder
        if record.case == (mark.against_case or mark.case)
        and (record.implementation in mark.peers if mark.peers else record.is_peer)
    ]
    theirs = fastest(peers)
    if ours is None or theirs is None or not ours.time or not theirs.time:
        return Verdict(mark)
    ratio = theirs.time.median / ours.time.median
    untimed = tuple(record.implementation for record in peers if not record.time and not record.skipped)
    return Verdict(mark, ours.implementation, theirs.implementation, ratio, untimed)


def fastest(records: Iterable[Record]) -> Record | None:
    timed = [record for record in records if record.time]
    return min(timed, key=lambda record: record.time.median if record.time else 0.0, default=None)
