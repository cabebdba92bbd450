"""The real modules that mutants are made from: CUDA and Triton kernels of every kind that is run."""

from __future__ import annotations

import re
from pathlib import Path

from triton_seeds import triton_seeds
from words import Seed

import flashpath as fp
from flashpath.errors import FlashpathError
from flashpath.vgpu.device import VirtualModule
from tests.harness.ptx_text import summarize

ARCH = "sm_80"
SOURCES = Path(__file__).parents[1] / "ptx" / "sources"
_LONGEST = 40_000  # characters: in longer modules a change hits what matters too rarely

# Small enough that most of its words matter, and with a bit of everything.
SMALL = """
    __device__ __noinline__ int twice(int x) { return x > 100 ? x : twice(2 * x + 1); }
    extern "C" __global__ void small(int* o, const float* x, int n) {
        __shared__ float s[64];
        int i = threadIdx.x;
        s[i] = i < n ? sqrtf(x[i]) * 2.0f : 0.0f;
        __syncthreads();
        float v = s[(i * 7) % 64];
        for (int step = 16; step; step /= 2) v += __shfl_xor_sync(0xffffffffu, v, step);
        atomicAdd(o, (int)v);
        o[1 + i] = twice(i) + (int)__popc(__ballot_sync(0xffffffffu, i % 3 == 0));
    }
"""


def _without_debug_sections(ptx: str) -> str:
    """Names of files and tables of lines are long, and no kernel runs by them."""
    return re.sub(r"(?m)^\s*\.(file|loc)\b.*\n", "", ptx).partition(".section")[0]


def make_seeds() -> list[Seed]:
    """Returns the kernels of the parser's sources and Triton's, and the small one several times over."""
    seeds = 4 * [Seed("small", _without_debug_sections(fp.compile(SMALL, ARCH).ptx), "small")]
    for file in sorted(SOURCES.glob("*.cu")):
        try:
            ptx = _without_debug_sections(fp.compile(file, ARCH).ptx)
        except FlashpathError:  # it is for a newer architecture
            continue
        if len(ptx) > _LONGEST:
            continue
        module = VirtualModule(ptx)
        for function in summarize(ptx).functions:
            if not function.is_entry:
                continue
            try:
                module.kernel(function.name)
            except FlashpathError:  # an instruction that is refused, whole as it is
                continue
            seeds.append(Seed(f"{file.stem}/{function.name}", ptx, function.name))
    return seeds + 2 * triton_seeds()
