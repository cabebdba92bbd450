"""The virtual GPU's approximate instructions against what an H200 gave, bit by bit."""

from __future__ import annotations

import json
import re
from typing import Any

import numpy as np
import pytest
from gpu_runs import module_ptx
from make_special_function_golden import GOLDEN, digest
from recover_coefficients import ENGINE
from special_function_cases import INSTRUCTIONS, Array, Instruction, samples, sweep
from verify_all_inputs import VERIFIED
from virtual_gpu_runs import run

from flashpath.vgpu.device import UnsupportedInstruction, VirtualModule
from flashpath.vgpu.exactness import SPECIAL_FUNCTIONS


@pytest.fixture(scope="module")
def golden() -> dict[str, Array]:
    with np.load(GOLDEN) as file:
        return {name: file[name] for name in file.files}


@pytest.fixture(scope="module")
def digests(golden: dict[str, Array]) -> dict[str, dict[str, str]]:
    return json.loads(str(golden["about"]))["sha256 of sweeps"]


@pytest.fixture(scope="module")
def module() -> VirtualModule:
    return VirtualModule(module_ptx(INSTRUCTIONS.values(), "sm_90"))


@pytest.mark.parametrize("opcode", INSTRUCTIONS)
def test_samples_have_the_bits_of_the_hardware(
    opcode: str, module: VirtualModule, golden: dict[str, Array]
) -> None:
    """Every sign and exponent, edges and mixed bits; of f16 and bf16 all 65,536 values."""
    instruction = INSTRUCTIONS[opcode]
    operands = samples(instruction)
    got = run(module.kernel(instruction.entry), instruction, operands, exact=True)
    different = np.flatnonzero(got != golden[opcode])
    assert not len(different), [
        f"{opcode} of {[hex(operand[k]) for operand in operands]} is {got[k]:#x}, not {golden[opcode][k]:#x}"
        for k in different[:4]
    ]


@pytest.mark.parametrize("opcode", [opcode for opcode, each in INSTRUCTIONS.items() if each.sweeps])
def test_all_fractions_have_the_bits_of_the_hardware(
    opcode: str, module: VirtualModule, digests: dict[str, dict[str, str]]
) -> None:
    instruction = INSTRUCTIONS[opcode]
    kernel = module.kernel(instruction.entry)
    got = {
        str(field): digest(run(kernel, instruction, [sweep(field, instruction.step)], exact=True))
        for field in instruction.sweeps
    }
    assert got == digests[opcode]


def ordered(bits: Array) -> Array:
    """Integers that count floats from the lowest to the highest."""
    signed = bits.astype(np.int64)
    sign = 1 << (8 * bits.itemsize - 1)
    return np.where(signed & sign, sign - signed, signed) if bits.itemsize < 8 else signed


# How far, in units of the last place, the fast numerics may be from the hardware: as far as the PTX ISA lets
# the hardware be from the true result, and a rounding. It bounds errors of sin, cos, lg2 and tanh otherwise.
NEAR = {"ex2": 3, "rcp": 2, "rsqrt": 3, "sqrt": 3}


@pytest.mark.parametrize("name", NEAR)
def test_fast_numerics_are_near_and_not_the_same(
    name: str, module: VirtualModule, golden: dict[str, Array]
) -> None:
    instruction = INSTRUCTIONS[f"{name}.approx.ftz.f32"]
    expected = golden[instruction.opcode]
    kernel = module.kernel(instruction.entry)
    got = run(kernel, instruction, samples(instruction), exact=False)
    distance = np.abs(ordered(got) - ordered(expected))
    finite = np.isfinite(expected.view(np.float32)) & (expected << np.uint32(1) != 0)
    assert 0 < distance[finite].max() <= NEAR[name]
    assert (got == expected)[~finite & ~np.isnan(expected.view(np.float32))].mean() > 0.99


@pytest.mark.parametrize("opcode", ["rcp.approx.sat.f32", "ex2.approx.rn.f32", "div.full.sat.f32"])
def test_approximations_take_no_flag_but_ftz(opcode: str) -> None:
    """As ptxas has it; the units have no other."""
    instruction = Instruction(opcode, 2 if opcode.startswith("div") else 1)
    with pytest.raises(UnsupportedInstruction, match=re.escape(opcode)):
        VirtualModule(module_ptx([instruction], "sm_90")).kernel(instruction.entry)


def test_exact_functions_use_no_library_whose_last_bit_may_differ() -> None:
    """Only operations that IEEE 754 defines to the last bit, so that every processor gives the same."""
    allowed = {"bit_cast", "fabs", "copysign", "floor", "fma", "isinf", "numeric_limits"}
    sources = sorted((ENGINE / "exec/arithmetic/special_functions").glob("*.h"))
    assert len(sources) == 10
    used = {name for source in sources for name in re.findall(r"std::(\w+)", source.read_text())}
    assert used <= allowed


def test_the_list_of_exact_functions_is_what_was_verified() -> None:
    """The list that documents show: every approximate instruction, with what it was compared on."""
    verified: dict[str, Any] = json.loads(VERIFIED.read_text())
    assert verified["gpu"] == "NVIDIA H200"
    compared = {row["instruction"]: row for row in verified["instructions"]}
    assert {each.instruction for each in SPECIAL_FUNCTIONS} == set(INSTRUCTIONS)
    for each in SPECIAL_FUNCTIONS:
        row = compared.get(each.instruction)
        if row is None:  # its 65,536 inputs, or those of its halves, are all in the samples
            assert each.compared_on in ("all 2^16", "all 2^16 of each half")
        else:
            assert (row["inputs"], row["different"]) == (each.compared_on, 0)
