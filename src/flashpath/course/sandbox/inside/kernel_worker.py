"""The child that compiles CUDA C++ and runs kernels on the virtual GPU. It runs no code of a learner's: a
kernel is text for a compiler, and what comes of it is played by the engine."""

from __future__ import annotations

import math
import sys
import time
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, BinaryIO, Protocol

import numpy as np

from flashpath import gpus
from flashpath.course.expressions import ExpressionError, evaluate
from flashpath.errors import FlashpathError
from flashpath.gpus.shape import LaunchShape, dim3, shared_bytes
from flashpath.jit import assembler, nvrtc, ptx, toolkit
from flashpath.jit.cache import CacheWarning
from flashpath.jit.compiler import compile as compile_source
from flashpath.jit.module import Kernel
from flashpath.jit.signature import Parameter as KernelParameter
from flashpath.jit.virtual import host_arrays, ready
from flashpath.messages import catalogue
from flashpath.vgpu.cubin import Resources, read_resources
from flashpath.vgpu.device import HostArray, VirtualModule
from flashpath.vgpu.findings import Finding, merged, without_notes
from flashpath.vgpu.host_arrays import describe
from flashpath.vgpu.launch import Launch, MachineCode, Packed
from flashpath.vgpu.options import Options
from flashpath.vgpu.report import Report
from flashpath.vgpu.triton_places import library_name, with_calls

from . import failures, frames

Array = np.ndarray[Any, Any]
Message = Mapping[str, Any]
_HEADERS = Path(__file__).parents[1] / "headers"  # those of the standard library that device code can do with


def prepare(plan: Message) -> None:
    """Load the compilers before files are out of reach."""
    del plan
    nvrtc.version()
    assembler.version()
    toolkit.headers()
    gpus.gpus()
    for room in ("messages", "gpus", "jit", "vgpu"):
        catalogue(room)
    warnings.simplefilter("ignore", CacheWarning)  # it would stand under what the kernel printed


def serve(requests: BinaryIO, answers: BinaryIO, folder: str, state: None) -> None:
    """Build once, then run as often as asked."""
    del folder, state
    kernel: Launchable | None = None
    while True:
        try:
            message, arrays = frames.read_frame(requests)
        except frames.Closed:
            return
        try:
            if message["do"] == "build":
                kernel = CudaKernel(message)
                frames.write_frame(answers, {"ok": True})
            elif message["do"] == "load":
                kernel = PtxKernel(message, arrays[0].tobytes().decode(errors="replace"))
                frames.write_frame(answers, {"ok": True})
            else:
                assert kernel is not None
                header, results = _run(kernel, message, arrays)
                frames.write_frame(answers, {"ok": True, **header}, results)
        except FlashpathError as error:
            frames.write_frame(answers, failures.as_answer(error))
        except MemoryError:
            no_memory = FlashpathError("course.sandbox.no-memory").said
            frames.write_frame(answers, {"failed": no_memory.as_data(), "diagnostics": []})
        except Exception as error:  # ours to mend; a learner is not shown where in the engine it was
            frames.write_frame(answers, {"defect": f"{type(error).__name__}: {error}"[:2000]})


# ---- One launch ----------------------------------------------------------------------------------------


class Launchable(Protocol):
    """A kernel that is ready to run, wherever its PTX came from."""

    @property
    def offsets(self) -> Sequence[int]: ...
    def restore(self) -> None: ...
    def arrays(self, arguments: Sequence[Any]) -> list[HostArray]: ...
    def launch(self, message: Message, arguments: Sequence[Any], arrays: Sequence[HostArray]) -> Launch: ...


def _run(kernel: Launchable, message: Message, arrays: Sequence[Array]) -> tuple[dict[str, Any], list[Array]]:
    """One launch, from the module's first state."""
    writable: list[int] = sorted(message["writable"])
    unset: list[int] = message["unset"]
    arguments: list[Any] = []
    given = iter(arrays)
    for index, value in enumerate(message["arguments"]):
        if value == "array":
            array = next(given)
            array.flags.writeable = index in writable
            arguments.append(array)
        else:
            arguments.append(value)
    kernel.restore()
    meaningless = {kernel.offsets[index] for index in unset}
    placed = [
        replace(each, initialised=False) if each.parameter in meaningless else each
        for each in kernel.arrays(arguments)
    ]
    counted, sanitised = bool(message["counts"]), bool(message["sanitize"])
    options = Options(
        count=counted, sanitize=sanitised, accessed=sanitised, budget=message["budget"], seed=message["seed"]
    )
    started = time.perf_counter()
    launched = kernel.launch(message, arguments, placed).run(options)
    seconds = time.perf_counter() - started
    results = [arguments[index] for index in writable]
    where = dict(zip((array.parameter for array in placed), launched.addresses, strict=True))
    firsts = [where.get(kernel.offsets[index], 0) for index in writable]
    stored = _written(results, firsts, launched.result.written)
    sys.stdout.flush()
    found = without_notes(merged(launched.findings))
    return _header(found, launched.report, message, seconds), [*results, *stored]


def _header(
    findings: Sequence[Finding], report: Report | None, message: Message, seconds: float
) -> dict[str, Any]:
    counts: dict[str, float] = {}
    if report is not None:
        for expression in message["counts"]:
            try:
                counts[expression] = float(evaluate(expression, {**message["names"], "report": report}))
            except (ExpressionError, TypeError):  # such as a share of loads, where nothing was loaded
                counts[expression] = math.nan
    return {"findings": [finding.as_data() for finding in findings], "counts": counts, "seconds": seconds}


def _written(
    results: Sequence[Array], firsts: Sequence[int], ranges: Sequence[tuple[int, int]]
) -> list[Array]:
    """Returns which elements of each array were stored whole; `firsts` are their device addresses."""
    made: list[Array] = []
    for array, first in zip(results, firsts, strict=True):
        stored = np.zeros(array.nbytes, np.bool_)
        for begin, end in ranges:
            low, high = max(begin - first, 0), min(end - first, array.nbytes)
            if low < high:
                stored[low:high] = True
        made.append(np.asarray(stored.reshape(*array.shape, array.itemsize).all(axis=-1)))
    return made


# ---- CUDA ----------------------------------------------------------------------------------------------


class CudaKernel:
    """A kernel that was compiled from a learner's file, with its module's variables as they began."""

    def __init__(self, message: Message) -> None:
        name = message["kernel"]
        module = compile_source(
            message["source"],
            message["arch"],
            message["constants"],
            [_HEADERS] if "include" in message["source"] else [],
            name_expressions=[name] if "<" in name else [],
            assemble=False,
            source_name=message["file_name"],
        )
        self.kernel: Kernel = module[name]
        _check_parameters(self.kernel, message["parameters"])
        self.virtual = self.kernel.virtual
        self.offsets = [each.offset for each in self.kernel.signature.parameters]
        self._beginning = self.virtual.program.save()

    def restore(self) -> None:
        self.virtual.program.restore(self._beginning)

    def arrays(self, arguments: Sequence[Any]) -> list[HostArray]:
        self.kernel.packer.pack(arguments)
        return host_arrays(self.kernel, arguments)

    def launch(self, message: Message, arguments: Sequence[Any], arrays: Sequence[HostArray]) -> Launch:
        shape = LaunchShape(
            dim3(tuple(message["grid"]), "grid"),
            dim3(tuple(message["block"]), "block"),
            shared_bytes(message["shared"]),
        )
        return ready(self.kernel, shape, arguments, gpus.gpu(message["gpu"]), arrays)


def _called_with(wanted: Sequence[Message]) -> str:
    return ", ".join(f"{each['dtype']}{'*' if each['is_array'] else ''} {each['name']}" for each in wanted)


def _check_parameters(kernel: Kernel, wanted: Sequence[Message]) -> None:
    """Refuse a kernel that takes other arguments than the exercise gives."""
    called = _called_with(wanted)
    own = kernel.signature.parameters
    if len(own) != len(wanted):
        raise FlashpathError(
            "course.sandbox.other-parameter-count",
            kernel=kernel.name,
            count=len(own),
            signature=str(kernel.signature),
            called=called,
        )
    for parameter, each in zip(own, wanted, strict=True):
        if not _takes(parameter, each["dtype"], each["is_array"]):
            raise FlashpathError(
                "course.sandbox.other-parameter",
                place=parameter.index + 1,
                kernel=kernel.name,
                name=each["name"],
                parameter=str(parameter),
                called=called,
            )


def _takes(parameter: KernelParameter, dtype: str, is_array: bool) -> bool:
    if is_array:
        accepted = parameter.dtypes
        return parameter.kind == "pointer" and (accepted is None or dtype in accepted)
    if dtype.startswith(("int", "uint", "bool")):
        return parameter.kind == "integer"
    return parameter.kind in ("float", "float16", "bfloat16")


# ---- PTX that Triton made ------------------------------------------------------------------------------

_POINTER_BYTES = 8


class PtxKernel:
    """A kernel of a PTX text that another child made. Nothing of what that child says is trusted: sizes are
    compared with the PTX, and the PTX with what the exercise passes."""

    def __init__(self, message: Message, text: str) -> None:
        self._name: str = message["name"]
        self._arch: str = message["arch"]
        self._text = text
        self._dtypes = [each["dtype"] for each in message["parameters"]]
        self._shared, self._threads = int(message["shared"]), int(message["num_warps"]) * gpus.WARP_SIZE
        entry = next((each for each in ptx.entries(text) if each.name == self._name), None)
        if entry is None:
            raise FlashpathError("course.sandbox.ptx-without-kernel", kernel=self._name)
        self._most_threads = entry.max_threads
        self.offsets = self._laid_out(entry.parameters, message["parameters"])
        self._module = VirtualModule(with_calls(text, library_name), library_name)
        self.virtual = self._module.kernel(self._name)
        self._size = self.virtual.program.parameter_bytes
        self._beginning = self.virtual.program.save()
        self._used: Resources | None = None

    def _laid_out(self, own: Sequence[ptx.PtxParameter], wanted: Sequence[Message]) -> list[int]:
        """Where the arguments go. After them Triton has pointers of its own, which stay null."""
        offsets: list[int] = []
        at = 0
        for each in own:
            at = -(-at // each.align) * each.align
            offsets.append(at)
            at += each.size
        sizes = [
            _POINTER_BYTES if each["is_array"] else frames.dtype_named(each["dtype"]).itemsize
            for each in wanted
        ]
        extra = own[len(wanted) :]
        fits = len(own) >= len(wanted) and all(each.size == _POINTER_BYTES for each in extra)
        if not fits or [each.size for each in own[: len(wanted)]] != sizes:
            raise FlashpathError(
                "course.sandbox.ptx-other-parameters", kernel=self._name, called=_called_with(wanted)
            )
        return offsets[: len(wanted)]

    def restore(self) -> None:
        self.virtual.program.restore(self._beginning)

    def arrays(self, arguments: Sequence[Any]) -> list[HostArray]:
        found = [
            describe(offset, value)
            for offset, value in zip(self.offsets, arguments, strict=True)
            if isinstance(value, np.ndarray)
        ]
        return [each for each in found if each.address]

    def launch(self, message: Message, arguments: Sequence[Any], arrays: Sequence[HostArray]) -> Launch:
        shape = LaunchShape(dim3(tuple(message["grid"]), "grid"), (self._threads, 1, 1), self._shared)
        packed = Packed(self._packed(arguments), arrays, named=self._named)
        code = MachineCode(self._resources, self._used is not None, self._most_threads)
        return Launch(self.virtual, shape, packed, gpus.gpu(message["gpu"]), code)

    def _named(self, offset: int) -> tuple[int, str]:
        index = self.offsets.index(offset)
        return index, f"*{self._dtypes[index]}"

    def _packed(self, arguments: Sequence[Any]) -> bytes:
        packed = bytearray(self._size)
        for offset, dtype, value in zip(self.offsets, self._dtypes, arguments, strict=True):
            if isinstance(value, np.ndarray):
                continue  # an address, which is put in by the launch
            bits = np.asarray(value, frames.dtype_named(dtype)).tobytes()
            packed[offset : offset + len(bits)] = bits
        return bytes(packed)

    def _resources(self) -> Resources:
        if self._used is None:
            cubin, log = assembler.assemble(self._text, self._arch, [])
            if cubin is None:
                raise FlashpathError(
                    "course.sandbox.assembler-refuses", kernel=self._name, log=log.strip()[:2000]
                )
            self._used = read_resources(cubin, self._name)
        return self._used
