"""What memory accesses count as: against an H200's own counters, and against the rules written plainly."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import flashpath as fp

Array = np.ndarray[Any, Any]
Run = Callable[..., Any]

HARDWARE = json.loads((Path(__file__).parent / "h200_counts.json").read_text())
SPAN = 1 << 14  # bytes that the accesses lie in


class Counted(NamedTuple):
    requests: int
    bytes: int
    sectors: int
    wavefronts: int
    ideal: int
    shared_requests: int
    shared_bytes: int
    local_requests: int
    local_bytes: int
    local_sectors: int
    serialised: int


def vector(size: int) -> tuple[str, str]:
    if size <= 4:
        return f"b{8 * size}", "%r1" if size == 4 else "%h1"
    return f"v{size // 4}.b32", "{" + ", ".join(f"%r{k}" for k in range(1, 1 + size // 4)) + "}"


def instruction(opcode: str, space: str, size: int) -> str:
    kind, registers = vector(size)
    address = "%r0" if space == "shared" else "%d0"
    if opcode == "ld":
        return f"ld.{space}.{kind} {registers}, [{address}];"
    if opcode == "st":
        return f"st.{space}.{kind} [{address}], {registers};"
    if opcode == "cp.async":
        level = "cg" if size == 16 else "ca"
        return f"cp.async.{level}.shared.global [%r0], [%d0], {size};"
    result = "%r1, " if opcode == "atom" else ""
    return f"{opcode}.{space}.add.u32 {result}[{address}], 1;"


def count(run: Run, opcode: str, space: str, size: int, offsets: list[int]) -> Counted:
    """What one warp's access counts as; lanes with a negative offset take no part."""
    lines = [
        ".local .align 16 .b8 frame[512];" if space == "local" else "",
        "mad.lo.u64 %own, %wide, 4, %array0;",
        "ld.global.s32 %r0, [%own];",
        "setp.ge.s32 %p0, %r0, 0;",
        "cvt.u64.u32 %d0, %r0;",
        "" if space == "local" else "add.u64 %d0, %d0, %array1;",
        f"@%p0 {instruction(opcode, space, size)}",
    ]
    launched = run(
        "\n".join(lines), np.array(offsets, np.int32), np.zeros(SPAN, np.uint8), shared=SPAN, count=True
    )
    start = instruction(opcode, space, size).split()[0]
    found = [k for k, text in enumerate(launched.opcodes) if text == start]
    return Counted(*launched.rows[found[-1]][3:])


@pytest.mark.parametrize("spelled", HARDWARE["counts"])
def test_counts_are_those_of_an_h200(run: Run, spelled: str) -> None:
    measured = HARDWARE["counts"][spelled]
    opcode, space = ("cp.async", "shared") if spelled.startswith("cp") else spelled.split(".")[:2]
    size = {"cp.async.cg.shared.global": 16}.get(spelled) or 4 * int(
        spelled[spelled.index(".v") + 2] if ".v" in spelled else 1
    )
    for k, lanes in enumerate(HARDWARE["lanes"]):
        counted = count(run, opcode, space, size, [lane * size if lane >= 0 else -1 for lane in lanes])
        mine = {
            "requests": counted.requests - counted.shared_requests,
            "sectors": counted.sectors,
            "wavefronts": counted.wavefronts,
            "conflicts": counted.wavefronts - counted.ideal,
        }
        for name, values in measured.items():
            assert mine[name] == values[k], (name, lanes)


# ---- The rules, written plainly ---------------------------------------------------------------------------


def parts_of(opcode: str, size: int, offsets: list[int]) -> list[list[int]]:
    """The lanes that go together, as their offsets."""

    def in_pairs(bits: int) -> bool:
        pairs = [(offsets[lane], offsets[lane ^ bits]) for lane in range(32)]
        return all(a == b or a < 0 or b < 0 for a, b in pairs)

    together = 32 // max(1, size // 4)
    if opcode == "ld" and together < 32 and (in_pairs(1) or in_pairs(2)):
        together *= 2
    parts = [[x for x in offsets[k : k + together] if x >= 0] for k in range(0, 32, together)]
    return [part for part in parts if part]


def wavefronts(opcode: str, size: int, part: list[int]) -> int:
    words = [x // 4 + k for x in part for k in range(max(1, size // 4))]
    if opcode not in ("atom", "red"):
        words = list(set(words))
    return max(Counter(word % 32 for word in words).values())


def global_sectors(opcode: str, offsets: list[int]) -> int:
    hits: dict[int, Counter[int]] = defaultdict(Counter)
    for x in offsets:
        if x >= 0:
            hits[x // 32][x] += 1
    return sum(max(each.values()) if opcode in ("atom", "red") else 1 for each in hits.values())


def model(opcode: str, space: str, size: int, offsets: list[int]) -> Counted:
    taking = [x for x in offsets if x >= 0]
    asked = len(taking) * size
    atomic = opcode in ("atom", "red")
    shared = space == "shared" or opcode == "cp.async"
    local = space == "local"
    near = space == "global" or opcode == "cp.async"
    parts = parts_of("st" if opcode == "cp.async" else opcode, size, offsets) if shared else []
    words = max(1, size // 4)
    slots = {(lane // 8, x // 4 // words) for lane, x in enumerate(offsets) if x >= 0}
    if not taking:
        return Counted(*[0] * 11)
    return Counted(
        requests=shared + local + near,
        bytes=asked * (shared + local + near),
        sectors=global_sectors(opcode, offsets) if near else 0,
        wavefronts=sum(wavefronts(opcode, size, part) for part in parts),
        ideal=len(parts),
        shared_requests=int(shared),
        shared_bytes=asked if shared else 0,
        local_requests=int(local),
        local_bytes=asked if local else 0,
        local_sectors=len(slots) * words if local else 0,
        serialised=max(Counter(taking).values()) if atomic else 0,
    )


ACCESSES = [
    *[
        (opcode, space, size)
        for opcode in ("ld", "st")
        for space in ("global", "shared", "local")
        for size in (2, 4, 8, 16)
    ],
    *[(opcode, space, 4) for opcode in ("atom", "red") for space in ("global", "shared")],
    *[("cp.async", "shared", size) for size in (4, 8, 16)],
]


@st.composite
def warps(draw: st.DrawFn) -> tuple[str, str, int, list[int]]:
    """An access, and where its lanes go: a stride, pairs, few places or anywhere; some take no part."""
    opcode, space, size = draw(st.sampled_from(ACCESSES))
    room = (512 if space == "local" else SPAN) // size
    lanes = range(32)
    shape = draw(st.sampled_from(["stride", "pairs", "few", "any"]))
    stride = draw(st.integers(0, 40))
    near = draw(st.integers(1, min(room, 64)))
    places = draw(st.lists(st.integers(0, (near if shape == "few" else room) - 1), min_size=32, max_size=32))
    bits = draw(st.sampled_from([1, 2, 3]))
    base = draw(st.integers(0, room - 1))
    chosen = {
        "stride": [(base + lane * stride) % room for lane in lanes],
        "pairs": [places[lane & ~bits] for lane in lanes],
    }.get(shape, places)
    taking = draw(st.sampled_from([0xFFFFFFFF, None]))
    mask = taking if taking is not None else draw(st.integers(0, 0xFFFFFFFF))
    return opcode, space, size, [chosen[lane] * size if mask >> lane & 1 else -1 for lane in lanes]


@settings(max_examples=400, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(warps())
def test_counts_follow_the_rules(run: Run, access: tuple[str, str, int, list[int]]) -> None:
    assert count(run, *access) == model(*access)


def test_what_a_kernel_moves(run: Run) -> None:
    """A row of every size, in numbers that can be told by heart."""
    offsets = [4 * lane for lane in range(32)]
    assert count(run, "ld", "global", 4, offsets)[:3] == (1, 128, 4)
    assert count(run, "st", "global", 16, [16 * lane for lane in range(32)])[:3] == (1, 512, 16)
    assert count(run, "ld", "global", 4, [128 * lane for lane in range(32)]).sectors == 32
    assert count(run, "ld", "shared", 4, [128 * lane for lane in range(32)]).wavefronts == 32
    assert count(run, "ld", "local", 4, [8] * 32).local_sectors == 4
    assert count(run, "red", "global", 4, [0] * 32).serialised == 32


def test_a_report_has_cp_async_and_generic_accesses_in_their_spaces() -> None:
    kernel = fp.compile(
        """#include <cuda_pipeline.h>
        extern "C" __global__ void k(const float4* x, float* out, int which) {
            __shared__ float4 s[32];
            __shared__ float t[32];
            __pipeline_memcpy_async(&s[threadIdx.x], &x[threadIdx.x], 16);
            __pipeline_commit();
            __pipeline_wait_prior(0);
            t[threadIdx.x] = 1;
            float* p = which ? t : out;  // an address whose space no compiler knows
            out[threadIdx.x] = s[threadIdx.x].x + p[threadIdx.x];
        }""",
        "sm_80",
    )["k"]
    x = np.arange(128, dtype=np.float32)
    out = np.zeros(32, np.float32)
    report = fp.profile(kernel, grid=1, block=32, args=(x, out, 1))
    np.testing.assert_array_equal(out, x[::4] + 1)
    assert (report.global_load.requests, report.global_load.sectors, report.global_load.bytes) == (1, 16, 512)
    assert report.shared_load.requests == 2
    assert (report.shared_store.requests, report.shared_store.wavefronts) == (2, 5)
