"""The questions of the units: which of them are to be asked now, and what an answer changes.

A quiz is checked, and its questions come again. A checkpoint is asked once all exercises of its unit are
passed: the learner answers in their own words, sees the answer, and says whether they had it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar

if TYPE_CHECKING:
    from flashpath.course.content import Checkpoint, QuizItem, Unit
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


def cards(learner: Learner, unit: str | None = None, *, again: bool = False) -> list[Card[QuizItem]]:
    """Returns what is to be asked: what is due; of a unit also what is new or was never right.

    With `again` these are all questions of the unit.
    """
    known = learner.store.reviews.all()
    due = {review.item for review in learner.store.reviews.due()}
    if unit is not None:
        of_unit = _cards_of(learner.course.unit(unit))
        # New ones, and those never answered right: the quiz is passed when there are none of either.
        return [
            card
            for card in of_unit
            if again or card.key in due or card.key not in known or not known[card.key].ever_right
        ]
    units = {key.partition("/")[0] for key in due}
    by_key = {
        card.key: card for each in learner.course.units if each.name in units for card in _cards_of(each)
    }
    return [by_key[key] for key in known if key in due and key in by_key]


def checkpoints(learner: Learner, unit: str | None = None, *, again: bool = False) -> list[Card[Checkpoint]]:
    """Returns what finished units ask at their checkpoint; of one unit, with `again`, all of it."""
    if unit is None:
        return finished_checkpoints(learner, learner.course.units)
    chosen = learner.course.unit(unit)
    return _asked_at_end(chosen) if again else finished_checkpoints(learner, [chosen])


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
    names = [card.key for card in _cards_of(unit)]
    if quiz in learner.store.passes() or not all(name in known and known[name].ever_right for name in names):
        return False
    learner.store.pass_without_file(quiz)
    return True


def as_data(learner: Learner, unit: str | None) -> dict[str, Any]:
    """Returns what is due, and when the rest is, as JSON can hold it."""
    known = learner.store.reviews.all()
    data: dict[str, Any] = {
        "due": [review.item for review in learner.store.reviews.due()],
        "known": [{"item": each.item, "box": each.box, "due": each.due} for each in known.values()],
    }
    if unit is not None:
        data["unit"] = learner.course.unit(unit).name
        data["to_ask"] = [card.key for card in cards(learner, unit)]
    data["checkpoints"] = [card.key for card in checkpoints(learner, unit)]
    return data


def _cards_of(unit: Unit) -> list[Card[QuizItem]]:
    return [Card(unit, item) for item in unit.quiz]


def _asked_at_end(unit: Unit) -> list[Card[Checkpoint]]:
    return [Card(unit, item) for item in unit.checkpoints]
