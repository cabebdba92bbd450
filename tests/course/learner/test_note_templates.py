"""Templates of notes: the same in both languages, filled, and told from what a learner wrote."""

from __future__ import annotations

import re

import pytest

from flashpath import settings
from flashpath.course.learner import note_templates as notes
from flashpath.errors import FlashpathError

ALL = sorted(
    file.name.removesuffix(".en.md")
    for file in (settings.content_dir("course") / "templates").glob("*.en.md")
)


@pytest.mark.parametrize("name", ALL)
def test_both_languages_have_the_same_structure(name: str) -> None:
    shapes: list[list[str]] = []
    for lang in ("en", "zh"):
        lines = notes.template(name, lang).splitlines()
        shapes.append([re.match(r"[#>-]*", line)[0] for line in lines if line.strip()])  # type: ignore[index]
    assert shapes[0] == shapes[1]
    words = [sorted(re.findall(r"\{\w+\}", notes.template(name, lang))) for lang in ("en", "zh")]
    assert words[0] == words[1]


@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize("name", sorted(set(ALL) - set(notes.TEMPLATES)))
def test_a_note_with_questions_of_its_own_is_not_written_yet(name: str, lang: str) -> None:
    assert notes.has_template(name, lang)
    text = notes.template(name, lang)
    assert not notes.is_written(text)
    assert notes.is_written(text + "What I found in it, in my own words: more than the template has.\n")
    assert not notes.has_template("note", lang), "the common ones are filled, not taken as they are"


def test_the_note_on_a_source_file_asks_for_six_things() -> None:
    headings = re.findall(r"^## (.+)$", notes.template("source-file", "en"), re.MULTILINE)
    assert headings == [
        "Overview", "Data structures", "Functions", "CUDA techniques", "Points learnt", "Open questions",
    ]  # fmt: skip


@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize("name", notes.TEMPLATES)
def test_a_note_is_written_when_somebody_wrote_in_it(name: str, lang: str) -> None:
    facts = dict.fromkeys(("date", "place", "week"), "a fact that is long enough to count for something")
    facts |= dict.fromkeys(
        ("title", "goals", "name", "path", "version", "verdict", "checks", "task"), "x" * 40
    )
    text = notes.fill(name, lang, **facts)
    assert not re.search(r"\{\w+\}", text)
    assert not notes.is_written(text)
    assert not notes.is_written(f"{text}\n> a quote is no text of one's own, however long it is\n")
    assert not notes.is_written(f"{text}\n太短了\n")
    assert notes.is_written(
        f"{text}\n每个 warp 有 32 个线程，它们一起执行同一条指令，这一点很重要，要记住。\n"
    )


def test_braces_of_code_stay() -> None:
    text = notes.fill("source-file", "en", name="a{b}.h", path="p", version="v")
    assert "# a{b}.h" in text


def test_a_template_that_is_not_there_is_told() -> None:
    with pytest.raises(FlashpathError, match="no template 'monthly'"):
        notes.template("monthly", "en")
