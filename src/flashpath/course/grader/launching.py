"""A kernel of an exercise, built once and launched with the data of a case."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal, cast

import numpy as np

from flashpath import gpus
from flashpath.course.content.exercise import Exercise, Launch
from flashpath.course.expressions import evaluate_integer
from flashpath.course.grader.cases import Case, shape_of
from flashpath.course.grader.counting import counted_launch
from flashpath.course.grader.dtypes import Array, dtype_of
from flashpath.course.sandbox import KernelJob, KernelRun, KernelSession, Limits, Parameter
from flashpath.gpus.shape import Dim3, LaunchShape

# A launch is stopped after so many instructions of warps: a few seconds of an endless loop, and many times
# the work of the largest case of an exercise, all of which take less than three seconds together.
BUDGET = 3_000_000
# It is tried with less before: a finding costs many times what an instruction does, and a kernel that finds
# something at every turn of a loop would take minutes for the whole budget.
_FINDINGS_ARE_ENOUGH = 500_000
STEPS = (4_000, 20_000, 100_000, _FINDINGS_ARE_ENOUGH, BUDGET)
# With as much as the case before needed, a right kernel is done at once.
_MOST_AT_ONCE = 100_000
# A GPU ends a kernel at the first of these: what it would have done later is nobody's question.
_FAULTS = frozenset({"out-of-bounds", "misaligned", "const-write"})
# A launch that is only counted is larger, and much faster: a second or so.
COUNTED_BUDGET = 20_000_000

LIMITS = Limits(build_seconds=30.0, run_seconds=15.0)
# Of what runs only to find a hint: whoever waits for the grade waits for it too.
HINT_LIMITS = Limits(build_seconds=4.0, run_seconds=1.0)


def launch_shape(launch: Launch, sizes: Mapping[str, int]) -> LaunchShape:
    """The shape of a launch for these sizes; its grid can be empty."""

    def three(extents: Iterable[int]) -> Dim3:
        x, y, z = (*extents, 1, 1, 1)[:3]  # Triton's launches name no block
        return x, y, z

    return LaunchShape(
        three(evaluate_integer(each, sizes) for each in launch.grid),
        three(evaluate_integer(each, sizes, least=1) for each in launch.block),
        evaluate_integer(launch.shared, sizes),
    )


def session_for(
    exercise: Exercise, launch: Launch, source: str, file_name: str, limits: Limits = LIMITS
) -> KernelSession:
    """A session that has the kernel built; it must be closed, best as a context."""
    major, minor = gpus.gpu(launch.gpu).capability
    return KernelSession(job_for(exercise, launch, source, file_name, f"sm_{major}{minor}"), limits)


def job_for(exercise: Exercise, launch: Launch, source: str, file_name: str, arch: str) -> KernelJob:
    """What is to be built, for an architecture."""
    return KernelJob(
        language=cast("Literal['cuda', 'triton']", exercise.language or "cuda"),
        source=source,
        file_name=file_name,
        kernel=launch.kernel,
        arch=arch,
        constants=launch.constants,
        num_warps=launch.num_warps,
        parameters=tuple(_parameter(exercise, name) for name in launch.arguments),
    )


def _parameter(exercise: Exercise, name: str) -> Parameter:
    if name in exercise.arrays:
        return Parameter(name, exercise.arrays[name].dtype, True)
    if name in exercise.scalars:
        return Parameter(name, exercise.scalars[name].dtype, False)
    return Parameter(name, "int32", False)  # a size


@dataclass
class Pace:
    """How much the last launch took of a kernel in which nothing was found: the next case is no smaller."""

    enough: int = STEPS[0]


def run(
    session: KernelSession,
    exercise: Exercise,
    launch: Launch,
    case: Case,
    outputs: Mapping[str, Array],
    *,
    counts: tuple[str, ...] = (),
    sanitize: bool = True,
    pace: Pace | None = None,
) -> tuple[KernelRun, dict[str, int]] | None:
    """One launch; None for an empty grid. `outputs` are what output arrays hold before it.

    Every array can be written, inputs too: that they are not is compared afterwards. The run comes with the
    place of each array in `run.arrays`. `pace` saves launches, and changes no result.
    """
    chosen = launch_shape(launch, case.sizes)
    if chosen.is_empty:
        return None
    arguments: list[Any] = []
    writable: list[int] = []
    unset: list[int] = []
    places: dict[str, int] = {}
    for position, name in enumerate(launch.arguments):
        if name in exercise.arrays:
            array = outputs[name] if name in outputs else case.inputs[name].copy()
            places.setdefault(name, len(writable))
            writable.append(position)
            if name in outputs and sanitize:
                unset.append(position)  # to read it before it is written is a finding
            arguments.append(array)
        else:
            arguments.append(case.scalars[name] if name in case.scalars else case.sizes[name])

    def launched(budget: int, counts: tuple[str, ...] = ()) -> KernelRun:
        return session.run(
            chosen.grid,
            chosen.block,
            chosen.shared,
            tuple(arguments),
            tuple(writable),
            gpu=launch.gpu,
            counts=counts,
            names=dict(case.sizes),
            sanitize=sanitize,
            budget=budget,
            unset=tuple(unset),
            seed=case.schedule,
        )

    if not sanitize:
        counted = counted_launch(exercise.id, counts, case.sizes, lambda some: launched(COUNTED_BUDGET, some))
        return counted, places
    pace = pace or Pace()
    if STEPS[0] < pace.enough <= _MOST_AT_ONCE:
        result = launched(pace.enough)
        if not result.findings:
            return result, places
    first, *more = STEPS
    result, used = launched(first), first
    for budget in more:
        if not _may_show_more(result, budget):
            break
        result, used = launched(budget), budget
    if not result.findings:
        pace.enough = used
    return _without_consequences(result), places


def _may_show_more(result: KernelRun, budget: int) -> bool:
    """Whether a launch that was stopped for its budget is worth another one with a larger budget."""
    kinds = {each.kind for each in result.findings}
    if "timeout" not in kinds or kinds & _FAULTS:
        return False
    return kinds == {"timeout"} or budget <= _FINDINGS_ARE_ENOUGH


def _without_consequences(result: KernelRun) -> KernelRun:
    """Not that it took too long, where a fault would have ended it."""
    if not any(each.kind in _FAULTS for each in result.findings):
        return result
    return replace(result, findings=tuple(each for each in result.findings if each.kind != "timeout"))


def blank_outputs(exercise: Exercise, launch: Launch, sizes: Mapping[str, int]) -> dict[str, Array]:
    """Outputs for a launch that is counted only: zeros."""
    return {
        name: np.zeros(shape_of(spec, sizes), dtype_of(spec.dtype))
        for name, spec in exercise.arrays.items()
        if not spec.is_input and name in launch.arguments
    }
