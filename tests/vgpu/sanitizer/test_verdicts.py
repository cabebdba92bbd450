"""compute-sanitizer's verdicts on the same programs (verdicts.json): what it finds is found here too."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from correct_cases import CORRECT
from planted_cases import FEW_INSTRUCTIONS, PLANTED, Planted, source_of

import flashpath as fp

Compiled = Callable[[Path, str], fp.Kernel]
VERDICTS: dict[str, Any] = json.loads((Path(__file__).parent / "verdicts.json").read_text(encoding="utf-8"))

# What each report of compute-sanitizer's is called here; the first that it contains counts.
SAME = {
    "invalid memcpy_async synchronization": {"missing-wait"},
    "hazard": {"race", "missing-wait"},
    "Race reported": {"race", "missing-wait"},
    "misaligned": {"misaligned"},
    "not writable": {"const-write"},
    "out of bounds": {"out-of-bounds"},
    "Uninitialized": {"uninitialized"},
    "Leaked": {"leak"},
    "Divergent thread": {"divergent-barrier"},
    "Invalid arguments": {"bad-mask"},
    "Illegal instruction": {"bad-mask"},
}


def _reports(verdict: dict[str, Any]) -> list[dict[str, Any]]:
    """All that the tools say; one that hangs says nothing."""
    return [report for said in verdict.values() if not isinstance(said, str) for report in said]


REPORTED: dict[str, list[dict[str, Any]]] = {
    name: _reports(verdict) for name, verdict in VERDICTS["planted"].items()
}


def kinds_of(what: str) -> set[str]:
    return next(kinds for part, kinds in SAME.items() if part in what)


@pytest.mark.parametrize(
    "case", [case for case in PLANTED if REPORTED.get(case.kernel)], ids=lambda case: case.kernel
)
def test_what_it_finds_is_found(compiled: Compiled, case: Planted) -> None:
    """Every report: the same kind, at one of the lines that it names."""
    kernel = compiled(source_of(case.file), case.kernel)
    findings = fp.sanitize(
        kernel,
        case.grid,
        case.block,
        case.arguments(),
        shared=case.shared,
        seeds=case.seeds,
        budget=FEW_INSTRUCTIONS,
    )
    for report in REPORTED[case.kernel]:
        kinds, lines = kinds_of(report["what"]), set(report["lines"])
        fitting = [finding for finding in findings if finding.kind in kinds]
        assert fitting, f"{report} is not among {list(map(str, findings))}"
        if lines:
            named = {finding.line for finding in fitting} | {f.other.line for f in fitting if f.other}
            if named & case.marks.bug:  # of several lines that have the bug, either may be named
                named |= case.marks.bug
            assert lines <= named, f"{report}: here the lines are {sorted(named)}"


def test_every_program_that_can_be_one_has_a_verdict() -> None:
    assert set(VERDICTS["planted"]) == {case.kernel for case in PLANTED if case.on_a_gpu}
    files = {case.source.stem for case in CORRECT}
    assert {name.removeprefix("ours-") for name in VERDICTS["correct"]} == files


def test_what_it_does_not_find_is_known() -> None:
    """How many of the planted bugs it leaves unreported, and its false alarms: docs/vgpu.md says the same."""
    silent = [case for case in PLANTED if case.on_a_gpu and not REPORTED[case.kernel]]
    hanging = [case for case in silent if "hangs" in str(VERDICTS["planted"][case.kernel])]
    alarms = [name for name, verdict in VERDICTS["correct"].items() if verdict]
    page = (Path(__file__).parents[3] / "docs" / "vgpu.md").read_text(encoding="utf-8")
    reported = [case for case in PLANTED if REPORTED.get(case.kernel)]
    said = (
        f"Of the {len(PLANTED)} compute-sanitizer reports {len(reported)}, and {len(hanging)} hang under it"
    )
    assert said in " ".join(page.split()), said
    assert alarms == ["block", "libcudacxx"]
