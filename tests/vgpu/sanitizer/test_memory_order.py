"""Which accesses the PTX memory model orders, rule by rule: a pair that is ordered, and one that is not.

Every kernel has two accesses to one word, one by each of two threads, and something between
them. The schedule runs them in this order; whether they race is for the model to say.
"""

from __future__ import annotations

import numpy as np
import pytest
from assembled import OTHER, READ, WRITE, only, sanitized, thread

import flashpath as fp

# ---- Blocks and warps ----------------------------------------------------------------------------------


@pytest.mark.parametrize(("one", "two"), [(0, 40), (0, 5)], ids=["two warps", "one warp"])
@pytest.mark.parametrize(("first", "second"), [(WRITE, READ), (WRITE, OTHER)], ids=["read", "write"])
def test_a_barrier_orders_what_is_on_its_sides(one: int, two: int, first: str, second: str) -> None:
    assert sanitized(thread(one, first) + "bar.sync 0;" + thread(two, second)).kinds == []
    found = sanitized(thread(one, first) + thread(two, second))
    assert found.kinds == ["race"]
    [race] = found.findings
    assert race.thread == (two, 0, 0)
    assert race.other is not None
    assert (race.other.thread, race.other.action) == ((one, 0, 0), "write")


def test_a_write_after_a_read_races_too() -> None:
    written = thread(3, WRITE) + "bar.sync 0;"
    assert sanitized(written + thread(0, READ) + "bar.sync 0;" + thread(40, OTHER)).kinds == []
    [race] = sanitized(written + thread(0, READ) + thread(40, OTHER)).findings
    assert race.other is not None
    assert (race.kind, race.other.action, race.other.thread) == ("race", "read", (0, 0, 0))


def test_the_writer_is_one_of_two_readers() -> None:
    """Its own read does not hide the other one's."""
    written = thread(3, WRITE) + "bar.sync 0;"
    for one, two in ((0, 40), (40, 0), (0, 5)):
        [race] = sanitized(written + thread(one, READ) + thread(two, READ) + thread(two, OTHER)).findings
        assert race.other is not None
        assert {race.thread, race.other.thread} == {(one, 0, 0), (two, 0, 0)}


def test_a_warp_is_ordered_by_syncwarp_only() -> None:
    for between, kinds in {
        "bar.warp.sync -1;": [],
        "shfl.sync.idx.b32 %r9, %r0, 0, 31, -1;": ["race"],
        "vote.sync.all.pred %p1, 1, -1;": ["race"],
        "bar.warp.sync 0xffff;": [],
        "bar.warp.sync 0xff;": ["race"],
    }.items():
        code = between
        if "0xf" in between:
            code = only("half", f"lt.u32 %p0, %r0, {16 if '0xffff' in between else 8}", between)
        found = sanitized(thread(0, WRITE) + code + thread(12, READ), block=32)
        assert found.kinds == kinds, between


def test_tiles_of_a_warp_synchronise_apart() -> None:
    tiles = """
    and.b32 %r4, %r0, 16; mov.u32 %r5, 0xffff; shl.b32 %r5, %r5, %r4;
    st.shared.u32 [%r3], %r0;
    bar.warp.sync %r5;
    xor.b32 %r6, %r0, {partner}; mad.lo.u32 %r6, %r6, 4, %r2; ld.shared.u32 %r7, [%r6];"""
    assert sanitized(tiles.format(partner=5), block=32).kinds == []
    assert sanitized(tiles.format(partner=16), block=32).kinds == ["race"]


def test_lanes_of_one_instruction() -> None:
    assert sanitized("st.shared.u32 [s], %r0;", block=32).kinds == ["race"]
    assert sanitized("st.shared.u32 [s], 7;", block=32).kinds == []  # all the same value
    assert sanitized("st.volatile.shared.u32 [s], %r0;", block=32).kinds == []
    pairs = "shr.u32 %r4, %r0, 1; mad.lo.u32 %r5, %r4, 4, %r2; st.shared.u32 [%r5], {};"
    assert sanitized(pairs.format("%r0"), block=32).kinds == ["race"]
    assert sanitized(pairs.format("%r4"), block=32).kinds == []


def test_the_same_value_from_two_warps_is_no_race() -> None:
    assert sanitized(thread(0, WRITE) + thread(40, WRITE)).kinds == []


def test_bytes_are_told_apart() -> None:
    bytes_of_a_word = "cvt.u16.u32 %h0, %r0; add.u32 %r4, %r2, %r0; st.shared.u8 [%r4], %h0;"
    assert sanitized(bytes_of_a_word + "ld.shared.u8 %h1, [%r4];").kinds == []
    assert sanitized(bytes_of_a_word + "xor.b32 %r4, %r4, 1; ld.shared.u8 %h1, [%r4];").kinds == ["race"]
    assert sanitized(bytes_of_a_word + "bar.sync 0;" + thread(0, READ)).kinds == []


# ---- Barriers of some threads --------------------------------------------------------------------------


def test_a_barrier_of_two_warps_of_three() -> None:
    some = only("some", "lt.u32 %p0, %r0, 64", "bar.sync 1, 64;")
    assert sanitized(thread(0, WRITE) + some + thread(40, READ), block=96).kinds == []
    assert sanitized(thread(0, WRITE) + some + thread(70, READ), block=96).kinds == ["race"]
    # What one of them learns from it, others learn at the next.
    later = "bar.sync 0;"
    assert sanitized(thread(0, WRITE) + some + later + thread(70, READ), block=96).kinds == []


def test_an_arrival_orders_what_came_before_it_only() -> None:
    first = only("first", "lt.u32 %p0, %r0, 32", "{before} bar.arrive 1, 64; {after}")
    second = only("second", "ge.u32 %p0, %r0, 32", "bar.sync 1, 64; {}")
    store, load = "setp.eq.u32 %p1, %r0, 0; @%p1 " + WRITE, READ
    assert sanitized(first.format(before=store, after="") + second.format(load)).kinds == []
    assert sanitized(first.format(before="", after=store) + second.format(load)).kinds == ["race"]
    # Who only arrives waits for nobody, and learns nothing.
    by_who_waits = second.format("st.shared.u32 [s], 9;")
    assert sanitized(by_who_waits + first.format(before="", after=load), block=64).kinds != []


def test_a_barrier_with_a_vote_orders_as_well() -> None:
    vote = "bar.red.or.pred %p2, 0, %p1;"
    assert sanitized("setp.eq.u32 %p1, %r0, 1;" + thread(0, WRITE) + vote + thread(40, READ)).kinds == []


# ---- Fences and flags ----------------------------------------------------------------------------------

DATA = "st.global.u32 [%d0], 5;"
FLAG = "%d0 + 256"


def message(
    release: str,
    acquire: str,
    *,
    blocks: bool = True,
    data: str = DATA,
    use: str = "ld.global.u32 %r9, [%d0];",
) -> list[str]:
    """One thread writes data and raises a flag, another sees it raised and reads the data."""
    which = "%r1" if blocks else "%r0"
    second = 1 if blocks else 40
    wait, _, after = acquire.replace("FLAG", FLAG).partition("|")
    body = (
        f"setp.eq.u32 %p0, {which}, 0; setp.eq.u32 %p2, %r0, 0; @!%p0 bra second;\n"
        f"@!%p2 bra done; {data} {release.replace('FLAG', FLAG)} bra done;\n"
        f"second: setp.eq.u32 %p2, {which}, {second}; @!%p2 bra done;\n"
        f"again: {wait} setp.eq.u32 %p1, %r8, 0; @%p1 bra again; {after} {use}\n"
        "done:"
    )
    return sanitized(body, grid=2 if blocks else 1, block=32 if blocks else 64).kinds


ORDERED = {
    "fences and volatile": (
        "fence.acq_rel.gpu; st.volatile.global.u32 [FLAG], 1;",
        "ld.volatile.global.u32 %r8, [FLAG]; | fence.acq_rel.gpu;",
    ),
    "membar": (
        "membar.gl; st.relaxed.gpu.global.u32 [FLAG], 1;",
        "ld.relaxed.gpu.global.u32 %r8, [FLAG]; | membar.gl;",
    ),
    "release and acquire": (
        "st.release.gpu.global.u32 [FLAG], 1;",
        "ld.acquire.gpu.global.u32 %r8, [FLAG]; |",
    ),
    "a fence and an acquire": (
        "fence.sc.gpu; red.global.add.u32 [FLAG], 1;",
        "ld.acquire.sys.global.u32 %r8, [FLAG]; |",
    ),
    "atomics": (
        "fence.acq_rel.gpu; atom.global.exch.b32 %r7, [FLAG], 1;",
        "atom.global.add.u32 %r8, [FLAG], 0; | fence.acq_rel.gpu;",
    ),
    "atomics that release and acquire": (
        "atom.release.gpu.global.exch.b32 %r7, [FLAG], 1;",
        "atom.acquire.gpu.global.add.u32 %r8, [FLAG], 0; |",
    ),
}

NOT_ORDERED = {
    "no fence at all": ("st.volatile.global.u32 [FLAG], 1;", "ld.volatile.global.u32 %r8, [FLAG]; |"),
    "no release": (
        "st.relaxed.gpu.global.u32 [FLAG], 1;",
        "ld.acquire.gpu.global.u32 %r8, [FLAG]; |",
    ),
    "no acquire": (
        "st.release.gpu.global.u32 [FLAG], 1;",
        "ld.relaxed.gpu.global.u32 %r8, [FLAG]; |",
    ),
    "the fence comes too late": (
        "st.relaxed.gpu.global.u32 [FLAG], 1; fence.acq_rel.gpu;",
        "ld.acquire.gpu.global.u32 %r8, [FLAG]; |",
    ),
}

OF_A_BLOCK = {
    "a release for the block": (
        "st.release.cta.global.u32 [FLAG], 1;",
        "ld.acquire.gpu.global.u32 %r8, [FLAG]; |",
    ),
    "an acquire for the block": (
        "st.release.gpu.global.u32 [FLAG], 1;",
        "ld.acquire.cta.global.u32 %r8, [FLAG]; |",
    ),
    "a fence for the block": (
        "membar.cta; st.volatile.global.u32 [FLAG], 1;",
        "ld.volatile.global.u32 %r8, [FLAG]; | fence.acq_rel.gpu;",
    ),
}


@pytest.mark.parametrize("blocks", [True, False], ids=["blocks", "warps"])
@pytest.mark.parametrize("how", ORDERED)
def test_a_message_is_passed(how: str, blocks: bool) -> None:
    assert message(*ORDERED[how], blocks=blocks) == []


@pytest.mark.parametrize("blocks", [True, False], ids=["blocks", "warps"])
@pytest.mark.parametrize("how", NOT_ORDERED)
def test_a_message_is_not_passed(how: str, blocks: bool) -> None:
    assert message(*NOT_ORDERED[how], blocks=blocks) == ["race"]


@pytest.mark.parametrize("how", OF_A_BLOCK)
def test_what_orders_a_block_does_not_order_blocks(how: str) -> None:
    assert message(*OF_A_BLOCK[how], blocks=False) == []
    assert "race" in message(*OF_A_BLOCK[how], blocks=True)


def test_strong_accesses_of_a_wide_scope_do_not_race() -> None:
    for access in ("st.volatile.global.u32 [%d0], %r1;", "atom.global.add.u32 %r9, [%d0], 1;"):
        assert sanitized(access, grid=4, block=1).kinds == []
    assert sanitized("atom.cta.global.add.u32 %r9, [%d0], 1;", grid=4, block=1).kinds == ["race"]
    assert sanitized("atom.cta.global.add.u32 %r9, [%d0], 1;", grid=1, block=64).kinds == []
    mixed = thread(0, "st.global.u32 [%d0], 3;") + thread(40, "atom.global.add.u32 %r9, [%d0], 1;")
    assert sanitized(mixed).kinds == ["race"]


@pytest.mark.parametrize("blocks", [1, 2])
def test_a_counter_that_is_not_zero_yet(blocks: int) -> None:
    """Its own atomic does not hide the plain write of the thread that made the counter."""
    place = "%d0" if blocks == 2 else "s"
    space = "global" if blocks == 2 else "shared"
    zero = only("zero", "eq.u32 %p0, %r0, 0", f"st.{space}.u32 [{place}], 0;")
    if blocks == 2:
        zero = only("zero", "eq.u32 %p0, %r1, 0", zero.replace("zero", "one").replace("%p0", "%p3"))
    add = f"atom.{space}.add.u32 %r9, [{place}], 1;"
    found = sanitized(zero + "bar.sync 0;" * (blocks == 2) + add, grid=blocks).findings
    assert {finding.kind for finding in found} == {"race"}
    assert {finding.other.action for finding in found if finding.other is not None} == {"write"}
    if blocks == 1:
        assert sanitized(zero + "bar.sync 0;" + add).kinds == []


def test_others_may_add_to_a_flag_that_was_released() -> None:
    """An atomic without a fence in between passes on what was released before it."""
    body = """
    setp.ne.u32 %p0, %r1, 0; @%p0 bra middle;
    st.global.u32 [%d0], 5; fence.acq_rel.gpu; red.global.add.u32 [%d0 + 256], 1; bra done;
    middle: setp.ne.u32 %p0, %r1, 1; @%p0 bra last; {middle} bra done;
    last: ld.acquire.gpu.global.u32 %r8, [%d0 + 256]; ld.global.u32 %r9, [%d0];
    done:"""
    assert sanitized(body.format(middle="red.global.add.u32 [%d0 + 256], 1;"), grid=3, block=1).kinds == []
    overwritten = "st.relaxed.gpu.global.u32 [%d0 + 256], 2;"
    assert sanitized(body.format(middle=overwritten), grid=3, block=1).kinds == ["race"]


def test_knowledge_passes_through_barriers_and_fences() -> None:
    """The last block of a reduction: all threads write, one of each block counts, the last block reads."""
    body = """
    mad.lo.u32 %r4, %r1, 64, %r0; cvt.u64.u32 %d2, %r4; shl.b64 %d2, %d2, 2; add.u64 %d3, %d0, %d2;
    st.global.u32 [%d3], %r4;
    {fence}
    bar.sync 0;
    setp.eq.u32 %p1, %r0, 0; @!%p1 bra joined;
    {count}
    joined: bar.sync 0; ld.shared.u32 %r5, [s]; setp.ne.u32 %p1, %r5, 3; @%p1 bra done;
    xor.b32 %r6, %r4, 64; cvt.u64.u32 %d2, %r6; shl.b64 %d2, %d2, 2; add.u64 %d3, %d0, %d2;
    ld.global.u32 %r7, [%d3];
    done:"""
    counted = "atom.global.add.u32 %r5, [%d0 + 8192], 1; {} st.shared.u32 [s], %r5;"
    both = counted.format("fence.acq_rel.gpu;")
    assert sanitized(body.format(fence="", count="fence.acq_rel.gpu;" + both), grid=4).kinds == []
    # As the sample of NVIDIA has it: each thread's fence before the barrier, the count after it.
    assert (
        sanitized(body.format(fence="fence.acq_rel.gpu;", count="fence.acq_rel.gpu;" + both), grid=4).kinds
        == []
    )
    assert sanitized(body.format(fence="", count=both), grid=4).kinds == ["race"]


def test_blocks_of_a_launch_are_not_ordered() -> None:
    assert sanitized("st.global.u32 [%d0], %r1;", grid=2, block=1).kinds == ["race"]
    [race] = sanitized("st.global.u32 [%d0], %r1;", grid=2, block=1).findings
    assert race.block == (1, 0, 0)
    assert race.other is not None
    assert race.other.block == (0, 0, 0)


# ---- mbarrier ------------------------------------------------------------------------------------------

PHASE = """
    setp.eq.u32 %p0, %r0, 0; @%p0 mbarrier.init.shared.b64 [barrier], 64; {start}
    {before}
    mbarrier.arrive{order}.shared.b64 %d4, [barrier];
    {between}
    wait: mbarrier.test_wait.shared.b64 %p1, [barrier], %d4; @!%p1 bra wait;
    {after}"""


def test_an_arrival_comes_before_the_wait_that_sees_it() -> None:
    code = {"start": "bar.sync 0;", "order": "", "before": "", "between": "", "after": thread(40, READ)}
    assert sanitized(PHASE.format(**{**code, "before": thread(0, WRITE)})).kinds == []
    assert sanitized(PHASE.format(**{**code, "between": thread(0, WRITE)})).kinds == ["race"]
    relaxed = {**code, "before": thread(0, WRITE), "order": ".relaxed.cta"}
    assert sanitized(PHASE.format(**relaxed)).kinds == ["race"]


def test_a_barrier_must_be_made_before_it_is_used() -> None:
    code = PHASE.format(start="", order="", before="", between="", after="")
    assert "race" in sanitized(code).kinds


# ---- Asynchronous copies -------------------------------------------------------------------------------

COPY = """
    mad.lo.u32 %r4, %r0, 16, %r2; mad.wide.u32 %d2, %r0, 16, %d0;
    cp.async.cg.shared.global [%r4], [%d2], 16; cp.async.commit_group;
    {}"""


@pytest.mark.parametrize(
    ("after", "kinds"),
    [
        ("cp.async.wait_group 0; ld.shared.u32 %r9, [%r4];", []),
        ("cp.async.wait_all; ld.shared.u32 %r9, [%r4];", []),
        ("ld.shared.u32 %r9, [%r4];", ["missing-wait"]),
        ("cp.async.wait_group 1; ld.shared.u32 %r9, [%r4];", ["missing-wait"]),
        ("bar.sync 0; ld.shared.u32 %r9, [%r4];", ["missing-wait"]),
        ("st.shared.u32 [%r4], 0; cp.async.wait_all;", ["missing-wait"]),
        ("st.global.u32 [%d2], 0; cp.async.wait_all;", ["missing-wait"]),
        ("cp.async.wait_all; st.global.u32 [%d2], 0;", []),
        ("ld.global.u32 %r9, [%d2]; cp.async.wait_all;", []),
        ("cp.async.wait_all; xor.b32 %r5, %r4, 16; ld.shared.u32 %r9, [%r5];", ["race"]),
        ("cp.async.wait_all; bar.sync 0; xor.b32 %r5, %r4, 16; ld.shared.u32 %r9, [%r5];", []),
        ("bar.sync 0; xor.b32 %r5, %r4, 16; ld.shared.u32 %r9, [%r5]; cp.async.wait_all;", ["missing-wait"]),
    ],
)
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_a_copy_is_pending_until_its_thread_has_waited(after: str, kinds: list[str], seed: int) -> None:
    found = sanitized(COPY.format(after), seed=seed)
    assert set(found.kinds) == set(kinds)


def test_a_copy_into_what_others_still_read() -> None:
    read = "st.shared.u32 [%r3], 1; bar.sync 0; xor.b32 %r5, %r3, 64; ld.shared.u32 %r9, [%r5]; {}"
    wait = "cp.async.wait_all;"
    assert sanitized(read.format("bar.sync 0;") + COPY.format(wait), block=64).kinds == []
    assert set(sanitized(read.format("") + COPY.format(wait), block=64).kinds) == {"race"}


def test_a_barrier_that_tracks_copies() -> None:
    body = """
    setp.eq.u32 %p0, %r0, 0; @%p0 mbarrier.init.shared.b64 [barrier], 64; bar.sync 0;
    mad.lo.u32 %r4, %r0, 16, %r2; mad.wide.u32 %d2, %r0, 16, %d0;
    cp.async.cg.shared.global [%r4], [%d2], 16;
    cp.async.mbarrier.arrive.noinc.shared.b64 [barrier];
    {}
    xor.b32 %r5, %r4, 512; ld.shared.u32 %r9, [%r5];"""
    wait = "wait: mbarrier.test_wait.parity.shared.b64 %p1, [barrier], 0; @!%p1 bra wait;"
    assert sanitized(body.format(wait)).kinds == []
    assert sanitized(body.format("bar.sync 0;")).kinds == ["missing-wait"]


# ---- Memory that nobody wrote --------------------------------------------------------------------------


def test_shared_memory_begins_anew_in_every_block() -> None:
    own = "ld.shared.u32 %r9, [%r3];"
    assert sanitized(own, grid=2).kinds == ["uninitialized"]
    assert sanitized("st.shared.u32 [%r3], 0;" + own, grid=2).kinds == []
    first_block_only = only("zero", "eq.u32 %p0, %r1, 0", "st.shared.u32 [%r3], 0;")
    [found] = sanitized(first_block_only + own, grid=2).findings
    assert (found.kind, found.block, found.count) == ("uninitialized", (1, 0, 0), 64)


def test_an_atomic_reads_what_it_changes() -> None:
    assert sanitized("atom.shared.add.u32 %r9, [s], 1;").kinds == ["uninitialized"]


def test_arrays_are_initialised_unless_said_otherwise() -> None:
    read = "mad.wide.u32 %d2, %r0, 4, %d0; {} ld.global.u32 %r9, [%d2];"
    assert sanitized(read.format("")).kinds == []
    assert sanitized(read.format(""), initialised=False).kinds == ["uninitialized"]
    assert sanitized(read.format("st.global.u32 [%d2], 1;"), initialised=False).kinds == []


def test_local_memory() -> None:
    body = ".local .align 4 .b8 own[16]; {} ld.local.u32 %r9, [own + 4];"
    assert sanitized(body.format("")).kinds == ["uninitialized"]
    assert sanitized(body.format("st.local.u32 [own], 1;")).kinds == ["uninitialized"]
    assert sanitized(body.format("st.local.u32 [own + 4], 1;")).kinds == []


# ---- The launch goes on --------------------------------------------------------------------------------


def test_bad_accesses_go_nowhere() -> None:
    body = """
    mad.wide.u32 %d2, %r0, 4, %d0; setp.eq.u32 %p0, %r0, 3;
    @%p0 add.u64 %d3, %d2, 0x100000; @!%p0 mov.u64 %d3, %d2;
    mov.u32 %r9, 9;
    ld.global.u32 %r9, [%d3];
    st.global.u32 [%d3], 5;
    @%p0 add.u64 %d4, %d2, 2; @!%p0 mov.u64 %d4, %d2;
    st.global.u32 [%d4 + 256], 6;
    add.u32 %r9, %r9, 1; st.global.u32 [%d2 + 512], %r9;"""
    found = sanitized(body, block=32)
    assert found.kinds == ["misaligned", "out-of-bounds", "out-of-bounds"]
    assert {finding.thread for finding in found.findings} == {(3, 0, 0)}
    expected = np.full(32, 5)
    expected[3] = 0
    assert np.array_equal(found.array[:32], expected)
    assert np.array_equal(found.array[64:96], np.where(expected == 5, 6, 0))
    assert np.array_equal(found.array[128:160], np.ones(32))  # zeros were read, in bounds and out of them


def test_the_same_finding_is_told_once() -> None:
    [found] = sanitized("add.u64 %d2, %d0, 0x100000; ld.global.u32 %r9, [%d2];", grid=3, block=96).findings
    assert (found.kind, found.count) == ("out-of-bounds", 288)


def test_one_thread_after_the_other_in_many_epochs() -> None:
    """A launch with more synchronisation than most: nothing is reported that is ordered."""
    body = """
    mov.u32 %r4, 0;
    loop:
    st.shared.u32 [%r3], %r4; bar.sync 0;
    xor.b32 %r5, %r0, 33; mad.lo.u32 %r6, %r5, 4, %r2; ld.shared.u32 %r7, [%r6]; bar.warp.sync -1;
    fence.acq_rel.cta; bar.sync 0;
    add.u32 %r4, %r4, 1; setp.lt.u32 %p1, %r4, 500; @%p1 bra loop;"""
    assert sanitized(body, grid=3).kinds == []


def test_elements_that_triton_gives_to_several_threads() -> None:
    """All of them load, one stores; the other way round, and in CUDA, it is a race."""
    load, store = "ld.global.u32 %r9, [%d0];", thread(0, "st.global.u32 [%d0], 5;")
    in_python = ".loc 1 5 0\n"
    assert sanitized(in_python + load + store).kinds == []
    assert set(sanitized(load + store).kinds) == {"race"}
    assert set(sanitized(in_python + store + load).kinds) == {"race"}
    assert set(sanitized(in_python + load + store, grid=2).kinds) == {"race"}


# Fences that all threads make before a barrier: one of them signals for all. That takes sequential fences, as
# __threadfence() is; with fences of acquire and release alone nothing orders the others' writes.
_SIGNAL_FOR_ALL = r"""
extern "C" __global__ void signal_for_all(int* data, int* flag, int* out) {
  const int t = threadIdx.x;
  if (blockIdx.x == 0) {
    data[t] = t;
    FENCE;
    __syncthreads();
    if (t == 0) atomicExch(flag, 1);
  } else {
    if (t == 0) {
      while (atomicAdd(flag, 0) == 0) {}
      FENCE;
    }
    __syncthreads();
    out[t] = data[63 - t];
  }
}
"""


@pytest.mark.parametrize(
    ("fence", "kinds"),
    [
        ("__threadfence()", set[str]()),
        ('asm volatile("fence.sc.gpu;" ::: "memory")', set[str]()),
        ('asm volatile("fence.acq_rel.gpu;" ::: "memory")', {"race"}),
        ("__threadfence_block()", {"race"}),
    ],
)
def test_one_thread_signals_for_all(fence: str, kinds: set[str]) -> None:
    kernel = fp.compile(_SIGNAL_FOR_ALL, "sm_80", defines={"FENCE": fence})["signal_for_all"]
    for seeds in (1, 5):
        arrays = np.zeros(64, np.int32), np.zeros(1, np.int32), np.zeros(64, np.int32)
        found = fp.sanitize(kernel, 2, 64, arrays, seeds=seeds)
        assert {finding.kind for finding in found} == kinds


_LAST_BLOCK = r"""
extern "C" __global__ void last_block(int* parts, unsigned* count, int* out) {
  __shared__ bool last;
  parts[blockIdx.x * 64 + threadIdx.x] = threadIdx.x;
  FENCE;
  __syncthreads();
  if (threadIdx.x == 0) last = atomicInc(count, gridDim.x - 1) == gridDim.x - 1;
  __syncthreads();
  if (!last) return;
  FENCE;
  out[threadIdx.x] = parts[threadIdx.x] + parts[64 + 63 - threadIdx.x] + parts[128 + threadIdx.x];
}
"""


@pytest.mark.parametrize(
    ("fence", "kinds"), [("__threadfence()", set[str]()), ("__threadfence_block()", {"race"})]
)
def test_one_thread_counts_for_all(fence: str, kinds: set[str]) -> None:
    kernel = fp.compile(_LAST_BLOCK, "sm_80", defines={"FENCE": fence})["last_block"]
    for seeds in (1, 5):
        arrays = np.zeros(192, np.int32), np.zeros(1, np.uint32), np.zeros(64, np.int32)
        found = fp.sanitize(kernel, 3, 64, arrays, seeds=seeds)
        assert {finding.kind for finding in found} == kinds
