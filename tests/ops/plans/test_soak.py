"""A hundred thousand calls with changing shapes: the host's memory and the GPU's stay flat."""

# pyright: reportUnknownLambdaType=false, reportUnknownArgumentType=false, reportUnknownMemberType=false

from __future__ import annotations

import gc
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

import flashpath as fp
from flashpath import ops

CALLS, FIRST = 100_000, 30_000
MOST_GROWTH = 16 * 2**20  # bytes, of the last 70,000 calls


def _resident_bytes() -> int:
    pages = Path("/proc/self/statm").read_text(encoding="ascii").split()[1]
    return int(pages) * 4096


def _calls() -> list[Callable[[int], Any]]:
    """Functions of a size; with a gradient, the backward direction too."""

    def x(*shape: int, gradient: bool = False) -> Any:
        return torch.randn(shape, device="cuda", dtype=torch.bfloat16, requires_grad=gradient)

    weight = {n: x(n) for n in range(64, 1024, 8)}
    return [
        lambda n: ops.softmax(x(8, n)),
        lambda n: ops.silu(x(n)),
        lambda n: ops.add(x(n), x(n)),
        lambda n: ops.rms_norm(x(4, n), weight[n]),
        lambda n: ops.matmul(x(16, n), x(n, 64)),
        lambda n: ops.reduce(x(n, 8), "sum", -1),
        lambda n: fp.attention(x(1, n, 2, 64), x(1, n, 2, 64), x(1, n, 2, 64), causal=True),
        lambda n: ops.silu_and_mul(x(2, 2 * n, gradient=True)).sum().backward(),
        lambda n: ops.rms_norm(x(4, n, gradient=True), weight[n]).sum().backward(),
    ]


@pytest.mark.gpu
def test_a_hundred_thousand_calls_with_changing_shapes() -> None:
    drawn = random.Random(1)
    calls = _calls()
    sizes = range(64, 1024, 8)
    resident = allocated = 0
    for number in range(CALLS):
        drawn.choice(calls)(drawn.choice(sizes))
        if number + 1 == FIRST:
            gc.collect()
            torch.cuda.synchronize()
            resident, allocated = _resident_bytes(), torch.cuda.memory_allocated()
    gc.collect()
    torch.cuda.synchronize()
    assert torch.cuda.memory_allocated() == allocated
    grown = _resident_bytes() - resident
    print(f"{CALLS:,} calls; the last {CALLS - FIRST:,} took {grown / 2**20:.1f} MiB of the host's memory")
    assert grown <= MOST_GROWTH
