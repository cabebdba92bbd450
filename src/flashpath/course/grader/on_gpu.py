"""A learner's kernel on a real GPU, in this process: compiled device code, and nothing of the learner's host.

CUDA C++ is compiled here, as on the virtual GPU. A Triton file is Python: a child makes PTX of it, and only
that comes here, after its parameters were compared with the exercise's.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from flashpath.bench.device import load_torch
from flashpath.course.content.exercise import Exercise, Launch
from flashpath.course.grader.launching import LIMITS, job_for
from flashpath.course.sandbox.triton_source import build_triton
from flashpath.errors import FlashpathError
from flashpath.gpus import WARP_SIZE
from flashpath.gpus.shape import LaunchShape
from flashpath.jit import assembler, device, ptx
from flashpath.jit import compile as compile_source
from flashpath.jit.launcher import require_launched
from flashpath.jit.loading import LoadedKernel

_SCALARS: Mapping[str, Any] = {
    "int32": ctypes.c_int32, "int64": ctypes.c_int64, "uint32": ctypes.c_uint32, "uint64": ctypes.c_uint64,
    "float32": ctypes.c_float, "float64": ctypes.c_double,
}  # fmt: skip


def launcher(
    exercise: Exercise, launch: Launch, source: str, shape: LaunchShape, values: Mapping[str, Any]
) -> Callable[[], None]:
    """What launches the kernel on the values of its arguments, by name: tensors and numbers."""
    if exercise.language == "triton":
        return _triton(exercise, launch, source, shape, values)
    kernel = compile_source(source, defines=dict(launch.constants))[launch.kernel]
    arguments = tuple(values[name] for name in launch.arguments)

    def call() -> None:
        kernel.launch(grid=shape.grid, block=shape.block, args=arguments, shared=shape.shared)

    return call


def _triton(
    exercise: Exercise, launch: Launch, source: str, shape: LaunchShape, values: Mapping[str, Any]
) -> Callable[[], None]:
    gpu = device.device(0)
    major, minor = gpu.capability
    name = exercise.solution.name if exercise.solution is not None else "kernel.py"
    job = job_for(exercise, launch, source, name, f"sm_{major}{minor}")
    built = build_triton(job, name, LIMITS)
    text = built.ptx.tobytes().decode()
    passed: list[Any] = [
        ctypes.c_uint64(values[each.name].data_ptr())
        if each.is_array
        else _SCALARS[each.dtype](values[each.name])
        for each in job.parameters
    ]
    passed += scratch(text, built.name, passed)
    addresses = (ctypes.c_void_p * len(passed))(*(ctypes.addressof(each) for each in passed))
    kernel = LoadedKernel(launch.kernel, built.name, machine_code(text, gpu.arch), gpu.arch, gpu.index)
    block = (built.num_warps * WARP_SIZE, 1, 1)
    prepared = kernel.prepare(LaunchShape(shape.grid, block, built.shared))
    torch = load_torch()

    def call(_alive: Sequence[Any] = passed) -> None:  # the values live as long as the addresses of them
        status = prepared(torch.cuda.current_stream().cuda_stream, ctypes.byref(addresses))
        require_launched(status, launch.kernel)

    return call


def scratch(text: str, name: str, passed: Sequence[Any]) -> list[Any]:
    """Null for the pointers that Triton adds at the end; what else differs is not of this exercise."""
    entry = next((each for each in ptx.entries(text) if each.name == name), None)
    sizes = [] if entry is None else [each.size for each in entry.parameters]
    extra = sizes[len(passed) :]
    pointer = ctypes.sizeof(ctypes.c_uint64)
    if sizes[: len(passed)] != [ctypes.sizeof(each) for each in passed] or set(extra) - {pointer}:
        raise FlashpathError("course.grader.other-parameters", name=name)
    return [ctypes.c_uint64(0) for _ in extra]


def machine_code(text: str, arch: str) -> bytes:
    # Triton names the target itself, such as sm_90a, and may use what only that one has.
    target = text.partition(".target ")[2].partition("\n")[0].strip().partition(",")[0] or arch
    code, log = assembler.assemble(text, target, ())
    if code is None:
        raise FlashpathError("course.grader.not-assembled", log=log[:300])
    return code
