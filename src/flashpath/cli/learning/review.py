"""`flashpath review`: the questions of the units, asked once and again after growing pauses."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from flashpath.cli.learning.asking import ask_line
from flashpath.cli.options import AsJson, Lang

if TYPE_CHECKING:
    from rich.console import Console

    from flashpath.cli.learning.learner import Learner
    from flashpath.course.content import QuizItem, Unit
    from flashpath.course.state.quiz import Asked


@dataclass(frozen=True)
class Card:
    """A question of a unit."""

    unit: Unit
    item: QuizItem

    @property
    def key(self) -> str:
        return f"{self.unit.name}/{self.item.id}"


def review(
    unit: Annotated[
        str | None, typer.Argument(help="Ask this unit's questions; by default those that are due.")
    ] = None,
    limit: Annotated[int | None, typer.Option(help="At most so many questions.", min=1)] = None,
    again: Annotated[bool, typer.Option("--again", help="Of a unit: all its questions, due or not.")] = False,
    lang: Lang = None,
    as_json: AsJson = False,
) -> None:
    """Ask questions: those of a unit when they are new, and old ones when they are due again.

    A question answered right comes back after 1, 3, 7, 16 and 35 days; one answered wrong, the next day.
    Every answer is kept as soon as it is given. Type ? where you do not know, q to stop.
    With --json nothing is asked: what is due, and when the rest is, is printed.

    Examples:

        flashpath review first-kernel

        flashpath review

        flashpath review --limit 10

        flashpath review first-kernel --again
    """
    from flashpath.cli.learning.learner import learning
    from flashpath.cli.output import console, print_json

    with learning(lang) as learner:
        if as_json:
            print_json(_as_json(learner, unit))
            return
        cards = _cards(learner, unit, again)[:limit]
        out = console()
        if not cards:
            _say_nothing_is_due(out, learner, unit)
            return
        _ask_all(out, learner, cards)


def _cards(learner: Learner, unit: str | None, again: bool) -> list[Card]:
    known = learner.store.reviews.all()
    due = {each.item for each in learner.store.reviews.due()}
    if unit is not None:
        chosen = learner.course.unit(unit)
        cards = [Card(chosen, item) for item in chosen.quiz]
        # New ones, and those never answered right: the quiz is passed when there are none of either.
        return [
            each
            for each in cards
            if again or each.key in due or each.key not in known or not known[each.key].ever_right
        ]
    by_key = {
        card.key: card
        for each in learner.course.units
        if each.is_ready and any(name.startswith(f"{each.name}/") for name in due)
        for card in (Card(each, item) for item in each.quiz)
    }
    return [by_key[name] for name in known if name in due and name in by_key]


def _as_json(learner: Learner, unit: str | None) -> dict[str, object]:
    known = learner.store.reviews.all()
    due = [each.item for each in learner.store.reviews.due()]
    found: dict[str, object] = {
        "due": due,
        "known": [{"item": each.item, "box": each.box, "due": each.due} for each in known.values()],
    }
    if unit is not None:
        found["unit"] = learner.course.unit(unit).name
        found["to_ask"] = [card.key for card in _cards(learner, unit, again=False)]
    return found


def _say_nothing_is_due(out: Console, learner: Learner, unit: str | None) -> None:
    known = learner.store.reviews.all()
    if unit is not None:
        name = learner.course.unit(unit).name
        out.print(
            learner.say(
                f"Nothing of {name} is due. All its questions again: flashpath review {name} --again",
                f"{name} 没有到期的题目。全部再问一遍：flashpath review {name} --again",
            )
        )
    elif known:
        day = min(each.due for each in known.values())
        out.print(learner.say(f"Nothing is due before {day}.", f"{day} 之前没有要复习的题目。"))
    else:
        out.print(
            learner.say(
                "No question was asked yet. Begin with a unit: flashpath review first-kernel",
                "还没有做过题。先从一个单元开始：flashpath review first-kernel",
            )
        )


def _ask_all(out: Console, learner: Learner, cards: Sequence[Card]) -> None:
    from rich.text import Text

    from flashpath.course.state.quiz import ask

    rng = random.Random()
    right = asked = 0
    for number, card in enumerate(cards, 1):
        question = ask(card.item, rng)
        _put(out, learner, card, question, f"{number}/{len(cards)}")
        typed = _answer(learner, question)
        if typed is None:
            break
        is_right = bool(question.check(typed))
        kept = learner.store.reviews.answer(card.key, is_right, typed)
        asked += 1
        right += is_right
        _say_verdict(out, learner, question, is_right)
        when = learner.say(f"again on {kept.due}", f"{kept.due} 再问")
        out.print(Text(f"  {when}\n", style="dim"))
        _pass_quiz(out, learner, card.unit)
    out.print(
        learner.say(
            f"{right} of {asked} right; every answer is kept.", f"答对 {right}/{asked}；所有回答都已保存。"
        )
    )


def _put(out: Console, learner: Learner, card: Card, question: Asked, number: str) -> None:
    from rich.text import Text

    out.print(Text(f"{number}  {card.unit.title.in_(learner.lang)}", style="dim"))
    out.print(Text(card.item.ask.in_(learner.lang), style="bold"))
    for place, option in enumerate(question.options(learner.lang), 1):
        out.print(Text(f"  {place}. {option}"))


def _prompt(learner: Learner, question: Asked) -> str:
    kinds = {
        "choice": ("the number", "选项编号"),
        "order": ("the numbers in the right order, such as 2 1 3", "按正确顺序写编号，例如 2 1 3"),
        "number": ("a number", "一个数"),
        "text": ("a few words", "几个字"),
    }
    kind = (
        ("the numbers of all right ones", "所有正确选项的编号")
        if question.takes_several()
        else kinds[question.item.kind]
    )
    return learner.say(f"  {kind[0]} (? I do not know, q stop): ", f"  {kind[1]}（? 不知道，q 停止）：")


def _answer(learner: Learner, question: Asked) -> str | None:
    """What was typed, once it can be read; None: to stop."""
    while True:
        line = ask_line(_prompt(learner, question))
        if line is None:
            typer.echo()
            return None
        typed = line.strip()
        if typed in ("q", "Q"):
            return None
        if typed in ("?", "？") or question.check(typed) is not None:
            return typed
        if typed:
            typer.echo(
                learner.say(f"  {typed!r} is no answer to this.", f"  {typed!r} 不是这道题的答案格式。")
            )


def _say_verdict(out: Console, learner: Learner, question: Asked, is_right: bool) -> None:
    from rich.text import Text

    if is_right:
        out.print(Text(learner.say("  ✓ right", "  ✓ 正确"), style="green"))
    else:
        answer = question.right_answer(learner.lang)
        shown = learner.say(f": {answer}", f"：{answer}") if answer else ""
        out.print(Text(learner.say("  ✗ not right", "  ✗ 不对") + shown, style="red"))
    out.print(Text(f"  {question.item.explain.in_(learner.lang)}"))


def _pass_quiz(out: Console, learner: Learner, unit: Unit) -> None:
    """Each of the unit's questions was answered right once: the quiz is passed."""
    quiz = f"{unit.name}/quiz"
    known = learner.store.reviews.all()
    names = [f"{unit.name}/{item.id}" for item in unit.quiz]
    if quiz in learner.store.passes() or not all(name in known and known[name].ever_right for name in names):
        return
    learner.store.pass_without_file(quiz)
    out.print(learner.say(f"✓ {quiz} is passed.", f"✓ {quiz} 已通过。"), style="bold green")
