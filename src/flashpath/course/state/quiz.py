"""Asking a question: its options mixed, and whether an answer is right.

`Asked` is one question as it is put once: `lines` is what is shown, `answer(text)` reads what was typed.
"""

from __future__ import annotations

import random
import re
from dataclasses import dataclass

from flashpath.course.content.quiz import QuizItem


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
        text = typed.strip()
        if not text:
            return None
        if self.item.kind == "choice":
            numbers = self._numbers(text)
            if numbers is None or (len(numbers) > 1 and not self.takes_several()):
                return None
            return set(numbers) == set(self.item.choices)
        if self.item.kind == "order":
            numbers = self._numbers(text)
            if numbers is None or len(numbers) != len(self.order):
                return None
            return numbers == sorted(numbers)
        if self.item.kind == "number":
            return self._number_is_right(text)
        return any(re.fullmatch(each, text, re.IGNORECASE) for each in self.item.patterns)

    def right_answer(self, lang: str) -> str:
        """What would have been right, as it is shown."""
        if self.item.kind == "choice":
            return "; ".join(self.item.options.in_(lang)[number - 1] for number in self.item.choices)
        if self.item.kind == "order":
            return " → ".join(self.item.options.in_(lang))
        if self.item.kind == "number":
            return f"{self.item.number:g}"
        return ""

    def _numbers(self, text: str) -> list[int] | None:
        """Returns the options' own numbers of what was typed: `2`, `1 3`, `(2,3,1)`, or letters `b`."""
        words = re.split(r"[\s,，、;；]+", text.strip(" ,，、;；()（）[]【】"))
        if len(words) == 1 and words[0].isalpha():
            words = list(words[0])
        shown: list[int] = []
        for word in words:
            if word.isdecimal():
                shown.append(int(word))
            elif len(word) == 1 and "a" <= word.lower() <= "z":
                shown.append(ord(word.lower()) - ord("a") + 1)
            else:
                return None
        if any(not 1 <= each <= len(self.order) for each in shown) or len(set(shown)) < len(shown):
            return None
        return [self.order[each - 1] for each in shown]

    def _number_is_right(self, text: str) -> bool | None:
        try:
            number = float(text.replace(",", "").replace("，", "").replace("_", ""))
        except ValueError:
            return None
        expected = self.item.number
        assert expected is not None
        # The least of a float's own roundings: 0.1 typed is 0.1 meant.
        return abs(number - expected) <= max(self.item.tolerance, 1e-9) * abs(expected)


def ask(item: QuizItem, rng: random.Random) -> Asked:
    """The question with its options mixed; those of `order` never in the right order."""
    order = list(range(1, len(item.options) + 1))
    right = list(order)
    rng.shuffle(order)
    while item.kind == "order" and order == right and len(order) > 1:
        rng.shuffle(order)
    return Asked(item, tuple(order))
