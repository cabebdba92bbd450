"""Sizes on the command line: 4096, 2^20, 32768x1024."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from flashpath.errors import FlashpathError

if TYPE_CHECKING:
    from flashpath.kernels import Case, Ladder

SIZES_HELP = "Such as 2^20, or 32768x1024 where a size has two dimensions: one number alone stands for both."
_LARGEST = 2**40


def sized_cases(ladder: Ladder, sizes: Sequence[str | tuple[int, ...]]) -> list[Case]:
    """The cases of a ladder at these sizes, as typed or as numbers."""
    if ladder.sized is None:
        raise FlashpathError(
            f"The ladder {ladder.name!r} has no cases by size.",
            "Name its cases: " + ", ".join(repr(case.name) for case in ladder.cases()) + ".",
        )
    if not sizes:
        raise FlashpathError("No size was given.", SIZES_HELP)
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
            raise FlashpathError(f"{text!r} is no size.", SIZES_HELP)
        numbers.append(int(power[1]) ** int(power[2] or 1))
    wanted = ladder.dimensions
    if len(numbers) == 1:
        numbers *= len(wanted)  # 4096 for a square
    if max(numbers) > _LARGEST:
        raise FlashpathError(f"{text!r} is no size of {ladder.name}: the largest is 2^40.", SIZES_HELP)
    if len(numbers) != len(wanted) or min(numbers) < 1:
        example = "x".join(str(each) for each in ladder.sample)
        raise FlashpathError(
            f"{text!r} is no size of {ladder.name}.", f"It is {' x '.join(wanted)}, such as {example}."
        )
    return tuple(numbers)
