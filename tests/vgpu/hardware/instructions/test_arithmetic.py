"""The NaNs of the virtual GPU's arithmetic, and what it flushes, against what an H200 gave, bit by bit."""

from __future__ import annotations

import numpy as np
import pytest
from arithmetic_cases import INSTRUCTIONS, operands
from gpu_runs import module_ptx
from make_arithmetic_golden import GOLDEN
from special_function_cases import Array
from virtual_gpu_runs import run

from flashpath.vgpu.device import VirtualModule


@pytest.fixture(scope="module")
def golden() -> dict[str, Array]:
    with np.load(GOLDEN) as file:
        return {name: file[name] for name in file.files}


@pytest.fixture(scope="module")
def module() -> VirtualModule:
    return VirtualModule(module_ptx(INSTRUCTIONS.values(), "sm_90"))


@pytest.mark.parametrize("opcode", INSTRUCTIONS)
def test_results_have_the_bits_of_the_hardware(
    opcode: str, module: VirtualModule, golden: dict[str, Array]
) -> None:
    instruction = INSTRUCTIONS[opcode]
    inputs = operands(instruction)
    got = run(module.kernel(instruction.entry), instruction, inputs, exact=True)
    different = np.flatnonzero(got != golden[opcode])
    assert not len(different), [
        f"{opcode} of {[hex(each[k]) for each in inputs]} is {got[k]:#x}, not {golden[opcode][k]:#x}"
        for k in different[:4]
    ]


def test_the_edge_of_the_subnormals_is_met_from_both_sides(golden: dict[str, Array]) -> None:
    """Else the test above would not tell one rule of flushing from another."""
    for opcode in ("mul.rn.ftz.f32", "fma.rn.ftz.f32", "cvt.rn.ftz.f32.f64"):
        magnitudes = golden[opcode] & np.uint32(0x7FFFFFFF)
        assert (magnitudes == 0).sum() > 100
        assert (magnitudes == 0x00800000).sum() > 20
