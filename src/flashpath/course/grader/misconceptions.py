"""A known mistake behind a failure: which of the exercise's mutants does exactly what this answer does.

A hint that may be wrong is worse than none, so a mutant is named only where nothing tells the answer from
it. Either the texts are the same, or both did the same on every one of a few cases: they left the same
numbers behind, but for rounding, and the same findings at the same threads. Where goals were missed, both had
the same accesses of every kind. The cases are always the same ones (`cases.telling_cases`), chosen so that
they tell the mutants of an exercise from each other; a test compares all pairs. What no case can tell apart
(a barrier that is missing, and one of a warp in its place) the mutant's own words do: `with` and `without`.
"""

from __future__ import annotations

import difflib
import functools
import itertools
import re
import time
from collections import OrderedDict, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

from flashpath.course.content.exercise import Exercise, Mutant
from flashpath.course.grader.compare import Expected
from flashpath.course.grader.describe import by_cause
from flashpath.course.grader.dtypes import Array, bits_of, half_ulp, is_float
from flashpath.course.grader.verdict import Failure, Hint
from flashpath.course.sandbox import SandboxError, TimedOut
from flashpath.errors import FlashpathError
from flashpath.messages import told
from flashpath.vgpu.findings import Finding
from flashpath.vgpu.host_findings import HostFinding

SECONDS = 1.0
_AT_ONCE = 2

_CPP_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_PYTHON_COMMENT = re.compile(r"#[^\n]*")


# ---- What was seen -------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Left:
    """An array as it was left behind, and what it should be where it is an output."""

    value: Array
    expected: Expected | None = None

    def is_like(self, other: Left) -> bool:
        """Whether both hold the same numbers: to the bit, or wrong in the same way but for rounding."""
        if self.value.shape != other.value.shape or self.value.dtype != other.value.dtype:
            return False
        if bits_of(self.value).tobytes() == bits_of(other.value).tobytes():
            return True
        expected = self.expected
        if expected is None or expected.allowed is None or not is_float(self.value.dtype):
            return False
        with np.errstate(all="ignore"):
            own, others, truth = (x.astype(np.float64) for x in (self.value, other.value, expected.value))
            apart = np.where((own == others) | (np.isnan(own) & np.isnan(others)), 0.0, np.abs(own - others))
            rounding = expected.allowed + 4 * half_ulp(self.value.dtype) * np.abs(own)
            wrong = np.abs(own - truth)
            # Two wrong values must be far nearer to each other than to the truth.
            far_less = np.where(wrong > expected.allowed, _FAR_LESS * wrong, np.inf)
        near = np.isfinite(apart) & (apart <= np.minimum(rounding, far_less))
        # Zero is no number that rounding makes.
        return bool(np.all(near & ((own == 0) == (others == 0))))


_FAR_LESS = 0.01


@dataclass(frozen=True, eq=False)
class Seen:
    """What one launch or one call left behind."""

    findings: tuple[tuple[Any, ...], ...]
    arrays: tuple[Left, ...]

    @classmethod
    def of(cls, arrays: Iterable[Left], findings: Iterable[Finding | HostFinding] = ()) -> Seen:
        return cls(tuple(map(_key, by_cause(findings))), tuple(arrays))

    def tells(self) -> bool:
        """Whether it shows more than NaN and infinity, which many mistakes lead to."""
        numbers = (each.value for each in self.arrays if each.expected is not None)
        return bool(self.findings) or any(
            not is_float(x.dtype) or bool(np.isfinite(x).any()) for x in numbers
        )

    def is_like(self, other: Seen) -> bool:
        return (
            self.findings == other.findings
            and len(self.arrays) == len(other.arrays)
            and all(map(Left.is_like, self.arrays, other.arrays))
        )


def _key(finding: Finding | HostFinding) -> tuple[Any, ...]:
    """A finding without the words and lines of the source that it is in."""
    if isinstance(finding, HostFinding):  # what it says names calls, kernels and bytes, and no lines
        party = finding.other and finding.other.what.as_data()
        return finding.kind, str(finding.said.as_data()), str(party), finding.count
    numbers = {name: each for name, each in finding.said.params.items() if isinstance(each, (int, float))}
    other = finding.other and (finding.other.action, finding.other.block, finding.other.thread)
    return (
        finding.kind, finding.said.code, sorted(numbers.items()),
        finding.block, finding.thread, other, finding.count,
    )  # fmt: skip


Evidence = tuple[Seen, ...]  # one for each case that tells mutants apart


class Unfolding(Iterable[Seen]):
    """The same of an answer, case by case and no further than is asked: one case rules most mutants out."""

    def __init__(self, cases: Iterable[Seen]) -> None:
        self._seen: list[Seen] = []
        self._coming = iter(cases)

    def __iter__(self) -> Iterator[Seen]:
        yield from self._seen
        for seen in self._coming:
            self._seen.append(seen)
            yield seen


def is_same(own: Iterable[Seen], other: Evidence) -> bool:
    """Whether nothing tells one from the other."""
    return all(mine and its and mine.is_like(its) for mine, its in itertools.zip_longest(own, other))


# ---- Which mutant that is ------------------------------------------------------------------------------

_Result = TypeVar("_Result")
Profile = tuple[float, ...]  # how many accesses of each kind there were
Of = Callable[[Mutant], _Result]


def of_case(
    exercise: Exercise, failure: Failure, own: Iterable[Seen], source: str, of: Of[Evidence]
) -> Hint | None:
    """The mutant that does what the answer does, on all cases that tell mutants apart."""
    evidence = Unfolding(own)

    def is_it(other: Evidence) -> bool:
        return any(map(Seen.tells, other)) and is_same(evidence, other)

    return _first(exercise, failure.reason, source, of, is_it)


def of_goals(exercise: Exercise, profile: Profile, source: str, of: Of[Profile]) -> Hint | None:
    """The mutant that has the same accesses."""
    return _first(exercise, "goal", source, of, lambda other: other == profile)


def of_text(exercise: Exercise, failure: Failure, source: str) -> Hint | None:
    """The mutant that is this very program: all that is certain of what cannot be run."""
    text = _plain(source)
    for mutant in exercise.mutants:
        if mutant.rejected_for == failure.reason and _plain(mutant.source) == text:
            return Hint(mutant.name, mutant.hint)
    return None


def missing(exercise: Exercise, source: str) -> Failure | None:
    """A failure for the first required word that the program does not have."""
    text = "\n".join(_plain(source))
    for word in exercise.required:
        if word not in text:
            return Failure("refused", told("course.grader.required", word=word))
    return None


def _first(
    exercise: Exercise, reason: str, source: str, of: Of[_Result], is_it: Callable[[_Result], bool]
) -> Hint | None:
    for mutant, result in _tried(candidates(exercise, reason, source), of):
        if is_it(result):
            return Hint(mutant.name, mutant.hint)
    return None


def candidates(exercise: Exercise, reason: str, source: str) -> list[Mutant]:
    """Those of the same reason that have the answer's words, the one whose text is nearest first."""
    text = "\n".join(_plain(source))
    same = [mutant for mutant in exercise.mutants if mutant.rejected_for == reason and _may_be(mutant, text)]
    matcher = difflib.SequenceMatcher(b=_plain(source), autojunk=False)

    def nearness(mutant: Mutant) -> float:
        matcher.set_seq1(_plain(mutant.source))
        return matcher.ratio()

    return sorted(same, key=nearness, reverse=True) if len(same) > 1 else same


def _may_be(mutant: Mutant, text: str) -> bool:
    return all(word in text for word in mutant.with_words) and not any(
        word in text for word in mutant.without_words
    )


def _tried(mutants: Sequence[Mutant], measure: Of[_Result]) -> Iterator[tuple[Mutant, _Result]]:
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


class Kept:
    """What mutants showed, kept for the next answer to the same exercise: `watch` grades many of them.

    What failed in the sandbox fails again; only that a mutant took too long may be the machine's fault.
    """

    def __init__(self, most: int = 64) -> None:
        self._most = most
        self._results: OrderedDict[Any, Any] = OrderedDict()

    def of(self, exercise: Exercise, mutant: Mutant, make: Callable[[], _Result]) -> _Result:
        key = (exercise.folder, repr((exercise.cases, exercise.goals, exercise.launch)), mutant.source)
        if key not in self._results:
            try:
                self._results[key] = make()
            except TimedOut:
                raise
            except SandboxError as error:
                self._results[key] = error
        result = self._results[key]
        while len(self._results) > self._most:
            self._results.popitem(last=False)
        if isinstance(result, SandboxError):
            raise result
        return result


@functools.lru_cache(maxsize=64)
def _plain(source: str) -> tuple[str, ...]:
    """Its lines without comments and space: what is left is the program."""
    comment = _CPP_COMMENT if "__global__" in source else _PYTHON_COMMENT
    lines = (re.sub(r"\s+", "", line) for line in comment.sub("", source).splitlines())
    return tuple(line for line in lines if line)
