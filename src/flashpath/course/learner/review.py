"""The questions of the units: which of them are to be asked now, and what an answer changes.

A quiz is checked, and its questions come again. A checkpoint is asked once all exercises of its unit are
passed: the learner answers in their own words, sees the answer, and says whether they had it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from flashpath.course.content.unit import Unit

if TYPE_CHECKING:
    from flashpath.course.content import Checkpoint, ProblemSet, QuizItem
    from flashpath.course.learner.learner import Learner
    from flashpath.course.state.reviews import ReviewItem


Item = TypeVar("Item", "QuizItem", "Checkpoint")


@dataclass(frozen=True)
class Card(Generic[Item]):
    """A question of a unit: of its quiz, or of its checkpoint."""

    unit: Unit
    item: Item

    @property
    def key(self) -> str:
        return f"{self.unit.name}/{self.item.id}"


def source_of(learner: Learner, name: str | None) -> Unit | ProblemSet | None:
    """What is asked for by a name: a unit, or a problem set; None: whatever is due."""
    if name is None:
        return None
    return learner.problem_set(name) or learner.course.unit(name)


def cards(
    learner: Learner, source: Unit | ProblemSet | None = None, *, again: bool = False
) -> list[Card[QuizItem]]:
    """Returns what is to be asked: what is due; of a unit or a set also what is new or was never right.

    With `again` these are all its questions.
    """
    known = learner.store.reviews.all()
    due = {review.item for review in learner.store.reviews.due()}
    if source is not None:
        # New ones, and those never answered right: the quiz is passed when there are none of either.
        return [
            card
            for card in _cards_of(learner, source)
            if again or card.key in due or card.key not in known or not known[card.key].ever_right
        ]
    units = {key.partition("/")[0] for key in due}
    by_key = {
        card.key: card
        for each in learner.course.units
        if each.name in units
        for card in _cards_of(learner, each)
    }
    return [by_key[key] for key in known if key in due and key in by_key]


def checkpoints(
    learner: Learner, source: Unit | ProblemSet | None = None, *, again: bool = False
) -> list[Card[Checkpoint]]:
    """Returns what finished units ask at their checkpoint; of one unit, with `again`, all of it."""
    if source is None:
        return finished_checkpoints(learner, learner.course.units)
    if not isinstance(source, Unit):
        return []
    return _asked_at_end(source) if again else finished_checkpoints(learner, [source])


def finished_checkpoints(learner: Learner, units: Iterable[Unit]) -> list[Card[Checkpoint]]:
    """Returns the checkpoints that were not had yet, of those units whose exercises are all passed."""
    passed, ticked = learner.store.passes(), learner.store.ticks("")
    finished = (unit for unit in units if unit.is_ready and all(each in passed for each in unit.exercise_ids))
    return [card for unit in finished for card in _asked_at_end(unit) if card.key not in ticked]


def answer_checkpoint(learner: Learner, card: Card[Checkpoint], had_it: bool) -> None:
    """Keeps whether the learner had the answer; where not, the question stays open."""
    (learner.store.tick if had_it else learner.store.untick)("", card.key)


def answer(learner: Learner, card: Card[QuizItem], is_right: bool, typed: str) -> ReviewItem:
    """Keeps an answer, and returns when the question comes again."""
    return learner.store.reviews.answer(card.key, is_right, typed)


def pass_quiz(learner: Learner, unit: Unit) -> bool:
    """Passes the unit's quiz once each of its questions was answered right; returns whether it did so now."""
    quiz = f"{unit.name}/quiz"
    known = learner.store.reviews.all()
    names = [card.key for card in _cards_of(learner, unit)]
    if quiz in learner.store.passes() or not all(name in known and known[name].ever_right for name in names):
        return False
    learner.store.pass_without_file(quiz)
    return True


def as_data(learner: Learner, source: Unit | ProblemSet | None) -> dict[str, Any]:
    """Returns what is due, and when the rest is, as JSON can hold it."""
    known = learner.store.reviews.all()
    data: dict[str, Any] = {
        "due": [review.item for review in learner.store.reviews.due()],
        "known": [{"item": each.item, "box": each.box, "due": each.due} for each in known.values()],
    }
    if source is not None:
        data["unit" if isinstance(source, Unit) else "set"] = name_of(source)
        data["to_ask"] = [card.key for card in cards(learner, source)]
    data["checkpoints"] = [card.key for card in checkpoints(learner, source)]
    return data


def name_of(source: Unit | ProblemSet) -> str:
    """What a learner calls a unit or a set."""
    from flashpath.course.workspace.sets import set_name

    return source.name if isinstance(source, Unit) else set_name(source)


def _cards_of(learner: Learner, source: Unit | ProblemSet) -> list[Card[QuizItem]]:
    if isinstance(source, Unit):
        return [Card(source, item) for item in source.quiz]
    return [
        Card(learner.course.unit(problem.unit), problem.question)
        for problem in source.problems
        if problem.question is not None
    ]


def _asked_at_end(unit: Unit) -> list[Card[Checkpoint]]:
    return [Card(unit, item) for item in unit.checkpoints]
