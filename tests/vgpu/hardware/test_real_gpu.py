"""What the runner of the real GPU hands to the driver, seen with a driver that only moves bytes."""

from __future__ import annotations

import ctypes
import importlib
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from tests.harness.real_gpu import Gpu


class Driver:
    """Keeps memory on the host; its only kernel adds a number to each of four others."""

    CUdevice_attribute = SimpleNamespace(
        CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR=9, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR=0
    )
    CUfunction_attribute = SimpleNamespace(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES=8)

    def __init__(self) -> None:
        self.memory: dict[int, Any] = {}
        self.calls: list[str] = []

    def __getattr__(self, name: str) -> Any:
        """Of what needs no answer, and of what is only asked for."""
        answers = {"cuDeviceGetName": b"a GPU\0\0", "cuDriverGetVersion": 13000}

        def call(*arguments: Any) -> tuple[Any, ...]:
            self.calls.append(name)
            if name == "cuDeviceGetAttribute":
                return 0, arguments[0]
            return 0, answers.get(name)

        return call

    def cuMemAlloc(self, size: int) -> tuple[int, int]:
        buffer = ctypes.create_string_buffer(size)
        self.memory[ctypes.addressof(buffer)] = buffer
        return 0, ctypes.addressof(buffer)

    def cuMemFree(self, address: int) -> tuple[int]:
        del self.memory[address]
        return (0,)

    def cuMemcpyHtoD(self, to: int, source: int, size: int) -> tuple[int]:
        ctypes.memmove(to, source, size)
        return (0,)

    def cuMemcpyDtoH(self, to: int, source: int, size: int) -> tuple[int]:
        ctypes.memmove(to, source, size)
        return (0,)

    def cuLaunchKernel(self, function: Any, *launch: int) -> tuple[int]:
        *shape, shared, _, parameters, _ = launch
        assert (shape, shared) == ([2, 1, 1, 32, 1, 1], 64 << 10)
        pointers = ctypes.cast(parameters, ctypes.POINTER(ctypes.c_void_p))
        number = ctypes.c_uint32.from_address(pointers[0] or 0).value
        to, source = (ctypes.c_uint64.from_address(pointers[k] or 0).value for k in (1, 2))
        for k in range(4):
            value = ctypes.c_uint32.from_address(source + 4 * k).value
            ctypes.c_uint32.from_address(to + 4 * k).value = value + number
        return (0,)


def use(driver: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def import_module(name: str) -> Any:
        assert name == "cuda.bindings.driver"
        return driver

    monkeypatch.setattr(importlib, "import_module", import_module)


def test_arrays_go_there_and_results_come_back(monkeypatch: pytest.MonkeyPatch) -> None:
    driver = Driver()
    use(driver, monkeypatch)
    gpu = Gpu()
    assert (gpu.name, gpu.target, gpu.driver_version) == ("a GPU", "sm_90", 13000)
    result, numbers = np.zeros(4, np.uint32), np.arange(4, dtype=np.uint32)
    numbers.flags.writeable = False
    for added in (5, 7):
        arguments = (np.uint32(added), result, numbers)
        gpu.run(b"image", "k", (2, 1, 1), (32, 1, 1), arguments, outputs={1}, shared=64 << 10)
        assert result.tolist() == [added, added + 1, added + 2, added + 3]
    assert numbers.tolist() == [0, 1, 2, 3]
    assert driver.memory == {}  # all was given back
    assert driver.calls.count("cuModuleLoadData") == 1
    assert driver.calls.count("cuFuncSetAttribute") == 2


def test_what_the_driver_refuses_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(flags: int) -> tuple[int]:
        return (100 + flags,)

    use(SimpleNamespace(cuInit=refuse), monkeypatch)
    with pytest.raises(RuntimeError, match="cuInit: the CUDA driver answers 100"):
        Gpu()
