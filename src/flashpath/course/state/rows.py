"""What a row of the progress file must hold to be one: SQLite keeps any value in any column.

The file is the learner's own, and other programs can write into it. A row that holds anything else is left
out.
"""

from __future__ import annotations

import datetime
import json
import math
import re
import zlib
from collections.abc import Callable
from typing import Any, cast

Kind = Callable[[object], bool]

_LATEST = 253_370_000_000.0  # the end of the year 9998: any later moment is none in some time zone
_NAME = re.compile(r"[\w-]+(?:\.[\w-]+)*(?:/[\w-]+(?:\.[\w-]+)*)*")
_LARGEST_JSON = 16 << 20


def is_text(value: object) -> bool:
    """Whether it is text that can be written and shown."""
    return isinstance(value, str) and "\0" not in value


def is_name(value: object) -> bool:
    """Whether it can be the name of an exercise, a unit or an item, which becomes the name of a file."""
    return isinstance(value, str) and _NAME.fullmatch(value) is not None


def is_day(value: object) -> bool:
    """Whether it is a day, as 2026-01-31."""
    if not isinstance(value, str):
        return False
    try:
        return datetime.date.fromisoformat(value).isoformat() == value
    except ValueError:
        return False


def is_moment(value: object) -> bool:
    """Whether it is a time in seconds since 1970."""
    return isinstance(value, (int, float)) and math.isfinite(value) and 0 <= value < _LATEST


def is_number(value: object) -> bool:
    """Whether it is a number of seconds that can be shown."""
    return isinstance(value, (int, float)) and math.isfinite(value) and abs(value) < _LATEST


def is_whole(value: object) -> bool:
    """Whether it is a whole number; SQLite's truth values are some."""
    return isinstance(value, int)


def is_box(value: object) -> bool:
    """Whether it is the number of a box of questions."""
    return isinstance(value, int) and 0 <= value < 1000


def or_none(kind: Kind) -> Kind:
    """Returns the kind of a column that may be empty."""
    return lambda value: value is None or kind(value)


def unpacked(text: object, most: int) -> str | None:
    """Returns a text that was compressed; None where that is no such thing, or more than was ever kept."""
    if not isinstance(text, bytes):
        return None
    try:
        unpacking = zlib.decompressobj()
        data = unpacking.decompress(text, most + 1)
        return data.decode() if unpacking.eof and len(data) <= most else None
    except (zlib.error, UnicodeDecodeError):
        return None


def verdict(text: object) -> dict[str, Any] | None:
    """Returns a verdict that was kept as JSON; None where it is none."""
    if not isinstance(text, str) or len(text) > _LARGEST_JSON:
        return None
    try:
        data: object = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return cast("dict[str, Any]", data) if isinstance(data, dict) else None
