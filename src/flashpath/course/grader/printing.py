"""What a whole program printed: the values behind the names that an exercise asks for."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

import numpy as np

from flashpath.course.grader.compare import Expected
from flashpath.course.grader.dtypes import Array, is_float

_BETWEEN = re.compile(r"[\s,;\[\](){}]+")
_LONGEST = 80  # of what is quoted


@dataclass(frozen=True)
class Unread:
    """Why there is no value: no line has the name, its values are no numbers, or another count of them."""

    why: Literal["missing", "no-number", "count"]
    text: str = ""
    count: int = 0


def value_of(printed: str, expected: Expected) -> Array | Unread:
    """The values in the last line of the form `name = value …` or `name: value …`."""
    lines = re.findall(rf"^[ \t]*{re.escape(expected.name)}[ \t]*[=:](.*)$", printed, re.MULTILINE)
    if not lines:
        return Unread("missing")
    words = [word for word in _BETWEEN.split(lines[-1]) if word]
    if len(words) != expected.value.size:
        return Unread("count", lines[-1].strip()[:_LONGEST], len(words))
    try:
        numbers = [float(word) if is_float(expected.dtype) else int(word) for word in words]
        made = np.array(numbers, np.float64 if is_float(expected.dtype) else None).astype(expected.dtype)
        if not is_float(expected.dtype) and [int(each) for each in made] != numbers:
            raise OverflowError
    except (ValueError, OverflowError, TypeError):
        return Unread("no-number", lines[-1].strip()[:_LONGEST])
    return made.reshape(expected.value.shape)
