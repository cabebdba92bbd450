"""Calls of operators with shapes that change all the time: host memory must stay flat.

    python benchmarks/soak.py [--calls N] [--device cpu|cuda]

On a GPU they are 100,000 calls of ordinary size, of which plans are made and forgotten. Without one, the
virtual GPU runs tiny ones: what is kept for each shape, kernel and call is the same host memory.
"""

from __future__ import annotations

import argparse
import gc
import random
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import torch

import flashpath as fp
from flashpath import ops

CALLS = 100_000
SHARE_BEFORE = 0.3  # of the calls, after which memory is read for the first time
MOST_GROWTH = 16 * 2**20  # bytes of host memory, from then on


class Growth(NamedTuple):
    """What the calls after the first reading took, in bytes."""

    calls: int
    host: int
    gpu: int

    def __str__(self) -> str:
        return f"the last {self.calls:,} calls took {self.host / 2**20:.1f} MiB of the host's memory"


def resident_bytes() -> int:
    """Memory of this process that is in RAM."""
    pages = Path("/proc/self/statm").read_text(encoding="ascii").split()[1]
    return int(pages) * 4096


def functions(device: str, sizes: Sequence[int]) -> list[Callable[[int], Any]]:
    """Functions of a size; with a gradient, the backward direction too."""
    dim = 64 if device == "cuda" else 8

    def x(*shape: int, gradient: bool = False) -> Any:
        return torch.randn(shape, device=device, dtype=torch.bfloat16, requires_grad=gradient)

    def softmax(n: int) -> Any:
        return ops.softmax(x(8, n))

    def silu(n: int) -> Any:
        return ops.silu(x(n))

    def add(n: int) -> Any:
        return ops.add(x(n), x(n))

    def rms_norm(n: int) -> Any:
        return ops.rms_norm(x(4, n), weight[n])

    def matmul(n: int) -> Any:
        return ops.matmul(x(16, n), x(n, dim))

    def reduce(n: int) -> Any:
        return ops.reduce(x(n, 8), "sum", -1)

    def attention(n: int) -> Any:
        return fp.attention(x(1, n, 2, dim), x(1, n, 2, dim), x(1, n, 2, dim), causal=True)

    def gated(n: int) -> Any:
        x_of_n = x(2, 2 * n, gradient=True)
        torch.autograd.grad(ops.silu_and_mul(x_of_n).sum(), x_of_n)

    def norm_and_gradient(n: int) -> Any:
        x_of_n = x(4, n, gradient=True)
        torch.autograd.grad(ops.rms_norm(x_of_n, weight[n]).sum(), x_of_n)

    def module(n: int) -> Any:
        model = fp.nn.RMSNorm(n, 1e-6, device=device, dtype=torch.bfloat16)
        fp.patch(torch.nn.Sequential(model, torch.nn.LayerNorm(n)))
        return model(x(2, n))

    weight = {n: x(n) for n in sizes}
    made: list[Callable[[int], Any]] = [softmax, silu, add, rms_norm, matmul, reduce, attention]
    return [*made, gated, norm_and_gradient, module]


def soak(calls: int, device: str) -> Growth:
    """Makes so many calls, and says how the process grew in the later ones."""
    drawn = random.Random(1)
    sizes = range(64, 1024, 8) if device == "cuda" else range(8, 72)
    chosen = functions(device, sizes)
    first, resident, allocated = int(calls * SHARE_BEFORE), 0, 0
    for number in range(calls):
        drawn.choice(chosen)(drawn.choice(sizes))
        if number + 1 == first:
            resident, allocated = _settled(device)
    host, gpu = _settled(device)
    return Growth(calls - first, host - resident, gpu - allocated)


def _settled(device: str) -> tuple[int, int]:
    gc.collect()
    if device != "cuda":
        return resident_bytes(), 0
    torch.cuda.synchronize()
    return resident_bytes(), torch.cuda.memory_allocated()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--calls", type=int, default=CALLS)
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    given = parser.parse_args()
    growth = soak(given.calls, given.device)
    print(f"{given.calls:,} calls on {given.device}: {growth}")
    return int(growth.host > MOST_GROWTH or growth.gpu > 0)


if __name__ == "__main__":
    sys.exit(main())
