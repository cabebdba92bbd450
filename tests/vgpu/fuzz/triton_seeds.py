"""Modules as Triton makes them: masks, dot products, reductions, scans and atomics."""

# pyright: reportUnknownMemberType=false, reportMissingParameterType=false, reportUnknownParameterType=false
# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false, reportOperatorIssue=false
from __future__ import annotations

import re
from typing import Any

import torch
import triton  # pyright: ignore[reportMissingTypeStubs]
import triton.language as tl  # pyright: ignore[reportMissingTypeStubs]
from words import Seed

import flashpath as fp

_WARPS = 2  # as many threads as the fuzzer launches in a block


@triton.jit
def masked_sum(x, y, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + at, tl.load(x + at, mask=at < n) + tl.load(y + at, mask=at < n, other=1.0), mask=at < n)


@triton.jit
def row_softmax(x, out, n, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    row = tl.load(x + tl.program_id(0) * n + at, mask=at < n, other=-float("inf"))
    powers = tl.exp(row - tl.max(row, 0))
    tl.store(out + tl.program_id(0) * n + at, powers / tl.sum(powers, 0), mask=at < n)


@triton.jit
def small_product(a, b, out, BLOCK: tl.constexpr):
    i, j = tl.arange(0, BLOCK)[:, None], tl.arange(0, BLOCK)[None, :]
    left, right = tl.load(a + i * BLOCK + j), tl.load(b + i * BLOCK + j)
    tl.store(out + i * BLOCK + j, tl.dot(left, right).to(tl.float16))


@triton.jit
def running_totals(x, out, total, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    row = tl.load(x + at)
    tl.store(out + at, tl.cumsum(row, 0))
    tl.atomic_add(total, tl.sum(row, 0))


def triton_seeds() -> list[Seed]:
    """Returns each of these kernels, compiled for sm_80."""
    floats, halves, integers = torch.zeros(256), torch.zeros(256, dtype=torch.float16), torch.zeros(256).int()
    calls: list[tuple[Any, tuple[Any, ...], int]] = [
        (masked_sum, (floats, floats, floats, 200), 128),
        (row_softmax, (floats, floats, 100), 128),
        (small_product, (halves, halves, halves), 16),
        (running_totals, (integers, integers, integers), 64),
    ]
    seeds: list[Seed] = []
    with fp.vgpu.triton():
        for kernel, arguments, block in calls:
            compiled = kernel.warmup(*arguments, BLOCK=block, grid=(1,), num_warps=_WARPS)
            ptx = re.sub(r"(?m)^\s*\.(file|loc)\b.*\n", "", compiled.asm["ptx"]).partition(".section")[0]
            seeds.append(Seed(f"triton/{kernel.__name__}", ptx, kernel.__name__))
    return seeds
