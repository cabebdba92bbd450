"""One product in several precisions: largest error, and what the tensor cores did. flashpath run accuracy.py"""

import torch
import triton
import triton.language as tl

import flashpath as fp


@triton.jit
def square(a_ptr, b_ptr, c_ptr, k, SIDE: tl.constexpr, STEP: tl.constexpr, PRECISION: tl.constexpr, SUMS: tl.constexpr):
    at = tl.arange(0, SIDE)
    along = tl.arange(0, STEP)
    total = tl.zeros((SIDE, SIDE), SUMS)
    for k0 in range(0, k, STEP):
        a = tl.load(a_ptr + at[:, None] * k + k0 + along[None, :])
        b = tl.load(b_ptr + (k0 + along)[:, None] * SIDE + at[None, :])
        total = tl.dot(a, b, total, input_precision=PRECISION, out_dtype=SUMS)
    tl.store(c_ptr + at[:, None] * SIDE + at[None, :], total.to(tl.float32))


SIDE, K = 64, 1024
torch.manual_seed(0)
a, b = torch.randn(SIDE, K), torch.randn(K, SIDE)
exact = a.double() @ b.double()
scale = a.double().abs() @ b.double().abs()
for label, dtype, precision, sums in (
    ("float32, ieee", torch.float32, "ieee", tl.float32),
    ("float32, tf32x3", torch.float32, "tf32x3", tl.float32),
    ("float32, tf32", torch.float32, "tf32", tl.float32),
    ("float16", torch.float16, "ieee", tl.float32),
    ("bfloat16", torch.bfloat16, "ieee", tl.float32),
    ("float16, sums as well", torch.float16, "ieee", tl.float16),
):
    c = torch.empty(SIDE, SIDE)
    with fp.vgpu.triton(profile=True) as gpu:
        square[(1,)](a.to(dtype), b.to(dtype), c, K, SIDE=SIDE, STEP=32, PRECISION=precision, SUMS=sums)
    error = ((c - exact).abs() / scale).max().item()
    report = gpu.reports[-1]
    mma = report.instructions_by_class.get("tensor core", 0) // 32
    print(f"{label:22} error {error:.1e}   tensor core instructions {mma:5}   all {report.warp_instructions:6}")
