"""Prints what the three kernels of our backward pass ask of memory: one head of 64 dimensions, counted."""

import sys

import torch

import flashpath as fp
from flashpath.kernels.attention.flash_v2.cuda import host
from flashpath.kernels.attention.problem import Options, prepare

print("queries  kernel        loaded   stored    added  tensor-core MFLOP")
for n in [int(argument) for argument in sys.argv[1:]] or [128, 256, 512]:
    q, k, v, dout = (torch.zeros(1, n, 1, 64, dtype=torch.bfloat16) for _ in range(4))
    problem = prepare(q, k, v, Options())
    out, lse = host.forward(problem)
    with fp.watch() as reports:
        host.backward(problem, out, lse, dout)
    for name, report in zip(("preprocess", "main", "postprocess"), reports, strict=True):
        moved = report.global_load.bytes, report.global_store.bytes, report.global_atomic.bytes
        flops = sum(report.tensor_operations.values())
        print(f"{n:7}  {name:11}", *(f"{each / 1024:5.0f} KiB" for each in moved), f"{flops / 1e6:8.1f}")
