"""Counted goals: what the virtual GPU counts of one launch, beside what is asked. No clock takes part.

Goals count loads and stores. What moves data without being either is therefore a goal of every exercise that
has any: no atomics, unless the exercise says that it is for them, and no loads of constant memory.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from flashpath.course.content.exercise import Exercise, Goal
from flashpath.course.grader.cases import make_case
from flashpath.course.grader.trial import Outcome, Prepared, Trial, prepare
from flashpath.course.grader.verdict import Failure, GoalResult
from flashpath.course.sandbox import BuildFailed
from flashpath.errors import FlashpathError
from flashpath.messages import LANGUAGES, Message, Text, told

# What no counter of loads and stores sees: how it is counted, what it is called, and what is said of it.
_UNSEEN = {
    "atomics": (
        "report.instructions_by_class.get('atomic', 0)",
        told("course.grader.goal-atomics"),
        told("course.grader.missed-atomics"),
    ),
    "constants": (
        "report.instructions_by_class.get('constant load', 0)",
        told("course.grader.goal-constants"),
        told("course.grader.missed-constants"),
    ),
}

# What tells one way to reach a result from another: accesses of every kind.
_PROFILE = (
    *(
        f"report.global_{way}.{what}"
        for way in ("load", "store")
        for what in ("requests", "sectors", "bytes")
    ),
    *(f"report.shared_{way}.{what}" for way in ("load", "store") for what in ("requests", "wavefronts")),
    "report.footprint.static_shared",
    "report.atomics.requests",
    "report.atomics.turns",
    "report.shared_atomic.requests",
    *(f"report.instructions_by_class.get('{name}', 0)" for name in ("barrier", "warp-wide")),
)


def goals_of(exercise: Exercise) -> tuple[Goal, ...]:
    """Those of the exercise, then those that hold wherever a kernel has any."""
    if exercise.program is not None:
        return exercise.goals
    unseen = [name for name in _UNSEEN if not (name == "atomics" and exercise.atomics)]
    launches = dict.fromkeys(tuple(goal.sizes.items()) for goal in exercise.goals)
    return (*exercise.goals, *(_without(name, dict(sizes)) for sizes in launches for name in unseen))


def _without(name: str, sizes: dict[str, int]) -> Goal:
    count, title, missed = _UNSEEN[name]
    return Goal(_both(title), count, sizes, _both(missed), at_most=0)


def _both(message: Message) -> Text:
    return Text(*(message.text(lang) for lang in LANGUAGES))


@dataclass(frozen=True)
class Counted:
    """What each goal counts, in order, and the accesses of every kind; or why nothing could be counted."""

    counts: list[float]
    profile: tuple[float, ...] = ()
    failure: Failure | None = None


def counted(trial: Trial, seed: int) -> Counted:
    """Counts what each goal asks for; goals of the same sizes share a launch.

    The result of that launch is compared too: else a kernel that does nothing for just these sizes would be
    the most efficient one.
    """
    exercise = trial.exercise
    goals = goals_of(exercise)
    found: dict[int, float] = {}
    profile: list[float] = []
    for sizes in dict.fromkeys(tuple(goal.sizes.items()) for goal in goals):
        wanted = {place: goal.count for place, goal in enumerate(goals) if tuple(goal.sizes.items()) == sizes}
        case = make_case(exercise, dict(sizes), "normal", np.random.default_rng(seed))
        outcome = _outcome(
            trial, prepare(exercise, case), tuple(dict.fromkeys((*wanted.values(), *_PROFILE)))
        )
        if outcome.failure is not None:
            return Counted([], failure=outcome.failure)
        if not outcome.is_launched:
            raise FlashpathError("course.grader.empty-grid", id=exercise.id, what=str(dict(sizes)))
        found |= {place: float(outcome.counts[text]) for place, text in wanted.items()}
        profile += [outcome.counts[text] for text in _PROFILE]
    return Counted([found[place] for place in range(len(goals))], tuple(profile))


def _outcome(trial: Trial, prepared: Prepared, counts: tuple[str, ...]) -> Outcome:
    """A counted launch. One that a fault has ended is looked at more closely, for its line and thread."""
    try:
        return trial.judge(prepared, counts)
    except BuildFailed:
        outcome = trial.judge(prepared)
        if outcome.failure is None:
            raise
        return outcome


def results(exercise: Exercise, counts: list[float]) -> tuple[GoalResult, ...]:
    """Each goal with what was counted; those that hold everywhere only where they are missed."""
    every = [(goal, result(goal, count)) for goal, count in _with(exercise, counts)]
    return tuple(each for goal, each in every if goal in exercise.goals or not each.reached)


def _with(exercise: Exercise, counts: list[float]) -> list[tuple[Goal, float]]:
    return list(zip(goals_of(exercise), counts, strict=True))


def result(goal: Goal, count: float) -> GoalResult:
    """One goal: what was counted, what is asked, how far it is."""
    # A goal with both bounds shows the one that is missed, else the upper one.
    below = goal.at_least is not None and (goal.at_most is None or count < goal.at_least)
    at_most = not below
    asked = goal.at_least if below else goal.at_most
    assert asked is not None
    reached = goal.is_met(count)
    bound = told("course.grader.at-most" if at_most else "course.grader.at-least", asked=figure(asked))
    mark = "✓" if reached else "✗"
    line = {"mark": mark, "name": goal.name, "counted": figure(count), "asked": bound}
    if reached or not asked or math.isnan(count):  # of nothing there is no multiple
        message = told("course.grader.goal-line", **line)
    else:
        message = told("course.grader.goal-line-far", **line, far=how_far(count, asked, at_most))
    return GoalResult(goal.name, count, asked, at_most, reached, message)


def how_far(count: float, asked: float, at_most: bool) -> Message:
    """Returns how much too many that is, or which share of what is asked."""
    if at_most:
        return told("course.grader.times-too-many", factor=f"{count / asked:.3g}")
    return told("course.grader.share-reached", share=f"{count / asked:.0%}")


def figure(value: float) -> str:
    """A count as a learner reads it: whole numbers in full, others with four digits."""
    return f"{int(value):,}" if float(value).is_integer() else f"{value:.4g}"


def missed(exercise: Exercise, counts: list[float]) -> Failure:
    """The failure of a right answer that misses some goals."""
    shown = results(exercise, counts)
    failing = [goal for goal, count in _with(exercise, counts) if not goal.is_met(count)]
    headline = told("course.grader.goal", count=len(failing), goals=len(shown))
    advice = dict.fromkeys(goal.missed for goal in failing)
    lessons = [told("course.grader.goal-advice", advice=text) for text in advice]
    return Failure("goal", headline, (*(goal.line for goal in shown), *lessons))
