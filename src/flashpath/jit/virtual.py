"""`fp.profile`, and the arguments of CUDA kernels packed for a launch on the virtual GPU."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from flashpath import gpus
from flashpath.gpus import shape as shapes
from flashpath.jit.arguments import HOST, ArgumentError, Strided, shown, view_of
from flashpath.jit.tensor_map import TensorMap
from flashpath.vgpu.device import HostArray
from flashpath.vgpu.host_arrays import describe
from flashpath.vgpu.launch import Launch, MachineCode, Packed
from flashpath.vgpu.options import WARP_INSTRUCTION_BUDGET, Options
from flashpath.vgpu.profiles import profile_for
from flashpath.vgpu.report import FIRST_ACCESSES, Report, Trace
from flashpath.vgpu.tensor_maps import ADDRESS
from flashpath.vgpu.whole import truth

if TYPE_CHECKING:
    from flashpath.jit.module import Kernel

# ---- Arrays --------------------------------------------------------------------------------------------


def host_arrays(kernel: Kernel, args: Sequence[Any]) -> list[HostArray]:
    """The arrays among a launch's arguments. Null pointers and bare addresses stay what they are."""
    found: list[HostArray] = []
    for parameter, argument in zip(kernel.signature.parameters, args, strict=True):
        if parameter.kind == "bytes" and isinstance(argument, TensorMap):
            found.append(describe(parameter.offset + ADDRESS, argument.array))
        if parameter.kind != "pointer" or argument is None:
            continue
        array = argument.tensor if isinstance(argument, Strided) else argument
        if view_of(array) is not None:
            described = describe(parameter.offset, array)
            if described.address:
                found.append(described)
    return found


# ---- Launches ------------------------------------------------------------------------------------------


def ready(
    kernel: Kernel,
    shape: shapes.LaunchShape,
    args: Sequence[Any],
    gpu: gpus.Gpu,
    arrays: Sequence[HostArray] | None = None,
) -> Launch:
    """Returns the launch of a kernel whose arguments have been checked.

    `arrays` are those of the arguments, where the caller knows more of them than they themselves tell.
    """

    def named(offset: int) -> tuple[int, str]:
        parameter = next(each for each in kernel.signature.parameters if each.offset in (offset, offset - ADDRESS))
        return parameter.index, str(parameter)

    packed = Packed(
        kernel.packer.packed(),
        host_arrays(kernel, args) if arrays is None else arrays,
        named=named,
        shown=lambda: shown(kernel.signature, args),
    )
    code = MachineCode(lambda: kernel.resources, kernel.module.is_assembled, kernel.max_threads)
    return Launch(kernel.virtual, shape, packed, gpu, code)


def profile(
    kernel: Any,
    grid: Any,
    block: shapes.Dim | None = None,
    args: Sequence[Any] = (),
    device: str | None = None,
    shared: int = 0,
    *,
    exact: bool = True,
    budget: int = WARP_INSTRUCTION_BUDGET,
    threads: int | None = None,
    trace: Trace = FIRST_ACCESSES,
    cooperative: bool = False,
    cluster: shapes.Dim | None = None,
    sanitize: bool = False,
    **options: Any,
) -> Report:
    """Run a kernel on the virtual GPU, on arrays of the CPU, and count what it does.

    `device` names the GPU whose limits, occupancy, roofline and arithmetic are meant; it changes no count.
    With `exact` results have the bits of that GPU, where they are known; without, tensor cores and functions
    are computed faster, and differ in the last places. A launch that runs more than `budget` instructions of
    warps is stopped. Blocks run on as many `threads` of the host; where none are named, on all cores unless
    the order of blocks could be seen in the results. In a `cooperative` launch they may wait for each other;
    blocks of a `cluster` see each other's shared memory.

    `trace` chooses the accesses whose addresses are kept (`report.accesses`): by default the first of every
    instruction. With `sanitize` on, `report.findings` lists what `fp.sanitize` would, and a fault is among
    them instead of raised; the counts are then those up to it. A `@triton.jit` kernel brings its own blocks
    and shared memory; `options` are its keyword arguments.
    """
    wanted = Options(exact=exact, count=True, sanitize=sanitize, budget=budget, threads=threads, trace=trace)
    check_launch("fp.profile", kernel, block, args, shared, cooperative, options, cluster)
    if is_triton(kernel):
        return triton_driver().profile(kernel, grid, args, device, wanted, options)
    shape, gpu = prepared("fp.profile", kernel, grid, block, args, device, shared, cooperative, cluster)
    report = ready(kernel, shape, args, gpu).run(wanted).report
    assert report is not None
    return report


def check_launch(
    caller: str,
    kernel: Any,
    block: object,
    args: object,
    shared: object,
    cooperative: bool,
    options: Mapping[str, Any],
    cluster: shapes.Dim | None = None,
) -> None:
    """Refuse what is no kernel, and options that are not of its kind."""
    if not isinstance(args, Sequence) or isinstance(args, str):
        raise ArgumentError("jit.args", value=f"{args!r:.80}")
    if truth(cooperative) is None:
        raise ArgumentError("jit.cooperative", value=f"{cooperative!r:.80}")
    if is_triton(kernel):
        if block is not None or shared or cooperative or cluster is not None:
            raise ArgumentError("jit.triton-chooses", caller=caller)
        return
    if not hasattr(kernel, "packer"):
        raise ArgumentError("jit.not-a-kernel", caller=caller, value=f"{kernel!r:.80}")
    if options:
        raise ArgumentError("jit.options-of-cuda", caller=caller, names=list(options), kernel=kernel.name)
    if block is None:
        raise ArgumentError("jit.no-block", caller=caller, kernel=kernel.name)


def prepared(
    caller: str,
    kernel: Kernel,
    grid: shapes.Dim,
    block: Any,
    args: Sequence[Any],
    device: str | None,
    shared: int,
    cooperative: bool,
    cluster: shapes.Dim | None = None,
) -> tuple[shapes.LaunchShape, gpus.Gpu]:
    """The shape of a launch and the GPU that is played, once the arguments are checked and packed."""
    shape = shapes.LaunchShape(
        shapes.dim3(grid, "grid"),
        shapes.dim3(block, "block"),
        shapes.shared_bytes(shared),
        None if cluster is None else shapes.dim3(cluster, "cluster"),
        cooperative,
    )
    _, where = kernel.packer.pack(args)
    if where > HOST:
        raise ArgumentError("jit.arrays-on-gpu", caller=caller, index=where, kernel=kernel.name)
    return shape, profile_for(kernel.arch, device)


def is_triton(kernel: Any) -> bool:
    """Whether it is a `@triton.jit` function, or one that an autotuner or heuristics wrap."""
    triton: Any = sys.modules.get("triton.runtime.jit")  # whoever has such a function has imported Triton
    return triton is not None and isinstance(kernel, triton.KernelInterface)


def triton_driver() -> Any:
    """Imports and returns the module that runs Triton's kernels."""
    return importlib.import_module("flashpath.vgpu.triton_driver")  # imports Triton
