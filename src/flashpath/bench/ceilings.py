"""The measured ceilings: what this machine can move and multiply, in the run that they are compared with.

Datasheets promise more than any program gets, and what a program gets moves with power and clocks. So the
bandwidth and the matrix product of the best library code are timed by the same timer, on random data (zeros
draw less power and run faster).

On a GPU the buffers are far larger than the caches, as every timed call finds the L2 cold. On a CPU caches
stay warm and hold up to hundreds of MiB, so memory's bandwidth bounds no case that fits into them: there each
case gets ceilings of its own, from buffers of as many bytes as the case moves (at most `MOST_CPU_BYTES`), as
warm as the case. One that moves less than `LEAST_CPU_BYTES` has no ceiling there: the call takes most of its
time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from flashpath.bench.device import load_torch, resolve_device
from flashpath.bench.failure import reason_of, shown
from flashpath.bench.timer import Function, Timer, Timing, Timings, time_interleaved
from flashpath.kernels.rung import Case
from flashpath.messages import told

# How cases and people name a type → the arithmetic whose ceiling counts.
ARITHMETIC = {
    "float64": "fp64",
    "float32": "fp32",
    "tfloat32": "tf32",
    "bfloat16": "bf16",
    "float16": "fp16",
    "float8_e4m3fn": "fp8",
    "float8_e5m2": "fp8",
    **{name: name for name in ("fp64", "fp32", "tf32", "bf16", "fp16", "fp8")},
}

# On a CPU: what a bandwidth is measured with for a case of its own.
LEAST_CPU_BYTES = 2**20
MOST_CPU_BYTES = 2**30

# Below this share of writes a case is a reader, and reading alone is faster than copying.
READER_WRITES_BELOW = 0.1


@dataclass(frozen=True)
class Bound:
    """The ceiling that bounds a case, and the least time it allows."""

    ceiling: str
    seconds: float


@dataclass(frozen=True)
class Ceilings:
    """Bytes per second of copying (read + write) and of reading alone; FLOP/s per arithmetic."""

    copy_bytes_per_s: float | None = None
    read_bytes_per_s: float | None = None
    flops_per_s: Mapping[str, float] = field(default_factory=dict[str, float])
    failed: Mapping[str, str] = field(default_factory=dict[str, str])

    def bound(self, case: Case, written_bytes: int | None = None) -> Bound | None:
        """Returns which ceiling lets the case finish last; `written_bytes` tells readers from copiers."""
        is_reader = written_bytes is not None and written_bytes < READER_WRITES_BELOW * case.bytes
        arithmetic = ARITHMETIC.get(case.dtype, case.dtype)
        bandwidth = self.read_bytes_per_s if is_reader else self.copy_bytes_per_s
        flops_per_s = self.flops_per_s.get(arithmetic)
        bounds: list[Bound] = []
        if bandwidth and case.bytes:
            bounds.append(Bound("read" if is_reader else "copy", case.bytes / bandwidth))
        if flops_per_s and case.flops:
            bounds.append(Bound(f"{arithmetic} GEMM", case.flops / flops_per_s))
        return max(bounds, key=lambda bound: bound.seconds, default=None)


def measure_ceilings(
    device: str | None = None,
    dtypes: Iterable[str] = ("float32",),
    quick: bool = False,
    timer: Timer | None = None,
    moved_bytes: int | None = None,
) -> Ceilings:
    """Measure bandwidth, and the matrix product of each dtype asked for; unknown dtypes are left out.

    `moved_bytes` is how much the copies and the reads move, by default far more than a GPU's caches hold;
    with 0 no bandwidth is measured.
    """
    device = resolve_device(device)
    moved = default_bytes(device, quick) if moved_bytes is None else moved_bytes
    # dict, not set: the order of the variants must not change from run to run.
    kinds = list(dict.fromkeys(ARITHMETIC[name] for name in dtypes if name in ARITHMETIC))

    def time_all(functions: Mapping[str, Function]) -> Timings:
        timings = time_interleaved(
            functions, device=device, seconds=0.1 if quick else 0.4, max_rounds=100, timer=timer
        )
        if timings.interrupted:  # half a ceiling is none
            raise KeyboardInterrupt
        return timings

    copy, read = measure_bandwidth(device, moved, time_all) if moved else (None, None)
    flops_per_s, failed = measure_products(device, kinds, quick, time_all)
    return Ceilings(copy, read, flops_per_s, failed)


def ceilings_of_cpu_case(case: Case) -> Ceilings:
    """The ceilings of one case on the CPU, measured with as many bytes as it moves."""
    if 0 < case.bytes < LEAST_CPU_BYTES:
        return Ceilings()
    kinds = [case.dtype] if case.flops else []
    return measure_ceilings("cpu", kinds, moved_bytes=min(case.bytes, MOST_CPU_BYTES))


def measure_bandwidth(
    device: str, moved: int, time_all: Callable[[Mapping[str, Function]], Timings]
) -> tuple[float | None, float | None]:
    """The best that any of several plain copies, and any of several plain reductions, reaches."""
    torch = load_torch()
    columns = 4096
    source = torch.rand(max(2, moved // 4 // columns), columns, device=device)  # float32
    half = source[: len(source) // 2]  # what is written counts too: a copy moves as much as a read
    target = torch.empty_like(half)
    vector = torch.rand(columns, device=device)
    timings = time_all(
        {
            "copy: copy_": lambda: target.copy_(half),
            "copy: add": lambda: torch.add(half, 1.0, out=target),
            "read: sum": lambda: source.sum(),
            "read: row sums": lambda: source.sum(dim=1),
            "read: matrix × vector": lambda: torch.mv(source, vector),
        }
    )
    return best_rate(timings, "copy", 2 * half.nbytes), best_rate(timings, "read", source.nbytes)


def best_rate(timings: Mapping[str, Timing], prefix: str, amount: int) -> float | None:
    medians = [timing.median for name, timing in timings.items() if name.startswith(prefix) and timing.median]
    return amount / min(medians) if medians else None


def default_bytes(device: str, quick: bool) -> int:
    """Far larger than a GPU's caches, and small beside its memory."""
    if device == "cpu":
        return 2**25 if quick else 2**27
    memory = int(load_torch().cuda.get_device_properties(load_torch().cuda.current_device()).total_memory)
    return min(2**29 if quick else 2**31, memory // 8)


def measure_products(
    device: str, kinds: list[str], quick: bool, time_all: Callable[[Mapping[str, Function]], Timings]
) -> tuple[dict[str, float], dict[str, str]]:
    """FLOP/s of a square matrix product per arithmetic, and why where there is none."""
    torch = load_torch()
    products: dict[str, Function] = {}
    sizes: dict[str, int] = {}
    failed: dict[str, str] = {}
    for kind in kinds:
        sizes[kind] = product_size(device, kind, quick)
        try:
            products[kind] = make_product(kind, sizes[kind], device)
        except Exception as error:
            failed[kind] = shown(reason_of(error), "en")
    precision = torch.get_float32_matmul_precision()
    timings: dict[str, Timing] = {}
    try:
        # One after the other: beside products that draw all the power, another's clock goes down too,
        # and a ceiling would be lower than what it bounds.
        for kind, product in products.items():
            timings |= time_all({kind: product})
    finally:
        torch.set_float32_matmul_precision(precision)
    flops_per_s: dict[str, float] = {}
    for kind, timing in timings.items():
        if timing.median:
            flops_per_s[kind] = 2 * sizes[kind] ** 3 / timing.median
        else:
            failed[kind] = shown(timing.error or told("bench.no-time"), "en")
    return flops_per_s, failed


def product_size(device: str, kind: str, quick: bool) -> int:
    """Large enough to fill the chip, small enough to repeat."""
    if device == "cpu":
        return 256 if quick else 512
    full = 4096 if kind in ("fp64", "fp32") else 8192
    return full // 2 if quick else full


def make_product(kind: str, size: int, device: str) -> Function:
    """A call that multiplies two random `size` × `size` matrices in the named arithmetic."""
    torch = load_torch()
    if device == "cpu" and kind in ("tf32", "fp8"):
        raise ValueError(f"{kind} is arithmetic of GPUs")
    if kind == "fp8":
        return make_fp8_product(size, device)
    types: dict[str, Any] = {
        "fp64": torch.float64,
        "fp32": torch.float32,
        "tf32": torch.float32,
        "bf16": torch.bfloat16,
        "fp16": torch.float16,
    }
    a = torch.randn(size, size, device=device).to(types[kind])
    b = torch.randn(size, size, device=device).to(types[kind])
    if kind not in ("fp32", "tf32"):
        return lambda: torch.mm(a, b)
    precision = "high" if kind == "tf32" else "highest"

    def product() -> Any:
        # Interleaved calls differ in this setting, so each call makes its own.
        torch.set_float32_matmul_precision(precision)
        return torch.mm(a, b)

    return product


def make_fp8_product(size: int, device: str) -> Function:
    """The tensor cores take the second fp8 matrix column by column; the scales are 1."""
    torch = load_torch()
    a = torch.randn(size, size, device=device).to(torch.float8_e4m3fn)
    b = torch.randn(size, size, device=device).to(torch.float8_e4m3fn).t()
    one = torch.ones((), device=device)
    return lambda: torch._scaled_mm(
        a, b, scale_a=one, scale_b=one, out_dtype=torch.bfloat16, use_fast_accum=True
    )
