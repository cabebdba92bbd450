"""How rungs get their device code: CUDA C++ through `fp.jit`, Triton through its own compiler."""

from __future__ import annotations

import functools
import importlib
import inspect
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any, Protocol

from flashpath import settings
from flashpath.gpus import parse_arch
from flashpath.jit import Kernel, compile
from flashpath.jit import device as cuda
from flashpath.kernels.rung import Rung
from flashpath.kernels.where import Where
from flashpath.vgpu.profiles import profile_for

# How kernels spell the element types of tensors.
CPP_TYPES = {
    "float64": "double",
    "float32": "float",
    "float16": "__half",
    "bfloat16": "__nv_bfloat16",
    "int32": "int",
}
Defines = tuple[tuple[str, str], ...]


class Follower(Protocol):
    """Notes what a rung's host function would launch, in the place of launching it."""

    sm_count: Any
    max_shared: Any

    def kernel(self, compiled: Callable[[str], Kernel]) -> Any:
        """Stands for a kernel; `compiled` makes the real one, for an architecture."""
        ...

    def apart(self, one: Any, other: Any) -> None:
        """The host function has found that two tensors share no memory."""
        ...


follower: Follower | None = None
"""At most one: see `flashpath.kernels.exporting`."""


@functools.cache
def _cuda_kernel(file: Path, name: str, arch: str, defines: Defines = ()) -> Kernel:
    return compile(file, arch=arch, defines=dict(defines), name_expressions=[name], assemble=False)[name]


def cuda_kernel(file: Path, name: str, tensor: Any, defines: Defines = ()) -> Kernel:
    """The kernel `name` of a rung's file, compiled for the GPU that the tensor is on.

    `defines` are macros and what they stand for.
    """
    if follower is not None:
        return follower.kernel(lambda arch: _cuda_kernel(file, name, arch, defines))
    index = tensor.get_device()
    arch = cuda.device(index).arch if index >= 0 else cuda.default_arch()
    return _cuda_kernel(file, name, arch, defines)


def cuda_compiles_for(file: Path, name: str) -> Callable[[str], object]:
    """For a rung's entry: compile its kernel for any architecture, machine code included."""

    def compile_for(arch: str) -> Kernel:
        kernel = _cuda_kernel(file, name, arch)
        assert kernel.module.cubin
        return kernel

    return compile_for


def cuda_rung(function: Callable[..., Any], kernel: str, file: Path | None = None, **more: Any) -> Rung:
    """Returns a rung in CUDA C++ that is named after its host function; `kernel` is one to compile.

    The kernel is in the file of that name beside the host function, or in `file`.
    """
    name = function.__name__
    file = file or Path(inspect.getfile(function)).with_name(f"{name}.cu")
    return Rung(name=name, file=file, function=function, compile_for=cuda_compiles_for(file, kernel), **more)


def triton_compiles_for(
    kernel: Callable[[], Any], signature: Mapping[str, str], constexprs: Mapping[str, Any], **options: Any
) -> Callable[[str], Any]:
    """For a rung's entry: compile a `@triton.jit` function with no GPU. `kernel` imports it when asked.

    Options are the compiler's: `num_warps=8, num_stages=3`.
    """

    def compile_for(arch: str) -> Any:
        triton: Any = importlib.import_module("triton")
        compiler: Any = importlib.import_module("triton.compiler")
        backends: Any = importlib.import_module("triton.backends.compiler")
        target = parse_arch(arch)
        types = {**signature, **dict.fromkeys(constexprs, "constexpr")}
        source = compiler.ASTSource(fn=kernel(), signature=types, constexprs=dict(constexprs))
        gpu = backends.GPUTarget("cuda", target.major * 10 + target.minor, 32)
        return triton.compile(source, target=gpu, options=options)

    return compile_for


def triton_compiles_by(call: Callable[[], object]) -> Callable[[str], Any]:
    """For a rung's entry: compile what `call` would launch on tensors of the CPU, and launch nothing.

    For kernels whose arguments are more than pointers and numbers: descriptors, tuples, features.
    """

    def compile_for(arch: str) -> Any:
        jit: Any = importlib.import_module("triton.runtime.jit")
        driver: Any = importlib.import_module("flashpath.vgpu.triton_driver")
        run, compiled = jit.JITFunction.run, list[Any]()

        def only_compile(kernel: Any, *args: Any, **options: Any) -> None:
            compiled.append(run(kernel, *args, **{**options, "warmup": True}))

        jit.JITFunction.run = only_compile
        try:
            with driver.triton(arch):
                call()
        finally:
            jit.JITFunction.run = run
        return compiled[-1]

    return compile_for


def triton_device(tensor: Any) -> AbstractContextManager[object]:
    """Where a Triton rung runs: on the tensor's GPU, or for a tensor on the CPU on the virtual GPU.

    A virtual GPU that the caller has switched on stays: it may be another one, and it may be counting.
    """
    if tensor.is_cuda and not settings.debug():
        return nullcontext()
    driver: Any = importlib.import_module("flashpath.vgpu.triton_driver")
    if tensor.is_cuda:
        driver.show_launches()
        return nullcontext()
    return nullcontext() if driver.active_driver() is not None else driver.triton()


def sm_count(tensor: Any, where: Where | None = None) -> int:
    """Returns the SMs of `where`, or of the GPU that a tensor is on; the virtual GPU counts as one SM."""
    if where is not None:
        return where.sm_count
    if follower is not None:
        return follower.sm_count
    return cuda.device(tensor.get_device()).sm_count if tensor.is_cuda else 1


def max_shared_per_block(tensor: Any, where: Where | None = None) -> int:
    """Returns the bytes of shared memory that a block can have: on `where`, or on the tensor's GPU."""
    if where is not None:
        return where.shared
    if follower is not None:
        return follower.max_shared
    if tensor.is_cuda:
        return cuda.device(tensor.get_device()).max_shared_per_block
    return profile_for(cuda.default_arch()).architecture.max_shared_per_block_bytes


def dtype_name(tensor: Any) -> str:
    """`float32` for a torch.float32 tensor."""
    return str(tensor.dtype).removeprefix("torch.")
