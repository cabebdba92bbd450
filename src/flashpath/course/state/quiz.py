"""Asking a question: its options mixed, and whether an answer is right.

`Asked` is one question as it is put once: `lines` is what is shown, `answer(text)` reads what was typed.
"""

from __future__ import annotations

import random
from dataclasses import dataclass

from flashpath.course.content.quiz import QuizItem
from flashpath.course.content.quiz_answers import is_right


@dataclass(frozen=True)
class Asked:
    """A question with its options in the order in which they are shown; `order` has their own numbers."""

    item: QuizItem
    order: tuple[int, ...]

    def options(self, lang: str) -> tuple[str, ...]:
        options = self.item.options.in_(lang)
        return tuple(options[number - 1] for number in self.order)

    def takes_several(self) -> bool:
        return self.item.kind == "choice" and len(self.item.choices) > 1

    def check(self, typed: str) -> bool | None:
        """Whether it is right; None where it cannot be read as an answer, and is to be asked for again."""
        return is_right(self.item, typed, self.order) if typed.strip() else None

    def right_answer(self, lang: str) -> str:
        """What would have been right, as it is shown."""
        if self.item.kind == "choice":
            return "; ".join(self.item.options.in_(lang)[number - 1] for number in self.item.choices)
        if self.item.kind == "order":
            return " → ".join(self.item.options.in_(lang))
        if self.item.kind == "number":
            return f"{self.item.number:g}"
        return ""


def ask(item: QuizItem, rng: random.Random) -> Asked:
    """The question with its options mixed; those of `order` never in the right order."""
    order = list(range(1, len(item.options) + 1))
    right = list(order)
    rng.shuffle(order)
    while item.kind == "order" and order == right and len(order) > 1:
        rng.shuffle(order)
    return Asked(item, tuple(order))
