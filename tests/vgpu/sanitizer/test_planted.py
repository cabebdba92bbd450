"""Every planted bug is found: its kind, its line, its thread, and the other party of a race."""

from __future__ import annotations

import collections
import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from planted_cases import FEW_INSTRUCTIONS, PLANTED, Marks, Planted, source_of

import flashpath as fp
from flashpath.vgpu.findings import KINDS, Finding

_ENGLISH = re.compile("[A-Za-z]{2,} [a-z]{2,} [a-z]{2,}")  # three words in a row
Compiled = Callable[[Path, str], fp.Kernel]
ELSEWHERE = {
    "weak-order",  # a note, no bug: test_notes.py
    "missing-fence",  # of sm_90: tests/vgpu/hopper/test_findings.py
    *("assert", "trap"),  # what a kernel says of itself: tests/vgpu/test_faults.py
    # What a whole program does wrong: tests/programs/test_planted.py
    *("missing-sync", "use-after-free", "wrong-direction", "unchecked-error", "bad-pointer"),
}


def sanitize(compiled: Compiled, case: Planted, seeds: int) -> list[Finding]:
    kernel = compiled(source_of(case.file), case.kernel)
    return fp.sanitize(
        kernel,
        case.grid,
        case.block,
        case.arguments(),
        shared=case.shared,
        seeds=seeds,
        budget=FEW_INSTRUCTIONS,
    )


def shows(finding: Finding, marks: Marks) -> bool:
    """Whether it is the bug that the marks tell of; the parties of a race come in either order."""
    if finding.kind != marks.kind:
        return False
    if marks.kind != "race":
        return finding.line in marks.bug
    if finding.other is None:
        return False
    return {finding.line, finding.other.line} == {*marks.bug, marks.partner}


@pytest.mark.parametrize("case", PLANTED, ids=lambda case: f"{case.file}-{case.kernel}")
def test_found(compiled: Compiled, case: Planted) -> None:
    findings = sanitize(compiled, case, case.seeds)
    assert any(shows(finding, case.marks) for finding in findings), list(map(str, findings))
    for finding in findings:
        english, chinese = finding.summary.text("en"), finding.summary.text("zh")
        assert not re.search("[\u4e00-\u9fff]", english), english
        assert re.search("[\u4e00-\u9fff]{2}", chinese)
        assert not _ENGLISH.search(chinese), chinese
        assert Finding.from_data(json.loads(json.dumps(finding.as_data()))) == finding


@pytest.mark.parametrize("case", [case for case in PLANTED if case.seeds > 1], ids=lambda case: case.kernel)
def test_one_schedule_hides_it(compiled: Compiled, case: Planted) -> None:
    assert sanitize(compiled, case, 1) == []
    (found,) = [each for each in sanitize(compiled, case, case.seeds) if shows(each, case.marks)]
    assert 0 < found.seed < case.seeds


@pytest.mark.parametrize("case", [case for case in PLANTED if case.seeds == 1], ids=lambda case: case.kernel)
def test_nothing_else_is_claimed(compiled: Compiled, case: Planted) -> None:
    """Kinds that are not there are not found; the same bug may show in several places."""
    found = {finding.kind for finding in sanitize(compiled, case, 1)}
    assert found == {case.marks.kind, *case.also}


def test_at_least_three_of_each_kind() -> None:
    counts = collections.Counter(case.marks.kind for case in PLANTED)
    assert all(counts[kind] >= 3 for kind in KINDS if kind not in ELSEWHERE)
    hidden = [case for case in PLANTED if case.marks.kind == "race" and case.seeds > 1]
    assert len(hidden) >= 3
    assert len({case.kernel for case in PLANTED}) == len(PLANTED)
