"""A kernel in the memory of a GPU: loaded by cuda-core, its launches checked against the GPU's limits."""

from __future__ import annotations

import ctypes
import functools
import importlib
from collections.abc import Callable
from typing import Any

from flashpath.gpus import runs_on
from flashpath.gpus.shape import LaunchError, LaunchShape, check_shape
from flashpath.jit import device as cuda
from flashpath.jit import driver_calls
from flashpath.messages import Message

# (stream, parameter pointers by reference) → the driver's status
Launch = Callable[[int, Any], int]
_MOST_STREAMS = 64  # whose configurations are kept


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

    def prepare(self, shape: LaunchShape) -> Launch:
        """Check a shape, and make ready what is the same for all its launches."""
        check_shape(shape, self.device, self.name, self.max_threads, self.static_shared)
        if shape.shared > self._opted_in:
            attribute = self._bindings.CUfunction_attribute.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
            device = cuda.checked(self._bindings.cuDeviceGet(self.device.index), "cuDeviceGet")
            result = self._bindings.cuKernelSetAttribute(attribute, shape.shared, self._handle, device)
            doing = Message("jit.doing-opt-in", {"kernel": self.name, "bytes": shape.shared})
            cuda.checked(result, doing)
            self._opted_in = shape.shared
        return self._launch_of(shape)

    def _launch_of(self, shape: LaunchShape) -> Launch:
        configs, call, function = dict[int, Any](), driver_calls.launch(), ctypes.c_void_p(self.handle)

        def launch(stream: int, parameters: Any) -> int:
            try:
                config = configs[stream]
            except KeyError:
                if len(configs) >= _MOST_STREAMS:
                    configs.clear()
                config = configs[stream] = ctypes.byref(driver_calls.config(shape, stream))
            return call(config, function, parameters, None)

        return launch


@functools.lru_cache(maxsize=512)
def _load(cubin: bytes) -> Any:
    core: Any = importlib.import_module("cuda.core")
    return core.ObjectCode.from_cubin(cubin)
