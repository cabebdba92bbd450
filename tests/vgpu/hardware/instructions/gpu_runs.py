"""Runs single instructions on this machine's GPU."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path

import numpy as np
from special_function_cases import Array, Instruction

from flashpath.jit.assembler import assemble

sys.path.insert(0, str(Path(__file__).parents[4]))  # where it runs as a program

from tests.harness.real_gpu import Gpu

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


class InstructionRuns:
    """The kernels of some instructions, compiled for this machine's GPU."""

    def __init__(self, instructions: Iterable[Instruction]) -> None:
        self._gpu = Gpu()
        self.name = self._gpu.name
        cubin, log = assemble(module_ptx(instructions, self._gpu.target), self._gpu.target, [])
        if cubin is None:
            raise SystemExit(log)
        self._cubin = cubin

    def run(self, instruction: Instruction, *operands: Array) -> Array:
        """The bits of the results."""
        assert all(operand.dtype == instruction.dtype for operand in operands)
        count = len(operands[0])
        result: Array = np.zeros(count, instruction.result)
        arguments = (np.uint32(count), result, *map(np.ascontiguousarray, operands))
        blocks = -(-count // _BLOCK)
        self._gpu.run(self._cubin, instruction.entry, (blocks, 1, 1), (_BLOCK, 1, 1), arguments, outputs={1})
        return result
