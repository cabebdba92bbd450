"""Marks of the ladders: met, missed, or open where a peer that may be faster was not timed."""

from __future__ import annotations

import runpy
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from flashpath.bench import Record
from flashpath.bench.environment import read_environment
from flashpath.bench.record import Time
from flashpath.kernels import ladder

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def marks() -> dict[str, Any]:
    return runpy.run_path(str(ROOT / "benchmarks" / "marks.py"))


def record(name: str, seconds: float | None, case: str = "large", **fields: Any) -> Record:
    time = None if seconds is None else Time(seconds, seconds, seconds, "clock", 9)
    return Record(name, case, read_environment("cpu"), "2026", {}, ladder="sum", time=time, **fields)


def test_a_mark_is_the_fastest_peers_time_over_the_best_rungs(marks: dict[str, Any]) -> None:
    records = [
        record("reference", 0.1, language="pytorch"),  # the peers' own: it is no rung of ours
        record("slow", 3.0, language="cuda"),
        record("fast", 2.0, language="cuda"),
        record("library", 4.0, is_peer=True),
        record("other", 1.8, is_peer=True),
        record("copy", 1.0, case="copied", language="cuda"),
    ]

    def judged(*options: Any, **named: Any) -> Any:
        return marks["judge"](marks["Mark"]("sum", "large", *options, **named), records)

    verdict = judged(0.9)
    assert (verdict.rung, verdict.peer, verdict.ratio, verdict.words) == ("fast", "other", 0.9, "met")
    assert judged(1.0).words == "missed."
    assert judged(1.0, peers=("library",)).ratio == 2.0
    assert judged(1.0, rungs=("slow",)).ratio == pytest.approx(0.6)
    assert judged(0.5, peers=("copy",), against_case="copied").ratio == 0.5
    assert judged(1.0, peers=("nobody",)).ratio is None


def test_a_peer_that_failed_leaves_a_mark_open(marks: dict[str, Any]) -> None:
    records = [record("fast", 2.0, language="cuda"), record("library", 4.0, is_peer=True)]
    failed = record("other", None, is_peer=True, error="wrong result")
    mark = marks["Mark"]("sum", "large")
    verdict = marks["judge"](mark, [*records, failed])
    assert (verdict.is_met, verdict.words) == (False, "open: other failed in this run")
    assert marks["judge"](mark, [*records, replace(failed, skipped=True)]).words == "met"
    assert marks["judge"](replace(mark, at_least=3.0), [*records, failed]).words == "missed."


def test_marks_name_cases_and_rungs_that_there_are(marks: dict[str, Any]) -> None:
    names: set[str] = set()
    for mark in marks["MARKS"]:
        found = ladder(mark.ladder)
        cases = {case.name for case in found.cases()}
        assert {mark.case, mark.against_case or mark.case} <= cases, mark.name
        assert set(mark.rungs) <= {rung.name for rung in found}, mark.name
        assert mark.name not in names
        names.add(mark.name)
    assert set(marks["MISSED"]) <= names
