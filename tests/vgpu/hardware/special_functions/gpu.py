"""Runs single instructions on this machine's GPU."""

from __future__ import annotations

import ctypes
import importlib
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from special_function_cases import Array, Instruction

from flashpath.jit.assembler import assemble

_BLOCK = 256
_REGISTERS = {2: "%h", 4: "%r", 8: "%d"}


def module_ptx(instructions: Iterable[Instruction], target: str) -> str:
    """A kernel for each instruction: thread i of `count` gives result i of the operands i."""

    def kernel(instruction: Instruction) -> str:
        sizes = [instruction.result.itemsize, *[instruction.dtype.itemsize] * instruction.operands]
        registers = [f"{_REGISTERS[size]}{k}" for k, size in enumerate(sizes)]

        def place(k: int) -> str:
            return f"ld.param.u64 %at, [p{k}]; mad.wide.u32 %at, %i, {sizes[k]}, %at;"

        loads = "".join(
            f"{place(k)} ld.global.b{8 * sizes[k]} {registers[k]}, [%at];\n" for k in range(1, len(sizes))
        )
        parameters = ", ".join(f".param .u64 p{k}" for k in range(len(sizes)))
        return (
            f".visible .entry {instruction.entry}(.param .u32 count, {parameters}) {{\n"
            ".reg .pred %past; .reg .b32 %i, %j, %n; .reg .b64 %at;\n"
            ".reg .b16 %h<4>; .reg .b32 %r<4>; .reg .b64 %d<4>;\n"
            f"mov.u32 %i, %ctaid.x; mov.u32 %j, %tid.x; mad.lo.u32 %i, %i, {_BLOCK}, %j;\n"
            f"ld.param.u32 %n, [count]; setp.ge.u32 %past, %i, %n; @%past ret;\n{loads}"
            f"{instruction.opcode} {', '.join(registers)};\n"
            f"{place(0)} st.global.b{8 * sizes[0]} [%at], {registers[0]};\n"
            "ret;\n}\n"
        )

    bodies = "".join(kernel(instruction) for instruction in instructions)
    return f".version 9.0\n.target {target}\n.address_size 64\n{bodies}"


class Gpu:
    """The kernels of some instructions, loaded."""

    def __init__(self, instructions: Iterable[Instruction]) -> None:
        self._torch: Any = importlib.import_module("torch")
        self._driver: Any = importlib.import_module("cuda.bindings.driver")
        self._torch.zeros(1, device="cuda")  # makes the context
        major, minor = self._torch.cuda.get_device_capability()
        target = f"sm_{major}{minor}"
        cubin, log = assemble(module_ptx(instructions, target), target, [])
        if cubin is None:
            raise SystemExit(log)
        self._module: Any = self._checked(self._driver.cuModuleLoadData(cubin))

    def _checked(self, result: Sequence[Any]) -> Any:
        if int(result[0]) != 0:
            raise SystemExit(f"the driver says {result[0]}")
        return result[1] if len(result) > 1 else None

    @property
    def name(self) -> str:
        return str(self._torch.cuda.get_device_name(0))

    def run(self, instruction: Instruction, *operands: Array) -> Array:
        """The bits of the results."""
        torch = self._torch
        assert all(operand.dtype == instruction.dtype for operand in operands)
        count = len(operands[0])
        on_gpu = [torch.from_numpy(operand.view(np.uint8)).cuda() for operand in operands]
        result = torch.zeros(count * instruction.result.itemsize, dtype=torch.uint8, device="cuda")
        function = self._checked(self._driver.cuModuleGetFunction(self._module, instruction.entry.encode()))
        addresses = tuple(tensor.data_ptr() for tensor in (result, *on_gpu))
        parameters = ((count, *addresses), (ctypes.c_uint, *(ctypes.c_void_p,) * len(addresses)))
        blocks = -(-count // _BLOCK)
        self._checked(self._driver.cuLaunchKernel(function, blocks, 1, 1, _BLOCK, 1, 1, 0, 0, parameters, 0))
        torch.cuda.synchronize()
        return result.cpu().numpy().view(instruction.result)
