"""Numbers that callers give: Python's own, NumPy's, and whatever else counts as one."""

from __future__ import annotations

import operator
from typing import SupportsIndex, cast

import numpy as np


def whole(value: object) -> int | None:
    """The whole number that it is; None for what is none, and for a truth value, which is a slip here."""
    if isinstance(value, bool):
        return None
    try:
        return operator.index(cast("SupportsIndex", value))
    except TypeError:
        return None


def truth(value: object) -> bool | None:
    """The truth value that it is; None for what is none, numbers too."""
    if isinstance(value, bool):
        return value
    return bool(cast("object", value)) if isinstance(value, np.bool_) else None
