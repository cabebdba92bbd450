"""A kernel in the memory of a GPU: loaded by cuda-core, its launches checked against the GPU's limits."""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable
from typing import Any

from flashpath.gpus import runs_on
from flashpath.gpus.shape import LaunchError, Shape, check_shape
from flashpath.jit import device as cuda
from flashpath.messages import Message

# (stream, address of the parameter pointers, 0) → the driver's status in a tuple
Launch = Callable[[int, int, int], tuple[int]]


class LoadedKernel:
    """A kernel in the memory of one GPU."""

    def __init__(self, name: str, lowered: str, cubin: bytes, arch: str, index: int) -> None:
        self.name = name
        self.device = cuda.device(index)
        if not runs_on(arch, self.device.capability):
            raise LaunchError(
                "jit.compiled-for-another-gpu",
                kernel=name,
                arch=arch,
                index=index,
                gpu=self.device.name,
                own=self.device.arch,
            )
        self._bindings = cuda.driver()
        self._core_kernel: Any = _load(cubin).get_kernel(lowered)  # unloads the code when it goes
        self._handle: Any = self._core_kernel.handle
        self.max_threads = self._attribute("MAX_THREADS_PER_BLOCK")
        self.static_shared = self._attribute("SHARED_SIZE_BYTES")
        self._opted_in = 48 * 1024 - self.static_shared

    @property
    def handle(self) -> int:
        """The driver's handle of the kernel."""
        return int(self._handle)

    def _attribute(self, name: str) -> int:
        which = getattr(self._bindings.CUfunction_attribute, f"CU_FUNC_ATTRIBUTE_{name}")
        device = cuda.checked(self._bindings.cuDeviceGet(self.device.index), "cuDeviceGet")
        return int(cuda.checked(self._bindings.cuKernelGetAttribute(which, self._handle, device), name))

    def prepare(self, shape: Shape) -> Launch:
        """Check a shape, and make ready what is the same for all its launches."""
        check_shape(shape, self.device, self.name, self.max_threads, self.static_shared)
        if shape.shared > self._opted_in:
            attribute = self._bindings.CUfunction_attribute.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
            device = cuda.checked(self._bindings.cuDeviceGet(self.device.index), "cuDeviceGet")
            result = self._bindings.cuKernelSetAttribute(attribute, shape.shared, self._handle, device)
            doing = Message("jit.doing-opt-in", {"kernel": self.name, "bytes": shape.shared})
            cuda.checked(result, doing)
            self._opted_in = shape.shared
        function = self._bindings.CUfunction(int(self._handle))
        if shape.cluster is None and not shape.cooperative:
            return functools.partial(
                self._bindings.cuLaunchKernel, function, *shape.grid, *shape.block, shape.shared
            )

        def launch_extended(stream: int, parameters: int, extra: int) -> tuple[int]:
            config = self._extended(shape, stream)
            return self._bindings.cuLaunchKernelEx(config, function, parameters, extra)

        return launch_extended

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


@functools.lru_cache(maxsize=512)
def _load(cubin: bytes) -> Any:
    core: Any = importlib.import_module("cuda.core")
    return core.ObjectCode.from_cubin(cubin)
