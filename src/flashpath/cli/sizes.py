"""Sizes on the command line: 4096, 2^20, 32768x1024."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from flashpath.errors import FlashpathError
from flashpath.messages import Message

if TYPE_CHECKING:
    from flashpath.kernels import Case, Ladder

_SQUARES_UP_TO = 3  # dimensions that one number alone can stand for
_LARGEST = 2**40


def sized_cases(ladder: Ladder, sizes: Sequence[str | tuple[int, ...]]) -> list[Case]:
    """The cases of a ladder at these sizes, as typed or as numbers."""
    if ladder.sized is None:
        raise FlashpathError(
            "cli.sizes-none-here", ladder=ladder.name, cases=[repr(case.name) for case in ladder.cases()]
        )
    if not sizes:
        raise FlashpathError("cli.sizes-none-given", help=Message("cli.sizes"))
    return [ladder.sized(each if isinstance(each, tuple) else parse_size(ladder, each)) for each in sizes]


def split_sizes(given: Sequence[str]) -> list[str]:
    """`--sizes 2^20,2^24` and `--sizes 2^20 --sizes 2^24` alike."""
    return [size for text in given for size in text.split(",") if size.strip()]


def parse_size(ladder: Ladder, text: str) -> tuple[int, ...]:
    """`32768x1024` → (32768, 1024), with as many numbers as the ladder's sizes have."""
    parts = re.split(r"[x×*]", text.strip())
    numbers: list[int] = []
    for part in parts:
        power = re.fullmatch(r"(\d{1,9})(?:\^(\d{1,2}))?", part.strip())
        if power is None:
            raise FlashpathError("cli.sizes-not-one", **_size(ladder, text))
        numbers.append(int(power[1]) ** int(power[2] or 1))
    wanted = ladder.dimensions
    if len(numbers) == 1 and len(wanted) <= _SQUARES_UP_TO:
        numbers *= len(wanted)  # 4096 for a square
    if max(numbers) > _LARGEST:
        raise FlashpathError("cli.sizes-too-large", **_size(ladder, text))
    if len(numbers) != len(wanted) or min(numbers) < 1:
        raise FlashpathError("cli.sizes-not-one", **_size(ladder, text))
    return tuple(numbers)


def _size(ladder: Ladder, text: str) -> dict[str, str]:
    """Returns what is said of a text that is no size of the ladder."""
    return {
        "text": text,
        "ladder": ladder.name,
        "dimensions": " x ".join(ladder.dimensions),
        "example": "x".join(map(str, ladder.sample)),
    }
