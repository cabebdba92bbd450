"""Notes: every section filled, in either language, and nothing about what is in it."""

from __future__ import annotations

from collections.abc import Callable

from flashpath.course.content import Course
from flashpath.course.grader import Grade
from flashpath.course.grader.notes import filled, sections

GradeText = Callable[..., Grade]

OWN = "Warps move together, and so do their loads."


def test_a_filled_note_is_complete(grade_text: GradeText) -> None:
    text = f"# Note\n\n## What I learnt\n\n> Three sentences.\n\n{OWN}\n\n## Questions\n\n{OWN}\n"
    result = grade_text("note", text)
    assert result.passed
    assert result.cases == 2


def test_what_is_missing_is_named(grade_text: GradeText) -> None:
    result = grade_text(
        "note", f"## What I learnt\n\n{OWN}\n\n## Questions\n\n> What is still open?\n\nNone.\n"
    )
    assert result.reason == "incomplete"
    assert result.details[1] == "· Questions: 5 of at least 20 characters"
    result = grade_text("note", f"## What I learnt\n\n{OWN}\n")
    assert result.details[1] == "· Questions: this heading is gone"


def test_a_chinese_note_is_taken_by_an_english_grader(course: Course, grade_text: GradeText) -> None:
    text = course.exercise("kinds/note").template("zh").replace("> 三句话。", f"> 三句话。\n\n{OWN}")
    result = grade_text("note", text.replace("> 还有什么没弄懂？", OWN), "en")
    assert result.passed, str(result)


def test_headings_inside_code_are_none() -> None:
    text = "## A\n\n```\n## no heading\n```\n\n## B\n"
    assert list(sections(text)) == ["A", "B"]


def test_the_template_s_own_lines_and_quotes_do_not_count() -> None:
    assert filled(["> asked", "- item", "own words"], ["> asked", "- item"]) == len("ownwords")


def test_more_headings_are_welcome(grade_text: GradeText) -> None:
    text = f"## Mine\n\n## What I learnt\n\n{OWN}\n\n### Detail\n\n## Questions\n\n{OWN}\n"
    assert grade_text("note", text).passed
