"""What is read from a course's files, and the words for each thing that can be wrong with them."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from flashpath.course.content import ContentError, Course, Drawn, Text, UnknownName, load_course
from flashpath.course.content.check import check_unit

TINY = Path(__file__).parent / "fixtures" / "tiny"
UNIT = "units/01-doubling"
TWICE = f"{UNIT}/exercises/twice"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A copy of the tiny course, to be broken."""
    shutil.copytree(TINY, tmp_path / "course")
    return tmp_path / "course"


def edit(root: Path, file: str, old: str, new: str) -> None:
    text = (root / file).read_text()
    assert old in text
    (root / file).write_text(text.replace(old, new, 1))


def read_all(root: Path) -> None:
    course = Course(root)
    for unit in course.units:
        unit.all_exercises()
    _ = course.tracks, course.resources


# ---- What is right -------------------------------------------------------------------------------------


def test_units_are_found_by_each_of_their_names() -> None:
    course = load_course(TINY)
    assert [unit.id for unit in course.units] == ["01-doubling", "02-later"]
    assert course.unit("doubling") is course.unit("01-doubling") is course.unit("01")
    unit = course.unit("doubling")
    assert (unit.name, unit.number, unit.is_ready, unit.minutes) == ("doubling", 1, True, 30)
    assert unit.title.in_("zh") == "加倍"
    assert unit.title.in_("en") == "Doubling"
    assert unit.exercise_ids[0] == "doubling/twice"
    assert unit.exercise_ids[-1] == "doubling/quiz"
    assert not course.unit("later").is_ready
    assert load_course(TINY) is course


def test_a_kernel_exercise_has_the_fields_of_its_file() -> None:
    exercise = load_course(TINY).exercise("doubling/twice")
    assert (exercise.id, exercise.kind, exercise.language) == ("doubling/twice", "kernel", "cuda")
    assert exercise.launch is not None
    assert exercise.launch.grid == ("ceil_div(n, 256)",)
    assert exercise.launch.gpu == "A100"
    assert exercise.arrays["y"].is_written
    assert not exercise.arrays["y"].is_input
    assert exercise.reference == {"y": "2 * x"}
    assert exercise.tolerance.depth == "1"
    assert [each.rejected_for for each in exercise.mutants] == [
        "goal", "out-of-bounds", "wrong", "wrong", "unwritten"
    ]  # fmt: skip
    assert "if (i < n)" not in exercise.mutants[1].source
    assert exercise.goals[0].is_met(4.0)
    assert not exercise.goals[0].is_met(4.1)
    assert exercise.task("zh").startswith("# twice")
    assert exercise.explanation("en") == "It doubles.\n"
    assert len(exercise.hints) == 3
    assert exercise.skeleton is not None
    assert exercise.skeleton.name == "skeleton.cu"


def test_cases_are_every_combination_with_drawn_sizes() -> None:
    first, second = load_course(TINY).exercise("doubling/twice").cases
    assert [(sizes["n"], values) for sizes, values in first.expand(max)] == [
        (0, "normal"), (0, "shifted"), (1, "normal"), (1, "shifted"), (33, "normal"), (33, "shifted"),
    ]  # fmt: skip
    assert second.sizes["n"] == (Drawn(300, 900),)
    assert list(second.expand(max)) == [({"n": 900}, "normal")]
    assert second.is_drawn
    assert not first.is_drawn


def test_the_other_kinds() -> None:
    course = load_course(TINY)
    predict = course.exercise("doubling/sectors")
    assert predict.questions[1].launch.block == ("32",)
    assert predict.questions[1].launch.kernel == "twice"
    assert predict.questions[0].common[0].answer == 1024
    assert predict.questions[0].common[0].hint == Text("A sector holds 8 floats.", "一个扇区有 8 个 float。")
    derive = course.exercise("doubling/rule")
    assert (derive.language, derive.function, derive.returns) == ("python", "twice", ("y",))
    note = course.exercise("doubling/notes")
    assert note.least == 20
    assert note.template("zh").startswith("## 学到了什么")
    reading = course.exercise("doubling/source")
    assert reading.upstream is not None
    assert reading.items[0].function == "thread_reduce_"
    quiz = course.exercise("doubling/quiz")
    assert quiz.kind == "quiz"
    assert [item.answer for item in quiz.items[2:]] == [(1,), 42.0, (1, 2, 3), ("(a )?threads?", "线程")]


def test_a_track_names_units_by_their_folders() -> None:
    course = load_course(TINY)
    track = course.track("short")
    assert track.units == ("02-later", "01-doubling")  # what the week has besides follows its days
    assert [task.id for _, _, task in track.tasks()] == ["do-it", "say-it"]
    week = track.weeks[0]
    assert week.number == "1-2"
    assert week.days[0].minutes == {"theory": 30, "practice": 60}
    assert str(week.resources[0]) == "guide:1-3"
    assert course.resource("forum").title.in_("zh") == "一个论坛"
    assert course.resource("guide").title.en == course.resource("guide").title.zh


def test_an_exercise_may_go_without_its_unit_where_only_one_has_it() -> None:
    course = load_course(TINY)
    assert course.exercise("twice").id == "doubling/twice"
    assert course.exercise("01-doubling/twice").id == "doubling/twice"


# ---- What is wrong -------------------------------------------------------------------------------------

# File, text that is replaced, its replacement, and words of the error.
BROKEN = {
    "unknown key": (f"{UNIT}/unit.toml", "minutes = 30", "minuts = 30\nminutes = 30", ["minuts", "minutes?"]),
    "missing key": (f"{UNIT}/unit.toml", "minutes = 30", "", ["minutes: is missing", "Write minutes ="]),
    "missing translation": (f"{UNIT}/unit.toml", 'title.zh = "加倍"', "", ["title.zh: is missing"]),
    "one language": (f"{UNIT}/unit.toml", 'title.en = "Doubling"\ntitle.zh = "加倍"', 'title = "D"', [
        "title: is 'D'", "both languages",
    ]),
    "lists of other lengths": (f"{UNIT}/unit.toml", 'goals.zh = ["把数组加倍"]', 'goals.zh = ["一", "二"]', [
        "goals: has 1 in English and 2 in Chinese",
    ]),
    "wrong type": (f"{UNIT}/unit.toml", "minutes = 30", 'minutes = "30"', [
        "minutes: is '30'", "whole number",
    ]),
    "true is no number": (f"{UNIT}/unit.toml", "minutes = 30", "minutes = true", ["is true", "whole number"]),
    "out of range": (f"{UNIT}/unit.toml", "minutes = 30", "minutes = 0", ["is 0, and must be from 1"]),
    "no TOML": (f"{UNIT}/unit.toml", "minutes = 30", "minutes = ", ["unit.toml: this is no TOML", "line"]),
    "no such status": (f"{UNIT}/unit.toml", '"ready"', '"redy"', ["'redy' is not known", "ready, planned"]),
    "no such program": (f"{UNIT}/unit.toml", "01_hello_cuda.cu", "01_helo.cu", [
        "no program 'cuda/01_helo.cu'",
    ]),
    "no such exercise": (f"{UNIT}/unit.toml", '"guard", ', '"gard", ', ["exercises/gard/exercise.toml"]),
    "exercise not listed": (f"{UNIT}/unit.toml", '"guard", ', "", [
        "guard is in the folder and not in the list",
    ]),
    "no line of a plan": (f"{UNIT}/unit.toml", '"000-01"', '"week 1"', ["'week 1' is no line of a plan"]),
    "figure of nobody": (f"{UNIT}/unit.toml", "flashpath.course.figures.units.tiny:cells", "os:system", [
        "'os:system' names no figure",
    ]),
    "checkpoint twice": (f"{UNIT}/unit.toml", "[[checkpoints]]\n", """[[checkpoints]]
id = "why-two"
ask.en = "?"
ask.zh = "？"
[[checkpoints]]
""", ["'why-two' is there twice"]),
    "no such kind": (f"{TWICE}/exercise.toml", '"kernel"', '"kernal"', [
        "kind: 'kernal'", "debug, program, predict",
    ]),
    "unknown name in an expression": (f"{TWICE}/exercise.toml", '"2 * x"', '"2 * z"', [
        "reference.y", "`2 * z`", "there is no z here",
    ]),
    "reference reads the output": (f"{TWICE}/exercise.toml", '"2 * x"', '"2 * y"', ["there is no y here"]),
    "reference of another": (f"{TWICE}/exercise.toml", 'y = "2 * x"', 'z = "2 * x"', [
        "is of z, and the outputs are y",
    ]),
    "grid of arrays": (f"{TWICE}/exercise.toml", '"ceil_div(n, 256)"', '"ceil_div(x, 256)"', [
        "launch.grid", "there is no x here",
    ]),
    "argument of nobody": (f"{TWICE}/exercise.toml", '["n", "x", "y"]', '["m", "x", "y"]', [
        "launch.arguments: 'm' is not known", "n, x, y",
    ]),
    "sizes of cases differ": (f"{TWICE}/exercise.toml", 'n = "between(300, 900)"', "m = 3", [
        "cases[2].sizes: has m, and the first case has n",
    ]),
    "between the wrong way": (f"{TWICE}/exercise.toml", "between(300, 900)", "between(900, 300)", [
        "the lower number comes first",
    ]),
    "no such values": (f"{TWICE}/exercise.toml", '"shifted"]', '"shfted"]', ["'shfted' is not known"]),
    "starts without an end": (f"{TWICE}/exercise.toml", 'role = "output" }', 'values = "starts" }', [
        "arrays.y.below", '"indices" or "starts"',
    ]),
    "value of an output": (f"{TWICE}/exercise.toml", 'role = "output" }', 'role = "output", value = "x" }', [
        "arrays.y.value", "is an input",
    ]),
    "edit that is not there": (f"{TWICE}/exercise.toml", 'edits = [["2 *",', 'edits = [["4 *",', [
        "mutants[3].edits[1]: '4 *' is not there in the solution",
    ]),
    "edit that is there twice": (f"{TWICE}/exercise.toml", 'edits = [["2 *",', 'edits = [["i",', [
        "times in the solution", "exactly once",
    ]),
    "reason of nobody": (f"{TWICE}/exercise.toml", '"out-of-bounds"', '"bounds"', [
        "rejected_for: 'bounds' is not known", "out-of-bounds",
    ]),
    "two hints": (f"{TWICE}/exercise.toml", '[[hints]]\nen = "Multiply."\nzh = "乘。"\n', "", [
        "hints: there are 2", "three",
    ]),
    "goal without a limit": (f"{TWICE}/exercise.toml", "at_most = 4.0\n", "", ["at_most: is missing"]),
    "size of a goal": (f"{TWICE}/exercise.toml", "sizes = { n = 4096 }", "sizes = { m = 4096 }", [
        "goals[1].sizes: has m", "n",
    ]),
    "file access in an expression": (f"{TWICE}/exercise.toml", '"2 * x"', "\"np.load('x')\"", [
        "np.load is not for expressions",
    ]),
    "block of Triton": (f"{TWICE}/exercise.toml", 'kernel = "twice"', 'kernel = "twice"\nnum_warps = 4', [
        "num_warps: is Triton's",
    ]),
    "question without a kernel": (f"{UNIT}/exercises/sectors/exercise.toml", 'source = "twice.cu"\n', "", [
        "questions[1].source", "one kernel",
    ]),
    "import of the system": (f"{UNIT}/exercises/rule/exercise.toml", '["numpy"]', '["os"]', [
        "'os' is not known",
    ]),
    "no counterpart": (f"{UNIT}/exercises/source/exercise.toml", "one_per_thread.cu", "two.cu", [
        "there is no kernels/vector_add/two.cu",
    ]),
    "answer out of range": (f"{UNIT}/quiz.toml", "answer = 1", "answer = 3", ["3 is none of the 2 options"]),
    "no regular expression": (f"{UNIT}/quiz.toml", "(a )?threads?", "(a ?threads?", [
        "no regular expression",
    ]),
    "unit of nobody in a track": ("tracks/short.toml", '["01-doubling"]', '["01-dubling"]', [
        "there is no unit '01-dubling'", "Did you mean 01-doubling",
    ]),
    "task done by nobody": ("tracks/short.toml", "doubling/twice", "doubling/thrice", [
        "done_by: 01-doubling has no exercise 'thrice'",
    ]),
    "resource of nobody": ("tracks/short.toml", "guide:1-3", "gide:1-3", [
        "resources.toml has no 'gide'", "guide?",
    ]),
    "no address": ("resources.toml", "https://docs", "docs", ["guide.url", "is no address"]),
    "no such kind of resource": ("resources.toml", '"community"', '"comunity"', ["forum.kind"]),
}  # fmt: skip


@pytest.mark.parametrize("name", BROKEN)
def test_what_is_wrong_is_said_with_file_and_key(root: Path, name: str) -> None:
    file, old, new, words = BROKEN[name]
    edit(root, file, old, new)
    with pytest.raises(ContentError) as caught:
        read_all(root)
    text = str(caught.value)
    assert file.rpartition("/")[2] in text
    for word in words:
        assert word in text


@pytest.mark.parametrize("file", ["task.zh.md", "solution.cu", "skeleton.cu", "explanation.en.md"])
def test_a_missing_file_is_named(root: Path, file: str) -> None:
    (root / TWICE / file).unlink()
    with pytest.raises(ContentError, match="there is no such file") as caught:
        read_all(root)
    assert caught.value.file.name == file


def test_a_file_that_is_no_text_is_said(root: Path) -> None:
    (root / UNIT / "unit.toml").write_bytes(b"title = '\xff'")
    with pytest.raises(ContentError, match="no UTF-8"):
        read_all(root)


def test_names_that_are_not_there_bring_those_that_are_near() -> None:
    course = load_course(TINY)
    with pytest.raises(UnknownName, match="Did you mean doubling"):
        course.unit("dubling")
    with pytest.raises(UnknownName, match="Did you mean doubling/twice"):
        course.exercise("twic")
    with pytest.raises(UnknownName, match="Did you mean twice"):
        course.exercise("doubling/twicee")
    with pytest.raises(UnknownName, match="There is: short"):
        course.track("other")
    with pytest.raises(UnknownName, match="Did you mean guide"):
        course.resource("gide")


def test_listing_units_reads_no_exercise(root: Path) -> None:
    (root / TWICE / "exercise.toml").write_text("this is no TOML")
    course = Course(root)
    assert course.unit("doubling").exercise_ids[0] == "doubling/twice"
    assert course.exercise("doubling/rule").kind == "derive"
    with pytest.raises(ContentError):
        course.exercise("doubling/twice")


# ---- What a finished unit must have --------------------------------------------------------------------

UNFINISHED = {
    "rung of nobody": (f"{UNIT}/unit.toml", "vector_add/one_per_thread", "vector_add/two", [
        "has no rung 'two'",
    ]),
    "ladder of nobody": (f"{UNIT}/unit.toml", "vector_add/one", "vector_ad/one", ["no ladder 'vector_ad'"]),
    "no unit before it": (f"{UNIT}/unit.toml", "minutes = 30", 'minutes = 30\nprerequisites = ["00-start"]', [
        "there is no unit '00-start'",
    ]),
    "before itself": (f"{UNIT}/unit.toml", "minutes = 30", 'minutes = 30\nprerequisites = ["02-later"]', [
        "comes before itself",
    ]),
}  # fmt: skip


@pytest.mark.parametrize("name", UNFINISHED)
def test_what_a_unit_names_must_be_there(root: Path, name: str) -> None:
    file, old, new, words = UNFINISHED[name]
    edit(root, file, old, new)
    course = Course(root)
    with pytest.raises(ContentError) as caught:
        check_unit(course, course.unit("doubling"))
    for word in words:
        assert word in str(caught.value)
