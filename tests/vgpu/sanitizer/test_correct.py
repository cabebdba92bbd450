"""Correct kernels give no finding and the right results, under twenty schedules."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from correct_cases import CORRECT, Correct

import flashpath as fp

SCHEDULES = 20
Compiled = Callable[[Path, str], fp.Kernel]


def copies(arguments: Any) -> list[Any]:
    return [each.copy() if hasattr(each, "copy") else each for each in arguments]


@pytest.mark.parametrize("case", CORRECT, ids=lambda case: f"{case.file}-{case.kernel}")
def test_no_finding_and_right(compiled: Compiled, case: Correct) -> None:
    kernel = compiled(case.source, case.kernel)
    before = case.arguments()
    after = copies(before)
    findings = fp.sanitize(kernel, case.grid, case.block, after, shared=case.shared, seeds=SCHEDULES)
    assert findings == [], list(map(str, findings))
    case.check(before, after)
