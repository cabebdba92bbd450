"""The table of instructions in the documents: nothing that the engine knows is missing from it."""

from __future__ import annotations

import re

from flashpath.vgpu.device import engine
from flashpath.vgpu.instructions.known import rows
from flashpath.vgpu.instructions.refused import REFUSED
from flashpath.vgpu.report.classes import CLASSES


def test_every_opcode_is_known_or_refused() -> None:
    listed = {opcode.partition(".")[0] for row in rows() for opcode in row.opcodes}
    refused = {example.opcode for example in REFUSED if example.altogether}
    assert listed.isdisjoint(refused)
    assert listed | refused >= set(engine().known_opcodes())
    assert listed <= set(engine().known_opcodes())


def test_rows_stand_in_the_order_of_the_classes() -> None:
    places = [CLASSES.index(row.instruction_class) for row in rows()]
    assert places == sorted(places)
    assert all(row.forms for row in rows())


def test_every_shape_of_the_tensor_cores_is_in_the_table() -> None:
    shapes = {
        (name.partition(".")[0], shape)
        for name in engine().known_instructions()
        for shape in re.findall(r"^w?mma\.(m\d+n\d+k\d+)", name)
    }
    listed = {
        (opcode, shape)
        for row in rows()
        if row.instruction_class == "tensor core"
        for opcode in row.opcodes
        for shape in re.findall(r"m\d+n\d+k\d+", row.forms)
    }
    assert listed == shapes
    assert ("mma", "m16n8k16") in shapes
