"""A known mistake behind a failure: which of the exercise's mutants fails exactly as this answer does.

Mutants that are rejected for the same reason are run on the very case that failed, with the same inputs and
the same poison. One that leaves the same bits behind has, as far as that case can tell, the same mistake, and
its hint is shown; so has one whose results differ by rounding alone. A case of one element tells few mistakes
apart, so a larger one must agree too. All this takes a second or so: a hint is worth no longer wait.
"""

from __future__ import annotations

import difflib
import re
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

from flashpath.course.content.exercise import Exercise, Mutant
from flashpath.course.grader.describe import by_cause
from flashpath.course.grader.dtypes import Array, bits_of
from flashpath.course.grader.verdict import Failure, Hint
from flashpath.course.sandbox import KernelRun
from flashpath.errors import FlashpathError

SECONDS = 1.0
_AT_ONCE = 2

_CPP_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_PYTHON_COMMENT = re.compile(r"#[^\n]*")


@dataclass(frozen=True, eq=False)
class Left:
    """An array as it was left behind, and what it should be where it is an output of floats."""

    value: Array
    truth: Array | None = None

    def is_same(self, other: Left) -> bool:
        return bits_of(self.value).tobytes() == bits_of(other.value).tobytes()

    def is_near(self, other: Left) -> bool:
        """Whether both are wrong in the same way: no further from each other than rounding brings them, which
        is far less than they are from the truth."""
        if self.is_same(other):
            return True
        if (
            self.truth is None
            or self.value.shape != other.value.shape
            or self.value.dtype != other.value.dtype
        ):
            return False
        with np.errstate(all="ignore"):
            own, others, truth = (each.astype(np.float64) for each in (self.value, other.value, self.truth))
            apart = np.where((own == others) | (np.isnan(own) & np.isnan(others)), 0.0, np.abs(own - others))
            wrong = np.abs(own - truth)
            furthest = float(np.max(wrong, where=np.isfinite(wrong), initial=0.0))
        return bool(np.all(apart <= _FAR_LESS * furthest))


@dataclass(frozen=True)
class Evidence:
    """What a launch or a call left behind, for comparison."""

    findings: tuple[tuple[Any, ...], ...]  # kind, thread and count of each
    arrays: tuple[Left, ...]
    larger: Evidence | None = None  # of a larger case, which tells more mistakes apart

    @classmethod
    def of_kernel(
        cls, run: KernelRun, truths: Mapping[int, Array], larger: Evidence | None = None
    ) -> Evidence:
        """`truths`: what arrays should hold, by their place in the run."""
        found = tuple((each.kind, each.block, each.thread, each.count) for each in by_cause(run.findings))
        left = tuple(Left(array, truths.get(place)) for place, array in enumerate(run.arrays))
        return cls(found, left, larger)

    @classmethod
    def of_values(cls, arrays: Iterable[Array], larger: Evidence | None = None) -> Evidence:
        return cls((), tuple(map(Left, arrays)), larger)

    def likeness(self, other: Evidence) -> int:
        """0: another failure; else the more the better. Findings of one kind are alike, equal ones more."""
        same_arrays = self._agrees(other, Left.is_same)
        if not self.findings and not other.findings:
            return _SAME if same_arrays else _NEAR if self._agrees(other, Left.is_near) else 0
        if self.findings[:1] and other.findings[:1] and self.findings[0][0] == other.findings[0][0]:
            return 1 + same_arrays + (self.findings == other.findings)
        return 0

    def _agrees(self, other: Evidence, alike: Callable[[Left, Left], bool]) -> bool:
        if len(self.arrays) != len(other.arrays) or not all(map(alike, self.arrays, other.arrays)):
            return False
        if self.larger is None or other.larger is None:
            return self.larger is other.larger
        return self.larger.findings == other.larger.findings and self.larger._agrees(other.larger, alike)

    @property
    def best_likeness(self) -> int:
        """What no other evidence can exceed."""
        return 3 if self.findings else _SAME


_FAR_LESS = 1e-3
_NEAR, _SAME = 3, 4
_Result = TypeVar("_Result")
Counts = Callable[[Mutant], list[float]]
Rerun = Callable[[Exercise, Mutant], Evidence | None]


def of_case(
    exercise: Exercise, failure: Failure, evidence: Evidence | None, source: str, rerun: Rerun
) -> Hint | None:
    """The mutant that fails as the answer does, on the case that failed and on a larger one."""
    if failure.reason == "timeout" or evidence is None:
        return of_broken(exercise, failure, source)

    def likeness(mutant: Mutant) -> int:
        other = rerun(exercise, mutant)
        return 0 if other is None else evidence.likeness(other)

    candidates = _candidates(exercise, failure.reason, source)
    # A finding of the same kind alone says little where several mistakes lead to it.
    least = 1 if len(candidates) == 1 else 2
    best: tuple[int, Mutant] | None = None
    for mutant, alike in _tried(candidates, likeness):
        if alike >= least and (best is None or alike > best[0]):
            best = alike, mutant
        if alike == evidence.best_likeness:
            break
    return None if best is None else _hint(best[1])


def _tried(
    mutants: Sequence[Mutant], measure: Callable[[Mutant], _Result]
) -> Iterator[tuple[Mutant, _Result]]:
    """Each mutant with what was measured of it, two at a time, until the time is over.

    What fails in the sandbox shows nothing.
    """
    end = time.monotonic() + SECONDS
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        running = deque[tuple[Mutant, Future[_Result]]]()
        waiting = deque(mutants)
        try:
            while running or waiting:
                while waiting and len(running) < _AT_ONCE and time.monotonic() < end:
                    mutant = waiting.popleft()
                    running.append((mutant, pool.submit(measure, mutant)))
                if not running:
                    return
                mutant, future = running.popleft()
                try:
                    yield mutant, future.result()
                except FlashpathError:
                    continue
        finally:
            for _, future in running:
                future.cancel()


def of_broken(exercise: Exercise, failure: Failure, source: str) -> Hint | None:
    """For what cannot be run again in a second: the one mutant that hangs, or is refused, or does not compile
    with these words."""
    same = [each for each in exercise.mutants if each.rejected_for == failure.reason]
    text = _plain(source)
    exact = [each for each in same if _plain(each.source) == text]
    if exact:
        return _hint(exact[0])
    return _hint(same[0]) if len(same) == 1 and failure.reason in ("timeout", "refused") else None


def of_goals(exercise: Exercise, counted: list[float], source: str, counts: Counts) -> Hint | None:
    """The mutant of which the same is counted."""
    for mutant, of_mutant in _tried(_candidates(exercise, "goal", source), counts):
        if of_mutant == counted:
            return _hint(mutant)
    return None


def _candidates(exercise: Exercise, reason: str, source: str) -> list[Mutant]:
    """Those of the same reason, the one whose text is nearest first."""
    same = [each for each in exercise.mutants if each.rejected_for == reason]
    matcher = difflib.SequenceMatcher(b=_plain(source), autojunk=False)

    def nearness(mutant: Mutant) -> float:
        matcher.set_seq1(_plain(mutant.source))
        return matcher.ratio()

    return sorted(same, key=nearness, reverse=True) if len(same) > 1 else same


def _plain(source: str) -> list[str]:
    """Its lines without comments and space: what is left is the program."""
    comment = _CPP_COMMENT if "__global__" in source else _PYTHON_COMMENT
    lines = (re.sub(r"\s+", "", line) for line in comment.sub("", source).splitlines())
    return [line for line in lines if line]


def _hint(mutant: Mutant) -> Hint:
    return Hint(mutant.name, mutant.hint)
