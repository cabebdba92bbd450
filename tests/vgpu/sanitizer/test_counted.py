"""A launch can be counted while it is sanitised: the figures are the same, and what goes nowhere has none."""

from __future__ import annotations

import struct

import numpy as np
import pytest
from assembled import MODULE, only

from flashpath.vgpu._engine import LaunchResult
from flashpath.vgpu.device import VirtualModule, engine

_BASE = 0x700000000000
_BYTES = 4096

AT = "mad.wide.u32 %d2, %r0, {0}, %d0; mov.u32 %r4, 0; mov.u64 %d3, 0; mov.u16 %h1, 0;"
# Bytes of a lane, and the instruction.
ACCESSES = {
    "load": (4, "ld.global.u32 %r4, [%d2];"),
    "narrow load": (1, "ld.global.u8 %h1, [%d2];"),
    "wide load": (16, "ld.global.v4.u32 {%r4, %r5, %r6, %r7}, [%d2];"),
    "generic load": (4, "ld.u32 %r4, [%d2];"),
    "store": (8, "st.global.u64 [%d2], %d3;"),
    "atomic": (4, "atom.global.add.u32 %r4, [%d2], 1;"),
    "reduction": (4, "red.global.add.u32 [%d2], 1;"),
    "copy": (16, "cp.async.cg.shared.global [s], [%d2], 16; cp.async.wait_all;"),
}
SHARED = """
    mul.lo.u32 %r5, %r0, 16; add.u32 %r5, %r5, %r2;
    st.shared.u32 [%r3], %r0; bar.sync 0; ld.shared.u32 %r9, [%r3];
    ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%r6, %r7}, [%r5];
"""


def launched(body: str, *, sanitize: bool, size: int = _BYTES) -> LaunchResult:
    program = VirtualModule(MODULE.format(body=body)).kernel("k").program
    array = np.zeros(size, np.uint8)
    options = engine().Options()
    options.sanitize, options.count, options.budget = sanitize, True, 1_000_000
    segments = [(_BASE, size, array.ctypes.data, True, True)]
    return program.launch(
        (2, 1, 1), (64, 1, 1), 0, struct.pack("<Q", _BASE), segments, options, lambda text: None
    )


def figures(result: LaunchResult) -> tuple[int, int, list[tuple[int, ...]]]:
    """What was touched, and the rows of instructions that have to do with memory."""
    names = result.counter_names
    rows = [tuple(map(int, row)) for row in result.instructions if row[names.index("requests")]]
    return result.memory_sectors, result.global_touched, rows


@pytest.mark.parametrize("spread", [0, 1, 3])
@pytest.mark.parametrize("access", ACCESSES)
def test_the_same_figures(access: str, spread: int) -> None:
    size, code = ACCESSES[access]
    body = AT.format(size * spread) + code + SHARED
    plain = launched(body, sanitize=False)
    watched = launched(body, sanitize=True)
    assert (watched.instructions == plain.instructions).all()
    assert figures(watched) == figures(plain)
    assert figures(plain)[0] > 0


@pytest.mark.parametrize("access", ACCESSES)
def test_lanes_that_go_nowhere(access: str) -> None:
    """The array ends after 20 lanes: the figures are those of a launch in which no other lane goes there."""
    size, code = ACCESSES[access]
    beyond = launched(AT.format(size) + code, sanitize=True, size=20 * size)
    assert "out-of-bounds" in {row[0] for row in beyond.findings}
    inside = AT.format(size) + only("out", "lt.u32 %p0, %r0, 20", code)
    plain = launched(inside, sanitize=False, size=20 * size)
    names = beyond.counter_names
    lanes = {names.index("lanes"), names.index("warps")}  # which do execute it

    def memory(result: LaunchResult) -> list[list[int]]:
        rows = figures(result)[2]
        return [[value for k, value in enumerate(row) if k not in lanes] for row in rows]

    # A copy writes zeros for what it could not read; only its reads are fewer.
    if access != "copy":
        assert memory(beyond) == memory(plain)
    assert figures(beyond)[:2] == figures(plain)[:2]


@pytest.mark.parametrize("sanitize", [False, True])
def test_a_copy_of_less_than_it_fills_at_the_end_of_an_array(sanitize: bool) -> None:
    """What it does not read may be behind the end."""
    body = AT.format(16) + "cp.async.ca.shared.global [s], [%d2], 16, 4; cp.async.wait_all;"
    result = launched(body, sanitize=sanitize, size=63 * 16 + 4)
    assert "out-of-bounds" not in {row[0] for row in result.findings}
    assert (result.fault_kind, result.memory_sectors) == ("", 32)
