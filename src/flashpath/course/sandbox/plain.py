"""Numbers as JSON has them."""

from __future__ import annotations

from typing import Any, cast

import numpy as np


def plain_number(value: Any) -> int | float | bool:
    """One of Python's own, for one of NumPy's too."""
    kinds: Any = np.bool_, np.integer
    if isinstance(value, (bool, kinds[0])):
        return bool(cast("bool", value))
    if isinstance(value, (int, kinds[1])):
        return int(cast("int", value))
    return float(value)
