"""The whole kernels that are compared with a GPU: their PTX, launches and inputs. Needs NumPy only.

The PTX is kept as it was compiled (make_ptx.py), so that a new compiler changes nothing here; inputs come from a
seeded generator, results of a GPU from make_golden.py.
"""

from __future__ import annotations

import hashlib
import json
import lzma
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

try:
    from . import no_numbers
except ImportError:  # from a script of this folder
    import no_numbers

FOLDER = Path(__file__).parent
PTX = FOLDER / "ptx"
GOLDEN = FOLDER / "golden_h200.npz"

Array = np.ndarray[Any, Any]
Dim3 = tuple[int, int, int]
# Arrays are passed by address, scalars of NumPy as they are.
Argument = Array | np.generic


@dataclass(frozen=True)
class Case:
    """One launch. The arguments are made anew for every run; those named in `outputs` are its result."""

    name: str
    module: str  # the stem of its PTX file
    kernel: str
    grid: Dim3
    block: Dim3
    arguments: Callable[[np.random.Generator], list[Argument]]
    outputs: tuple[int, ...]
    shared: int = 0

    def make_arguments(self) -> list[Argument]:
        return self.arguments(np.random.default_rng(list(self.name.encode())))

    def digest_of_inputs(self) -> str:
        digest = hashlib.sha256()
        for argument in self.make_arguments():
            digest.update(np.asarray(argument).tobytes())
        return digest.hexdigest()


def load_ptx(module: str) -> str:
    return lzma.decompress((PTX / f"{module}.ptx.xz").read_bytes()).decode()


def digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def index() -> dict[str, dict[str, Any]]:
    """What make_ptx.py wrote down of each module: its digest and, of a Triton kernel, how it is launched."""
    return json.loads((PTX / "index.json").read_text())


# ---- Inputs --------------------------------------------------------------------------------------------


def normal(rng: np.random.Generator, *shape: int) -> Array:
    return rng.standard_normal(shape, dtype=np.float32)


def halves(rng: np.random.Generator, *shape: int) -> Array:
    return normal(rng, *shape).astype(np.float16)


def bfloats(rng: np.random.Generator, *shape: int) -> Array:
    """bfloat16 as bits: float32 without its lower half."""
    return (normal(rng, *shape).view(np.uint32) >> 16).astype(np.uint16)


def nothing(*shape: int, dtype: Any = np.float32) -> Array:
    """A result before the launch, whose bytes would show where nothing was written."""
    return np.full((*shape, np.dtype(dtype).itemsize), 0x5A, np.uint8).view(dtype).reshape(shape)


def ints(*values: int) -> list[Argument]:
    return [np.int32(value) for value in values]


# ---- CUDA C++ ------------------------------------------------------------------------------------------


def _cuda(
    name: str,
    grid: Any,
    block: Any,
    arguments: Callable[[np.random.Generator], list[Argument]],
    *outputs: int,
) -> list[Case]:
    """Compiled as NVRTC does by itself, and with fast mathematics."""
    whole_grid: Dim3 = (*grid, 1)[:3] if isinstance(grid, tuple) else (grid, 1, 1)
    whole_block: Dim3 = (*block, 1)[:3] if isinstance(block, tuple) else (block, 1, 1)
    return [
        Case(f"{module}/{name}", module, name, whole_grid, whole_block, arguments, outputs)
        for module in ("cuda", "cuda_fast")
    ]


_N = 2000  # not a multiple of a block
_CUDA = [
    *_cuda("vector_add", 8, 256, lambda r: [normal(r, _N), normal(r, _N), nothing(_N), *ints(_N)], 2),
    *_cuda("saxpy", 8, 256, lambda r: [np.float32(1.7), normal(r, _N), normal(r, _N), nothing(_N), *ints(_N)], 3),
    *_cuda("contracted_by_ptxas", 8, 256, lambda r: [normal(r, _N), normal(r, _N), nothing(_N), *ints(_N)], 2),
    *_cuda("polynomial", 8, 256, lambda r: [normal(r, _N), nothing(_N), *ints(_N)], 1),
    *_cuda("gelu", 8, 256, lambda r: [normal(r, _N) * 3, nothing(_N), *ints(_N)], 1),
    *_cuda("gelu_erf", 8, 256, lambda r: [normal(r, _N) * 3, nothing(_N), *ints(_N)], 1),
    *_cuda("black_scholes", 8, 256, lambda r: [normal(r, _N), normal(r, _N), nothing(_N), *ints(_N)], 2),
    *_cuda("rope", 32, 32, lambda r: [normal(r, 32, 64), nothing(32, 64), *ints(32, 64)], 1),
    *_cuda("double_precision", 4, 256,
           lambda r: [r.standard_normal(1000), r.standard_normal(1000), nothing(1000, dtype=np.float64), *ints(1000)], 2),
    *_cuda("half_arithmetic", 4, 256,
           lambda r: [halves(r, 2000), halves(r, 2000), nothing(2000, dtype=np.float16), *ints(1000)], 2),
    *_cuda("bfloat_arithmetic", 8, 256,
           lambda r: [bfloats(r, _N), bfloats(r, _N), nothing(_N, dtype=np.uint16), *ints(_N)], 2),
    *_cuda("mandelbrot", 16, 128, lambda r: [nothing(2048), *ints(64)], 0),
    *_cuda("n_body", 2, 64, lambda r: [normal(r, 128, 4), nothing(128, 4), *ints(128)], 1),
    *_cuda("reduce_shuffle", 4, 256, lambda r: [normal(r, 5000), nothing(4), *ints(5000)], 1),
    *_cuda("reduce_shared", 4, 256, lambda r: [normal(r, 5000), nothing(4), *ints(5000)], 1),
    *_cuda("dot", 4, 128, lambda r: [normal(r, 5000), normal(r, 5000), nothing(16), *ints(5000)], 2),
    *_cuda("softmax", 16, 32, lambda r: [normal(r, 16, 100) * 4, nothing(16, 100), *ints(100)], 1),
    *_cuda("layer_norm", 16, 32,
           lambda r: [normal(r, 16, 100), normal(r, 100), normal(r, 100), nothing(16, 100), *ints(100)], 3),
    *_cuda("rms_norm", 16, 32, lambda r: [normal(r, 16, 100), normal(r, 100), nothing(16, 100), *ints(100)], 2),
    *_cuda("scan", 4, 256, lambda r: [normal(r, 1024), nothing(1024)], 1),
    *_cuda("histogram", 4, 128, lambda r: [normal(r, 5000), np.zeros(64, np.int32), *ints(5000)], 1),
    *_cuda("transpose", (2, 1), (32, 8), lambda r: [normal(r, 32, 64), nothing(64, 32), *ints(64, 32)], 1),
    *_cuda("stencil", (3, 3), (16, 16), lambda r: [normal(r, 48, 48), nothing(48, 48), *ints(48)], 1),
    *_cuda("matmul_tiled", (4, 4), (16, 16),
           lambda r: [normal(r, 64, 64), normal(r, 64, 64), nothing(64, 64), *ints(64)], 2),
    *_cuda("matmul_blocked", (2, 2), 64,
           lambda r: [normal(r, 64, 64), normal(r, 64, 64), normal(r, 64, 64), *ints(64),
                      np.float32(0.7), np.float32(-1.3)], 2),
    *_cuda("matmul_half", (4, 4), 32,
           lambda r: [halves(r, 64, 64), halves(r, 64, 64), nothing(64, 64), *ints(64)], 2),
    *_cuda("matmul_bfloat", (4, 4), 32,
           lambda r: [bfloats(r, 64, 64), bfloats(r, 64, 64), nothing(64, 64), *ints(64)], 2),
    *_cuda("matmul_tf32", (4, 4), 32,
           lambda r: [normal(r, 64, 64), normal(r, 64, 64), nothing(64, 64), *ints(64)], 2),
    *_cuda("matmul_half_sums", 8, 32,
           lambda r: [halves(r, 8, 256), halves(r, 8, 128), nothing(8, 128, dtype=np.float16)], 2),
    *_cuda("flash_attention", 48, 32,
           lambda r: [normal(r, 64, 64), normal(r, 64, 64), normal(r, 64, 64), nothing(48, 64), *ints(64)], 3),
]  # fmt: skip

# ---- Triton --------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class TritonKernel:
    """What make_ptx.py compiles: the function, the types of its arguments and its constants."""

    function: str
    signature: dict[str, str]
    constants: dict[str, Any]
    warps: int = 4
    arch: int = 80
    stages: int = 2


def _types(**types: str) -> dict[str, str]:
    return types


_ROW = _types(x="*fp32", out="*fp32", width="i32")
TRITON: dict[str, TritonKernel] = {
    "vector_add": TritonKernel("vector_add", _types(x="*fp32", y="*fp32", out="*fp32", n="i32"), {"BLOCK": 512}),
    "gelu": TritonKernel("gelu", _types(x="*fp32", out="*fp32", n="i32"), {"BLOCK": 512}),
    "swiglu": TritonKernel("swiglu", _types(gate="*fp16", up="*fp16", out="*fp16", n="i32"), {"BLOCK": 512}),
    "softmax": TritonKernel("softmax", _ROW, {"BLOCK": 256}),
    "layer_norm": TritonKernel(
        "layer_norm", _types(x="*fp32", weight="*fp32", bias="*fp32", out="*fp32", width="i32", eps="fp32"),
        {"BLOCK": 256}),
    "rms_norm": TritonKernel(
        "rms_norm", _types(x="*fp32", weight="*fp32", out="*fp32", width="i32", eps="fp32"), {"BLOCK": 256}),
    "reductions": TritonKernel("reductions", _ROW, {"BLOCK": 256}),
    "cumulative_sum": TritonKernel("cumulative_sum", _types(x="*fp32", out="*fp32"), {"BLOCK": 512}),
    "dropout": TritonKernel("dropout", _types(x="*fp32", out="*fp32", n="i32", seed="i32"), {"BLOCK": 512}),
    "rope": TritonKernel(
        "rope", _types(x="*fp32", cosines="*fp32", sines="*fp32", out="*fp32", width="i32"), {"HALF": 32}),
    **{
        f"matmul_{name}": TritonKernel(
            "matmul", _types(a=f"*{kind}", b=f"*{kind}", c="*fp32", n="i32"),
            {"M": 32, "N": 32, "K": 32, "PRECISION": precision}, arch=arch)
        for name, kind, precision, arch in [
            ("fp16", "fp16", "ieee", 80), ("bf16", "bf16", "ieee", 80), ("tf32", "fp32", "tf32", 80),
            ("tf32x3", "fp32", "tf32x3", 80), ("fp32", "fp32", "ieee", 80), ("fp8", "fp8e4nv", "ieee", 89)]
    },
    **{
        f"flash_attention_{name}": TritonKernel(
            "flash_attention",
            _types(q=f"*{kind}", k=f"*{kind}", v=f"*{kind}", out=f"*{kind}", length="i32", scale="fp32"),
            {"M": 32, "N": 32, "D": 64, "CAUSAL": causal})
        for name, kind, causal in [("fp16", "fp16", False), ("fp16_causal", "fp16", True), ("bf16", "bf16", False)]
    },
}  # fmt: skip


def _triton(
    name: str, grid: Any, arguments: Callable[[np.random.Generator], list[Argument]], *outputs: int
) -> Case:
    module = f"triton_{name}"
    kept = index().get(module, {"shared": 0})
    kernel = TRITON[name]

    def with_scratch(rng: np.random.Generator) -> list[Argument]:
        return [
            *arguments(rng),
            np.uint64(0),
            np.uint64(0),
        ]  # Triton's own two pointers, which these do not use

    whole_grid: Dim3 = (*grid, 1)[:3] if isinstance(grid, tuple) else (grid, 1, 1)
    threads = 32 * kernel.warps
    return Case(f"triton/{name}", module, kernel.function, whole_grid, (threads, 1, 1), with_scratch, outputs,
                kept["shared"])  # fmt: skip


def _square(make: Callable[..., Array]) -> Callable[[np.random.Generator], list[Argument]]:
    return lambda r: [make(r, 64, 64), make(r, 64, 64), nothing(64, 64), *ints(64)]


def _eighths(rng: np.random.Generator, *shape: int) -> Array:
    """e4m3 as bits, without its NaNs."""
    return (rng.integers(0, 0x78, shape) | rng.integers(0, 2, shape) << 7).astype(np.uint8)


def _heads(make: Callable[..., Array]) -> Callable[[np.random.Generator], list[Argument]]:
    dtype = make(np.random.default_rng(0), 1).dtype
    shape = (2, 64, 64)
    return lambda r: [make(r, *shape), make(r, *shape), make(r, *shape), nothing(*shape, dtype=dtype), *ints(64),
                      np.float32(0.125)]  # fmt: skip


def _rows(rng: np.random.Generator, width: int = 200) -> list[Argument]:
    return [normal(rng, 16, width) * 3, nothing(16, width), *ints(width)]


_TRITON = [
    _triton("vector_add", 4, lambda r: [normal(r, _N), normal(r, _N), nothing(_N), *ints(_N)], 2),
    _triton("gelu", 4, lambda r: [normal(r, _N) * 3, nothing(_N), *ints(_N)], 1),
    _triton("swiglu", 4, lambda r: [halves(r, _N), halves(r, _N), nothing(_N, dtype=np.float16), *ints(_N)], 2),
    _triton("softmax", 16, _rows, 1),
    _triton("layer_norm", 16, lambda r: [normal(r, 16, 200), normal(r, 200), normal(r, 200), nothing(16, 200),
                                         *ints(200), np.float32(1e-5)], 3),
    _triton("rms_norm", 16, lambda r: [normal(r, 16, 200), normal(r, 200), nothing(16, 200), *ints(200),
                                       np.float32(1e-6)], 2),
    _triton("reductions", 16, lambda r: [normal(r, 16, 256), nothing(16, 4), *ints(256)], 1),
    _triton("cumulative_sum", 2, lambda r: [normal(r, 1024), nothing(1024)], 1),
    _triton("dropout", 4, lambda r: [normal(r, _N), nothing(_N), *ints(_N, 1234)], 1),
    _triton("rope", 16, lambda r: [normal(r, 16, 64), normal(r, 16, 32), normal(r, 16, 32), nothing(16, 64),
                                   *ints(64)], 3),
    _triton("matmul_fp16", (2, 2), _square(halves), 2),
    _triton("matmul_bf16", (2, 2), _square(bfloats), 2),
    _triton("matmul_tf32", (2, 2), _square(normal), 2),
    _triton("matmul_tf32x3", (2, 2), _square(normal), 2),
    _triton("matmul_fp32", (2, 2), _square(normal), 2),
    _triton("matmul_fp8", (2, 2), _square(_eighths), 2),
    _triton("flash_attention_fp16", (2, 2), _heads(halves), 3),
    _triton("flash_attention_fp16_causal", (2, 2), _heads(halves), 3),
    _triton("flash_attention_bf16", (2, 2), _heads(bfloats), 3),
]  # fmt: skip

# ---- The rules of contraction --------------------------------------------------------------------------

# By module, as make_ptx.py writes it: the kernel of each rule, and the type that it loads.
RULES: dict[str, list[tuple[str, str]]] = index().get("rules", {})


def _rule_values(register: str, count: int) -> Callable[[np.random.Generator], list[Argument]]:
    """32 threads with 64 bytes each: six inputs, eight bytes apart. Guards hold in all lanes or in none."""

    def arguments(rng: np.random.Generator) -> list[Argument]:
        numbers = rng.standard_normal((32, 8))
        # Sums that nearly cancel: where one rounding or two matters most.
        numbers[::2, 2] = -numbers[::2, 0] * numbers[::2, 1]
        values = np.zeros((32, 8), np.uint64)
        single = numbers.astype(np.float32).view(np.uint32)
        if register == "f64":
            values = numbers.view(np.uint64)
        elif register == "f32":
            values[:] = single
        else:  # pairs of halves serve for bfloat16 too: any bits are numbers
            half = numbers.astype(np.float16).view(np.uint16)
            values[:] = half | half[::-1].astype(np.uint32) << 16
        return [values, np.zeros((32, 8), np.uint64), np.uint32(count)]

    return arguments


_RULES = [
    Case(
        f"{module}/{kernel} {count}",
        module,
        kernel,
        (1, 1, 1),
        (32, 1, 1),
        _rule_values(register, count),
        (1,),
    )
    for module, kernels in RULES.items()
    for kernel, register in kernels
    for count in (0, 64)
]

# ---- What is no number ---------------------------------------------------------------------------------


def _triples(name: str) -> Callable[[np.random.Generator], list[Argument]]:
    made = no_numbers.TYPES[name]
    return lambda _: [made.triples, nothing(512, len(made.operations), dtype=made.triples.dtype)]


_NO_NUMBERS = [
    Case(f"no_numbers/{name}", "no_numbers", f"no_{name}", (4, 1, 1), (128, 1, 1), _triples(name), (1,))
    for name in no_numbers.TYPES
]

CASES = [*_CUDA, *_TRITON, *_RULES, *_NO_NUMBERS]
