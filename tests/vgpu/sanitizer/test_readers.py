"""Of many readers of a place, the one that races with the next writer is found, whichever it is."""

from __future__ import annotations

import itertools

import pytest
from assembled import OTHER, READ, WRITE, only, sanitized, thread

WRITTEN = thread(3, WRITE) + "bar.sync 0;"
ALL = 0xFFFFFFFF


def meet(name: str, lanes: int) -> str:
    """__syncwarp() of some lanes of the first warp."""
    bit = f"mov.u32 %r10, 1; shl.b32 %r10, %r10, %r0; and.b32 %r10, %r10, {lanes:#x};\n"
    return bit + only(name, "ne.u32 %p0, %r10, 0", f"bar.warp.sync {lanes:#x};")


def parties(body: str, *, block: int = 64, seed: int = 0) -> list[set[int]]:
    """The threads of each race; that is all that is found."""
    found = sanitized(body, block=block, seed=seed).findings
    assert {finding.kind for finding in found} <= {"race"}
    return [{f.thread[0], f.other.thread[0]} for f in found if f.thread is not None and f.other is not None]


# ---- A warp --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("left_out", range(32))
def test_one_lane_of_a_warp_is_not_waited_for(left_out: int) -> None:
    writer = 5 if left_out != 5 else 6
    body = WRITTEN + READ + meet("most", ALL & ~(1 << left_out)) + thread(writer, OTHER)
    assert parties(body, block=32) == [{left_out, writer}]


def test_a_warp_waits_for_all_of_its_readers() -> None:
    assert parties(WRITTEN + READ + meet("all", ALL) + thread(5, OTHER), block=32) == []


@pytest.mark.parametrize("left_out", [0, 1, 7, 30, 31])
def test_readers_of_one_warp_by_different_instructions(left_out: int) -> None:
    readers = [0, 1, 7, 12, 30, 31]
    one_by_one = "".join(thread(reader, f"{READ} // {reader}") for reader in readers)
    body = WRITTEN + one_by_one + meet("most", ALL & ~(1 << left_out)) + thread(5, OTHER)
    assert parties(body, block=32) == [{left_out, 5}]


@pytest.mark.parametrize("left_out", [0, 9, 31])
def test_rows_that_are_read_in_turn(left_out: int) -> None:
    """Every lane reads every word, in 32 rows; one lane has not met the writer of them all."""
    body = f"""
    st.shared.u32 [%r3], 7; bar.warp.sync -1;
    mov.u32 %r4, 0;
    loop: xor.b32 %r5, %r0, %r4; mad.lo.u32 %r5, %r5, 4, %r2; ld.shared.u32 %r9, [%r5];
    add.u32 %r4, %r4, 1; setp.lt.u32 %p1, %r4, 32; @%p1 bra loop;
    {meet("most", ALL & ~(1 << left_out))}
    {{}}"""
    for writer in (4, 20):
        store = thread(writer, f"st.shared.u32 [s + {4 * ((writer + 11) % 32)}], 9;")
        assert parties(body.format(store), block=32) == [{left_out, writer}]
        assert parties(body.format("bar.warp.sync -1;" + store), block=32) == []


@pytest.mark.parametrize("left_out", [2, 17])
def test_bytes_of_a_word_have_their_own_readers(left_out: int) -> None:
    """Lane n reads byte n / 8, so that each byte has eight readers."""
    read = "shr.u32 %r4, %r0, 3; add.u32 %r4, %r2, %r4; ld.shared.u8 %h1, [%r4];"
    body = WRITTEN + read + meet("most", ALL & ~(1 << left_out))
    for byte in range(4):
        store = thread(28, f"st.shared.u8 [s + {byte}], 9;")
        assert parties(body + store, block=32) == ([{left_out, 28}] if byte == left_out // 8 else [])


def test_what_is_read_again_and_again_stays_known() -> None:
    """Each turn orders another half of the warp: readers are replaced by later ones, and none is lost."""
    turns = """
    mov.u32 %r4, 0;
    loop: ld.shared.u32 %r9, [s]; ld.shared.u32 %r9, [%r3]; xor.b32 %r5, %r3, 4; ld.shared.u32 %r9, [%r5];
    setp.lt.u32 %p2, %r0, 16; @!%p2 bra upper; bar.warp.sync 0xffff; bra next;
    upper: bar.warp.sync 0xffff0000;
    next: add.u32 %r4, %r4, 1; setp.lt.u32 %p1, %r4, 2000; @%p1 bra loop;"""
    body = "st.shared.u32 [%r3], 7; bar.sync 0;" + turns
    assert {9, 20} not in parties(body + thread(9, "st.shared.u32 [s + 36], 1;"), block=32)
    assert parties(body + thread(9, "st.shared.u32 [s + 80], 1;"), block=32) != []
    assert parties(body + "bar.warp.sync -1;" + thread(9, "st.shared.u32 [s + 80], 1;"), block=32) == []


def test_lanes_that_have_ended_are_not_waited_for() -> None:
    """Nor do those that go on know what they have read, unless they are named."""
    ended = only("ended", "ge.u32 %p0, %r0, 20", READ + "ret;")
    for lanes, races in {0xFFFFF: True, ALL: False}.items():
        body = WRITTEN + ended + f"bar.warp.sync {lanes:#x};" + thread(9, OTHER)
        assert bool(parties(body, block=32)) == races


# ---- Warps of a block ----------------------------------------------------------------------------------


@pytest.mark.parametrize("left_out", range(4))
@pytest.mark.parametrize("seed", range(3))
def test_one_warp_is_not_waited_for(left_out: int, seed: int) -> None:
    first = 32 * left_out
    most = only(
        "low", f"ge.u32 %p0, %r0, {first}", only("high", f"lt.u32 %p0, %r0, {first + 32}", "bra out;")
    )
    writer = 40 if left_out != 1 else 70
    last = thread(writer, OTHER)
    body = WRITTEN + READ + most + "bar.sync 1, 96;" + last + "out:"
    [race] = parties(body, block=128, seed=seed)
    assert writer in race
    assert race & set(range(first, first + 32))
    assert parties(WRITTEN + READ + "bar.sync 1, 128;" + last, block=128, seed=seed) == []


@pytest.mark.parametrize("left_out", [0, 33, 66, 99, 127])
def test_one_thread_of_a_block_is_not_waited_for(left_out: int) -> None:
    """All other readers arrive at an mbarrier that the writer waits for."""
    body = f"""
    setp.eq.u32 %p0, %r0, 0; @%p0 mbarrier.init.shared.b64 [barrier], 127;
    {WRITTEN}
    {READ}
    setp.eq.u32 %p0, %r0, {left_out}; @%p0 bra out;
    mbarrier.arrive.shared.b64 %d4, [barrier];
    setp.ne.u32 %p0, %r0, 42; @%p0 bra out;
    wait: mbarrier.test_wait.shared.b64 %p1, [barrier], %d4; @!%p1 bra wait;
    {OTHER}
    out:"""
    assert parties(body, block=128) == [{left_out, 42}]
    everyone = body.replace("], 127", "], 128").replace("@%p0 bra out;", "", 1)
    assert parties(everyone, block=128) == []


# ---- Blocks --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("left_out", range(5))
@pytest.mark.parametrize("seed", range(2))
def test_one_block_is_not_waited_for(left_out: int, seed: int) -> None:
    body = f"""
    ld.global.u32 %r9, [%d0];
    setp.eq.u32 %p0, %r1, {left_out}; @%p0 bra out;
    setp.eq.u32 %p0, %r1, 5; @%p0 bra last;
    red.release.gpu.global.add.u32 [%d0 + 256], 1; bra out;
    last: ld.acquire.gpu.global.u32 %r8, [%d0 + 256]; setp.lt.u32 %p1, %r8, 4; @%p1 bra last;
    st.global.u32 [%d0], 5;
    out:"""
    found = sanitized(body, grid=6, block=1, seed=seed).findings
    assert [finding.kind for finding in found] == ["race"]
    assert found[0].other is not None
    assert {found[0].block, found[0].other.block} == {(left_out, 0, 0), (5, 0, 0)}
    everyone = body.replace("@%p0 bra out;", "", 1).replace("%r8, 4", "%r8, 5")
    assert sanitized(everyone, grid=6, block=1, seed=seed).kinds == []


# ---- Copies --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("waits", ["eq", "ne"])
def test_some_lanes_have_waited_for_their_copies(waits: str) -> None:
    """Eight lanes copy from each line, every other one waits; then a thread writes its own source."""
    body = f"""
    mad.lo.u32 %r4, %r0, 16, %r2; mad.wide.u32 %d2, %r0, 16, %d0; and.b32 %r6, %r0, 1;
    cp.async.cg.shared.global [%r4], [%d2], 16;
    setp.{waits}.u32 %p1, %r6, 1; @%p1 bra wait; bra next;
    wait: cp.async.wait_all;
    next:"""
    for number in (4, 5, 6, 11):
        has_waited = (number % 2 == 1) == (waits == "eq")
        found = sanitized(body + thread(number, "st.global.u32 [%d2], 9;"), block=32)
        assert found.kinds == ([] if has_waited else ["missing-wait"])


# ---- Strong readers ------------------------------------------------------------------------------------


def test_a_strong_read_does_not_stand_for_a_weak_one() -> None:
    """Its thread has read before, weakly; a strong write races with that alone."""
    strong = "ld.volatile.shared.u32 %r9, [s];"
    store = thread(40, "st.volatile.shared.u32 [s], 8;")
    for reads, races in {
        READ + strong: True,
        strong + READ: True,
        strong: False,
        strong + strong: False,
    }.items():
        assert bool(parties(WRITTEN + thread(0, reads) + store)) == races, reads


# ---- Matrices ------------------------------------------------------------------------------------------

# Lanes 0 to 7 give the addresses of eight rows; row 3 goes to lanes 12 to 15, or, transposed, to every
# fourth lane.
STORED = "st.shared.v4.u32 [%r4], {%r0, %r0, %r0, %r0}; bar.warp.sync -1;"
RECEIVERS = {
    "ldmatrix.sync.aligned.m8n8.x1.shared.b16": [12, 13, 14, 15],
    "ldmatrix.sync.aligned.m8n8.x1.trans.shared.b16": [1, 5, 9, 13, 17, 21, 25, 29],
}


@pytest.mark.parametrize("load", RECEIVERS)
def test_a_matrix_is_read_by_the_lanes_that_get_it(load: str) -> None:
    receivers = RECEIVERS[load]
    rows = "and.b32 %r5, %r0, 7; mad.lo.u32 %r4, %r0, 16, %r2;"
    body = rows + STORED + f"mad.lo.u32 %r5, %r5, 16, %r2; {load} {{%r9}}, [%r5];"
    bytes_each = 16 // len(receivers)
    for which, receiver in itertools.islice(enumerate(receivers), 0, None, 3):
        kind = "u32" if bytes_each == 4 else "u16"
        value = "9" if bytes_each == 4 else "%h0"
        store = "mov.u16 %h0, 9;" + thread(0, f"st.shared.{kind} [s + {48 + which * bytes_each}], {value};")
        assert parties(body + meet("it", 1 | 1 << receiver) + store, block=32) == []
        assert parties(body + meet("others", ALL & ~(1 << receiver)) + store, block=32) == [{0, receiver}]
