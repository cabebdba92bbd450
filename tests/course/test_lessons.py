"""Lessons: one shape, the same in both languages, and what their directives become."""

from __future__ import annotations

import re
import shlex
import shutil
import sys
from pathlib import Path
from types import ModuleType

import pytest

from flashpath.course import making
from flashpath.course.content import ContentError, Course, Unit, load_course
from flashpath.course.content.check import check_unit
from flashpath.course.content.directives import excerpt, markdown, output_name, shell_lines
from flashpath.course.content.lesson import HEADINGS, check_both, load_lesson
from flashpath.course.figures.drawing import Figure, Picture
from flashpath.course.figures.svg import columns
from flashpath.errors import FlashpathError

TINY = Path(__file__).parent / "fixtures" / "tiny"
COMMAND = "flashpath explain-finding race"


def cells(lang: str) -> Figure:
    picture = Picture().grid([range(4)], [[0, 0, 1, 1]], title={"en": "before", "zh": "之前"}[lang])
    return picture.links([(i, i) for i in range(4)]).grid([[0, 2, 4, 6]], [[0, 0, 1, 1]]).both()


@pytest.fixture
def unit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Unit:
    """The unit of a copy of the tiny course, with figures and outputs that nobody had to wait for."""
    module = ModuleType("flashpath.course.figures.units.tiny")
    vars(module)["cells"] = cells
    monkeypatch.setitem(sys.modules, module.__name__, module)
    shutil.copytree(TINY, tmp_path / "course")
    found = Course(tmp_path / "course").unit("doubling")
    made = making.draw(found, found.figures[0])
    for lang, text in (("en", "# race: two threads"), ("zh", "# race：两个线程")):
        made[found.folder / "outputs" / f"{output_name(COMMAND)}.{lang}.txt"] = f"{text}\nmore\nleft out\n"
    making.store(found, made)
    return found


def course_of(unit: Unit) -> Course:
    return Course(unit.folder.parent.parent)


def edit(unit: Unit, lang: str, old: str, new: str) -> None:
    file = unit.lesson_file(lang)
    assert old in file.read_text()
    file.write_text(file.read_text().replace(old, new, 1))


# ---- Directives ----------------------------------------------------------------------------------------


def test_a_lesson_with_everything_put_in(unit: Unit) -> None:
    text = markdown(course_of(unit), load_lesson(unit, "en"))
    assert text.startswith("# Doubling\n")
    assert "```cuda\n__global__ void vector_add(" in text
    assert "vector_add one_per_thread`*" in text
    assert "*`programs/cuda/01_hello_cuda.cu`*" in text
    assert "```cuda\n__global__ void halves(" in text
    assert "*`units/01-doubling/experiments/halves.cu`*" in text
    assert f"```bash\n{COMMAND}\n```" in text
    assert "# race: two threads\nmore\n```" in text
    assert "left out" not in text
    assert "{{not a directive}}" in text  # it stands in a code block
    assert "│0 1│2 3│" in text
    assert "*Four cells, each twice as large.*" in text
    assert (
        "1. [Twice](exercises/twice/task.en.md): kernel, CUDA C++, 10 min. `flashpath grade doubling/twice`"
        in text
    )
    assert "7. [Quiz]" in text
    assert "- Why two?" in text
    assert "- [CUDA C++ Programming Guide](https://docs.nvidia.com" in text
    assert "- A forum" in text
    assert "{{rung" not in text


def test_the_other_language_has_its_own_figure_and_output(unit: Unit) -> None:
    text = markdown(course_of(unit), load_lesson(unit, "zh"))
    assert "之前" in text
    assert "两个线程" in text
    assert "：写核函数，CUDA C++，10 分钟。" in text


def test_figures_as_images_and_links_of_ones_own(unit: Unit) -> None:
    text = markdown(
        course_of(unit),
        load_lesson(unit, "en"),
        image=lambda file: f"figures/{file.name}",
        link=lambda name: f"my/{name}.cu",
    )
    assert "![Four cells, each twice as large.](figures/cells.en.svg)" in text
    assert "[Twice](my/doubling/twice.cu)" in text


def test_a_part_of_a_file() -> None:
    text = "one\ntwo {\n  three\n}\nfour\n}\n"
    assert excerpt(text, "two", "}") == "two {\n  three\n}"
    assert excerpt(text, None, "}") == "one\ntwo {\n  three\n}"
    decorated = "x = 1\n@one\n@two(3)\ndef f():\n    return x\n"
    assert excerpt(decorated, "def f", "    return") == "@one\n@two(3)\ndef f():\n    return x"
    assert excerpt(text, "four", None) == "four\n}"
    assert excerpt(text, None, None) == text.strip()
    with pytest.raises(FlashpathError, match="no line holds 'five'"):
        excerpt(text, "five", None)
    with pytest.raises(FlashpathError, match="begins with 'six'"):
        excerpt(text, "one", "six")


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("{{checkpoints}}", "{{checkpionts}}", ["there is no directive 'checkpionts'", "checkpoints?"]),
        ("{{checkpoints}}", "{{checkpoints all}}", ["cannot be read"]),
        ("{{checkpoints}}", "{{checkpoints", ["is no directive"]),
        ("{{resource guide}}", "{{resource}}", ["cannot be read", "{{resource …}}"]),
        ("{{resource guide}}", "{{resource gide}}", ["no resource 'gide'", "guide"]),
        ("{{figure cells.svg}}", "{{figure sells.svg}}", ["no figure 'sells'", "cells?"]),
        ('from="__global__"', 'form="__global__"', ["rung has no option 'form'", "from, to"]),
        ('from="__global__"', 'from="__lobal__"', ["no line holds '__lobal__'"]),
        ("{{rung vector_add/one", "{{rung vector_add/two", ["has no rung"]),
        ("{{program cuda/01", "{{program cuda/99", ["there is no program"]),
        ("{{experiment halves", "{{experiment doubles", ["there is no experiment 'doubles.cu'"]),
        ("{{experiment halves", "{{experiment ../quiz.toml/halves", ["there is no experiment"]),
        ("{{run flashpath explain-finding race", "{{run rm -rf", ["no command of flashpath's"]),
        ("explain-finding race", "explain-finding leak", ["is missing", "make figures"]),
        ("```text", "````text", ["has no end"]),
    ],
)
def test_a_directive_that_leads_nowhere(unit: Unit, old: str, new: str, words: list[str]) -> None:
    edit(unit, "en", old, new)
    with pytest.raises(ContentError) as caught:
        markdown(course_of(unit), load_lesson(unit, "en"))
    for word in ("lesson.en.md", *words):
        assert word in str(caught.value)


# ---- The shape -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_there_are_nine_sections(unit: Unit, lang: str) -> None:
    sections = [each.text for each in load_lesson(unit, lang).headings if each.level == 2]
    assert tuple(sections) == HEADINGS[lang]
    assert len(sections) == 9


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("# Doubling", "# Halving", ["line 1", "# Doubling"]),
        ("# Doubling\n", "", ["line 1", "is no heading"]),
        ("## Idea", "## Ideas", ["## Ideas stands where 'Idea' belongs"]),
        ("## Checkpoint\n", "", ["stands where 'Checkpoint' belongs"]),
        ("## Further reading\n", "", ["'Further reading' is missing"]),
        ("{{resource forum}}", "## More", ["## More is one section too many"]),
        ("### First", "#### First", ["a heading of level 4"]),
    ],
)
def test_another_shape_is_refused(unit: Unit, old: str, new: str, words: list[str]) -> None:
    edit(unit, "en", old, new)
    with pytest.raises(ContentError) as caught:
        load_lesson(unit, "en")
    for word in words:
        assert word in str(caught.value)


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        (
            "### 第一步\n",
            "",
            ["line 17: a heading of level 2 stands where", "a heading of level 3 (line 14)"],
        ),
        ("{{resource forum}}\n", "", ["{{resource forum}} is missing at the end"]),
        (
            "{{resource guide}}",
            "{{resource forum}}",
            ["{{resource forum}} stands where lesson.en.md has {{resource guide}}"],
        ),
        ("explain-finding race", "explain-finding leak", ["explain-finding leak"]),
    ],
)
def test_both_languages_have_the_same_structure(unit: Unit, old: str, new: str, words: list[str]) -> None:
    check_both(unit)
    edit(unit, "zh", old, new)
    with pytest.raises(ContentError) as caught:
        check_both(unit)
    for word in words:
        assert word in str(caught.value)


# ---- A whole unit --------------------------------------------------------------------------------------


def test_the_tiny_unit_keeps_every_rule(unit: Unit) -> None:
    check_unit(course_of(unit), unit)


@pytest.mark.parametrize(
    ("file", "old", "new", "words"),
    [
        (
            "unit.toml",
            'rungs = ["vector_add/one_per_thread"]',
            "",
            "'vector_add/one_per_thread' of lesson.en.md",
        ),
        (
            "quiz.toml",
            '[[items]]\nid = "choice-0"',
            '[[items]]\nid = "choice-1"',
            "'choice-1' is there twice",
        ),
        ("exercises/twice/exercise.toml", 'n = "between(300, 900)"', "n = 5", "no size is drawn"),
        ("exercises/twice/exercise.toml", '["normal", "shifted"]', '["normal"]', "shifted"),
        (
            "exercises/twice/exercise.toml",
            'rejected_for = "goal"',
            'rejected_for = "wrong"',
            "a goal has no mutant",
        ),
    ],
)
def test_a_unit_that_is_not_whole(unit: Unit, file: str, old: str, new: str, words: str) -> None:
    path = unit.folder / file
    assert old in path.read_text()
    path.write_text(path.read_text().replace(old, new, 1))
    course = course_of(unit)
    with pytest.raises(ContentError) as caught:
        check_unit(course, course.unit("doubling"))
    assert words in str(caught.value)


# ---- The lessons of the course -------------------------------------------------------------------------


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_listings_commands_and_outputs_fit_80_columns(lang: str) -> None:
    course = load_course()
    blocks = [
        (ready.id, block)
        for ready in course.units
        if ready.is_ready
        for block in re.findall(
            r"^```\w+\n(.*?)^```", markdown(course, load_lesson(ready, lang)), re.MULTILINE | re.DOTALL
        )
    ]
    assert len(blocks) > 50
    wide = [f"{name}: {line}" for name, block in blocks for line in block.splitlines() if columns(line) > 80]
    assert not wide, "\n".join(wide)


def test_a_long_command_is_broken_between_its_options() -> None:
    command = f"flashpath profile {'a' * 50}.cu --arg 'x=f32[n, m]' --grid 4 -- --own 1"
    shown = shell_lines(command)
    assert shown.count("\\\n") == 1
    assert shlex.split(shown.replace("\\\n", "")) == shlex.split(command)
    assert shell_lines("flashpath doctor") == "flashpath doctor"


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_a_warm_up_opens_each_unit_and_is_answered(lang: str) -> None:
    for ready in load_course().units:
        if ready.is_ready:
            text = ready.lesson_file(lang).read_text(encoding="utf-8")
            opening = text.split("\n## ")[0]
            questions = re.findall(r"^\d\. ", opening, re.MULTILINE)
            answers = re.findall(
                r"\(\d\) ", text[text.index("Warm-up: " if lang == "en" else "热身答案：") :]
            )
            assert 2 <= len(questions) == len(answers)
