"""Whether an answer to a question is right: one judge for quizzes, problem sets, guided reading and reviews.

An answer is what answers.toml holds (numbers, lists, texts), or what was typed. What cannot be read
as an answer is neither right nor wrong: it is asked for again.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Sequence
from typing import Any, cast

from flashpath.course.content.quiz import QuizItem


def is_right(item: QuizItem, answer: Any, order: Sequence[int]) -> bool | None:
    """Whether the answer is right; None where it has not the form of one.

    `order` holds the numbers that the options have in the file, from 1, in the order in which they are shown.
    """
    if item.kind == "number":
        value = as_number(answer)
        return None if value is None or item.number is None else is_near(value, item.number, item.tolerance)
    if item.kind == "text":
        return _text(item, answer)
    shown = _numbers(answer)
    if not shown or len(set(shown)) < len(shown) or any(not 1 <= each <= len(order) for each in shown):
        return None
    chosen = tuple(order[each - 1] for each in shown)
    if item.kind == "order":
        return chosen == item.choices if len(chosen) == len(order) else None
    if len(chosen) > 1 and len(item.choices) == 1:
        return None
    return set(chosen) == set(item.choices)


def as_number(answer: Any) -> float | None:
    """A number, also one in quotes, with separators (1,024) left out."""
    if isinstance(answer, str):
        try:
            return float(re.sub(r"[,，_]", "", answer))
        except ValueError:
            return None
    if not isinstance(answer, (int, float)) or isinstance(answer, bool):
        return None
    try:
        return float(answer)
    except OverflowError:  # a whole number beyond all floats
        return math.inf if answer > 0 else -math.inf


def is_near(value: float, truth: float, tolerance: float) -> bool:
    """Within the relative tolerance, with room for the binary digits of what was typed in decimal."""
    return math.isfinite(value) and abs(value - truth) <= max(tolerance, 1e-9) * abs(truth)


def _numbers(answer: Any) -> list[int] | None:
    """Whole numbers, alone, as a list, or as they are typed: `2, 1, 3`, `(2 1 3)`, or letters, `bac`."""
    if isinstance(answer, str):
        words = re.split(r"[\s,，、;；]+", answer.strip(" \t\n,，、;；()（）[]【】"))
        if len(words) == 1 and words[0].isalpha():
            words = list(words[0])
        if not all(re.fullmatch(r"\d{1,9}|[A-Za-z]", word, re.ASCII) for word in words):
            return None
        return [int(word) if word.isdigit() else ord(word.lower()) - ord("a") + 1 for word in words]
    values = cast("list[Any]", answer) if isinstance(answer, list) else [answer]
    return None if any(type(each) is not int for each in values) else cast("list[int]", values)


def _text(item: QuizItem, answer: Any) -> bool | None:
    if isinstance(answer, (int, float)) and not isinstance(answer, bool):
        try:
            answer = json.dumps(answer)
        except ValueError:  # more digits than Python writes
            return None
    if not isinstance(answer, str):
        return None
    said = " ".join(answer.split())
    return any(re.fullmatch(pattern, said, re.IGNORECASE) for pattern in item.patterns)
