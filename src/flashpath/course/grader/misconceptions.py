"""A known mistake behind a failure: which of the exercise's mutants fails exactly as this answer does.

Mutants that are rejected for the same reason are run on the very case that failed, with the same inputs and
the same poison. One that leaves the same bits behind has, as far as that case can tell, the same mistake, and
its hint is shown. A case of one element tells few mistakes apart, so a larger one must agree too. All this
takes a second or so: a hint is worth no longer wait.
"""

from __future__ import annotations

import difflib
import re
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, TypeVar

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


@dataclass(frozen=True)
class Evidence:
    """What a launch or a call left behind, for comparison bit by bit."""

    findings: tuple[tuple[Any, ...], ...]  # kind, thread and count of each
    arrays: tuple[bytes, ...]
    larger: Evidence | None = None  # of a larger case, which tells more mistakes apart

    @classmethod
    def of_kernel(cls, run: KernelRun, larger: Evidence | None = None) -> Evidence:
        found = tuple((each.kind, each.block, each.thread, each.count) for each in by_cause(run.findings))
        return cls(found, tuple(bits_of(array).tobytes() for array in run.arrays), larger)

    @classmethod
    def of_values(cls, arrays: Iterable[Array], larger: Evidence | None = None) -> Evidence:
        return cls((), tuple(bits_of(array).tobytes() for array in arrays), larger)

    def likeness(self, other: Evidence) -> int:
        """0: another failure; else the more the better. Findings of one kind are alike, equal ones more."""
        same_arrays = self.arrays == other.arrays and self._seen_larger == other._seen_larger
        if not self.findings and not other.findings:
            return _SAME if same_arrays else 0
        if self.findings[:1] and other.findings[:1] and self.findings[0][0] == other.findings[0][0]:
            return 1 + same_arrays + (self.findings == other.findings)
        return 0

    @property
    def _seen_larger(self) -> object:
        return None if self.larger is None else (self.larger.findings, self.larger.arrays)

    @property
    def best_likeness(self) -> int:
        """What no other evidence can exceed."""
        return 3 if self.findings else _SAME


_SAME = 4
_Result = TypeVar("_Result")
Counts = Callable[[Mutant], list[float]]
Rerun = Callable[[Exercise, Mutant], Evidence | None]


def of_case(
    exercise: Exercise, failure: Failure, evidence: Evidence | None, source: str, rerun: Rerun, lang: str
) -> Hint | None:
    """The mutant that fails as the answer does, on the case that failed and on a larger one."""
    if failure.reason == "timeout" or evidence is None:
        return of_broken(exercise, failure, source, lang)

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
    return None if best is None else _hint(best[1], lang)


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


def of_broken(exercise: Exercise, failure: Failure, source: str, lang: str) -> Hint | None:
    """For what cannot be run again in a second: the one mutant that hangs, or is refused, or does not compile
    with these words."""
    same = [each for each in exercise.mutants if each.rejected_for == failure.reason]
    text = _plain(source)
    exact = [each for each in same if _plain(each.source) == text]
    if exact:
        return _hint(exact[0], lang)
    return _hint(same[0], lang) if len(same) == 1 and failure.reason in ("timeout", "refused") else None


def of_goals(exercise: Exercise, counted: list[float], source: str, counts: Counts, lang: str) -> Hint | None:
    """The mutant of which the same is counted."""
    for mutant, of_mutant in _tried(_candidates(exercise, "goal", source), counts):
        if of_mutant == counted:
            return _hint(mutant, lang)
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


def _hint(mutant: Mutant, lang: str) -> Hint:
    return Hint(mutant.name, mutant.hint.in_(lang))
