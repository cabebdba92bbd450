"""One kernel, built, and launched with cases: everything that a launch shows is looked at here."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from flashpath.course.content.exercise import Exercise, Launch
from flashpath.course.grader.cases import Case
from flashpath.course.grader.compare import Difference, Expected, compare
from flashpath.course.grader.describe import changed_input, found, with_printed, wrong_output
from flashpath.course.grader.dtypes import Array, bits_of
from flashpath.course.grader.launching import Pace, run
from flashpath.course.grader.misconceptions import Left, Seen
from flashpath.course.grader.poison import poisoned
from flashpath.course.grader.reference import expected_outputs
from flashpath.course.grader.verdict import Failure
from flashpath.course.sandbox import KernelRun, KernelSession


@dataclass(frozen=True)
class Prepared:
    """A case with what is expected of it, and what outputs hold before the launch."""

    case: Case
    expected: tuple[Expected, ...]
    outputs: Mapping[str, Array]


def prepare(exercise: Exercise, case: Case) -> Prepared:
    """The reference of a case, and poison for its outputs."""
    expected = expected_outputs(exercise, case)
    rng = case.rng
    outputs = {
        each.name: poisoned(each.as_stored, rng)
        for each in expected
        if not exercise.arrays[each.name].is_input
    }
    return Prepared(case, expected, outputs)


@dataclass(frozen=True)
class Outcome:
    """What a launch showed: nothing wrong, or a failure; and what was counted."""

    failure: Failure | None
    is_launched: bool = True  # False for an empty grid
    counts: Mapping[str, float] = field(default_factory=dict[str, float])


@dataclass(frozen=True)
class Trial:
    """A kernel that is built, to be launched with cases."""

    session: KernelSession
    exercise: Exercise
    launch: Launch
    source: str
    pace: Pace = field(default_factory=Pace)

    def evidence(self, cases: Iterable[Prepared]) -> Iterator[Seen]:
        """What it leaves behind in each case, launched when it is asked for."""
        return map(self._seen, cases)

    def _seen(self, prepared: Prepared) -> Seen:
        launched = self._launched(prepared)
        if launched is None:
            return Seen.of(())
        result, places = launched
        expected = {places[each.name]: each for each in prepared.expected}
        arrays = [Left(array, expected.get(place)) for place, array in enumerate(result.arrays)]
        return Seen.of(arrays, result.findings)

    def judge(self, prepared: Prepared, counts: tuple[str, ...] = ()) -> Outcome:
        """Launch the case and look at everything: findings first, then inputs, then outputs.

        A launch that is counted is not sanitised: it is large, and its kernel has passed all cases.
        """
        launched = self._launched(prepared, counts)
        if launched is None:
            return Outcome(None, False)  # an empty grid: nothing ran, so that nothing can have changed
        result, places = launched
        failure = self._failure(prepared, result, places)
        if failure is not None:
            failure = with_printed(failure, result.printed)
        return Outcome(failure, True, result.counts)

    def _failure(self, prepared: Prepared, result: KernelRun, places: Mapping[str, int]) -> Failure | None:
        case, arrays = prepared.case, self.exercise.arrays
        if result.findings:
            return found(result.findings, self.source, case.said)
        for name, before in case.inputs.items():
            if name in places and not arrays[name].is_written:
                changed = changed_input(name, before, result.arrays[places[name]], case)
                if changed is not None:
                    return changed
        differences: list[Difference] = []
        for each in prepared.expected:
            got = result.arrays[places[each.name]]
            written = self._written(prepared, result, places, each.name)
            difference = compare(each, got, written)
            differences += [] if difference is None else [difference]
        # What was never stored explains what is wrong beside it.
        differences.sort(key=lambda difference: difference.reason != "unwritten")
        return wrong_output(differences[0], case) if differences else None

    def _written(
        self, prepared: Prepared, result: KernelRun, places: Mapping[str, int], name: str
    ) -> Array | None:
        """Which elements of an output were stored. An inout array may stay as it was where that is right."""
        if name not in prepared.outputs:
            return None
        if not result.counts:  # a sanitised launch: the engine knows
            return result.written[places[name]]
        poison = prepared.outputs[name]
        return (bits_of(result.arrays[places[name]]) != bits_of(poison)).reshape(poison.shape)

    def _launched(
        self, prepared: Prepared, counts: tuple[str, ...] = ()
    ) -> tuple[KernelRun, dict[str, int]] | None:
        outputs = {name: each.copy() for name, each in prepared.outputs.items()}
        return run(
            self.session,
            self.exercise,
            self.launch,
            prepared.case,
            outputs,
            counts=counts,
            sanitize=not counts,
            pace=self.pace,
        )
