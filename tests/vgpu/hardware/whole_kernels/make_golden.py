"""Runs the kept PTX on this machine's GPU and keeps its results: `python make_golden.py [--output FILE]`.

Any machine with an NVIDIA GPU of sm_90 will do; NumPy and cuda-bindings are needed, flashpath itself is not. The
driver compiles the PTX. Tests compare the virtual GPU with what stands in golden_h200.npz.
"""

from __future__ import annotations

# pyright: basic
import argparse
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
from cuda.bindings import driver

sys.path.insert(0, str(Path(__file__).parent))

import catalogue
from catalogue import Array, Case


def _checked(result: tuple[Any, ...]) -> Any:
    status, *values = result
    if int(status) != 0:
        raise RuntimeError(f"the CUDA driver answers {status}")
    return values[0] if len(values) == 1 else values


class Gpu:
    """The first GPU of this machine, and the modules that were loaded on it."""

    def __init__(self) -> None:
        _checked(driver.cuInit(0))
        device = _checked(driver.cuDeviceGet(0))
        _checked(driver.cuCtxSetCurrent(_checked(driver.cuDevicePrimaryCtxRetain(device))))
        self.name = _checked(driver.cuDeviceGetName(96, device)).split(b"\0")[0].decode()
        self.driver = _checked(driver.cuDriverGetVersion())
        self._modules: dict[bytes, Any] = {}

    def run(self, case: Case, image: bytes) -> list[Array]:
        """The results of one launch of a kernel in PTX or a cubin."""
        if image not in self._modules:
            self._modules[image] = _checked(driver.cuModuleLoadData(image))
        function = _checked(driver.cuModuleGetFunction(self._modules[image], case.kernel.encode()))
        if case.shared > 48 << 10:
            attribute = driver.CUfunction_attribute.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
            _checked(driver.cuFuncSetAttribute(function, attribute, case.shared))
        arguments = case.make_arguments()
        values: list[Array] = []  # what is passed: of an array its address
        for argument in arguments:
            if isinstance(argument, np.ndarray):
                address = int(_checked(driver.cuMemAlloc(argument.nbytes)))
                _checked(driver.cuMemcpyHtoD(address, argument.ctypes.data, argument.nbytes))
                values.append(np.array([address], np.uint64))
            else:
                values.append(np.array([argument]))
        pointers = np.array([value.ctypes.data for value in values], np.uint64)
        _checked(
            driver.cuLaunchKernel(function, *case.grid, *case.block, case.shared, 0, pointers.ctypes.data, 0)
        )
        _checked(driver.cuCtxSynchronize())
        results: list[Array] = []
        for k, (argument, value) in enumerate(zip(arguments, values, strict=True)):
            if not isinstance(argument, np.ndarray):
                continue
            if k in case.outputs:
                _checked(driver.cuMemcpyDtoH(argument.ctypes.data, int(value[0]), argument.nbytes))
                results.append(argument)
            _checked(driver.cuMemFree(int(value[0])))
        return results


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", type=Path, default=catalogue.GOLDEN)
    options = parser.parse_args()
    gpu = Gpu()
    kept: dict[str, Array] = {}
    inputs: dict[str, str] = {}
    for case in catalogue.CASES:
        text = catalogue.load_ptx(case.module)
        results = gpu.run(case, text.encode() + b"\0")
        joined = b"".join(each.tobytes() for each in results)
        kept[case.name] = np.frombuffer(joined, np.uint8)
        inputs[case.name] = case.digest_of_inputs()
    modules = {case.module: catalogue.digest(catalogue.load_ptx(case.module)) for case in catalogue.CASES}
    about = {"gpu": gpu.name, "driver": gpu.driver, "ptx": modules, "inputs": inputs}
    kept["about"] = np.array(json.dumps(about))
    np.savez_compressed(options.output, **kept)
    print(f"{len(catalogue.CASES)} kernels, {options.output.stat().st_size} bytes, {gpu.name}")


if __name__ == "__main__":
    main()
