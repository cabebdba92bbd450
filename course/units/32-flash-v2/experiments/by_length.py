"""What FlashAttention 1 and 2 ask of memory, by length: one sequence, two heads of 64 dimensions, bf16, a causal mask.

flashpath run by_length.py [-- FILE.py]    with a file, its function `attention` as well
"""

import sys

import torch

import flashpath as fp
from flashpath.bench import load_function
from flashpath.kernels.attention.flash_v1 import host as flash_v1
from flashpath.kernels.attention.flash_v2.triton import host as flash_v2
from flashpath.kernels.attention.problem import Options, prepare
from flashpath.kernels.attention.reference import formula

HEADS, DIM = 2, 64


def counted(run, problem):
    with fp.watch() as reports:
        out = run(problem)
    exact, _ = formula(problem.q, problem.k, problem.v, problem.options, dtype=torch.float64)
    assert (out.double() - exact).abs().max() < 0.05, "the result is wrong"
    loaded = sum(report.global_load.sectors for report in reports) * 32 / 1024
    stored = sum(report.global_store.sectors for report in reports) * 32 / 1024
    moved = sum(report.dram_bytes for report in reports) / 1024
    programs = max(report.grid[0] * report.grid[1] * report.grid[2] for report in reports)
    return f"{loaded:10,.0f} {stored:8,.0f} {moved:8,.0f} {programs:9}"


def main():
    kernels = {
        "flash_v1_triton": lambda problem: flash_v1.triton(problem)[0],
        "flash_v2_triton": lambda problem: flash_v2.forward(problem)[0],
    }
    for file in sys.argv[1:]:
        own = load_function(f"{file}:attention")
        kernels["attention"] = lambda problem: own(problem.q, problem.k, problem.v, problem.options)
    print("    N  kernel            KiB loaded   stored    moved  programs")
    for n in (128, 256, 512):
        q, k, v = (torch.randn(1, n, HEADS, DIM).bfloat16() for _ in range(3))
        problem = prepare(q, k, v, Options(causal=True))
        for name, run in kernels.items():
            print(f"{n:5}  {name:17} {counted(run, problem)}")


if __name__ == "__main__":
    main()
