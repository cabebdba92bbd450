"""What benchmarks/vgpu.py runs: kernels, launch shapes, inputs, and the results that they must give."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]
KERNELS = Path(__file__).parent / "vgpu_kernels"
ARCH = "sm_80"


@dataclass(frozen=True)
class Workload:
    """One launch. `arguments` are fresh at each call, the output among them at `output`, filled with NaN."""

    name: str
    kernel: str
    grid: tuple[int, ...]
    block: tuple[int, ...]
    arguments: Callable[[], list[Any]]
    output: int
    expected: Callable[[], Array]
    tolerance: float
    options: dict[str, Any] | None = None  # a Triton kernel's constants; None: CUDA C++

    @property
    def file(self) -> Path:
        return KERNELS / f"{self.kernel}.cu"

    def check(self, output: Any) -> None:
        """Raise AssertionError unless `output` is right."""
        found = np.asarray(output, np.float64)
        wanted = self.expected()
        worst = float(np.abs(found - wanted).max() / np.abs(wanted).max())
        if not worst <= self.tolerance:  # NaN is never small enough
            raise AssertionError(f"{self.name}: off by {worst:.1e} of the largest value")


def _inputs(seed: int, *shape: int) -> Array:
    return np.random.default_rng(seed).standard_normal(shape, dtype=np.float32)


def _unwritten(*shape: int) -> Array:
    return np.full(shape, np.nan, np.float32)


def attention(q: Array, k: Array, v: Array, scale: float) -> Array:
    """softmax(scale · Q Kᵀ) V in float64."""
    scores = q.astype(np.float64) @ k.astype(np.float64).transpose(0, 2, 1) * scale
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    return weights / weights.sum(-1, keepdims=True) @ v.astype(np.float64)


def _product(a: Array, b: Array) -> Array:
    return a.astype(np.float64) @ b.astype(np.float64)


def cuda_workloads(quick: bool = False) -> list[Workload]:
    """The CUDA C++ kernels; `quick` ones are small, to see that they run."""
    n, size, rows = (1 << 12, 64, 64) if quick else (1 << 20, 256, 256)
    x, y = _inputs(1, n), _inputs(2, n)
    a, b = _inputs(3, size, size), _inputs(4, size, size)
    half_a, half_b = a.astype(np.float16), b.astype(np.float16)
    q, k, v = (_inputs(seed, 2, rows, 64) for seed in (5, 6, 7))
    return [
        Workload(
            f"vector add, {n:,}",
            "vector_add",
            (n // 256,),
            (256,),
            lambda: [x, y, _unwritten(n), n],
            2,
            lambda: x.astype(np.float64) + y,
            1e-6,
        ),
        Workload(
            f"matmul {size}³, fp32 in tiles",
            "matmul",
            (size // 16, size // 16),
            (16, 16),
            lambda: [a, b, _unwritten(size, size), size, size, size],
            2,
            lambda: _product(a, b),
            1e-5,
        ),
        Workload(
            f"shuffle reduction, {n:,}",
            "reduce",
            (min(128, n // 256),),
            (256,),
            lambda: [np.abs(x), np.zeros(1, np.float32), n],
            1,
            lambda: np.abs(x).sum(keepdims=True, dtype=np.float64),
            1e-5,
        ),
        Workload(
            f"GEMM {size}³, fp16 by mma.sync",
            "gemm_fp16",
            (size // 64, size // 64),
            (128,),
            lambda: [half_a, half_b, _unwritten(size, size), size, size, size],
            2,
            lambda: _product(half_a, half_b),
            1e-5,
        ),
        Workload(
            f"flash attention 2×{rows}×64, fp32",
            "flash_attention",
            (rows // 64, 2),
            (64,),
            lambda: [q, k, v, _unwritten(2, rows, 64), rows, 0.125, 0],
            3,
            lambda: attention(q, k, v, 0.125),
            1e-5,
        ),
        Workload(
            "spin lock, 256 threads",
            "spin_lock",
            (4,),
            (64,),
            lambda: [np.zeros(1, np.int32), np.zeros(1, np.int32)],
            1,
            lambda: np.array([256.0]),
            0,
        ),
    ]


def triton_workloads(quick: bool = False) -> list[Workload]:
    """The Triton kernels; arguments are torch tensors."""
    torch: Any = importlib.import_module("torch")
    n, size, rows = (1 << 12, 64, 64) if quick else (1 << 20, 256, 256)
    x, y = _inputs(1, n), _inputs(2, n)
    a, b = (_inputs(seed, size, size).astype(np.float16) for seed in (3, 4))
    q, k, v = (_inputs(seed, 2, rows, 64).astype(np.float16) for seed in (5, 6, 7))

    def tensors(*arrays: Array) -> list[Any]:
        return [torch.from_numpy(array) for array in arrays]

    return [
        Workload(
            f"Triton vector add, {n:,}",
            "vector_add",
            (n // 1024,),
            (),
            lambda: [*tensors(x, y, _unwritten(n)), n],
            2,
            lambda: x.astype(np.float64) + y,
            1e-6,
            {"BLOCK": 1024},
        ),
        Workload(
            f"Triton matmul {size}³, fp16",
            "matmul",
            (size // 64, size // 64),
            (),
            lambda: [*tensors(a, b, _unwritten(size, size)), size, size],
            2,
            lambda: _product(a, b),
            1e-5,
            {"BLOCK_M": 64, "BLOCK_N": 64, "BLOCK_K": 32},
        ),
        Workload(
            f"Triton flash attention 2×{rows}×64, fp16",
            "flash_attention",
            (rows // 64, 2),
            (),
            lambda: [*tensors(q, k, v, _unwritten(2, rows, 64).astype(np.float16)), rows, 0.125],
            3,
            lambda: attention(q, k, v, 0.125),
            2e-3,
            {"BLOCK_M": 64, "BLOCK_N": 64, "D": 64},
        ),
    ]


def straight_line_ptx(instructions: int) -> str:
    """A kernel `straight` of so many PTX instructions: loads, arithmetic, comparisons, stores."""
    group = (
        "ld.global.f32 %f{a}, [%rd1+{offset}];",
        "mul.wide.s32 %rd2, %r{b}, 4;",
        "fma.rn.f32 %f{b}, %f{a}, %f{b}, %f1;",
        "setp.lt.f32 %p1, %f{b}, %f{a};",
        "selp.f32 %f{a}, %f{b}, %f{a}, %p1;",
        "add.s32 %r{a}, %r{b}, {offset};",
        "xor.b32 %r{b}, %r{a}, {offset};",
        "cvt.rn.f32.s32 %f{b}, %r{b};",
        "@%p1 add.f32 %f{a}, %f{a}, %f{b};",
        "st.global.f32 [%rd1+{offset}], %f{a};",
    )
    body = [
        group[k % len(group)].format(a=k // 10 % 30 + 1, b=k // 10 % 29 + 2, offset=k // 10 % 64 * 4)
        for k in range(instructions - 3)
    ]
    return "\n".join(
        [
            ".version 8.0\n.target sm_80\n.address_size 64",
            ".visible .entry straight(.param .u64 memory)\n{",
            ".reg .pred %p<2>;\n.reg .f32 %f<32>;\n.reg .b32 %r<32>;\n.reg .b64 %rd<3>;",
            "ld.param.u64 %rd1, [memory];",
            "cvta.to.global.u64 %rd1, %rd1;",
            *body,
            "ret;\n}\n",
        ]
    )
