"""benchmarks/grading.py and grading_rate.py: one exercise timed, and the table of docs/learning.md."""

from __future__ import annotations

import json
import runpy
from pathlib import Path
from typing import Any

import pytest

from flashpath.course.content import load_course
from tests.harness.corpus import ANSWERS

ROOT = Path(__file__).parents[2]
DOCUMENT = ROOT / "docs" / "learning.md"


@pytest.fixture(scope="module")
def program() -> dict[str, Any]:
    return runpy.run_path(str(ROOT / "benchmarks" / "grading.py"))


def test_an_exercise_is_timed_and_recorded(program: dict[str, Any], tmp_path: Path) -> None:
    record = tmp_path / "record.json"
    arguments = [
        "--rounds",
        "1",
        "--right-only",
        "--json",
        str(record),
        "--exercise",
        "first-kernel/vector-add",
    ]
    code = program["main"](arguments)
    (timed,) = json.loads(record.read_text(encoding="utf-8"))["grading"]
    assert timed["language"] == "cuda"
    assert timed["cases"] > 3
    assert timed["warm_seconds"] > 0
    assert code == int(timed["cold_seconds"] >= 3)
    document = tmp_path / "document.md"
    document.write_text(DOCUMENT.read_text(encoding="utf-8"), encoding="utf-8")
    assert program["main"](["--document", str(document), "--json", str(record), "--check"]) == 1
    assert program["main"](["--document", str(document), "--json", str(record)]) == 0
    assert f"{timed['cold_seconds']:.1f} to {timed['cold_seconds']:.1f}" in document.read_text(
        encoding="utf-8"
    )


def test_the_table_is_made_of_the_record_which_holds_the_marks(program: dict[str, Any]) -> None:
    for document in (DOCUMENT, DOCUMENT.with_suffix(".zh.md")):
        assert program["main"](["--document", str(document), "--check"]) == 0
    record = json.loads(program["RECORD"].read_text(encoding="utf-8"))
    assert {each["language"] for each in record["grading"]} == {"cuda", "triton"}
    for each in record["grading"]:
        assert each["wrong_answers"] >= 4
        assert max(each["cold_seconds"], each["slowest_wrong_seconds"]) < each["mark_seconds"], each[
            "exercise"
        ]


def test_answers_are_counted_by_the_processors_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FLASHPATH_CACHE_DIR", str(tmp_path))  # the program sets it for itself
    record = tmp_path / "record.json"
    main = runpy.run_path(str(ROOT / "benchmarks" / "grading_rate.py"))["main"]
    names = ["coalescing/count-sectors", "coalescing/coalesced-copy"]
    code = main(["--exercise", *names, "--json", str(record)])
    rates = json.loads(record.read_text(encoding="utf-8"))["rates"]
    kinds = ["solutions", "mutants", "corpus answers"]
    assert [(each["language"], each["kind"]) for each in rates] == [
        (language, kind) for kind in kinds for language in ("cuda", "python")
    ]
    graded = sum(each["answers"] for each in rates if each["kind"] == "corpus answers")
    assert graded == sum(answer.exercise in names for answer in ANSWERS)
    mutants = sum(each["answers"] for each in rates if each["kind"] == "mutants")
    assert mutants == sum(len(load_course().exercise(name).mutants) for name in names)
    assert all(0 < each["processor_seconds"] < 2 * each["seconds"] for each in rates)
    assert code == int(any(each["language"] == "cuda" and each["processor_seconds"] >= 0.1 for each in rates))
