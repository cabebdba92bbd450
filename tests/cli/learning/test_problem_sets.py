"""Problem sets: one command grades them, what is right is kept, and their tasks are done by themselves."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

ANSWERS = "exercises/01-answers.toml"
SETS = """
[[problem_sets]]
id = "mixed"
number = "01"
title.en = "Mixed problems"
title.zh = "混合练习题"
problems = ["first/quiz#who", "first/half", "first/quiz#how-many", "second/again"]

[[stages]]
title.en = "The stage\""""
TASKS = """
    [[stages.weeks.tasks]]
    id = "solve-set"
    do.en = "Solve the problems."
    do.zh = "做完练习题。"
    done_by = "set:mixed"
    [[stages.weeks.tasks]]
    id = "try-it"
    do.en = "Run the program."
    do.zh = "运行程序。"
    done_by = "seen:ran-hello.py --twice"
    [[stages.weeks.tasks]]
    id = "install"
    do.en = "Install torch."
    do.zh = "安装 torch。"
    done_by = "seen:torch"
"""


@pytest.fixture
def folder(folder: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """The work folder of a track that has a problem set, and tasks that the machine sees done."""
    course = tmp_path / "course"
    shutil.copytree(folder.course, course)
    track = course / "tracks" / "small.toml"
    text = track.read_text(encoding="utf-8") + TASKS
    track.write_text(text.replace('\n[[stages]]\ntitle.en = "The stage"', SETS, 1), encoding="utf-8")
    monkeypatch.setenv("TEST_COURSE", str(course))
    assert folder.run("start", "small", "--into", str(folder.root)).code == 0
    return folder


def answer(folder: Any, **answers: str) -> None:
    file: Path = folder.root / ANSWERS
    text = file.read_text(encoding="utf-8")
    for name, value in answers.items():
        line = f'"first/{name.replace("_", "-")}" = "?"'
        assert line in text
        text = text.replace(line, line.replace('"?"', value))
    file.write_text(text, encoding="utf-8")


def is_done(folder: Any, task: str) -> bool:
    weeks = folder.run("progress", "--json").json["weeks"]
    return next(each["done"] for week in weeks for each in week["tasks"] if each["id"] == task)


def test_a_set_has_a_page_and_a_file_for_answers(folder: Any) -> None:
    page = (folder.root / "exercises/01-mixed.md").read_text(encoding="utf-8")
    assert "1. Who computes? (`first/who`)" in page
    assert "1) the right option" in page
    assert "2. **derive** [Double it](first/half/README.md)" in page
    assert "flashpath grade exercises/01" in page
    assert '"first/how-many" = "?"' in (folder.root / ANSWERS).read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "name", ["exercises/01", "练习/01", "mixed", "exercises/01-mixed.md", ANSWERS, "exercises/01/"]
)
def test_a_set_is_found_by_any_of_its_names(folder: Any, name: str) -> None:
    done = folder.run("grade", name)
    assert done.code == 1
    assert "exercises/01: 0 of 4 are solved" in done.out


def test_what_is_solved_is_counted_and_what_is_wrong_is_explained(folder: Any) -> None:
    answer(folder, who="1", how_many="16")
    folder.write("first/half", "right")
    done = folder.run("grade", "exercises/01")
    assert done.code == 1
    assert "2 of 4 are solved" in done.out
    assert "A warp has 32." in done.out  # why 16 is wrong
    assert "flashpath grade second/again" in done.out  # what is not begun
    told = folder.run("progress", "--week", "2").out
    assert "exercises/01  2/4" in told


def test_the_task_is_done_once_all_is_solved_in_whatever_way(folder: Any) -> None:
    answer(folder, who="1")
    folder.run("grade", "exercises/01")
    folder.run("review", "exercises/01", typed="32\n")  # the question that is left
    folder.write("second/again", "right")
    assert folder.run("grade", "second/again").code == 0
    assert not is_done(folder, "solve-set")
    folder.write("first/half", "right")
    done = folder.run("grade", "exercises/01")
    assert done.code == 0
    assert "all 4 are solved" in done.out
    assert is_done(folder, "solve-set")
    assert folder.run("grade", "exercises/01", "--json").json["passed"]


def test_right_answers_count_for_the_quiz_that_they_are_of(folder: Any) -> None:
    answer(folder, who="1", how_many="32")
    folder.run("grade", "exercises/01")
    asked = folder.run("review", "first", "--json").json["to_ask"]
    assert asked == ["first/steps", "first/word"]


def test_an_exercise_that_fails_is_told_and_keeps_its_attempt(folder: Any) -> None:
    folder.write("first/half", "wrong")
    done = folder.run("grade", "exercises/01", "--json")
    assert done.code == 1
    problems = {problem["id"]: problem for problem in json.loads(done.out)["problems"]}
    assert not problems["first/half"]["solved"]
    assert problems["first/half"]["said"]
    assert problems["second/again"]["said"] is None


def test_answers_that_are_no_toml_are_told_with_their_line(folder: Any) -> None:
    answer(folder, who="= =")
    done = folder.run("grade", "exercises/01")
    assert done.code == 1
    assert "first/who" in done.out
    assert "^" in done.out


def test_a_file_of_answers_that_is_gone_comes_back_with_start(folder: Any) -> None:
    (folder.root / ANSWERS).unlink()
    done = folder.run("grade", "exercises/01")
    assert done.code == 1
    assert "flashpath start small" in done.err
    assert folder.run("start", "small", "--into", str(folder.root)).code == 0
    assert (folder.root / ANSWERS).exists()


def test_a_set_that_is_not_there_is_told_with_those_that_are(folder: Any) -> None:
    done = folder.run("grade", "exercises/07")
    assert done.code == 1
    assert "exercises/01" in done.err


# ---- What the machine sees -----------------------------------------------------------------------------


def open_tasks(folder: Any) -> dict[str, str]:
    """The tasks that are left once all exercises are passed, and how they are done."""
    for name in ("first/double", "first/half", "first/quiz", "second/again", "second/essay"):
        folder.write(name, "right")
        assert folder.run("grade", name).code == 0
    tasks = folder.run("next", "--json").json["tasks"]
    return {task["id"]: task["command"] for task in tasks}


def test_a_program_that_ended_well_does_its_task(folder: Any) -> None:
    program = folder.root / "code" / "hello.py"
    program.parent.mkdir()
    program.write_text("import sys\nsys.exit('bad' in sys.argv)\n", encoding="utf-8")
    assert open_tasks(folder)["try-it"] == "flashpath run code/hello.py -- --twice"
    folder.run("run", str(program))  # without what is asked for
    folder.run("run", str(program), "--", "--twice", "bad")  # ends with 1
    assert "try-it" in open_tasks(folder)
    assert folder.run("run", str(program), "--", "--twice").code == 0
    assert "try-it" not in open_tasks(folder)


def test_a_program_elsewhere_does_not(folder: Any, tmp_path: Path) -> None:
    program = tmp_path / "hello.py"
    program.write_text("", encoding="utf-8")
    assert folder.run("run", str(program), "--", "--twice").code == 0
    assert "try-it" in open_tasks(folder)


def test_doctor_does_the_tasks_of_what_it_sees(folder: Any) -> None:
    left = open_tasks(folder)
    assert left["install"] == "flashpath doctor"
    assert "solve-set" not in left  # passed as a part of its units
    folder.run("doctor")
    assert "install" not in open_tasks(folder)
