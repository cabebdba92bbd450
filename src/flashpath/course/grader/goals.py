"""Counted goals: what the virtual GPU counts of one launch, beside what is asked. No clock takes part.

Goals count loads and stores. What moves data without being either is therefore a goal of every exercise that
has any: no atomics, unless the exercise says that it is for them, and no loads of constant memory.
"""

from __future__ import annotations

import math

import numpy as np

from flashpath.course.content.exercise import Exercise, Goal
from flashpath.course.content.text import Text
from flashpath.course.grader.cases import make_case
from flashpath.course.grader.texts import pair, say
from flashpath.course.grader.trial import Outcome, Prepared, Trial, prepare
from flashpath.course.grader.verdict import Failure, GoalResult
from flashpath.course.sandbox import BuildFailed
from flashpath.errors import FlashpathError

# What no counter of loads and stores sees: its name in the texts, and how it is counted.
_UNSEEN = {
    "atomics": "report.instructions_by_class.get('atomic', 0)",
    "constants": "report.instructions_by_class.get('constant load', 0)",
}


def goals_of(exercise: Exercise) -> tuple[Goal, ...]:
    """Those of the exercise, then those that hold wherever there are any."""
    unseen = [name for name in _UNSEEN if not (name == "atomics" and exercise.atomics)]
    launches = dict.fromkeys(tuple(goal.sizes.items()) for goal in exercise.goals)
    return (*exercise.goals, *(_without(name, dict(sizes)) for sizes in launches for name in unseen))


def _without(name: str, sizes: dict[str, int]) -> Goal:
    return Goal(Text(*pair(f"goal-{name}")), _UNSEEN[name], sizes, Text(*pair(f"missed-{name}")), at_most=0)


def counted(trial: Trial, seed: int, lang: str) -> tuple[list[float], Failure | None]:
    """What each goal counts, in order; goals of the same sizes share a launch.

    The result of that launch is compared too: else a kernel that does nothing for just these sizes would be
    the most efficient one.
    """
    exercise = trial.exercise
    goals = goals_of(exercise)
    found: dict[int, float] = {}
    for sizes in dict.fromkeys(tuple(goal.sizes.items()) for goal in goals):
        wanted = {place: goal.count for place, goal in enumerate(goals) if tuple(goal.sizes.items()) == sizes}
        case = make_case(exercise, dict(sizes), "normal", np.random.default_rng(seed))
        outcome = _outcome(trial, prepare(exercise, case), lang, tuple(dict.fromkeys(wanted.values())))
        if outcome.failure is not None:
            return [], outcome.failure
        if outcome.evidence is None:
            raise FlashpathError(f"{exercise.id}: a goal's launch has an empty grid for {dict(sizes)}.")
        found |= {place: float(outcome.counts[text]) for place, text in wanted.items()}
    return [found[place] for place in range(len(goals))], None


def _outcome(trial: Trial, prepared: Prepared, lang: str, counts: tuple[str, ...]) -> Outcome:
    """A counted launch. One that a fault has ended is looked at more closely, for its line and thread."""
    try:
        return trial.judge(prepared, lang, counts)
    except BuildFailed:
        outcome = trial.judge(prepared, lang)
        if outcome.failure is None:
            raise
        return outcome


def results(exercise: Exercise, counts: list[float], lang: str) -> tuple[GoalResult, ...]:
    """Each goal with what was counted; those that hold everywhere only where they are missed."""
    every = [(goal, result(goal, count, lang)) for goal, count in _with(exercise, counts)]
    return tuple(each for goal, each in every if goal in exercise.goals or not each.reached)


def _with(exercise: Exercise, counts: list[float]) -> list[tuple[Goal, float]]:
    return list(zip(goals_of(exercise), counts, strict=True))


def result(goal: Goal, count: float, lang: str) -> GoalResult:
    """One goal: what was counted, what is asked, how far it is."""
    # A goal with both bounds shows the one that is missed, else the upper one.
    below = goal.at_least is not None and (goal.at_most is None or count < goal.at_least)
    at_most = not below
    asked = goal.at_least if below else goal.at_most
    assert asked is not None
    reached = goal.is_met(count)
    said = say(lang, "at-most" if at_most else "at-least", asked=figure(asked))
    if not reached and asked and not math.isnan(count):  # of nothing there is no multiple
        said += ", " if lang == "en" else "，"
        said += how_far(count, asked, at_most, lang)
    name = goal.name.in_(lang)
    line = say(lang, "goal-line", mark="✓" if reached else "✗", name=name, counted=figure(count), asked=said)
    return GoalResult(name, count, asked, at_most, reached, line)


def how_far(count: float, asked: float, at_most: bool, lang: str) -> str:
    """How much too many, or which share of what is asked."""
    if at_most:
        return say(lang, "times-too-many", factor=f"{count / asked:.3g}")
    return say(lang, "share-reached", share=f"{count / asked:.0%}")


def figure(value: float) -> str:
    """A count as a learner reads it: whole numbers in full, others with four digits."""
    return f"{int(value):,}" if float(value).is_integer() else f"{value:.4g}"


def missed(exercise: Exercise, counts: list[float], lang: str) -> Failure:
    """The failure of a right answer that misses some goals."""
    shown = results(exercise, counts, lang)
    failing = [goal for goal, count in _with(exercise, counts) if not goal.is_met(count)]
    headline = say(lang, "goal", count=len(failing), goals=len(shown))
    told = dict.fromkeys(f"→ {goal.missed.in_(lang)}" for goal in failing)
    return Failure("goal", headline, (*(each.said for each in shown), *told))
