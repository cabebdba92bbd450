"""The programs of this folder, and what each prints and returns, on the virtual GPU and on a real one.

What a program prints stands beside it in a file with the same stem that ends in `.out`; where it is run with
different arguments, in one that says which.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parent


@dataclass(frozen=True)
class Case:
    """One run of one program."""

    files: tuple[str, ...]
    arguments: tuple[str, ...] = ()
    stdin: str = ""
    code: int = 0
    said: str = ""  # on stderr, on the virtual GPU, among other things
    findings: tuple[str, ...] = ()  # the kinds of what the sanitizer tells of its kernels
    host_findings: tuple[str, ...] = ()  # all that it tells of its host code, as "sum.cu:7: leak"
    out: str = ""  # the file, where it is not the first source's with another suffix
    flags: tuple[str, ...] = ()
    devices: int = 1
    only_virtual: bool = False

    @property
    def program(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """What it is compiled from: cases that differ in what they are given share it."""
        return self.files, self.flags

    @property
    def is_slow_to_compile(self) -> bool:
        return self.files[0].startswith("libraries/")

    @property
    def name(self) -> str:
        return "-".join((self.files[0].rsplit(".", 1)[0], *self.arguments))

    @property
    def expected(self) -> str:
        return (HERE / (self.out or Path(self.files[0]).with_suffix(".out"))).read_text()


_GLIDER = ".#......\n..#.....\n###.....\n........\n........\n........\n"
_PANGRAM = "The quick brown fox jumps over the lazy dog. "


def _found(kind: str, file: str, *lines: int) -> tuple[str, ...]:
    """One finding of host code for each line."""
    return tuple(f"{file}:{line}: {kind}" for line in lines)


def _faults() -> Iterator[Case]:
    kinds = {
        "null": "out-of-bounds",
        "beyond": "out-of-bounds",
        "misaligned": "misaligned",
        "assert": "assert",
        "behind-shared": "out-of-bounds",
        "far-behind-shared": "out-of-bounds",
        "before-shared": "out-of-bounds",
        "free-twice": "out-of-bounds",
        "trap": "trap",
        "recursion": "out-of-bounds",
    }
    for fault, kind in kinds.items():
        out = f"api/faults.{fault}.out"
        # What lies far beyond an array is another matter on each GPU.
        virtual = fault == "beyond"
        yield Case(("api/faults.cu",), (fault,), code=3, findings=(kind,), out=out, only_virtual=virtual)


def _wrong_pointers() -> Iterator[Case]:
    what_is_said = {
        "host": ("it is memory of the host, which kernels do not see", "out-of-bounds"),
        "freed": ("it was freed before", "use-after-free"),
        "peer": ("it is memory of device 1: call cudaDeviceEnablePeerAccess(1, 0) first", "out-of-bounds"),
    }
    for pointer, (said, kind) in what_is_said.items():
        yield Case(
            ("virtual/wrong_pointers.cu",),
            (pointer,),
            code=1,
            said=said,
            findings=(kind,),
            devices=2,
            only_virtual=True,
        )


CASES = (
    Case(("api/memory.cu",)),
    Case(("api/pools.cu",)),
    Case(("api/pitched.cu",)),
    Case(("api/copies.cu",)),
    # Helpers copy at lines 16 and 39, each in so many directions that are wrong.
    Case(
        ("api/directions.cu",),
        host_findings=_found("wrong-direction", "directions.cu", *8 * [16], *4 * [39], 45),
    ),
    Case(("api/streams.cu",)),
    Case(("api/events.cu",)),
    Case(("api/graphs.cu",), host_findings=_found("leak", "graphs.cu", 13, 14, 23)),
    Case(("api/graph_of_pageable_copies.cu",)),
    Case(
        ("api/beyond_all_memory.cu",),
        host_findings=(
            *_found("bad-pointer", "beyond_all_memory.cu", 14, 15),
            *_found("out-of-bounds", "beyond_all_memory.cu", 19, 20),
        ),
        only_virtual=True,
    ),
    Case(("api/shared_of_templates.cu",), flags=("-rdc=true",)),
    Case(("api/devices.cu",)),
    Case(("api/peers.cu",), devices=2),
    Case(("api/launches.cu",)),
    Case(("api/functions.cu",)),
    Case(("api/cooperative.cu",), host_findings=_found("leak", "cooperative.cu", 55, 56, 57, 73, 74)),
    Case(("api/symbols.cu",), host_findings=_found("out-of-bounds", "symbols.cu", 60)),
    Case(("api/errors.cu",)),
    Case(
        ("api/refusals.cu",),
        host_findings=(
            *_found("use-after-free", "refusals.cu", 13, 14),
            *_found("bad-pointer", "refusals.cu", 39, 41, 45),
            *_found("wrong-direction", "refusals.cu", 60, 62),
        ),
    ),
    *_faults(),
    Case(("api/kernel_printf.cu",)),
    Case(("api/mapped_flags.cu",)),
    Case(("api/at_exit.cu",)),
    Case(("api/forks.cu",)),
    Case(("api/per_thread.cu",), flags=("--default-stream", "per-thread")),
    Case(("learner/hello.cu",)),
    Case(("learner/vector_add.cu",), host_findings=_found("leak", "vector_add.cu", 19, 20, 21)),
    Case(("learner/early_return.cu",), code=3),
    Case(("learner/early_return.cu",), ("1000",), out="learner/early_return.1000.out"),
    Case(("learner/globals.cu",)),
    Case(("learner/templates.cu",)),
    Case(("learner/raii.cu",), code=1),
    Case(("learner/timing.cu",)),
    Case(("learner/arguments.cu",), ("*", "2.5"), stdin="1 2\n-3 1e6\n"),
    Case(("learner/arguments.cu",), code=2, out="learner/arguments.usage.out"),
    Case(("learner/random_pi.cu",)),
    Case(("learner/matmul.cu",)),
    Case(("learner/reduction.cu",)),
    Case(("learner/histogram.cu",), stdin=20 * _PANGRAM),
    Case(("learner/error_macro.cu",), code=1),
    Case(("learner/unified_memory.cu",)),
    Case(("learner/objects.cu",)),
    Case(("learner/assertions.cu",), code=1, findings=("assert",)),
    Case(("learner/game_of_life.cu",), ("8",), stdin=_GLIDER),
    Case(("separate/main.cu", "separate/forces.cu", "separate/world.cu"), out="separate/particles.out"),
    Case(("mixed/main.cpp", "mixed/blur.cu")),
    Case(("libraries/thrust_reduce.cu",)),
    Case(("libraries/thrust_scan.cu",)),
    Case(("libraries/thrust_sort.cu",)),
    Case(("libraries/thrust_transform.cu",)),
    Case(("libraries/cub_reduce.cu",)),
    Case(("libraries/cub_scan.cu",)),
    Case(("libraries/cub_sort.cu",)),
    Case(("libraries/cub_transform.cu",)),
    Case(("virtual/unavailable.cu",), only_virtual=True, host_findings=_found("leak", "unavailable.cu", 12)),
    Case(("virtual/heap.cu",), only_virtual=True),
    Case(("virtual/heap.cu",), ("lose",), findings=("leak",), only_virtual=True),
    *_wrong_pointers(),
)
