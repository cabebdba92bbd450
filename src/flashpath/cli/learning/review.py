"""`flashpath review`: the questions of the units, asked once and again after growing pauses."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from flashpath.cli.learning.asking import ask_line
from flashpath.cli.options import AsJson, Lang
from flashpath.messages import say

if TYPE_CHECKING:
    from rich.console import Console

    from flashpath.course.content import Checkpoint, ProblemSet, QuizItem, Unit
    from flashpath.course.learner import Learner
    from flashpath.course.learner.review import Card
    from flashpath.course.state.quiz import Asked


def review(
    unit: Annotated[str | None, typer.Argument(help=say("cli.learning.review-unit"))] = None,
    limit: Annotated[int | None, typer.Option(help=say("cli.learning.review-limit"), min=1)] = None,
    again: Annotated[bool, typer.Option("--again", help=say("cli.learning.review-again"))] = False,
    lang: Lang = None,
    as_json: AsJson = False,
) -> None:
    """Asks questions: those of a unit when they are new, and old ones when they are due again."""
    from flashpath.cli.learning.opening import learning
    from flashpath.cli.output import console, print_json
    from flashpath.course.learner.review import as_data, cards, checkpoints, source_of

    with learning(lang) as learner:
        source = source_of(learner, unit)
        if as_json:
            print_json(as_data(learner, source))
            return
        chosen = cards(learner, source, again=again)[:limit]
        out = console()
        if chosen and not _ask_all(out, learner, chosen):
            return
        left = None if limit is None else limit - len(chosen)
        if at_end := checkpoints(learner, source, again=again)[
            :left
        ]:  # the quiz may have been the last to pass
            _ask_checkpoints(out, learner, at_end)
        elif not chosen:
            _say_nothing_is_due(out, learner, source)


def _say_nothing_is_due(out: Console, learner: Learner, source: Unit | ProblemSet | None) -> None:
    from flashpath.course.learner.review import cards, name_of

    known = learner.store.reviews.all()
    if source is not None:
        has_questions = bool(cards(learner, source, again=True))
        code = "cli.learning.review-unit-done" if has_questions else "cli.learning.review-no-quiz"
        out.print(say(code, unit=name_of(source)))
    elif known:
        out.print(say("cli.learning.review-nothing-due", day=min(item.due for item in known.values())))
    else:
        out.print(say("cli.learning.review-nothing-asked"))


def _ask_all(out: Console, learner: Learner, cards: Sequence[Card[QuizItem]]) -> bool:
    """Asks one question after the other; returns whether all were answered."""
    from rich.text import Text

    from flashpath.course.learner.review import answer, pass_quiz
    from flashpath.course.state.quiz import ask

    rng = random.Random()
    right = asked = 0
    for number, card in enumerate(cards, 1):
        question = ask(card.item, rng)
        _put(out, learner, card, f"{number}/{len(cards)}", question.options(learner.lang))
        typed = _answer(question)
        if typed is None:
            break
        is_right = bool(question.check(typed))
        kept = answer(learner, card, is_right, typed)
        asked += 1
        right += is_right
        _say_verdict(out, learner, question, is_right)
        out.print(Text("  " + say("cli.learning.review-again-on", day=kept.due) + "\n", style="dim"))
        if pass_quiz(learner, card.unit):
            out.print(
                say("cli.learning.review-quiz-passed", quiz=f"{card.unit.name}/quiz"), style="bold green"
            )
    out.print(say("cli.learning.review-score", right=right, asked=asked))
    return asked == len(cards)


def _ask_checkpoints(out: Console, learner: Learner, cards: Sequence[Card[Checkpoint]]) -> None:
    """Asks what one must be able to explain: the learner answers, sees the answer, and judges their own."""
    from rich.text import Text

    from flashpath.course.learner.review import answer_checkpoint

    out.print(say("cli.learning.review-checkpoint"))
    for number, card in enumerate(cards, 1):
        _put(out, learner, card, f"{number}/{len(cards)}")
        if _line(say("cli.learning.review-own-words")) is None:
            return
        if card.item.answer is not None:
            out.print(Text(f"  {card.item.answer.in_(learner.lang)}"))
        judged = _line(say("cli.learning.review-had-it"))
        if judged is None:
            return
        had_it = judged.lower() in ("y", "yes", "是")
        answer_checkpoint(learner, card, had_it)
        out.print(
            say("cli.learning.review-had") if had_it else say("cli.learning.review-not-had"), style="dim"
        )


def _put(
    out: Console,
    learner: Learner,
    card: Card[QuizItem] | Card[Checkpoint],
    number: str,
    options: Sequence[str] = (),
) -> None:
    from rich.text import Text

    out.print(Text(f"{number}  {card.unit.title.in_(learner.lang)}", style="dim"))
    out.print(Text(card.item.ask.in_(learner.lang), style="bold"))
    for place, option in enumerate(options, 1):
        out.print(Text(f"  {place}. {option}"))


_KINDS = {
    "choice": "cli.learning.review-choice",
    "order": "cli.learning.review-order",
    "number": "cli.learning.review-number",
    "text": "cli.learning.review-text",
}


def _kind(question: Asked) -> str:
    return say("cli.learning.review-choices") if question.takes_several() else say(_KINDS[question.item.kind])


def _answer(question: Asked) -> str | None:
    """Returns what was typed, once it can be read; None: to stop."""
    while True:
        typed = _line(say("cli.learning.review-prompt", kind=_kind(question)))
        if typed is None or typed in ("?", "？") or question.check(typed) is not None:
            return typed
        if typed:
            typer.echo(say("cli.learning.review-unreadable", typed=typed, kind=_kind(question)))


def _line(prompt: str) -> str | None:
    """Returns what was typed; None: to stop."""
    line = ask_line(prompt)
    if line is None:
        typer.echo()
    return None if line is None or line.strip() in ("q", "Q") else line.strip()


def _say_verdict(out: Console, learner: Learner, question: Asked, is_right: bool) -> None:
    from rich.text import Text

    if is_right:
        out.print(Text(say("cli.learning.review-right"), style="green"))
    else:
        answer = question.right_answer(learner.lang)
        said = (
            say("cli.learning.review-wrong-answer", answer=answer)
            if answer
            else say("cli.learning.review-wrong")
        )
        out.print(Text(said, style="red"))
    out.print(Text(f"  {question.item.explain.in_(learner.lang)}"))
