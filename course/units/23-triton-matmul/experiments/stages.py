"""The same product, compiled with other warps and stages: flashpath explain stages.py --stage none"""

import torch

from flashpath.kernels.matmul.triton_pointers import matmul_pointers

M = N = 128
K = 64
a, b = torch.randn(M, K).half(), torch.randn(K, N).half()
c = torch.empty(M, N, dtype=torch.float16)
for warps, stages in ((4, 2), (4, 4), (8, 4)):
    matmul_pointers[(1,)](
        a,
        b,
        c,
        M,
        N,
        K,
        ALIGNED=True,
        PRECISION="ieee",
        BLOCK_M=128,
        BLOCK_N=128,
        BLOCK_K=32,
        GROUP=8,
        num_warps=warps,
        num_stages=stages,
    )
