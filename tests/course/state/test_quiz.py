"""Questions: options are mixed, and answers are read as people type them."""

from __future__ import annotations

import random

import pytest

from flashpath.course.content import QuizItem, Text, Texts
from flashpath.course.content.text import as_markdown
from flashpath.course.grader.answers import judge_item, shown_order
from flashpath.course.state.quiz import Asked, ask

OPTIONS = Texts(("a", "b", "c", "d"), ("甲", "乙", "丙", "丁"))


def item(kind: str, **fields: object) -> QuizItem:
    options = OPTIONS if kind in ("choice", "order") else Texts()
    return QuizItem("id", kind, Text("?", "？"), Text("!", "！"), options, **fields)  # type: ignore[arg-type]


def test_options_are_mixed_and_the_right_one_is_found_wherever_it_stands() -> None:
    orders: set[tuple[int, ...]] = set()
    for seed in range(50):
        asked = ask(item("choice", choices=(2,)), random.Random(seed))
        orders.add(asked.order)
        place = asked.options("en").index("b") + 1
        assert asked.options("zh")[place - 1] == "乙"
        assert asked.check(str(place)) is True
        assert asked.check("abcd"[place - 1]) is True
        assert asked.check(str(place % 4 + 1)) is False
    assert len(orders) > 10


def test_an_order_is_never_shown_as_it_is_right() -> None:
    right = item("order", choices=(1, 2, 3, 4))
    for seed in range(200):
        asked = ask(right, random.Random(seed))
        assert asked.order != (1, 2, 3, 4)
        typed = [asked.options("en").index(each) + 1 for each in "abcd"]
        assert asked.check(" ".join(map(str, typed))) is True
        assert asked.check("，".join(map(str, typed))) is True
        assert asked.check(" ".join(map(str, reversed(typed)))) is False
    assert asked_in_order().right_answer("zh") == "甲 → 乙 → 丙 → 丁"


def asked_in_order() -> Asked:
    return Asked(item("order", choices=(1, 2, 3, 4)), (1, 2, 3, 4))


@pytest.mark.parametrize("typed", ["", " ", "x", "0", "5", "1 1", "1.5", "-1", "１２", "a5"])
def test_what_is_no_answer_is_asked_again(typed: str) -> None:
    assert Asked(item("choice", choices=(1,)), (1, 2, 3, 4)).check(typed) is None


@pytest.mark.parametrize("typed", ["1 2 3", "1 2 3 4 5", "1 1 2 3"])
def test_an_order_wants_every_option_once(typed: str) -> None:
    assert asked_in_order().check(typed) is None


def test_several_right_options_are_all_wanted() -> None:
    asked = Asked(item("choice", choices=(1, 3)), (3, 2, 1, 4))
    assert asked.takes_several()
    assert asked.check("1, 3") is True
    assert asked.check("ca") is True
    assert asked.check("1") is False
    assert asked.check("1 2 3") is False
    assert asked.right_answer("en") == "a; c"


def test_numbers_have_a_tolerance() -> None:
    exact = Asked(item("number", number=1024.0), ())
    assert exact.check("1,024") is True
    assert exact.check("1_024.0") is True
    assert exact.check("1025") is False
    assert exact.check("about 1024") is None
    near = Asked(item("number", number=0.1, tolerance=0.05), ())
    assert near.check("0.104") is True
    assert near.check("1e-1") is True
    assert near.check("0.11") is False
    assert near.check("nan") is False


def test_texts_match_whole_in_any_case() -> None:
    asked = Asked(item("text", patterns=("warps?", "线程束")), ())
    assert asked.check("Warps") is True
    assert asked.check(" 线程束 ") is True
    assert asked.check("a warp") is False


def test_what_cannot_be_an_answer_is_told_apart_from_a_wrong_one() -> None:
    one = Asked(item("choice", choices=(2,)), (1, 2, 3, 4))
    assert one.check("abc") is None
    assert one.check("1 2") is None
    several = Asked(item("choice", choices=(1, 4)), (1, 2, 3, 4))
    assert several.check("(1,4)") is True
    assert several.check("（1、4）") is True
    assert several.check("abc") is False
    assert several.check("xyz") is None


def test_names_between_underscores_are_code_in_markdown() -> None:
    assert as_markdown("a `__shared__` array, __global__ too") == "a `__shared__` array, `__global__` too"
    assert as_markdown("x__y") == "x__y"


@pytest.mark.parametrize(
    "typed",
    [
        "b",
        "2",
        " 2 ",
        "(2)",
        "1 2",
        "2, 1",
        "1 1",
        "bacd",
        "2 1 4 3",
        "1，024",
        "1,024",
        "1_024",
        "A  block",
        "a block",
        "x",
    ],
)
def test_a_quiz_and_a_review_judge_alike(typed: str) -> None:
    for question in (
        item("choice", choices=(2,)),
        item("choice", choices=(1, 2)),
        item("order", choices=(1, 2, 3, 4)),
        item("number", number=1024.0),
        item("text", patterns=("a block",)),
    ):
        order = tuple(place + 1 for place in shown_order(question))
        assert judge_item(question, typed).right == Asked(question, order).check(typed), question.kind
