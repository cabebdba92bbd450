"""ld and st in all widths, spaces and spellings, on bytes that tell where they came from."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import flashpath as fp
from flashpath.vgpu.device import UnsupportedInstruction

Array = np.ndarray[Any, Any]
Run = Callable[..., Any]
WIDTHS = {"b8": 1, "b16": 2, "b32": 4, "f32": 4, "b64": 8, "f64": 8}
REGISTER = {1: "%h", 2: "%h", 4: "%r", 8: "%d", 16: "%q"}


def noise(size: int) -> Array:
    return np.random.default_rng(size).integers(0, 256, size, np.uint8)


def registers(width: int, count: int) -> str:
    names = [f"{REGISTER[width]}{k}" for k in range(count)]
    return names[0] if count == 1 else "{" + ", ".join(names) + "}"


@pytest.mark.parametrize("vector", [1, 2, 4, 8])
@pytest.mark.parametrize("kind", WIDTHS)
def test_every_width_through_every_space(run: Run, kind: str, vector: int) -> None:
    size = WIDTHS[kind] * vector
    if size > 32 or (vector == 8 and kind not in ("b32", "f32")):
        pytest.skip("PTX has no such vector")
    spelled = (f"v{vector}." if vector > 1 else "") + kind
    values = registers(WIDTHS[kind], vector)
    zeros = "".join(
        f"mov.b{8 * max(2, WIDTHS[kind])} {REGISTER[WIDTHS[kind]]}{k}, 0;\n" for k in range(vector)
    )
    # 32 bytes at once are for global memory only.
    others = f"""
        mul.lo.u32 %r60, %thread, {size};
        st.shared.{spelled} [%r60], {values};
        {zeros}
        cvta.shared.u64 %d60, 0;
        cvt.u64.u32 %d61, %r60;
        add.u64 %d60, %d60, %d61;
        ld.{spelled} {values}, [%d60];
        st.local.{spelled} [frame + 32], {values};
        {zeros}
        ld.local.{spelled} {values}, [frame + 32];
        cvta.local.u64 %d60, 64;
        st.{spelled} [%d60], {values};
        {zeros}
        ld.local.{spelled} {values}, [frame + 64];
    """
    body = f"""
        .local .align 32 .b8 frame[128];
        mad.lo.u64 %own, %wide, {size}, %array0;
        ld.global.{spelled} {values}, [%own + {size}];
        {others if size <= 16 else ""}
        mad.lo.u64 %own, %wide, {size}, %array1;
        st.global.{spelled} [%own], {values};
    """
    source = noise(33 * size)
    out = np.zeros(32 * size, np.uint8)
    run(body, source, out, shared=32 * size)
    np.testing.assert_array_equal(out, source[size:])


def test_128_bits_at_once(run: Run) -> None:
    source, out = noise(512), np.zeros(512, np.uint8)
    run(
        """mad.lo.u64 %own, %wide, 16, %array0;
        ld.global.b128 %q0, [%own];
        mul.lo.u32 %r0, %thread, 16;
        st.shared.b128 [%r0], %q0;
        ld.shared.b128 %q1, [%r0];
        mad.lo.u64 %own, %wide, 16, %array1;
        st.global.b128 [%own], %q1;""",
        source,
        out,
        shared=512,
    )
    np.testing.assert_array_equal(out, source)


@pytest.mark.parametrize(
    ("kind", "dtype"), [("s8", "i1"), ("u8", "u1"), ("s16", "i2"), ("u16", "u2"), ("s32", "i4")]
)
def test_narrow_integers_are_extended(run: Run, kind: str, dtype: str) -> None:
    source = noise(32 * int(dtype[1])).view(dtype)
    out = np.zeros(32, np.int64)
    run(
        f"""mad.lo.u64 %own, %wide, {dtype[1]}, %array0;
        ld.global.{kind} %d0, [%own];
        mad.lo.u64 %own, %wide, 8, %array1;
        st.global.u64 [%own], %d0;""",
        source,
        out,
    )
    np.testing.assert_array_equal(out, source.astype(np.int64))


def test_parts_of_a_vector_may_be_dropped(run: Run) -> None:
    source, out = noise(512).view(np.uint32), np.zeros(32, np.uint32)
    run(
        """mad.lo.u64 %own, %wide, 16, %array0;
        ld.global.v4.u32 {_, _, %r0, _}, [%own];
        mad.lo.u64 %own, %wide, 4, %array1;
        st.global.u32 [%own], %r0;""",
        source,
        out,
    )
    np.testing.assert_array_equal(out, source[2::4])


LOADS = """
ld.global.ca.u32 | ld.global.cg.u32 | ld.global.cs.u32 | ld.global.lu.u32 | ld.global.cv.u32
ld.global.nc.u32 | ld.global.L1::evict_normal.u32 | ld.global.L1::evict_unchanged.u32
ld.global.L1::evict_first.u32
ld.global.L1::evict_last.u32 | ld.global.L1::no_allocate.u32 | ld.global.nc.L1::no_allocate.L2::256B.u32
ld.global.L2::64B.u32 | ld.global.L2::128B.u32 | ld.global.L1::evict_last.L2::cache_hint.u32 POLICY
ld.volatile.global.u32 | ld.relaxed.cta.global.u32 | ld.relaxed.gpu.global.u32 | ld.acquire.sys.global.u32
ld.acquire.cluster.global.u32 | ld.mmio.relaxed.sys.global.u32 | ld.weak.global.u32 | ldu.global.u32
ld.volatile.u32 | ld.acquire.gpu.u32 | ld.u32 | ld.L2::cache_hint.u32 POLICY
"""
STORES = """
st.global.wb.u32 | st.global.cg.u32 | st.global.cs.u32 | st.global.wt.u32 | st.volatile.global.u32
st.relaxed.gpu.global.u32 | st.release.sys.global.u32 | st.mmio.relaxed.sys.global.u32 | st.weak.global.u32
st.global.L1::no_allocate.u32 | st.global.L1::evict_last.L2::cache_hint.u32 POLICY | st.u32
st.release.cta.u32 | st.L2::cache_hint.u32 POLICY
"""
HINTS = """
prefetch.global.L1 [%own]; prefetch.global.L2 [%own]; prefetch.L1 [%own]; prefetchu.L1 [%own];
prefetch.global.L2::evict_last [%own]; applypriority.global.L2::evict_normal [%array0], 128;
discard.global.L2 [%array0], 128;
fence.sc.gpu; fence.acq_rel.cta; fence.sc.sys; fence.acq_rel.cluster; fence.proxy.async; fence.proxy.alias;
fence.mbarrier_init.release.cluster; membar.cta; membar.gl; membar.sys; nanosleep.u32 100;
nanosleep.u32 %thread;
createpolicy.fractional.L2::evict_last.b64 %d1, 1.0;
createpolicy.fractional.L2::evict_first.L2::evict_unchanged.b64 %d1, 0.5;
createpolicy.range.global.L2::evict_last.L2::evict_first.b64 %d1, [%array0], 0x100, 0x200;
"""


def spellings(text: str) -> list[str]:
    return [line.strip() for line in text.strip().replace("\n", "|").split("|")]


def test_hints_change_nothing(run: Run) -> None:
    loads, stores = spellings(LOADS), spellings(STORES)
    lines = ["createpolicy.fractional.L2::evict_first.b64 %d0;", "mad.lo.u64 %own, %wide, 4, %array0;", HINTS]
    lines.append("mad.lo.u64 %d2, %wide, 4, %array1;")
    for k, spelled in enumerate(loads):
        opcode, _, policy = spelled.partition(" ")
        lines += [
            f"{opcode} %r1, [%own]{', %d0' if policy else ''};",
            f"st.global.u32 [%d2 + {128 * k}], %r1;",
        ]
    for k, spelled in enumerate(stores, len(loads)):
        opcode, _, policy = spelled.partition(" ")
        lines.append(f"{opcode} [%d2 + {128 * k}], %r1{', %d0' if policy else ''};")
    source = noise(128).view(np.uint32)
    before = source.copy()
    out = np.zeros((len(loads) + len(stores), 32), np.uint32)
    run("\n".join(lines), source, out)
    np.testing.assert_array_equal(out, np.tile(before, (len(out), 1)))
    np.testing.assert_array_equal(source, before)


def test_generic_lanes_may_go_to_different_spaces(run: Run) -> None:
    """Three neighbours read and write shared, local and global memory in one instruction."""
    source, out = np.arange(32, dtype=np.uint32), np.zeros(64, np.uint32)
    launched = run(
        """.local .align 4 .b8 frame[8];
        add.u32 %r0, %thread, 100;
        st.local.u32 [frame], %r0;
        shl.b32 %r1, %thread, 2;
        add.u32 %r0, %thread, 200;
        st.shared.u32 [%r1], %r0;
        mad.lo.u64 %own, %wide, 4, %array0;
        cvta.shared.u64 %d0, 0;
        mad.lo.u64 %d0, %wide, 4, %d0;
        cvta.local.u64 %d1, 0;
        rem.u32 %r2, %thread, 3;
        setp.eq.u32 %p0, %r2, 1;
        setp.eq.u32 %p1, %r2, 2;
        selp.b64 %own, %d0, %own, %p0;
        selp.b64 %own, %d1, %own, %p1;
        ld.u32 %r3, [%own];
        add.u32 %r4, %r3, 1000;
        st.u32 [%own], %r4;
        ld.shared.u32 %r5, [%r1];
        ld.local.u32 %r6, [frame];
        add.u32 %r5, %r5, %r6;
        mad.lo.u64 %own, %wide, 4, %array1;
        st.global.u32 [%own], %r3;
        st.global.u32 [%own + 128], %r5;""",
        source,
        out,
        shared=128,
        count=True,
    )
    lane = np.arange(32)
    np.testing.assert_array_equal(out[:32], lane + np.array([0, 200, 100])[lane % 3])
    np.testing.assert_array_equal(out[32:], 2 * lane + 300 + 1000 * (lane % 3 > 0))
    np.testing.assert_array_equal(source, lane + 1000 * (lane % 3 == 0))
    requests, _, sectors, wavefronts = launched.counts("ld.u32")[3:7]
    shared_requests, _, local_requests, _, local_sectors, _ = launched.counts("ld.u32")[8:]
    assert (requests, shared_requests, local_requests) == (3, 1, 1)
    assert (sectors, wavefronts, local_sectors) == (4, 1, 4)


def test_constants_are_read_and_not_counted_as_global_memory(run: Run) -> None:
    out = np.zeros(64, np.uint32)
    launched = run(
        """mov.u64 %d0, table;
        and.b64 %d1, %wide, 3;
        mad.lo.u64 %d0, %d1, 4, %d0;
        ld.const.u32 %r0, [%d0];
        cvta.const.u64 %d2, %d0;
        ld.u32 %r1, [%d2];
        mad.lo.u64 %own, %wide, 4, %array0;
        st.global.u32 [%own], %r0;
        st.global.u32 [%own + 128], %r1;""",
        out,
        module=".const .align 4 .u32 table[4] = {7, 8, 9, 10};",
        count=True,
    )
    np.testing.assert_array_equal(out, np.tile([7, 8, 9, 10], 16))
    assert launched.counts("ld.const")[3:] == [0] * 11


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        ("ld.global.v4.u32 {%r0, %r1, %r2, %r3}, [%array0 + 8];", "misaligned"),
        ("add.u64 %d0, %array0, %wide; ld.global.u32 %r0, [%d0];", "misaligned"),
        ("ld.global.v2.u32 {%r0, %r1}, [%array0 + 512];", "out-of-bounds"),
        ("mad.lo.u64 %d0, %wide, 4, %array0; st.global.u32 [%d0 + 400], %r0;", "out-of-bounds"),
        ("ld.shared.u32 %r0, [base + 128];", "out-of-bounds"),
        ("shl.b32 %r0, %thread, 4; ld.shared.u32 %r0, [%r0];", "out-of-bounds"),
        ("cvta.shared.u64 %d0, 126; ld.u32 %r0, [%d0];", "misaligned"),
        (".local .b8 frame[16]; ld.local.u32 %r0, [frame + 16];", "out-of-bounds"),
        ("atom.global.add.u32 %r0, [%array0 + 2], 1;", "misaligned"),
        ("mov.b64 %d0, 4096; red.global.add.u32 [%d0], 1;", "out-of-bounds"),
    ],
)
def test_faults(run: Run, body: str, kind: str) -> None:
    with pytest.raises(fp.KernelFault) as caught:
        run(body, np.zeros(128, np.uint32), shared=128)
    assert caught.value.kind == kind


@pytest.mark.parametrize(
    "spelled", ["ld.global.sideways.u32 %r0, [%array0]", "st.global.v2.u32 [%array0], %r0"]
)
def test_unknown_forms_are_refused_by_name(run: Run, spelled: str) -> None:
    with pytest.raises(UnsupportedInstruction, match=spelled.split()[0]):
        run(f"{spelled};", np.zeros(4, np.uint32))
