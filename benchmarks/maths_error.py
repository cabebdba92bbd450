"""The errors of the functions in kernels/common/maths.cuh, against float64, over all float32.

    python benchmarks/maths_error.py [--every N] [--json FILE] [--document FILE.md]

On a machine with an NVIDIA GPU every float32 (and float16) of each domain is tried, in seconds. With no GPU
the virtual one computes, which has the bits of an H200, and every 4099th is tried unless --every says
otherwise. --json writes the record; --document makes the table of docs/maths.md anew from the record in
benchmarks/results.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch

import flashpath as fp
from flashpath import kernels
from flashpath.bench import read_environment
from flashpath.documents import with_section
from flashpath.jit import device as cuda

COMMON = Path(kernels.__file__).parent / "common"
RECORD = Path(__file__).parent / "results" / "h200-maths.json"
PI = 3.1415927410125732  # the float32 nearest to π
CHUNK = 2**25  # inputs at a time
SPARSE = 4099  # a prime: without a GPU every so many inputs are tried


@dataclass(frozen=True)
class Domain:
    """Where a function is measured: low <= x <= high, or of |x| where `by_size` says so."""

    function: str  # of maths.cuh
    instruction: str
    true: Callable[[Any], Any]  # on float64
    low: float
    high: float
    by_size: bool = False
    absolute: bool = False  # where results near 0 have no last place to count in
    half: bool = False

    @property
    def name(self) -> str:
        return f"{self.function}(half2)" if self.half else self.function

    def contains(self, x: Any) -> Any:
        size = x.abs() if self.by_size else x
        return (size >= self.low) & (size <= self.high)


TINY, HUGE = 2.0**-126, (2 - 2.0**-23) * 2.0**127
# Of each type, the last ones before 2^x overflows.
BELOW_128, BELOW_16 = 128 - 2.0**-17, 16 - 2.0**-7
DOMAINS = (
    Domain("exp2_approx", "ex2.approx.ftz.f32", torch.exp2, -126, BELOW_128),
    Domain("log2_approx", "lg2.approx.ftz.f32", torch.log2, TINY, 0.5),
    Domain("log2_approx", "lg2.approx.ftz.f32", torch.log2, 0.5, 2, absolute=True),
    Domain("log2_approx", "lg2.approx.ftz.f32", torch.log2, 2, HUGE),
    Domain("reciprocal_approx", "rcp.approx.ftz.f32", torch.reciprocal, TINY, 2.0**126, by_size=True),
    Domain("rsqrt_approx", "rsqrt.approx.ftz.f32", torch.rsqrt, TINY, HUGE),
    Domain("sqrt_approx", "sqrt.approx.ftz.f32", torch.sqrt, TINY, HUGE),
    Domain("tanh_approx", "tanh.approx.f32", torch.tanh, TINY, HUGE, by_size=True),
    Domain("sin_approx", "sin.approx.ftz.f32", torch.sin, 0, PI, by_size=True, absolute=True),
    Domain("cos_approx", "cos.approx.ftz.f32", torch.cos, 0, PI, by_size=True, absolute=True),
    Domain("exp2_approx", "ex2.approx.f16x2", torch.exp2, -24, BELOW_16, half=True),
    Domain("tanh_approx", "tanh.approx.f16x2", torch.tanh, 0, 65504, by_size=True, half=True),
)


@dataclass(frozen=True)
class Found:
    """The largest error in a domain, and where."""

    function: str
    instruction: str
    low: float
    high: float
    by_size: bool
    absolute: bool  # or in units in the last place of the true result
    inputs: int
    error: float
    at: float


# ---- Measuring -----------------------------------------------------------------------------------------


def source() -> str:
    """A kernel for every function: y[i] = f(x[i])."""
    lines = ['#include "maths.cuh"']
    for name in {domain.function for domain in DOMAINS if not domain.half}:
        lines.append(_kernel(name, "float", f"{name}(x[i])"))
    for name in {domain.function for domain in DOMAINS if domain.half}:
        lines.append(_kernel(f"{name}_half", "__half", f"__low2half({name}(__halves2half2(x[i], x[i])))"))
    return "\n".join(lines)


def _kernel(name: str, kind: str, value: str) -> str:
    return f"""extern "C" __global__ void apply_{name}(long long n, const {kind}* x, {kind}* y) {{
  const long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  if (i < n) y[i] = {value};
}}"""


class Functions:
    """The functions of the header, on tensors: of a GPU on it, others on the virtual one."""

    def __init__(self) -> None:
        self.module = fp.compile(source(), includes=[COMMON])

    def apply(self, domain: Domain, x: Any) -> Any:
        y = torch.full_like(x, math.nan)
        kernel = self.module[f"apply_{domain.function}{'_half' if domain.half else ''}"]
        kernel[-(-x.numel() // 256), 256](x.numel(), x, y)
        return y


def inputs(domain: Domain, every: int, device: str) -> Iterator[Any]:
    """All float32, or float16, of the domain, or every so many of them, in pieces."""
    kind, count = (torch.float16, 2**16) if domain.half else (torch.float32, 2**32)
    whole = torch.int16 if domain.half else torch.int32
    step = 1 if domain.half else every
    for start in range(0, count, CHUNK * step):
        bits = torch.arange(start, min(start + CHUNK * step, count), step, device=device)
        bits = torch.where(bits >= count // 2, bits - count, bits)  # as the signed integers that views take
        x = bits.to(whole).view(kind)
        x = x[domain.contains(x)]
        if x.numel():
            yield x


def errors(domain: Domain, y: Any, x: Any) -> Any:
    """Of each result: absolute, or in units in the last place of the true one."""
    exact = domain.true(x.double())
    error = (y.double() - exact).abs()
    if domain.absolute:
        return error
    digits, least = (11, -24) if domain.half else (24, -149)
    return torch.ldexp(error, digits - torch.frexp(exact).exponent.clamp(min=least + digits))


def measure(functions: Functions, domain: Domain, every: int, device: str) -> Found:
    count, worst, at = 0, -1.0, math.nan
    for x in inputs(domain, every, device):
        count += x.numel()
        largest, index = errors(domain, functions.apply(domain, x), x).max(dim=0)
        if float(largest) > worst:
            worst, at = float(largest), float(x[index])
    where = (domain.low, domain.high, domain.by_size, domain.absolute)
    return Found(domain.name, domain.instruction, *where, count, worst, at)


# ---- Telling -------------------------------------------------------------------------------------------


def table(record: dict[str, Any]) -> str:
    step = f"every {record['every']}th" if record["every"] > 1 else "every"
    lines = [
        f"{record['gpu']}, {step} float of each domain.",
        "",
        "| function | instruction | domain | largest error | at x = |",
        "|---|---|---|---|---|",
    ]
    for each in record["errors"]:
        x = "\\|x\\|" if each["by_size"] else "x"
        unit = "absolute" if each["absolute"] else "ulp"
        lines.append(
            f"| `{each['function']}` | `{each['instruction']}` | {bound(each['low'])} ≤ {x} ≤"
            f" {bound(each['high'])} | {each['error']:.3g} {unit} | {each['at']!r} |"
        )
    return "\n".join(lines) + "\n"


def bound(value: float) -> str:
    """A domain's end as people write it."""
    exponent = math.log2(abs(value)) if value else 0
    if value == HUGE:
        return "the largest float"
    if value == PI:
        return "π"
    return f"2^{int(exponent)}" if exponent == int(exponent) and abs(exponent) > 10 else f"{value:.10g}"


def document(text: str, record: dict[str, Any]) -> str:
    """The document with its table made anew."""
    return with_section(text, "errors", table(record))


def main(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--every", type=int, help="try every so many of the float32; 1 on a GPU")
    parser.add_argument("--json", type=Path, help="where to write the record")
    parser.add_argument(
        "--document", type=Path, help="make the table of this document from the stored record"
    )
    chosen = parser.parse_args(arguments)
    if chosen.document:
        record = json.loads(RECORD.read_text(encoding="utf-8"))
        text = chosen.document.read_text(encoding="utf-8")
        chosen.document.write_text(document(text, record), encoding="utf-8")
        return
    has_gpu = cuda.count() > 0
    device, every = ("cuda", chosen.every or 1) if has_gpu else ("cpu", chosen.every or SPARSE)
    functions = Functions()
    found = [measure(functions, domain, every, device) for domain in DOMAINS]
    environment = read_environment(device)
    record: dict[str, Any] = {
        "gpu": environment.gpu if has_gpu else "virtual GPU",
        "every": every,
        "errors": [asdict(each) for each in found],
    }
    print(table(record), end="")
    if chosen.json:
        chosen.json.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
