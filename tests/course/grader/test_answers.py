"""answers.toml: the template, what is right, wrong, unanswered, or no answer at all."""

from __future__ import annotations

import tomllib
from collections.abc import Callable
from typing import Any

import pytest

from flashpath.course.content import Course
from flashpath.course.grader import Grade, answers_template, judge_item
from flashpath.course.grader.answers import shown_options, shown_order

GradeText = Callable[..., Grade]

RIGHT = 'who = 2\nwhich = [1, 3]\nwarp = 32\norder = {order}\nname = "__syncthreads()"\n'


def _right(course: Course) -> str:
    (item,) = [each for each in course.exercise("kinds/quiz").items if each.id == "order"]
    order = shown_order(item)
    return RIGHT.format(order=[order.index(place) + 1 for place in range(4)])


@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize("name", ["quiz", "sectors", "reading"])
def test_the_template_is_toml_with_every_question(course: Course, name: str, lang: str) -> None:
    exercise = course.exercise(f"kinds/{name}")
    text = answers_template(exercise, lang)
    asked = [*exercise.questions, *exercise.items]
    assert tomllib.loads(text) == {each.id: "?" for each in asked}
    for each in asked:
        assert each.ask.in_(lang) in text


def test_the_template_lists_options_with_numbers(course: Course) -> None:
    text = answers_template(course.exercise("kinds/quiz"), "en")
    assert "#   1. a grid\n#   2. a block\n#   3. a warp\n# → the number of the right option\nwho" in text


def test_options_of_order_are_mixed_and_stay_so(course: Course) -> None:
    (item,) = [each for each in course.exercise("kinds/quiz").items if each.id == "order"]
    assert shown_options(item, "en") == shown_options(item, "en")
    assert shown_options(item, "en") != list(item.options.en)
    assert sorted(shown_options(item, "en")) == sorted(item.options.en)
    assert shown_order(item) == shown_order(item)


def test_right_answers_are_explained(course: Course, grade_text: GradeText) -> None:
    result = grade_text("quiz", _right(course))
    assert result.passed
    assert result.cases == 5
    assert any("The threads of a block." in line for line in result.details)


@pytest.mark.parametrize(
    ("change", "reason", "words"),
    [
        ("who = 1", "wrong", "✗ who: 1 is not right."),
        ("who = [2]", None, "✓ who"),
        ('who = "2"', None, "✓ who"),
        ("who = 7", "form", "· who: 7 cannot be read as an answer. Write the number of the right option"),
        ("which = 1", "wrong", "✗ which"),
        ("which = [3, 1]", None, "✓ which"),
        ('which = "(1,3)"', None, "✓ which"),
        ('which = "1, 3"', None, "✓ which"),
        ("warp = 32.0", None, "✓ warp"),
        ('warp = "thirty-two"', "form", "Write a number"),
        ("warp = 33", "wrong", "✗ warp: 33 is not right."),
        ("order = [1, 2]", "form", "· order"),
        ('name = " __SyncThreads "', None, "✓ name"),
        ('name = "barrier"', "wrong", "✗ name"),
        ('name = "?"', "unanswered", "· name: not answered yet."),
        ("", "unanswered", "· name: not answered yet."),
        ("order = true", "form", "· order"),
        ("warp = nan", "wrong", "✗ warp"),
    ],
)
def test_one_answer_differs(
    course: Course, grade_text: GradeText, change: str, reason: str | None, words: str
) -> None:
    key = change.partition(" =")[0] or "name"
    lines = [line for line in _right(course).splitlines() if not line.startswith(f"{key} =")]
    result = grade_text("quiz", "\n".join([*lines, change]))
    assert result.reason == reason
    assert words in "\n".join(result.details)


def test_a_wrong_answer_is_explained(grade_text: GradeText) -> None:
    result = grade_text("quiz", "who = 1")
    assert "The threads of a block" in "\n".join(result.details)


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_a_file_that_is_no_toml_shows_the_line(grade_text: GradeText, lang: str) -> None:
    result = grade_text("quiz", "who = 2\nwhich = [1, 3\nwarp = 4\n", lang)
    assert result.reason == "compile"
    assert any("^" in line for line in result.details)


@pytest.mark.parametrize(
    "text",
    [
        "who = " + "9" * 5000,
        "who = " + "[" * 5000,
        "who = " + "[" * 5000 + "]" * 5000,
        "a" + ".a" * 5000 + " = 1",
    ],
    ids=["digits", "open brackets", "brackets", "dots"],
)
def test_a_file_without_bounds_is_refused_in_words(grade_text: GradeText, text: str) -> None:
    result = grade_text("quiz", text)
    assert result.reason == "compile"
    assert "answers.toml" in result.headline or "There is no question" in result.headline


@pytest.mark.parametrize(
    "answer", ["9" * 400, "-" + "9" * 400, "0x" + "f" * 5000, f'"{"9" * 5000}"', "1e999"]
)
@pytest.mark.parametrize("name", ["who", "which", "warp", "order", "name"])
def test_an_answer_without_bounds_is_wrong(grade_text: GradeText, name: str, answer: str) -> None:
    result = grade_text("quiz", f"{name} = {answer}")
    assert result.reason in ("wrong", "form")
    assert all(len(line) < 250 for line in result.details)


def test_a_prediction_without_bounds_is_wrong(grade_text: GradeText) -> None:
    result = grade_text("sectors", f"loads = {'9' * 400}\nstores = 4\n")
    assert result.reason == "wrong"


def test_a_mark_before_the_first_line_is_none_of_it(course: Course, grade_text: GradeText) -> None:
    assert grade_text("quiz", "\ufeff" + _right(course)).passed


def test_a_misspelt_question_is_said(grade_text: GradeText) -> None:
    result = grade_text("quiz", "whom = 2\n")
    assert result.reason == "compile"
    assert "'whom'" in result.headline
    assert "which" in result.headline


@pytest.mark.parametrize("answer", [None, "?", "", []])
def test_one_question_alone(course: Course, answer: Any) -> None:
    item = course.exercise("kinds/quiz").items[0]
    assert judge_item(item, answer).right is None
    assert judge_item(item, 2).right is True
    assert judge_item(item, 3).right is False


# ---- Predictions ---------------------------------------------------------------------------------------


def test_predictions_are_compared_with_counts(grade_text: GradeText) -> None:
    result = grade_text("sectors", "loads = 32\nstores = 4.2\n")  # 4.2 is within a tenth
    assert result.passed
    assert "counted 32" in result.details[0]
    result = grade_text("sectors", "loads = 4\nstores = 5\n", "zh")
    assert result.reason == "wrong"
    assert "那是相邻访问的情况。" in result.details[0]
    assert result.cases == 0


def test_a_prediction_in_words(grade_text: GradeText) -> None:
    result = grade_text("sectors", 'loads = "many"\n')
    assert result.reason == "form"
    assert "Write a number" in result.details[0]
