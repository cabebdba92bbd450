"""The commands of a learner as they are typed: in both languages, as JSON, and with something wrong."""

from __future__ import annotations

import json
import sqlite3
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

from flashpath.course.state import Store, StoreError

COMMANDS = (
    "next", "grade", "hint", "solution", "reset", "progress", "watch", "review", "log", "note", "export",
)  # fmt: skip


def has(text: str, *wanted: str) -> None:
    missing = [each for each in wanted if each not in text]
    assert not missing, f"{missing} not in:\n{text}"


@pytest.mark.parametrize("command", COMMANDS)
def test_help_has_examples(folder: Any, command: str) -> None:
    done = folder.run(command, "--help")
    assert done.code == 0
    has(done.out, "Examples:", f"flashpath {command}", "--json", "--lang")


@pytest.mark.parametrize("command", COMMANDS)
def test_without_a_work_folder_words_say_what_to_do(
    folder: Any, command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FLASHPATH_HOME", str(tmp_path / "nobody"))
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    words = {"reset": ["first/double"], "log": ["--list"]}.get(command, [])
    done = folder.run(command, *words)
    if command in ("log", "review"):  # these need none
        assert done.code == 0
    else:
        assert done.code == 1
        has(done.err, "flashpath start TRACK")


# ---- next ----------------------------------------------------------------------------------------------


def test_next_names_the_lesson_the_file_and_the_tasks(folder: Any) -> None:
    done = folder.run("next")
    has(done.out, "Week 1 · The first week · Day 1 · Monday", "first/double", "flashpath read first")
    has(done.out, str(folder.file("first/double").relative_to(folder.root)))
    has(done.out, "flashpath grade first/double", "flashpath progress --tick read-paper")
    has(folder.run("next", "--lang", "zh").out, "第 1 周 · 第一周", "先读讲义", "读论文。")
    assert folder.run("next", "--json").json["exercise"] == "first/double"


def test_next_goes_on_and_leaves_what_was_given_up_for_the_end(folder: Any) -> None:
    folder.write("first/double", "right")
    assert folder.run("grade", "first/double").code == 0
    coming = folder.run("next", "--json").json
    assert (coming["exercise"], coming["read_first"]) == ("first/half", False)
    assert coming["command"] == "flashpath grade first/half"
    folder.run("solution", "first/half", "--give-up")
    coming = folder.run("next", "--json").json
    assert (coming["exercise"], coming["command"]) == ("first/quiz", "flashpath review first")
    has(folder.run("next").out, "flashpath review first")
    with folder.store() as store:
        store.pass_without_file("first/quiz")
        for name in ("second/again", "second/essay"):
            store.pass_without_file(name)
    assert folder.run("next", "--json").json["exercise"] == "first/half"
    with folder.store() as store:
        store.pass_without_file("first/half")
    coming = folder.run("next", "--json").json
    assert coming["exercise"] is None
    assert [each["id"] for each in coming["tasks"]] == ["read-paper", "write-note"]
    has(folder.run("next").out, "Read the paper.")
    folder.run("progress", "--tick", "read-paper", "--tick", "write-note")
    assert folder.run("next", "--json").json["done"] is True
    has(
        folder.run("next").out,
        "all 5 exercises that are written are passed",
        "1 unit is planned: Later",
        "flashpath export",
    )


def test_next_tells_what_is_due_for_review(folder: Any) -> None:
    with folder.store() as store:
        store.reviews.answer("first/who", False, "2")
        db = store._db  # the day before yesterday
        with db.writing() as writing:
            writing.execute("UPDATE reviews SET due = '2020-01-01'")
    has(folder.run("next").out, "1 question is due again", "flashpath review")


# ---- grade ---------------------------------------------------------------------------------------------


def test_grade_shows_why_and_keeps_what_was_tried(folder: Any) -> None:
    folder.write("first/double", "my try [red]\n")
    done = folder.run("grade")
    assert done.code == 1
    has(done.out, "✗ first/double: y[3] is 1.0", "a detail [with brackets]", "→ it looks like a copy")
    has(done.out, "a hint (0 of 3 seen): flashpath hint first/double")
    with folder.store() as store:
        (attempt,) = store.attempts("first/double")
        assert (attempt.passed, attempt.reason) == (False, "wrong")
        assert store.text_of(attempt.submission) == "my try [red]\n"


def test_grade_takes_a_name_a_file_or_the_last_touched(folder: Any, tmp_path: Path) -> None:
    path = folder.write("first/half", "right")
    for words in (["first/half"], ["half"], [str(path)], [str(path.relative_to(folder.root))], []):
        assert folder.run("grade", *words, "--json").json["exercise"] == "first/half"
    other = tmp_path / "mine.py"
    other.write_text("right")
    assert folder.run("grade", "first/double", "--file", str(other), "--json").json["passed"]
    assert "Next: first/quiz" in folder.run("grade", "first/half").out
    done = folder.run("grade", str(other))
    assert done.code == 1
    has(done.err, "mine.py is not the file of an exercise", "--file")
    has(folder.run("grade", "first/duble").err, "double")
    path.unlink()
    has(folder.run("grade", "first/half").err, "flashpath reset first/half")


def test_a_unit_or_a_folder_is_told_from_an_exercise(folder: Any, tmp_path: Path) -> None:
    unit = folder.run("grade", "first")
    assert unit.code == 1
    has(unit.err, "first is a unit, not an exercise.", "such as `flashpath grade first/double`")
    place = folder.run("grade", "first/double", "--file", str(tmp_path))
    assert place.code == 1
    has(place.err, f"{tmp_path} is a folder, not a file.", "Name the file in it with your answer.")


def test_a_quiz_that_is_answered_in_its_file_comes_again_in_reviews(folder: Any) -> None:
    folder.write("first/quiz", "right")
    assert folder.run("grade", "first/quiz").code == 0
    with folder.store() as store:
        assert "first/quiz" in store.passes()
        assert len(store.reviews.all()) == 4


def test_grade_all_grades_what_was_begun(folder: Any) -> None:
    folder.write("first/double", "right")
    folder.write("second/again", "not yet")
    done = folder.run("grade", "--all")
    assert done.code == 1
    has(done.out, "✓ first/double", "✗ second/again", "1 of 2 exercises")
    graded = folder.run("grade", "--all", "--json")
    assert [each["passed"] for each in json.loads(graded.out)] == [True, False]


def test_the_verdict_is_in_the_folders_language_or_the_variables(folder: Any) -> None:
    has(folder.run("hint", "first/double").out, "hint 1 of 3", "first hint")
    has(folder.run("hint", "first/double", FLASHPATH_LANG="zh").out, "提示 2/3", "第二条提示")
    marker = folder.root / "flashpath.toml"
    marker.write_text(
        marker.read_text(encoding="utf-8").replace('lang = "en"', 'lang = "zh"'), encoding="utf-8"
    )
    has(folder.run("hint", "first/double").out, "提示 3/3", "第三条提示")
    has(folder.run("hint", "first/double", "--lang", "en").out, "third hint")


# ---- hint, solution, reset -----------------------------------------------------------------------------


def test_hints_come_one_by_one_and_no_more_than_three(folder: Any) -> None:
    has(folder.run("hint", "first/half", "--number", "2").err, "cannot be shown yet")
    numbers = [folder.run("hint", "first/half", "--json").json["number"] for _ in range(4)]
    assert numbers == [1, 2, 3, 3]
    has(folder.run("hint", "first/half", "--number", "1").out, "first hint")
    has(folder.run("hint", "second/essay").err, "has no hints", "flashpath read second")


def test_the_solution_comes_after_passing_or_giving_up(folder: Any, solution_text: str) -> None:
    done = folder.run("solution", "first/double")
    assert done.code == 1
    has(done.err, "not passed yet", "--give-up")
    has(folder.run("solution", "first/double", "--give-up").out, solution_text, "Two times.")
    assert folder.run("solution", "first/double").code == 0
    folder.write("first/half", "right")
    folder.run("grade", "first/half")
    shown = folder.run("solution", "first/half", "--json", "--lang", "zh").json
    assert shown["given_up"] is False
    assert (shown["solution"], shown["explanation"]) == (solution_text, "乘以二。")
    quiz = folder.run("solution", "first/quiz", "--give-up").out
    has(quiz, "**Who computes?**", "→ the right option", "→ 32", "→ alpha → beta → gamma", "It is a warp.")
    has(folder.run("solution", "second/essay", "--give-up").err, "has no solution to show")


def test_reset_asks_and_keeps_the_old_version(folder: Any) -> None:
    path = folder.file("first/double")
    first = path.read_text(encoding="utf-8")
    folder.write("first/double", "mine\n")
    assert folder.run("reset", "first/double", typed="n\n").code == 1
    assert path.read_text(encoding="utf-8") == "mine\n"
    assert folder.run("reset", "first/double").code == 1  # nobody answers
    assert folder.run("reset", "first/double", typed="y\n").code == 0
    assert path.read_text(encoding="utf-8") == first
    with folder.store() as store:
        (kept,) = store.kept_files("first/double")
        assert store.text_of(kept.submission) == "mine\n"
    assert folder.run("reset", "first/double", "--bring-back").code == 0
    assert path.read_text(encoding="utf-8") == "mine\n"
    path.unlink()
    assert folder.run("reset", "first/double", "--json").json["brought_back"] is False
    assert path.read_text(encoding="utf-8") == first
    has(folder.run("reset", "first/half", "--bring-back").err, "never reset")


# ---- progress ------------------------------------------------------------------------------------------


def test_progress_shows_weeks_days_tasks_and_checkpoints(folder: Any) -> None:
    folder.write("first/double", "right")
    folder.run("grade")
    out = folder.run("progress").out
    has(out, "A small track", "1/5 exercises · 1/3 tasks · 1 unit to come", "1 day in a row")
    has(out, "Day 1 · Monday", "✓ double", "· half", "☐ Read the paper.  read-paper", "☑ Double it.")
    has(out, "Checkpoints 0/1", "☐ Can you explain it?  explain-it")
    assert "first/why" not in out
    has(folder.run("progress", "--week", "2").out, "again", "later  Later  to come", "☐ Why?  second/why")
    has(folder.run("progress", FLASHPATH_LANG="zh").out, "小路线", "练习 1/5", "连续 1 天", "☑ 翻倍。")
    has(folder.run("progress", "--week", "9").err, "has no week '9'", "It has 1, 2.")


def test_progress_ticks_and_unticks(folder: Any) -> None:
    done = folder.run("progress", "--tick", "read-paper", "--tick", "explain-it", "--tick", "first/why")
    has(done.out, "☑ read-paper", "☑ explain-it", "☑ first/why")
    found = folder.run("progress", "--json").json
    assert found["count"]["tasks_done"] == 1
    assert found["weeks"][0]["days"][0]["tasks"][0]["done"] is True
    assert found["checkpoints"][0]["ticked"] is True
    assert {each["id"]: each["ticked"] for each in found["unit_checkpoints"]} == {
        "first/why": True,
        "second/why": False,
    }
    has(folder.run("progress", "--untick", "read-paper").out, "☐ read-paper")
    assert folder.run("progress", "--json").json["count"]["tasks_done"] == 0
    done = folder.run("progress", "--tick", "explain-it", "--tick", "read-papr")
    assert done.code == 1
    has(done.err, "no task or checkpoint 'read-papr'", "Did you mean read-paper")


def test_a_note_that_is_written_does_its_task(folder: Any) -> None:
    def task() -> bool:
        found = folder.run("progress", "--json").json
        return found["weeks"][0]["days"][0]["tasks"][2]["done"]

    path = Path(folder.run("note", "--name", "paper", "--json").json["path"])
    assert not task()
    path.write_text(path.read_text(encoding="utf-8") + "\nThe idea is to never write the scores to memory.\n")
    assert task()


# ---- review --------------------------------------------------------------------------------------------


def test_review_asks_new_questions_and_passes_the_quiz(folder: Any) -> None:
    assert folder.run("review", "first", "--json").json["to_ask"] == [
        "first/who", "first/how-many", "first/steps", "first/word",
    ]  # fmt: skip
    done = folder.run("review", "first", typed="9\nnonsense\n?\n12\n32")
    has(
        done.out,
        "Who computes?",
        "'9' cannot be read as an answer",
        "✗ not right. The answer is: the right option",
        "Because it does.",
    )
    has(done.out, "✗ not right. The answer is: 32", "0 of 2 right")
    with folder.store() as store:
        assert sorted(store.reviews.all()) == ["first/how-many", "first/who"]
        for item in ("who", "how-many", "steps"):
            store.reviews.answer(f"first/{item}", True, "…")
        assert "first/quiz" not in store.passes()
    done = folder.run("review", "first", typed="WARP\n")  # only what was never right is asked again
    has(done.out, "1/1", "✓ right", "first/quiz is passed", "1 of 1 right")
    with folder.store() as store:
        assert "first/quiz" in store.passes()
    has(folder.run("review", "first").out, "Nothing of first is due", "--again")
    has(folder.run("review", "first", "--again", "--limit", "2", typed="q\n").out, "1/2", "0 of 0")
    has(folder.run("review").out, "Nothing is due before")
    has(folder.run("review", "first", "--again", "--lang", "zh").out, "谁在计算？", "正确选项", "不知道")


def test_review_asks_what_is_due(folder: Any) -> None:
    has(folder.run("review").out, "No question was asked yet")
    with folder.store() as store:
        store.reviews.answer("first/how-many", True, "32")
        store.reviews.answer("gone/item", True, "32")  # a unit that is no longer in the course
        with store._db.writing() as db:
            db.execute("UPDATE reviews SET due = '2020-01-01'")
    done = folder.run("review", typed="32\n")
    has(done.out, "1/1", "✓ right")
    with folder.store() as store:
        assert store.reviews.all()["first/how-many"].box == 1


def test_the_checkpoint_of_a_finished_unit_is_asked_and_kept(folder: Any) -> None:
    assert folder.run("next", "--json").json["checkpoints"] == {}
    assert "Why?" not in folder.run("review", "second").out  # not before its exercises are passed
    with folder.store() as store:
        store.pass_without_file("second/essay")
    folder.write("second/again", "right")
    has(folder.run("grade", "second/again").out, "its checkpoint: flashpath review second")
    assert folder.run("next", "--json").json["checkpoints"] == {"second": 1}
    has(folder.run("next").out, "flashpath review second", "a unit that you finished: 1 question")
    assert folder.run("review", "second", "--json").json["checkpoints"] == ["second/why"]

    done = folder.run("review", "second", typed="q\n")
    assert "Because" not in done.out  # nobody sees the answer before they gave their own
    done = folder.run("review", "second", typed="I do not know\nn\n")
    has(done.out, "Why?", "in your own words", "Because it is so.", "Did you have it?", "asked again")
    done = folder.run("review", typed="It is so.\ny\n", FLASHPATH_LANG="zh")  # without a unit, too
    has(done.out, "为什么？", "先用自己的话回答", "因为如此", "已记入进度")
    with folder.store() as store:
        assert store.ticks("") == {"second/why"}
    assert folder.run("next", "--json").json["checkpoints"] == {}
    assert "Why?" not in folder.run("review", "second").out
    has(folder.run("review", "second", "--again").out, "Why?")


def test_what_json_says_is_made_in_the_course(folder: Any) -> None:
    from flashpath.cli.learning.opening import learning
    from flashpath.course.learner import overview, reading

    with learning("en") as learner:
        state = learner.progress()
        coming = json.loads(json.dumps(overview.next_data(learner, state.next())))
        lesson = json.loads(json.dumps(reading.lesson_data(learner, learner.course.unit("first"))))
        weeks = overview.progress_data(learner, state)["weeks"]
    assert folder.run("next", "--json").json == coming
    assert folder.run("read", "first", "--json").json == lesson
    assert folder.run("progress", "--json").json["weeks"] == json.loads(json.dumps(weeks))


@pytest.mark.parametrize(
    "words",
    [
        ["grade", "~nobody-such/x.py"],
        ["hint", "~nobody-such/x.py"],
        ["start", "small", "--into", "~nobody-such/work"],
        ["export", "~nobody-such/portfolio"],
        ["note", "--file", "~nobody-such/x.cu"],
        ["log", "p", "--kernel", "~nobody-such/x.cu"],
    ],
)
def test_the_home_of_nobody_is_told_in_words(folder: Any, words: list[str]) -> None:
    done = folder.run(*words)
    assert done.code in (1, 2)
    has(done.err, "~nobody-such", "no such home folder", "without ~")


# ---- log, note, export ---------------------------------------------------------------------------------


def test_the_log_keeps_problems(folder: Any) -> None:
    path = folder.file("first/double")
    done = folder.run(
        "log", "wrong [sums]", "--solution", "guard", "--learnt", "tails", "--kernel", str(path)
    )
    assert done.code == 0
    entry = folder.run("log", "--list", "--json").json[0]
    assert (entry["problem"], entry["solution"], entry["learnt"]) == ("wrong [sums]", "guard", "tails")
    assert entry["kernel"] == path.relative_to(folder.root).as_posix()
    has(folder.run("log", "--list").out, "wrong [sums]", "solution: guard", "learnt: tails")
    has(folder.run("log", "--list", "--lang", "zh").out, "解决: guard")
    has(folder.run("log", "p", "--kernel", "no.cu").err, "There is no file no.cu")
    has(folder.run("log", " ").err, "empty")
    has(folder.run("log").err, "nobody to ask")


def test_notes_come_from_their_templates_and_are_never_overwritten(folder: Any) -> None:
    made = {
        "day": folder.run("note", "--json").json,
        "week": folder.run("note", "--week", "1", "--json").json,
        "file": folder.run("note", "--file", "csrc/softmax.h", "--json", "--lang", "zh").json,
        "paper": folder.run("note", "--name", "flash-attention-2-paper", "--json", "--lang", "zh").json,
        "other": folder.run("note", "--name", "my-idea", "--json").json,
    }
    texts = {name: Path(each["path"]).read_text(encoding="utf-8") for name, each in made.items()}
    assert all(each["new"] for each in made.values())
    has(texts["day"], time.strftime("# %Y-%m-%d"), "Week 1 · Day 1 · Monday", "## Open questions")
    has(texts["week"], "# Week 1: The first week", "- begin", "- a kernel")
    has(texts["file"], "# softmax.h", "`csrc/softmax.h`", "关键数据结构", "CUDA 技术", "疑问")
    has(texts["paper"], "# FlashAttention-2 论文", "## 线程块内的分工")
    has(texts["other"], "# My idea", "## Details")
    path = Path(made["day"]["path"])
    path.write_text("mine")
    assert folder.run("note", "--json").json == {**made["day"], "new": False}
    assert path.read_text() == "mine"
    has(folder.run("note", "--list").out, "☐", path.name)
    has(folder.run("note", "--week", "7").err, "has no week '7'")
    has(folder.run("note", "--week", "1", "--file", "x").err, "One note at a time")


def test_the_environment_note_is_filled_by_doctor(folder: Any) -> None:
    path = Path(folder.run("note", "--environment", "--json").json["path"])
    text = path.read_text(encoding="utf-8")
    has(text, "`flashpath doctor`", "| Python | ok |", "## What I installed and changed")
    assert "{" not in text.split("## What I installed")[0].replace("${", "")


def test_export_makes_a_portfolio(folder: Any) -> None:
    folder.write("first/double", "right ``` fence\n")
    folder.run("grade", "first/double")
    folder.run("log", "a race", "--solution", "a barrier")
    folder.run("progress", "--tick", "explain-it")
    note = Path(folder.run("note", "--json").json["path"])
    note.write_text(note.read_text(encoding="utf-8") + "I learnt a great deal about warps today.\n")
    folder.write("first/double", "something newer that fails")
    files = set(folder.run("export", "--json").json["files"])
    assert {
        "README.md",
        "progress.md",
        "log.md",
        "kernels/first/double.py",
        "kernels/first/double.md",
        "figures/first.md",
        "figures/first/twice.en.svg",
    } <= files
    portfolio = folder.root / "portfolio"
    assert (portfolio / "kernels/first/double.py").read_text() == "right ``` fence\n"
    has((portfolio / "kernels/first/double.md").read_text(), "all is well", "````python")
    has((portfolio / "README.md").read_text(), "1 of 5 exercises", "kernels/first/double.md", "log.md")
    has((portfolio / "progress.md").read_text(), "- [x] Can you explain it?")
    has((portfolio / "figures/first.md").read_text(), "![Two of them.](first/twice.en.svg)")
    assert (portfolio / "figures/first/twice.en.svg").read_text() == "<svg>Two of them.</svg>"
    has((portfolio / "log.md").read_text(), "a race", "a barrier")
    assert any(each.startswith("notes/") for each in files)
    assert folder.run("export", "--lang", "zh").code == 0  # an export is made anew
    has((portfolio / "README.md").read_text(encoding="utf-8"), "小路线", "练习 1/5", "figures/first.md")
    assert (portfolio / "figures/first/twice.zh.svg").exists()
    (folder.root / "mine").mkdir()
    (folder.root / "mine" / "file").touch()
    has(folder.run("export", "mine").err, "is there already, and no export made it")
    assert (folder.root / "mine" / "file").exists()


def test_a_portfolio_tells_kernels_answers_and_notes_apart(folder: Any) -> None:
    for name in ("first/double", "first/quiz", "second/essay"):
        folder.write(name, "right\n")
        assert folder.run("grade", name).code == 0
    files = folder.run("export", "--json").json["files"]
    assert {"kernels/first/double.md", "answers/first/quiz.md", "notes/second/essay.md"} <= set(files)
    page = (folder.root / "portfolio" / "README.md").read_text()
    kernels, _, rest = page.partition("## Answers")
    answers, _, notes = rest.partition("## Notes")
    for part, wanted in (
        (kernels, "(kernels/first/double.md)"),
        (answers, "(answers/first/quiz.md)"),
        (notes, "(notes/second/essay.md)"),
    ):
        assert wanted in part
    assert page.count("quiz.md") == page.count("essay.md") == 1


def test_a_bundle_for_review_is_no_part_of_the_repository(folder: Any) -> None:
    folder.write("first/double", "right\n")
    folder.run("export", "--review", "first/double")
    assert (folder.root / "review-first-double").is_dir()
    status = subprocess.run(
        ["git", "status", "--porcelain"], cwd=folder.root, capture_output=True, text=True, check=True
    )
    assert "review-first-double" not in status.stdout


def test_export_bundles_a_kernel_for_review(folder: Any) -> None:
    folder.write("first/double", "right\n")
    made = folder.run("export", "--review", "first/double", "--json").json
    page = (Path(made["folder"]) / "README.md").read_text(encoding="utf-8")
    has(page, "it passes", "all is well", "- [ ] Is every access guarded", "### Do it")
    assert (Path(made["folder"]) / folder.file("first/double").name).read_text() == "right\n"


# ---- When progress cannot be kept ----------------------------------------------------------------------


def test_a_home_that_cannot_be_written_is_told(folder: Any, tmp_path: Path) -> None:
    taken = tmp_path / "taken"
    taken.touch()
    for command in ("next", "progress", "review"):
        done = folder.run(command, FLASHPATH_HOME=str(taken / "home"))
        assert done.code == 1
        has(done.err, "error: Progress cannot be kept", "FLASHPATH_HOME")
        assert "Traceback" not in done.err
    # The verdict and the lesson are of use all the same.
    folder.write("first/double", "right")
    for words, wanted in ((["grade"], "✓ first/double"), (["read", "first"], "# First")):
        done = folder.run(*words, FLASHPATH_HOME=str(taken / "home"))
        assert done.code == 0
        has(done.err, "warning: Progress cannot be kept", "FLASHPATH_HOME")
        has(done.out, wanted)


def test_on_a_full_disk_the_verdict_comes_all_the_same(folder: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    folder.write("first/double", "right")

    def full(*_: object) -> int:
        raise StoreError("course.state.full", file="f", what="full", folder="/x", variable="V")

    monkeypatch.setattr(Store, "begin_attempt", full)
    done = folder.run("grade", "first/double")
    assert done.code == 0
    has(done.out, "✓ first/double")
    has(done.err, "warning: Progress could not be kept", "Free some space", "was not recorded")


def test_what_another_process_kept_from_being_recorded_is_recorded_with_the_verdict(
    folder: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder.write("first/double", "right")
    begin = Store.begin_attempt
    tried: list[str] = []

    def busy_at_first(store: Store, exercise: str, text: str) -> int:
        tried.append(exercise)
        if len(tried) == 1:
            raise StoreError("course.state.busy", file="f", seconds=5.0)
        return begin(store, exercise, text)

    monkeypatch.setattr(Store, "begin_attempt", busy_at_first)
    done = folder.run("grade", "first/double")
    has(done.out, "✓ first/double")
    assert "warning" not in done.err
    with Store(folder.home / "progress.sqlite3") as store:
        assert [each.passed for each in store.attempts("first/double")] == [True]


@pytest.mark.parametrize("name", ["./deleted/file.cu", "file.cu", "/nowhere/file", "a/b/c"])
def test_a_path_of_no_file_is_told_as_one(folder: Any, name: str) -> None:
    for command in ("grade", "hint"):
        done = folder.run(command, name)
        assert done.code == 1
        has(done.err, f"There is no file {name}")
        assert "unit" not in done.err


def test_a_deleted_file_of_an_exercise_can_be_begun_again(folder: Any) -> None:
    path = folder.file("first/double")
    path.unlink()
    done = folder.run("grade", str(path))
    assert done.code == 1
    has(done.err, "There is no file", "flashpath reset first/double")


def test_a_damaged_file_is_told_and_the_command_goes_on(folder: Any) -> None:
    folder.home.mkdir(exist_ok=True)
    for each in folder.home.glob("progress.sqlite3*"):
        each.unlink()
    (folder.home / "progress.sqlite3").write_bytes(b"rubbish" * 1000)
    done = folder.run("next")
    assert done.code == 0
    has(done.err, "warning: The progress file was damaged", "was moved to")
    has(done.out, "first/double")


# ---- Where a new learner stumbled ------------------------------------------------------------------------


def test_a_quiz_that_was_passed_in_review_is_passed_for_grade(folder: Any) -> None:
    with folder.store() as store:
        for name in ("who", "how-many", "steps", "word"):
            store.reviews.answer(f"first/{name}", True, "")
        store.pass_without_file("first/quiz")
    done = folder.run("grade", "first/quiz")
    assert done.code == 0, done
    has(done.out, "✓ first/quiz", "flashpath review")
    has(folder.run("grade", "first/quiz", "--lang", "zh").out, "各题都已")


def test_nothing_is_revealed_by_what_is_no_answer(folder: Any) -> None:
    done = folder.run("review", "first", typed="abc\nq\n")
    has(done.out, "'abc' cannot be read as an answer, and does not count", "0 of 0 right")
    assert "not right" not in done.out


def test_an_export_into_the_work_folder_is_the_same_the_second_time(folder: Any) -> None:
    path = Path(folder.run("note", "--name", "paper", "--json").json["path"])
    path.write_text(path.read_text(encoding="utf-8") + "\nThe idea is to never write the scores to memory.\n")
    folder.write("first/double", "right")
    folder.run("grade", "first/double")
    first = folder.run("export", "--json").json["files"]
    assert any(name.startswith("notes/") for name in first)
    assert folder.run("export", "--json").json["files"] == first
    assert ".part" not in (folder.root / "portfolio/README.md").read_text(encoding="utf-8")


def test_a_pass_offers_the_solution_and_the_last_one_earns_a_word(folder: Any) -> None:
    folder.write("first/double", "right")
    has(folder.run("grade", "first/double").out, "flashpath solution first/double", "Next:")
    with folder.store() as store:
        for name in ("first/quiz", "second/copy", "second/quiz", "first/double", *_every(folder)):
            store.pass_without_file(name)
    has(folder.run("grade", "first/double").out, "Every exercise of the track is passed. Well done!")
    has(folder.run("progress").out, "Well done!")
    has(folder.run("progress", "--lang", "zh").out, "祝贺你")


def _every(folder: Any) -> list[str]:
    from flashpath.course.content import load_course
    from flashpath.course.state.progress import exercises_of

    course = load_course()
    return list(exercises_of(course, course.track("small")))


def test_a_planned_unit_says_what_there_is_of_it_already(folder: Any) -> None:
    del folder
    from flashpath.course.content import Text, Texts, Unit
    from flashpath.course.learner.reading import ways

    unit = Unit(
        Path("12-matmul"), Text("a", "甲"), "planned", Texts(), rungs=("matmul/naive", "no-such/rung"),
        programs=("cuda/03_matrix_multiply.cu",), docs=("attention", "results"),
    )  # fmt: skip
    *commands, first, second = [way for way, _ in ways(unit, "zh")]
    assert commands == ["flashpath run programs/cuda/03_matrix_multiply.cu", "flashpath ladder matmul"]
    assert Path(first).name == "attention.zh.md"  # in the reader's language, where it is written in it
    assert Path(second).name == "results.md"
    assert Path(first).is_file()
    assert Path(second).is_file()
    assert ways(unit, "en")[-2][1] == "Attention, from the formula to FlashAttention 2"


def test_a_broken_table_does_not_spoil_a_verdict(folder: Any) -> None:
    folder.run("progress")
    connection = sqlite3.connect(folder.home / "progress.sqlite3")
    connection.execute("DROP TABLE passes")
    connection.commit()
    connection.close()
    folder.write("first/double", "right")
    done = folder.run("grade", "first/double")
    assert done.code == 0, done
    has(done.out, "✓ first/double")
    has(done.err, "not recorded")


def test_progress_that_cannot_be_kept_is_shown(folder: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from flashpath.course.learner import learner

    with folder.store() as store:
        store.pass_without_file("first/double")

    def unwritable(file: Path | None = None) -> Store:
        if file is None:
            raise StoreError("course.state.full", file="progress.sqlite3", what="disk", variable="X")
        return Store(file)

    monkeypatch.setattr(learner, "Store", unwritable)
    done = folder.run("progress", "--json")
    assert done.json["passed"] == ["first/double"]
    has(done.err, "there is no room")
    assert folder.run("next").code == 0
    assert folder.run("progress", "--tick", "read-paper").code == 1
