"""What a sanitised launch tells of the memory that it has touched, to the byte."""

from __future__ import annotations

import random
import struct
from collections.abc import Callable, Iterable
from typing import NamedTuple

import numpy as np
import pytest
from assembled import MODULE, only

from flashpath.vgpu.device import VirtualModule, engine

_BASE = 0x700000000000 - 0x20  # not where a line of the shadow begins
_BYTES = 20_000


class Accessed(NamedTuple):
    read: set[int]
    written: set[int]
    strong: set[int]
    strong_read: set[int]


def accessed(
    body: str, *, block: int = 64, grid: int = 1, writable: bool = True, seed: int = 0
) -> tuple[Accessed, str]:
    """Offsets in the array; and the kind of the fault that ended the launch, if one did."""
    program = VirtualModule(MODULE.format(body=body)).kernel("k").program
    array = np.zeros(_BYTES, np.uint8)
    options = engine().Options()
    options.sanitize = options.accessed = True
    options.budget, options.seed = 1_000_000, seed
    result = program.launch(
        (grid, 1, 1),
        (block, 1, 1),
        0,
        struct.pack("<Q", _BASE),
        [(_BASE, _BYTES, array.ctypes.data, writable, True)],
        options,
        lambda text: None,
    )
    all_ranges = result.read, result.written, result.strong, result.strong_read
    return Accessed(*map(_offsets, all_ranges)), result.fault_kind


def _offsets(ranges: Iterable[tuple[int, int]]) -> set[int]:
    """Of ranges that are in order, and do not even touch each other."""
    found: set[int] = set()
    before = -1
    for begin, end in ranges:
        assert before < begin < end
        found |= set(range(begin - _BASE, end - _BASE))
        before = end
    return found


def expected(
    read: Iterable[int], written: Iterable[int], strong: Iterable[int] = (), strong_read: Iterable[int] = ()
) -> Accessed:
    """What is written may have been read, too."""
    return Accessed(set(read) - set(written), set(written), set(strong), set(strong_read))


def lanes(size: int, of: Callable[[int], int], threads: Iterable[int]) -> set[int]:
    """The bytes of accesses of so many bytes, at offsets by thread."""
    return {of(thread) + byte for thread in threads for byte in range(size)}


AT = "mad.wide.u32 %d2, %r0, {stride}, %d0;"  # the array, and so many bytes further for each thread
VALUES = "mov.u64 %d3, 0; mov.u64 %d4, 0; mov.u32 %r4, 0; mov.u16 %h1, 0;"

# All values are 0, and stay so: it is known which compare-and-swap fails.
# Name of the access → its bytes, and the instruction at [%d2 + offset].
READS = {
    "u8": (1, "ld.global.u8 %h1, [%d2 + {0}];"),
    "u16": (2, "ld.global.u16 %h1, [%d2 + {0}];"),
    "u32": (4, "ld.global.u32 %r4, [%d2 + {0}];"),
    "u64": (8, "ld.global.u64 %d3, [%d2 + {0}];"),
    "v4": (16, "ld.global.v4.u32 {{%r4, %r5, %r6, %r7}}, [%d2 + {0}];"),
    "volatile": (4, "ld.volatile.global.u32 %r4, [%d2 + {0}];"),
    "generic": (4, "ld.u32 %r4, [%d2 + {0}];"),
    "copy": (16, "cp.async.cg.shared.global [s], [%d2 + {0}], 16; cp.async.wait_all;"),
    "pending copy": (4, "cp.async.ca.shared.global [s], [%d2 + {0}], 4;"),
    "failing swap": (4, "atom.global.cas.b32 %r4, [%d2 + {0}], 99, 0;"),
}
WRITES = {
    "u8": (1, "st.global.u8 [%d2 + {0}], %h1;"),
    "u16": (2, "st.global.u16 [%d2 + {0}], %h1;"),
    "u32": (4, "st.global.u32 [%d2 + {0}], %r4;"),
    "u64": (8, "st.global.u64 [%d2 + {0}], %d3;"),
    "v2": (16, "st.global.v2.u64 [%d2 + {0}], {{%d3, %d4}};"),
    "volatile": (4, "st.volatile.global.u32 [%d2 + {0}], %r4;"),
    "generic": (4, "st.u32 [%d2 + {0}], %r4;"),
    "add": (4, "atom.global.add.u32 %r4, [%d2 + {0}], 0;"),
    "reduction": (8, "red.global.add.u64 [%d2 + {0}], 0;"),
    "swap": (4, "atom.global.cas.b32 %r4, [%d2 + {0}], 0, 0;"),
}
STRONG = {"volatile", "failing swap", "add", "reduction", "swap"}


@pytest.mark.parametrize("spread", [0, 1, 2, 3, 17])
@pytest.mark.parametrize("access", READS)
def test_reads(access: str, spread: int) -> None:
    size, code = READS[access]
    body = AT.format(stride=size * spread) + code.format(2 * size)
    bytes_read = lanes(size, lambda thread: thread * size * spread + 2 * size, range(64))
    wanted = expected((), (), (), bytes_read) if access in STRONG else expected(bytes_read, ())
    assert accessed(body) == (wanted, "")


@pytest.mark.parametrize("spread", [0, 1, 2, 3, 17])
@pytest.mark.parametrize("access", WRITES)
def test_writes(access: str, spread: int) -> None:
    size, code = WRITES[access]
    body = VALUES + AT.format(stride=size * spread) + code.format(2 * size)
    bytes_written = lanes(size, lambda thread: thread * size * spread + 2 * size, range(64))
    wanted = expected((), (), bytes_written) if access in STRONG else expected((), bytes_written)
    assert accessed(body) == (wanted, "")


@pytest.mark.parametrize("taken", [0, 1, 3, 4, 12, 15, 16])
def test_a_copy_reads_no_more_than_it_takes(taken: int) -> None:
    body = AT.format(stride=16) + f"cp.async.ca.shared.global [s], [%d2], 16, {taken}; cp.async.wait_all;"
    assert accessed(body) == (expected(lanes(taken, lambda thread: 16 * thread, range(64)), ()), "")


def test_lanes_that_take_no_part() -> None:
    """Every third thread writes a byte, and reads the next one."""
    code = "st.global.u8 [%d2], %h1; ld.global.u8 %h2, [%d2 + 1];"
    body = VALUES + AT.format(stride=3) + "rem.u32 %r5, %r0, 3;" + only("out", "eq.u32 %p0, %r5, 0", code)
    written = {3 * thread for thread in range(0, 64, 3)}
    assert accessed(body) == (expected({byte + 1 for byte in written}, written), "")


def test_what_is_read_and_written_is_written() -> None:
    body = (
        VALUES + AT.format(stride=4) + "ld.global.u32 %r4, [%d2]; bar.sync 0; st.global.u16 [%d2 + 2], %h1;"
    )
    written = lanes(2, lambda thread: 4 * thread + 2, range(64))
    assert accessed(body) == (expected(range(256), written), "")


def test_blocks_add_up() -> None:
    body = VALUES + "mad.lo.u32 %r0, %r1, 48, %r0;" + AT.format(stride=4) + "st.global.u32 [%d2], %r4;"
    threads = [48 * number + lane for number in range(3) for lane in range(32)]
    written = lanes(4, lambda thread: 4 * thread, threads)
    assert accessed(body, grid=3, block=32) == (expected((), written), "")


def test_all_readers_of_a_place_that_many_read() -> None:
    """Readers of several blocks and warps are kept in a list, which is cut down now and then."""
    body = """
    mov.u32 %r4, 0;
    loop: add.u32 %r5, %r4, %r1; mad.wide.u32 %d2, %r5, 8, %d0; ld.global.u32 %r9, [%d2];
    add.u32 %r4, %r4, 1; setp.lt.u32 %p1, %r4, 40; @%p1 bra loop;"""
    assert accessed(body, grid=24) == (expected(lanes(4, lambda k: 8 * k, range(63)), ()), "")


def test_a_fault_ends_the_launch_and_what_was_before_it_is_told() -> None:
    stored = VALUES + AT.format(stride=4) + "st.global.u32 [%d2], %r4; ld.global.u8 %h1, [%d0 + 4000];"
    body = stored + "bar.sync 0; trap; st.global.u32 [%d2 + 1024], %r4;"
    found, fault = accessed(body)
    assert fault == "trap"
    assert found == expected([4000], range(256))


@pytest.mark.parametrize(
    "code",
    [
        f"st.global.u32 [%d0 + {_BYTES}], %r4;",
        f"ld.global.u64 %d3, [%d0 + {_BYTES - 4}];",
        "ld.global.u32 %r4, [%d0 + 2];",
        "st.global.u8 [%d0 + -1], %h1;",
    ],
)
def test_what_goes_nowhere_is_not_told(code: str) -> None:
    body = VALUES + code + "ld.global.u8 %h1, [%d0 + 3];"
    assert accessed(body) == (expected([3], ()), "")


def test_the_ends_of_an_array() -> None:
    body = VALUES + f"st.global.u8 [%d0], %h1; ld.global.u8 %h1, [%d0 + {_BYTES - 1}];"
    assert accessed(body) == (expected([_BYTES - 1], [0]), "")


def test_arrays_that_are_never_written_are_not_watched() -> None:
    assert accessed("ld.global.u8 %h1, [%d0 + 3];", writable=False) == (expected((), ()), "")


@pytest.mark.parametrize("with_strong", [False, True])
@pytest.mark.parametrize("seed", range(40))
def test_any_mixture(seed: int, with_strong: bool) -> None:
    """Accesses of random widths, places and lanes, in an order of its own for each seed."""
    choose = random.Random(seed)
    body, done = VALUES, Accessed(set(), set(), set(), set())
    for number in range(choose.randrange(1, 16)):
        writes = choose.random() < 0.4
        kinds = WRITES if writes else READS
        kind = choose.choice([kind for kind in kinds if with_strong or kind not in STRONG])
        size, code = kinds[kind]
        spread, offset = choose.choice([0, 1, 1, 1, 2, 5]), size * choose.randrange(1024 // size)
        first, last = sorted(choose.sample(range(65), 2))
        taking = f"sub.u32 %r8, %r0, {first};"
        step = AT.format(stride=size * spread) + code.format(offset)
        body += taking + only(f"next{number}", f"lt.u32 %p0, %r8, {last - first}", step)
        touched = lanes(size, lambda t, a=size * spread, b=offset: a * t + b, range(first, last))
        plain, strong = (done.written, done.strong) if writes else (done.read, done.strong_read)
        (strong if kind in STRONG else plain).update(touched)
    found, fault = accessed(body, seed=seed)
    assert fault == ""
    if not with_strong:
        assert found == expected(done.read, done.written)
        return
    # Which came last, and hides the others, is the schedule's choice.
    assert set().union(*found) == set().union(*done)
    assert all(told <= happened for told, happened in zip(found, done, strict=True))
    assert found.written | found.strong == done.written | done.strong
    assert found.read == done.read - done.written - done.strong
