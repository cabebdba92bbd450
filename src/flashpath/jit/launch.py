"""Puts a kernel on a GPU: loads its cubin, checks the shape of a launch, and launches it.

cuda-core loads the code. The launch itself goes straight to the driver with parameters packed once:
that is less host time than building an argument holder per call (benchmarks/launch_cost.py).
"""

from __future__ import annotations

import functools
import importlib
import sys
import threading
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from flashpath.errors import FlashpathError
from flashpath.gpus import runs_on
from flashpath.jit import device as cuda

Dim3 = tuple[int, int, int]
Dim = int | Sequence[int]


class LaunchError(FlashpathError):
    """The shape of a launch is not possible. Nothing has run."""


@dataclass(frozen=True)
class Shape:
    """The shape of a launch: everything between the triple angle brackets, and the attributes beside them."""

    grid: Dim3
    block: Dim3
    shared: int = 0
    cluster: Dim3 | None = None
    cooperative: bool = False


def dim3(value: Dim, what: str) -> Dim3:
    """(x,), (x, y), (x, y, z) or a bare x, as CUDA's dim3."""
    parts: tuple[Any, ...] = tuple(value) if isinstance(value, Iterable) else (value,)
    if not 1 <= len(parts) <= 3 or not all(hasattr(part, "__index__") for part in parts):
        raise LaunchError(f"{what} is {value!r}.", f"Give one to three integers: {what}=(x, y, z).")
    whole = [int(part) for part in parts]
    if any(part < 1 for part in whole):
        hint = "Round up: (n + block - 1) // block; for n = 0 there is nothing to launch."
        raise LaunchError(f"{what} is {tuple(whole)}: every dimension must be at least 1.", hint)
    x, y, z = (*whole, 1, 1)[:3]
    return x, y, z


class LoadedKernel:
    """A kernel in the memory of one GPU."""

    def __init__(self, name: str, lowered: str, cubin: bytes, arch: str, index: int) -> None:
        self.name = name
        self.device = cuda.device(index)
        if not runs_on(arch, self.device.capability):
            raise LaunchError(
                f"{name} was compiled for {arch}; cuda:{index} ({self.device.name}) is {self.device.arch}.",
                "Leave arch= out of fp.compile, or name this GPU's own architecture.",
            )
        self._core_kernel: Any = _load(cubin).get_kernel(lowered)
        self._bindings = cuda.driver()
        self._launch: Any = self._bindings.cuLaunchKernel
        self._launch_extended: Any = self._bindings.cuLaunchKernelEx
        self._handle: Any = self._core_kernel.handle
        self._function: Any = self._bindings.CUfunction(int(self._handle))
        self.max_threads = self._attribute("MAX_THREADS_PER_BLOCK")
        self.static_shared = self._attribute("SHARED_SIZE_BYTES")
        self._opted_in = 48 * 1024 - self.static_shared
        self._ready: dict[Shape, tuple[Any, ...] | None] = {}

    @property
    def handle(self) -> int:
        """The driver's handle of the kernel."""
        return int(self._handle)

    def _attribute(self, name: str) -> int:
        which = getattr(self._bindings.CUfunction_attribute, f"CU_FUNC_ATTRIBUTE_{name}")
        device = cuda.checked(self._bindings.cuDeviceGet(self.device.index), "cuDeviceGet")
        return int(cuda.checked(self._bindings.cuKernelGetAttribute(which, self._handle, device), name))

    def launch(self, shape: Shape, stream: int, parameters: int) -> None:
        """Launch on a raw stream; `parameters` is the address of the array of parameter pointers."""
        try:
            plain = self._ready[shape]
        except KeyError:
            plain = self._ready[shape] = self._prepare(shape)
        if plain is not None:
            (status,) = self._launch(self._function, *plain, stream, parameters, 0)
        else:
            config = self._extended(shape, stream)
            (status,) = self._launch_extended(config, self._function, parameters, 0)
        if status != 0:
            cuda.checked((status,), f"Launching {self.name}")

    def _prepare(self, shape: Shape) -> tuple[Any, ...] | None:
        """Check a shape the first time it is met; plain launches get their seven numbers ready."""
        self._check(shape)
        if shape.shared > self._opted_in:
            attribute = self._bindings.CUfunction_attribute.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
            device = cuda.checked(self._bindings.cuDeviceGet(self.device.index), "cuDeviceGet")
            result = self._bindings.cuKernelSetAttribute(attribute, shape.shared, self._handle, device)
            cuda.checked(result, f"Opting {self.name} in to {shape.shared} bytes of shared memory")
            self._opted_in = shape.shared
        if shape.cluster is None and not shape.cooperative:
            return (*shape.grid, *shape.block, shape.shared)
        return None

    def _extended(self, shape: Shape, stream: int) -> Any:
        bindings = self._bindings
        config = bindings.CUlaunchConfig()
        config.gridDimX, config.gridDimY, config.gridDimZ = shape.grid
        config.blockDimX, config.blockDimY, config.blockDimZ = shape.block
        config.sharedMemBytes = shape.shared
        config.hStream = stream
        attributes: list[Any] = []
        if shape.cluster is not None:
            attribute = bindings.CUlaunchAttribute()
            attribute.id = bindings.CUlaunchAttributeID.CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION
            cluster = attribute.value.clusterDim
            cluster.x, cluster.y, cluster.z = shape.cluster
            attributes.append(attribute)
        if shape.cooperative:
            attribute = bindings.CUlaunchAttribute()
            attribute.id = bindings.CUlaunchAttributeID.CU_LAUNCH_ATTRIBUTE_COOPERATIVE
            attribute.value.cooperative = 1
            attributes.append(attribute)
        config.attrs = attributes
        config.numAttrs = len(attributes)
        return config

    def _check(self, shape: Shape) -> None:
        for what, got, most in (
            ("grid", shape.grid, self.device.max_grid),
            ("block", shape.block, self.device.max_block),
        ):
            for axis, size, limit in zip("xyz", got, most, strict=True):
                if size > limit:
                    raise LaunchError(
                        f"{what}.{axis} is {size}; {self.device.name} allows {limit}.",
                        "Use a grid-stride loop, or another axis."
                        if what == "grid"
                        else "Use smaller blocks.",
                    )
        threads = shape.block[0] * shape.block[1] * shape.block[2]
        if threads > self.device.max_threads_per_block:
            raise LaunchError(
                f"block {shape.block} has {threads} threads; a block has at most "
                f"{self.device.max_threads_per_block}.",
                "Use smaller blocks and more of them.",
            )
        if threads > self.max_threads:
            raise LaunchError(
                f"block {shape.block} has {threads} threads; {self.name} was compiled for at most "
                f"{self.max_threads} (its registers or its __launch_bounds__).",
                "Use smaller blocks, or raise __launch_bounds__; flashpath explain shows its registers.",
            )
        if shape.shared + self.static_shared > self.device.max_shared_per_block:
            raise LaunchError(
                f"{self.name} asks for {shape.shared} bytes of dynamic and {self.static_shared} of static "
                f"shared memory; a block of {self.device.name} has at most "
                f"{self.device.max_shared_per_block}.",
                "Use smaller tiles or fewer stages.",
            )
        if shape.cluster is not None and any(
            blocks % size for blocks, size in zip(shape.grid, shape.cluster, strict=True)
        ):
            raise LaunchError(
                f"grid {shape.grid} is no multiple of cluster {shape.cluster}.", "Round the grid up."
            )


@functools.lru_cache(maxsize=512)
def _load(cubin: bytes) -> Any:
    core: Any = importlib.import_module("cuda.core")
    return core.ObjectCode.from_cubin(cubin)


def stream_handle(stream: Any, device: int) -> int:
    """The raw handle of a stream: of torch, of cuda-core, or a number; None is torch's current stream."""
    if stream is None:
        torch: Any = sys.modules.get("torch")
        # The function that Triton asks too: a tenth of the cost of building a torch.cuda.Stream.
        current = getattr(torch._C, "_cuda_getCurrentRawStream", None) if torch is not None else None
        return current(device) if current is not None else 0
    if isinstance(stream, int):
        return stream
    if hasattr(stream, "cuda_stream"):  # torch.cuda.Stream
        return int(stream.cuda_stream)
    if hasattr(stream, "__cuda_stream__"):  # cuda-core, CuPy and others by protocol
        return int(stream.__cuda_stream__()[1])
    raise LaunchError(
        f"stream is {stream!r}.", "Pass a torch.cuda.Stream, a cuda.core.Stream, a raw handle, or None."
    )


_thread = threading.local()  # .ready: this thread has had a context made current


def launch_on(loaded: LoadedKernel, shape: Shape, stream: int, parameters: int) -> None:
    """Launch with the kernel's GPU current in this thread, and what was current before restored after."""
    device = loaded.device.index
    if getattr(_thread, "ready", False) and (cuda.count() == 1 or _current_device() == device):
        loaded.launch(shape, stream, parameters)
        return
    bindings = cuda.driver()
    before = cuda.checked(bindings.cuCtxGetCurrent(), "cuCtxGetCurrent")
    core: Any = importlib.import_module("cuda.core")
    core.Device(device).set_current()  # the primary context, the one that torch uses
    _thread.ready = True
    try:
        loaded.launch(shape, stream, parameters)
    finally:
        if int(before):
            cuda.checked(bindings.cuCtxSetCurrent(before), "cuCtxSetCurrent")


def _current_device() -> int:
    return int(cuda.checked(cuda.driver().cuCtxGetDevice(), "cuCtxGetDevice"))


def default_device() -> int:
    """Where a launch goes whose arguments name no device: torch's current GPU, else the first."""
    torch: Any = sys.modules.get("torch")
    if torch is not None and torch.cuda.is_available() and torch.cuda.is_initialized():
        return int(torch.cuda.current_device())
    return 0
