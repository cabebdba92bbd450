"""The planted bugs: how each kernel of planted/ is launched. What is wrong in which line, its source says.

A comment marks the lines: `// BUG: kind`, and at races `// WITH` at the other access, where it stands in
another line. `// OR` marks a line that may be named instead, where the bug is in both.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import numpy as np

from flashpath.vgpu.findings import Kind

FOLDER = Path(__file__).parent / "planted"
FEW_INSTRUCTIONS = 200_000  # of warps: plenty for every kernel here that ends

Arguments = Callable[[], Sequence[Any]]


@dataclass(frozen=True)
class Marks:
    """What the comments in a kernel's source say."""

    kind: Kind
    bug: frozenset[int]  # the lines that may be named
    partner: int  # of a race; the bug's own line where both accesses are in it


@dataclass(frozen=True)
class Planted:
    """A kernel with one bug, and its launch."""

    file: str
    kernel: str
    arguments: Arguments
    grid: Any = 1
    block: Any = 32
    shared: int = 0
    seeds: int = 1  # schedules to try; more than one where the first hides the bug
    hangs: bool = False  # on a GPU it does not end
    on_a_gpu: bool = True  # a program outside of Python can have the bug
    also: frozenset[Kind] = frozenset()  # what follows from it

    @property
    def marks(self) -> Marks:
        return read_marks(self.file, self.kernel)


def source_of(file: str) -> Path:
    """The file of planted kernels of that stem."""
    return FOLDER / f"{file}.cu"


@functools.cache
def read_marks(file: str, kernel: str) -> Marks:
    """The marked lines of one kernel."""
    lines = source_of(file).read_text(encoding="utf-8").splitlines()
    inside = False
    kinds: list[str] = []
    bugs: set[int] = set()
    partner = 0
    for number, line in enumerate(lines, 1):
        if "__global__" in line:
            inside = re.search(rf"\bvoid {kernel}\(", line) is not None
        if not inside:
            continue
        if found := re.search(r"// BUG: ([\w-]+)", line):
            kinds.append(found[1])
            bugs.add(number)
        elif line.endswith("// OR"):
            bugs.add(number)
        elif line.endswith("// WITH"):
            partner = number
    (kind,) = kinds
    return Marks(cast("Kind", kind), frozenset(bugs), partner or max(bugs))


# ---- Arrays --------------------------------------------------------------------------------------------


def zeros(*sizes: int, dtype: Any = np.int32) -> Arguments:
    """Arrays of zeros, of so many elements."""
    return lambda: [np.zeros(size, dtype) for size in sizes]


def floats(*sizes: int) -> Arguments:
    """The first array counts up, the others are zero."""
    return lambda: [
        np.arange(size, dtype=np.float32) if k == 0 else np.zeros(size, np.float32)
        for k, size in enumerate(sizes)
    ]


def integers(*sizes: int) -> Arguments:
    """The first array counts up from 1, the others are zero."""
    return lambda: [
        np.arange(1, size + 1, dtype=np.int32) if k == 0 else np.zeros(size, np.int32)
        for k, size in enumerate(sizes)
    ]


def then(arrays: Arguments, *more: Any) -> Arguments:
    """Arrays, and numbers after them."""
    return lambda: [*arrays(), *more]


def filled(*values: Any) -> Arguments:
    """Copies of arrays, and numbers, as they are."""
    return lambda: [value.copy() if isinstance(value, np.ndarray) else value for value in values]


def read_only(array: Any) -> Any:
    """An array that may not be written."""
    array.flags.writeable = False
    return array


def _ints(*values: int) -> Any:
    return np.array(values, np.int32)


def _bytes(size: int, modulus: int) -> Any:
    return (np.arange(size) * 7 % modulus).astype(np.uint8)


_ALTERNATING = np.where(np.arange(32) % 2 == 0, 1, -1).astype(np.int32)
_SETTINGS = np.dtype([("values", np.int32, 32)])

# ---- The bugs ------------------------------------------------------------------------------------------

PLANTED = [
    Planted("race_shared", "reverse_in_a_warp", integers(32, 32)),
    Planted("race_shared", "reduce_in_a_warp", floats(32, 1)),
    Planted("race_shared", "broadcast_in_a_warp", integers(32, 32)),
    Planted("race_shared", "reduce_in_a_block", floats(128, 1), block=128),
    Planted(
        "race_shared",
        "tiles_without_second_barrier",
        lambda: [np.ones(512, np.float32), np.ones(512, np.float32), np.zeros(256, np.float32), 32],
        block=(16, 16),
    ),
    Planted("race_shared", "wrong_buffer", then(floats(256, 64), 4), block=64),
    Planted("race_shared", "transpose_without_barrier", floats(256, 256), block=(16, 16)),
    Planted("race_shared", "last_one_wins", integers(64, 1), block=64),
    Planted("race_shared", "count_without_atomics", integers(64, 1), block=64),
    Planted("race_shared", "bins_read_too_early", filled(_bytes(64, 64), np.zeros(64, np.int32)), block=64),
    Planted("race_shared", "bins_cleared_too_late", filled(_bytes(64, 64), np.zeros(64, np.int32)), block=64),
    Planted("race_shared", "scan_in_place", integers(64, 64), block=64),
    Planted(
        "race_shared", "bytes_read_as_words", filled(_bytes(128, 256), np.zeros(32, np.uint32)), block=128
    ),
    Planted("race_shared", "syncwarp_for_a_block", integers(64, 64), block=64),
    Planted("race_global", "shift_in_place", then(integers(64), 64), block=64),
    Planted("race_global", "exchange_in_a_warp", zeros(32, 32)),
    Planted("race_global", "smooth_in_place", then(floats(128), 128), grid=4),
    Planted("race_global", "flag_without_fence", zeros(1, 1, 1), grid=2, block=1),
    Planted("race_global", "fence_of_a_block", zeros(1, 1, 1), grid=2, block=1),
    Planted("race_global", "fence_on_one_side", zeros(1, 1, 1), grid=2, block=1),
    Planted("race_global", "weak_flag", zeros(1, 1), grid=2, block=1),
    Planted(
        "race_global",
        "histogram_without_atomics",
        filled(_bytes(128, 16), np.zeros(16, np.int32), 128),
        grid=4,
    ),
    Planted(
        "race_global",
        "last_block_without_fence",
        filled(np.zeros(4, np.float32), np.zeros(1, np.uint32), np.zeros(1, np.float32)),
        grid=4,
    ),
    Planted("race_global", "position_of", filled(np.ones(64, np.int32), 1, _ints(-1), 64), grid=2),
    Planted("race_global", "cleared_by_one_block", integers(64, 1), grid=2),
    Planted("race_global", "counter_read_plainly", zeros(1, 2), grid=2),
    Planted("race_global", "lock_without_fence", zeros(1, 1), grid=4),
    Planted("race_global", "overlapping_tiles", filled(np.zeros(64, np.float32), 63), grid=2),
    Planted("race_schedules", "default_if_not_ready", zeros(1, 1), grid=2, seeds=20),
    Planted("race_schedules", "beside_the_lock", zeros(1, 1, 3), grid=2, seeds=20),
    Planted("race_schedules", "own_place_and_number", zeros(1, 4), grid=4, seeds=20),
    Planted("race_schedules", "first_warp_prepares", zeros(32), block=128, seeds=20),
    Planted("out_of_bounds", "one_too_many", then(floats(100), 100), grid=4),
    Planted("out_of_bounds", "left_neighbour", then(floats(64, 64), 64), grid=2),
    Planted("out_of_bounds", "null_pointer", then(integers(32), None)),
    Planted("out_of_bounds", "rows_and_columns_swapped", then(floats(64, 64), 4, 16), grid=4, block=16),
    Planted("out_of_bounds", "four_at_the_end", then(floats(30, 32), 30)),
    Planted(
        "out_of_bounds", "bin_that_is_not_there", filled(np.arange(32, dtype=np.int32), _ints(*[0] * 31))
    ),
    Planted("out_of_bounds", "too_little_shared", floats(64, 64), block=64, shared=128),
    Planted("out_of_bounds", "halo_in_shared", floats(64, 64), block=64),
    Planted(
        "out_of_bounds",
        "before_shared",
        filled(np.arange(-1, 31, dtype=np.int32), _ints(*[0] * 32)),
        shared=128,
    ),
    Planted("out_of_bounds", "local_digits", filled(_ints(*[1_234_567_890] * 32), _ints(*[0] * 32))),
    Planted("out_of_bounds", "copy_too_far", floats(126, 32)),
    Planted("out_of_bounds", "heap_past_the_end", then(zeros(1), 8), block=1),
    Planted("out_of_bounds", "heap_after_free", then(zeros(1), 8), block=1),
    Planted("misaligned", "four_from_the_second", floats(132, 32)),
    Planted(
        "misaligned", "pair_at_any_index", filled(np.zeros(66, np.float32), np.arange(32, dtype=np.int32))
    ),
    Planted("misaligned", "word_after_a_byte", filled(_bytes(132, 256), _ints(*[0] * 32))),
    Planted("misaligned", "padded_rows", floats(128, 4)),
    Planted("misaligned", "long_counter", lambda: [np.zeros(4, np.uint32)]),
    # A copy that cannot be made leaves its target unwritten.
    Planted("misaligned", "copy_of_sixteen", floats(40, 8), block=8),
    Planted("uninitialized", "partial_tile", then(floats(64, 64), 50), block=64),
    Planted("uninitialized", "sum_from_anything", integers(32, 1)),
    Planted("uninitialized", "half_a_halo", floats(64, 64), block=64),
    Planted("uninitialized", "seen_before", integers(32, 32), shared=256),
    Planted("uninitialized", "local_table", integers(32, 32)),
    Planted("uninitialized", "local_stack", then(integers(8, 32), 8)),
    Planted("uninitialized", "heap_sum", then(zeros(1), 8), block=1),
    Planted("uninitialized", "heap_counters", integers(32, 32)),
    Planted("divergent_barrier", "barrier_in_a_branch", filled(_ALTERNATING, _ints(*[0] * 32))),
    Planted("divergent_barrier", "barrier_for_some", then(floats(64, 64), 50), block=64),
    Planted("divergent_barrier", "barrier_in_a_loop", integers(32, 32)),
    Planted("divergent_barrier", "barrier_in_each_branch", integers(32, 32)),
    Planted("missing_wait", "barrier_is_no_wait", floats(64, 64), block=64),
    Planted("missing_wait", "one_group_too_many", then(floats(256, 64), 4), block=64),
    Planted("missing_wait", "commit_forgotten", floats(64, 64), block=64),
    Planted("missing_wait", "written_during_copy", then(floats(64, 64), 50), block=64),
    Planted("missing_wait", "wait_without_barrier", floats(64, 64), block=64),
    Planted("deadlock", "barrier_for_more", zeros(32), block=64, hangs=True),
    Planted("deadlock", "flag_that_nobody_sets", zeros(1, 1), hangs=True),
    Planted("deadlock", "locks_in_two_orders", zeros(2, 2, 2), grid=2, block=1, hangs=True),
    Planted("deadlock", "locks_in_two_orders_sometimes", zeros(2, 1), grid=2, block=1, seeds=20, hangs=True),
    Planted("deadlock", "lock_not_released", filled(_ints(0), _ints(3, 0, 5), _ints(0)), grid=3, hangs=True),
    Planted("deadlock", "lock_taken_twice", zeros(1, 2), hangs=True),
    Planted("deadlock", "arrival_that_is_missing", zeros(64), block=64, hangs=True),
    Planted("bad_mask", "caller_outside", integers(32, 32), hangs=True),
    Planted("bad_mask", "empty_mask", filled(_ints(*range(31), 0), _ints(*[0] * 32)), hangs=True),
    Planted("bad_mask", "masks_that_differ", integers(32, 32), hangs=True),
    Planted("bad_mask", "mask_of_the_others", filled(_ALTERNATING, _ints(*[0] * 32)), hangs=True),
    Planted("bad_mask", "from_an_absent_lane", integers(32, 32)),
    Planted("const_write", "constant_memory", zeros(32)),
    Planted("const_write", "kernel_parameter", lambda: [np.zeros(1, _SETTINGS)[0], np.zeros(32, np.int32)]),
    Planted(
        "const_write",
        "read_only_array",
        lambda: [read_only(np.ones(32, np.int32)), np.zeros(32, np.int32)],
        on_a_gpu=False,
    ),
    Planted("const_write", "read_only_counter", lambda: [read_only(_ints(0))], on_a_gpu=False),
    Planted("leak", "never_freed", zeros(32)),
    Planted("leak", "freed_on_one_way", filled(_ALTERNATING, _ints(*[0] * 32))),
    Planted("leak", "head_only", then(zeros(1), 4), block=1),
    Planted("leak", "pointer_lost", then(zeros(32), 8)),
    Planted("timeout", "doubled_from_zero", then(zeros(32), 100), hangs=True),
    Planted(
        "timeout", "search", lambda: [np.arange(8, dtype=np.int32), 8, 6, np.zeros(32, np.int32)], hangs=True
    ),
    Planted("timeout", "float_counter", then(floats(32), 2.0e7), hangs=True),
]
