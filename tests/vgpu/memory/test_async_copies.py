"""cp.async: done at the wait for it and not before, with groups that are each thread's own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import flashpath as fp
from flashpath.vgpu.device import UnsupportedInstruction

Array = np.ndarray[Any, Any]
Run = Callable[..., Any]

STALE = 0xEEEE


def source(count: int = 128) -> Array:
    return np.random.default_rng(count).integers(0, 1 << 16, count, np.uint32)


# Each thread's piece of 16 bytes: %r0 in shared memory, where STALE is in every word, %own in array 0.
START = f"""
    shl.b32 %r0, %thread, 4;
    mad.lo.u64 %own, %wide, 16, %array0;
    mad.lo.u64 %d0, %wide, 16, %array1;
    mov.b32 %r1, {STALE};
    st.shared.v4.b32 [%r0], {{%r1, %r1, %r1, %r1}};
"""
END = """
    ld.shared.v4.b32 {%r1, %r2, %r3, %r4}, [%r0];
    st.global.v4.b32 [%d0], {%r1, %r2, %r3, %r4};
"""


def copied(run: Run, body: str, *, block: int = 32) -> tuple[Array, Array]:
    """Array 0, and what is in shared memory after the body, four words a thread."""
    given, out = source(4 * block), np.zeros(4 * block, np.uint32)
    run(START + body + END, given, out, shared=16 * block, block=block)
    return given.reshape(block, 4), out.reshape(block, 4)


@pytest.mark.parametrize(
    ("spelled", "size"),
    [
        ("ca.shared.global", 4),
        ("ca.shared::cta.global", 8),
        ("ca.shared.global.L2::128B", 16),
        ("cg.shared.global", 16),
        ("cg.shared::cta.global.L2::256B", 16),
        ("cg.shared.global.L2::cache_hint.L2::64B", 16),
    ],
)
def test_sizes_and_hints(run: Run, spelled: str, size: int) -> None:
    policy = ", %d5" if "cache_hint" in spelled else ""
    given, got = copied(
        run,
        f"""createpolicy.fractional.L2::evict_first.b64 %d5;
        cp.async.{spelled} [%r0], [%own], {size}{policy};
        cp.async.commit_group;
        cp.async.wait_group 0;""",
    )
    words = size // 4
    np.testing.assert_array_equal(got[:, :words], given[:, :words])
    assert (got[:, words:] == STALE).all()


def test_what_is_not_read_becomes_zero(run: Run) -> None:
    given, got = copied(
        run,
        """rem.u32 %r5, %thread, 5;
        shl.b32 %r5, %r5, 2;
        cp.async.cg.shared.global [%r0], [%own], 16, %r5;
        cp.async.wait_all;""",
    )
    read = np.arange(4) < (np.arange(32) % 5)[:, None]
    np.testing.assert_array_equal(got, np.where(read, given, 0))


def test_a_predicate_ignores_the_source_wherever_it_is(run: Run) -> None:
    given, got = copied(
        run,
        """setp.gt.u32 %p0, %thread, 20;
        selp.b64 %own, 0, %own, %p0;
        createpolicy.fractional.L2::evict_first.b64 %d5;
        cp.async.ca.shared.global.L2::cache_hint [%r0], [%own], 16, %p0, %d5;
        cp.async.wait_all;""",
    )
    ignored = (np.arange(32) > 20)[:, None]
    np.testing.assert_array_equal(got, np.where(ignored, 0, given))


@pytest.mark.parametrize(
    "end", ["", "cp.async.commit_group;", "cp.async.commit_group; cp.async.wait_group 1;"]
)
@pytest.mark.plain_schedule("copies may be done early")
def test_without_a_wait_what_was_there_is_read(run: Run, end: str) -> None:
    _, got = copied(run, f"cp.async.ca.shared.global [%r0], [%own], 16; {end} bar.sync 0;")
    assert (got == STALE).all()


@pytest.mark.plain_schedule("copies may be done early")
def test_groups_end_in_order(run: Run) -> None:
    body = """
        cp.async.ca.shared.global [%r0], [%own], 4;
        cp.async.commit_group;
        cp.async.ca.shared.global [%r0 + 4], [%own + 4], 4;
        cp.async.commit_group;
        cp.async.commit_group;
        cp.async.ca.shared.global [%r0 + 8], [%own + 8], 4;
        cp.async.commit_group;
        cp.async.ca.shared.global [%r0 + 12], [%own + 12], 4;
    """
    for wait, done in (
        ("wait_group 4", 0),
        ("wait_group 3", 1),
        ("wait_group 2", 2),
        ("wait_group 1", 2),
        ("wait_group 0", 3),
        ("wait_all", 4),
    ):
        given, got = copied(run, f"{body} cp.async.{wait};")
        np.testing.assert_array_equal(got[:, :done], given[:, :done])
        assert (got[:, done:] == STALE).all(), wait


def test_each_thread_has_its_own_groups(run: Run) -> None:
    """Odd threads close a group more, so that the same wait leaves their last copy undone."""
    given, got = copied(
        run,
        """and.b32 %r5, %thread, 1;
        setp.eq.u32 %p0, %r5, 1;
        @%p0 cp.async.commit_group;
        cp.async.ca.shared.global [%r0], [%own], 4;
        cp.async.commit_group;
        @!%p0 cp.async.commit_group;
        cp.async.wait_group 1;""",
    )
    even = (np.arange(32) % 2 == 0)[:, None]
    np.testing.assert_array_equal(got[:, :1], np.where(even, given[:, :1], STALE))


@pytest.mark.plain_schedule("copies may be done early")
def test_a_wait_of_some_threads_ends_their_copies_only(run: Run) -> None:
    given, got = copied(
        run,
        """cp.async.ca.shared.global [%r0], [%own], 16;
        setp.lt.u32 %p0, %thread, 40;
        @%p0 cp.async.wait_all;""",
        block=64,
    )
    np.testing.assert_array_equal(got[:40], given[:40])
    assert (got[40:] == STALE).all()


@pytest.mark.plain_schedule("copies may be done early")
def test_copies_of_one_block_do_not_reach_the_next(run: Run) -> None:
    given, out = source(32), np.zeros(64, np.uint32)
    run(
        """shl.b32 %r0, %thread, 2;
        mad.lo.u64 %own, %wide, 4, %array0;
        mov.u32 %r3, %ctaid.x;
        setp.eq.u32 %p0, %r3, 0;
        mov.b32 %r1, 7;
        st.shared.b32 [%r0], %r1;
        @%p0 cp.async.ca.shared.global [%r0], [%own], 4;
        @!%p0 cp.async.wait_all;
        ld.shared.b32 %r2, [%r0];
        mad.lo.u32 %r4, %r3, 32, %thread;
        mul.wide.u32 %d1, %r4, 4;
        add.u64 %d1, %d1, %array1;
        st.global.u32 [%d1], %r2;""",
        given,
        out,
        shared=128,
        grid=2,
    )
    assert (out == 7).all()


def test_counted_as_a_global_load_and_a_shared_store(run: Run) -> None:
    launched = run(
        START + "cp.async.cg.shared.global [%r0], [%own], 16; cp.async.wait_all;" + END,
        source(),
        np.zeros(128, np.uint32),
        shared=512,
        count=True,
    )
    requests, bytes_, sectors, wavefronts, ideal, shared_requests, shared_bytes = launched.counts(
        "cp.async.cg"
    )[3:10]
    assert (requests - shared_requests, bytes_ - shared_bytes, sectors) == (1, 512, 16)
    assert (shared_requests, shared_bytes, wavefronts, ideal) == (1, 512, 4, 4)


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        ("cp.async.ca.shared.global [%r0 + 2], [%own], 4;", "misaligned"),
        ("cp.async.ca.shared.global [%r0], [%own + 8], 16;", "misaligned"),
        ("cp.async.ca.shared.global [%r0 + 16], [%own], 16;", "out-of-bounds"),
        ("cp.async.ca.shared.global [%r0], [%own + 16], 16;", "out-of-bounds"),
    ],
)
def test_faults_come_where_the_copy_begins(run: Run, body: str, kind: str) -> None:
    with pytest.raises(fp.KernelFault) as caught:
        copied(run, body)
    assert caught.value.kind == kind


@pytest.mark.parametrize(
    "spelled",
    [
        "cp.async.cg.shared.global [%r0], [%own], 8",
        "cp.async.ca.shared.global [%r0], [%own], 12",
        "cp.async.bulk.shared::cluster.global.bulk_group [%r0], [%own], 16",
        "cp.async.bulk.global.global.bulk_group [%own], [%own], 16",
        "cp.reduce.async.bulk.global.shared::cta.bulk_group.inc.s32 [%own], [%r0], 16",
        "cp.reduce.async.commit_group",
    ],
)
def test_unknown_forms_are_refused_by_name(run: Run, spelled: str) -> None:
    with pytest.raises(UnsupportedInstruction, match=spelled.split()[0]):
        copied(run, f"{spelled};")
