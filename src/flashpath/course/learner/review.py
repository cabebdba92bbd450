"""The questions of the units: which of them are to be asked now, and what an answer changes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from flashpath.course.content import QuizItem, Unit
    from flashpath.course.learner.learner import Learner
    from flashpath.course.state.reviews import ReviewItem


@dataclass(frozen=True)
class Card:
    """A question of a unit."""

    unit: Unit
    item: QuizItem

    @property
    def key(self) -> str:
        return f"{self.unit.name}/{self.item.id}"


def cards(learner: Learner, unit: str | None = None, *, again: bool = False) -> list[Card]:
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


def answer(learner: Learner, card: Card, is_right: bool, typed: str) -> ReviewItem:
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
    return data


def _cards_of(unit: Unit) -> list[Card]:
    return [Card(unit, item) for item in unit.quiz]
