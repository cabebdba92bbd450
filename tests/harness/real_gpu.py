"""Runs kernels on this machine's GPU, for the programs that make golden files.

NumPy and cuda-bindings are all that it needs.
"""

from __future__ import annotations

import importlib
from collections.abc import Collection, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Extent = tuple[int, int, int]
_LARGEST_UNASKED = 48 << 10  # of dynamic shared memory


class Gpu:
    """The first GPU of this machine, and the modules that were loaded on it."""

    def __init__(self) -> None:
        self._driver: Any = importlib.import_module("cuda.bindings.driver")
        self._call("cuInit", 0)
        device = self._call("cuDeviceGet", 0)
        self._call("cuCtxSetCurrent", self._call("cuDevicePrimaryCtxRetain", device))
        attributes = self._driver.CUdevice_attribute
        major, minor = (
            self._call("cuDeviceGetAttribute", each, device)
            for each in (
                attributes.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR,
                attributes.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR,
            )
        )
        self.target = f"sm_{major}{minor}"
        self.name: str = self._call("cuDeviceGetName", 96, device).split(b"\0")[0].decode()
        self.driver_version: int = self._call("cuDriverGetVersion")
        self._modules: dict[bytes, Any] = {}

    def _call(self, function: str, *arguments: Any) -> Any:
        status, *values = getattr(self._driver, function)(*arguments)
        if int(status) != 0:
            raise RuntimeError(f"{function}: the CUDA driver answers {status}")
        return values[0] if len(values) == 1 else values

    def run(
        self,
        image: bytes,
        kernel: str,
        grid: Extent,
        block: Extent,
        arguments: Sequence[Any],
        outputs: Collection[int],
        shared: int = 0,
    ) -> None:
        """Launch a kernel of a cubin, or of PTX that ends with a zero byte, and wait for its end.

        Arrays among the arguments are copied to the GPU; those at the places `outputs` get what the kernel
        left there. Of a scalar its NumPy type says its size.
        """
        if image not in self._modules:
            self._modules[image] = self._call("cuModuleLoadData", image)
        function = self._call("cuModuleGetFunction", self._modules[image], kernel.encode())
        if shared > _LARGEST_UNASKED:
            attribute = self._driver.CUfunction_attribute.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
            self._call("cuFuncSetAttribute", function, attribute, shared)
        values: list[NDArray[Any]] = []  # what is passed: of an array its address
        for argument in arguments:
            if isinstance(argument, np.ndarray):
                address = int(self._call("cuMemAlloc", argument.nbytes))
                self._call("cuMemcpyHtoD", address, argument.ctypes.data, argument.nbytes)
                values.append(np.array([address], np.uint64))
            else:
                values.append(np.array([argument]))
        pointers = np.array([value.ctypes.data for value in values], np.uint64)
        self._call("cuLaunchKernel", function, *grid, *block, shared, 0, pointers.ctypes.data, 0)
        self._call("cuCtxSynchronize")
        for k, (argument, value) in enumerate(zip(arguments, values, strict=True)):
            if not isinstance(argument, np.ndarray):
                continue
            if k in outputs:
                self._call("cuMemcpyDtoH", argument.ctypes.data, int(value[0]), argument.nbytes)
            self._call("cuMemFree", int(value[0]))
