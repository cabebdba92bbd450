"""answers.toml: its questions as comments, what was answered, and what is right.

# Which threads share memory?
#   1. those of a grid
#   2. those of a block
# → the number of the right option
who = "?"
"""

from __future__ import annotations

import hashlib
import json
import re
import tomllib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from flashpath.course.content.exercise import Exercise
from flashpath.course.content.quiz import QuizItem
from flashpath.course.content.quiz_answers import is_right
from flashpath.course.grader.verdict import Failure, Judged
from flashpath.course.upstream import FOLDERS
from flashpath.messages import Message, told

UNANSWERED = "?"
_MOST_SHOWN = 80  # characters of an answer


@dataclass(frozen=True)
class ItemResult:
    """One answer: `right` is None where there is none yet."""

    id: str
    right: bool | None
    line: Message  # what shows it

    @property
    def said(self) -> str:
        """The line that shows it, in the language that is spoken."""
        return self.line.text()


# ---- The file ------------------------------------------------------------------------------------------


def answers_template(exercise: Exercise, lang: str) -> str:
    """The file that a learner fills in: of predict, read and quiz."""
    head = told("course.grader.answers-head").text(lang)
    lines = [f"{exercise.id}: {exercise.title.in_(lang)}", *_read_beside(exercise, lang), head]
    parts = ["".join(f"# {line}\n" for line in lines)]
    for question in exercise.questions:
        parts.append(
            _block(question.id, question.ask.in_(lang), [], told("course.grader.how-number"), None, lang)
        )
    for item in exercise.items:
        options = [f"{number}. {text}" for number, text in enumerate(shown_options(item, lang), 1)]
        parts.append(_block(item.id, item.ask.in_(lang), options, how(item), item.function, lang))
    return "\n".join(parts)


def _read_beside(exercise: Exercise, lang: str) -> list[str]:
    """Of guided reading: which file is read, how to get it, and which of ours stands beside it."""
    upstream, messages = exercise.upstream, list[Message]()
    if upstream is not None and upstream.commit is not None:
        words = {"name": upstream.name, "version": upstream.version, "repository": upstream.repository}
        messages += [told("course.grader.reading-file", path=upstream.path, **words)]
        folder = f"{FOLDERS.in_(lang)}/{upstream.name}"
        messages += [told("course.grader.reading-clone", folder=folder, **words)]
    if exercise.counterpart is not None:
        messages += [told("course.grader.reading-beside", counterpart=exercise.counterpart)]
    return [each.text(lang) for each in messages]


def _block(
    name: str, ask: str, options: Sequence[str], form: Message, function: str | None, lang: str
) -> str:
    about = [told("course.grader.about-function", function=function).text(lang)] if function else []
    lines = [*about, *ask.splitlines(), *(f"  {each}" for each in options), f"→ {form.text(lang)}"]
    key = name if re.fullmatch(r"[\w-]+", name) else json.dumps(name)  # of a problem set: "first-kernel/who"
    return "".join(f"# {line}".rstrip() + "\n" for line in lines) + f'{key} = "{UNANSWERED}"\n'


def shown_options(item: QuizItem, lang: str) -> list[str]:
    """The options as they are numbered for the learner: those of order are mixed, always in the same way."""
    options = list(item.options.in_(lang))
    return [options[place] for place in shown_order(item)]


def shown_order(item: QuizItem) -> list[int]:
    """For each number shown, from 1 on, the place of its option in the file, from 0."""
    places = list(range(len(item.options)))
    if item.kind != "order":
        return places

    def key(place: int, turn: int = 0) -> bytes:
        return hashlib.sha256(f"{item.id} {place} {turn}".encode()).digest()

    mixed = sorted(places, key=key)
    return mixed if mixed != places else [*mixed[1:], mixed[0]]  # the right order is not to be shown


def how(item: QuizItem) -> Message:
    """What kind of answer a question wants."""
    if item.kind == "choice":
        return told("course.grader.how-choice" if len(item.choices) == 1 else "course.grader.how-choices")
    return told(_FORMS[item.kind])


_FORMS = {
    "number": "course.grader.how-number",
    "order": "course.grader.how-order",
    "text": "course.grader.how-text",
}


def read_answers(text: str, known: Sequence[str], file: Path) -> tuple[dict[str, Any], Failure | None]:
    """What the file says for each question; a failure where it cannot be read."""
    try:
        given = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        problem = told("course.grader.answers-toml", file=file.name, problem=str(error))
        return {}, Failure("compile", problem, _line_of(text, str(error)))
    except (ValueError, RecursionError):  # a number of thousands of digits, brackets without end
        problem = told("course.grader.answers-too-much")
        return {}, Failure("compile", told("course.grader.answers-toml", file=file.name, problem=problem))
    unknown = [name for name in given if name not in known]
    if unknown:
        unknown_answer = told("course.grader.unknown-answer", id=unknown[0], known=list(known))
        return {}, Failure("compile", unknown_answer)
    return given, None


def _line_of(text: str, problem: str) -> tuple[str, ...]:
    """The line that TOML stumbles over, with a caret."""
    place = re.search(r"at line (\d+), column (\d+)", problem)
    if place is None:
        return ()
    line, column = int(place[1]), int(place[2])
    lines = text.splitlines()
    if not 1 <= line <= len(lines):
        return ()
    return f"  {line} | {lines[line - 1]}", f"  {' ' * len(str(line))} | {' ' * (column - 1)}^"


def is_unanswered(answer: Any) -> bool:
    return answer is None or answer == UNANSWERED or answer == "" or answer == []


# ---- Judging -------------------------------------------------------------------------------------------


def judge(exercise: Exercise, text: str, file: Path) -> Judged:
    """All questions of a quiz or of guided reading."""
    return judge_all(
        [item.id for item in exercise.items],
        text,
        file,
        lambda place, answer: judge_item(exercise.items[place], answer),
    )


def judge_all(names: Sequence[str], text: str, file: Path, one: Callable[[int, Any], ItemResult]) -> Judged:
    """Every question by its own judge: first what is wrong is said, then what is not answered."""
    given, failure = read_answers(text, names, file)
    if failure is not None:
        return Judged(failure)
    results = [one(place, given.get(name)) for place, name in enumerate(names)]
    right = sum(each.right is True for each in results)
    wrong = sum(each.right is False for each in results)
    lines = tuple(result.line for result in results)
    if wrong:
        headline = told("course.grader.answers-wrong", count=wrong, n=len(names))
        return Judged(Failure("wrong", headline, lines), cases=right)
    unread = sum(each.line.code == "course.grader.item-form" for each in results)
    if unread:
        headline = told("course.grader.answers-form", count=unread, n=len(names))
        return Judged(Failure("form", headline, lines), cases=right)
    if right < len(names):
        headline = told("course.grader.unanswered", count=len(names) - right, n=len(names))
        return Judged(Failure("unanswered", headline, lines), cases=right)
    return Judged(None, cases=right, lines=lines, headline=told("course.grader.answers-right", n=len(names)))


def judge_item(item: QuizItem, answer: Any) -> ItemResult:
    """One question of a quiz; `answer` as answers.toml has it: the numbers of options as they are shown."""
    if is_unanswered(answer):
        return ItemResult(item.id, None, told("course.grader.item-unanswered", id=item.id))
    right = is_right(item, answer, [place + 1 for place in shown_order(item)])
    if right is None:
        return ItemResult(
            item.id, None, told("course.grader.item-form", id=item.id, answer=shown(answer), how=how(item))
        )
    if right:
        return ItemResult(item.id, True, told("course.grader.item-right", id=item.id, explain=item.explain))
    wrong = told("course.grader.item-explained", id=item.id, answer=shown(answer), explain=item.explain)
    return ItemResult(item.id, False, wrong)


def shown(answer: Any) -> str:
    """An answer as it is written in the file, or how it begins."""
    try:
        text = json.dumps(answer, ensure_ascii=False, default=str)
    except (ValueError, RecursionError):  # more digits than Python writes, or brackets than it follows
        return "…"
    return text if len(text) <= _MOST_SHOWN else f"{text[:_MOST_SHOWN]}…"
