"""`flashpath watch`: grades an exercise again whenever its file is saved."""

from __future__ import annotations

import contextlib
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from flashpath.cli.options import AsJson, Lang
from flashpath.course.state import StoreError
from flashpath.errors import FlashpathError
from flashpath.messages import say

if TYPE_CHECKING:
    from rich.console import Console

    from flashpath.cli.learning.keys import Keys
    from flashpath.course.content import Exercise
    from flashpath.course.grader import Grade
    from flashpath.course.learner import Learner

_POLL_SECONDS = 0.2
# An editor may write in several steps, or put a new file in place of the old one: not looked at in between.
_SETTLE_SECONDS = 0.08
_LISTED = 15
_KEYS = "nhlcrsq\n\r"

Stamp = tuple[int, int, int] | None


def watch(
    exercise: Annotated[str | None, typer.Argument(help=say("cli.learning.watch-exercise"))] = None,
    lang: Lang = None,
    as_json: AsJson = False,
) -> None:
    """Grades again on every save, with single keys: next, hint, list, check all, reset, solution, quit."""
    from flashpath.cli.learning.keys import Keys
    from flashpath.cli.learning.opening import learning

    with learning(lang) as learner:
        chosen = _first(learner, exercise)
        with Keys(wanted=not as_json) as keys:
            Watch(learner, chosen, keys, as_json).run()


def _first(learner: Learner, what: str | None) -> Exercise:
    if what is None:
        progress, files = learner.progress(), learner.files()
        name = next((each for each in files if each not in progress.passed | progress.given_up), None)
        if name is not None:
            return learner.course.exercise(name)
    return learner.find(what)[0]


class Watch:
    """The loop: a file that changed is graded, a key does what it says."""

    def __init__(self, learner: Learner, exercise: Exercise, keys: Keys, as_json: bool) -> None:
        from flashpath.cli.learning.markdown import screen
        from flashpath.cli.output import console

        self.learner = learner
        self.keys = keys
        self.as_json = as_json
        self.out: Console = screen() if keys.is_terminal else console()
        self.files = learner.files()
        self.exercise = exercise
        self.verdict: Grade | None = None
        self.below: list[Any] = []
        """What a key asked for, shown under the verdict until the next."""
        self._stamps = {name: _stamp(path) for name, path in self.files.items()}
        self._is_over = False
        self._list_from: int | None = None
        """The first exercise that the list shows; None where it is not shown."""

    @property
    def path(self) -> Path:
        return self.learner.file_of(self.exercise)

    def run(self) -> None:
        self.check()
        while not self._is_over:
            key = self.keys.wait(_POLL_SECONDS)
            if key is not None:
                self._count()
                self.press(key)
            elif self.keys.was_stopped:
                self.keys.was_stopped = False
                self.draw()
            changed = self._changed()
            if changed is not None:
                self.turn_to(changed)
                self._count()
                self.check()

    def _count(self) -> None:
        """A key or a save is study; where that cannot be kept, grading says so."""
        with contextlib.suppress(StoreError):
            self.learner.store.study.touch(self.learner.track.name)

    # ---- Files -----------------------------------------------------------------------------------------

    def _changed(self) -> str | None:
        """The exercise whose file was saved since it was last looked at, once the file is at rest."""
        for name, path in self.files.items():
            now = _stamp(path)
            if now == self._stamps[name] or now is None:  # gone: an editor puts a new one in its place
                continue
            before = None
            while before != now:
                time.sleep(_SETTLE_SECONDS)
                before, now = now, _stamp(path)
            if now is not None:
                self._stamps[name] = now
                return name
        return None

    def turn_to(self, name: str) -> None:
        self.exercise = self.learner.course.exercise(name)
        self.verdict = None
        self.below = []

    def check(self) -> None:
        """Grade the exercise, and show the verdict."""
        if self.keys.is_terminal:
            self.below = [say("cli.learning.watch-checking")]
            self.draw()
        graded = self._grade(self.exercise, self.path)
        self.verdict = None if isinstance(graded, str) else graded
        self.below = [graded] if isinstance(graded, str) else []
        if graded is None:
            self.below = [say("cli.learning.watch-stopped")]
        self.draw()

    def _grade(self, exercise: Exercise, path: Path) -> Grade | str | None:
        """The verdict; words where there is none; None where a key stopped it."""
        from flashpath.course.learner.grading import grade_and_keep

        def graded() -> Grade | str:
            try:
                return grade_and_keep(self.learner, exercise, path)
            except FlashpathError as error:  # a file that was removed, or is no text: said, and watched on
                return str(error)

        return self.keys.unless_pressed(_KEYS, graded)

    # ---- Keys ------------------------------------------------------------------------------------------

    def press(self, key: str) -> None:
        if key.lower() != "l":
            self._list_from = None
        actions = {
            "n": self.go_on,
            "h": self.hint,
            "l": self.show_list,
            "c": self.check_all,
            "r": self.reset,
            "s": self.solution,
            "q": self.quit,
            "\n": self.check,
            "\r": self.check,
        }
        action = actions.get(key.lower())
        if action is not None:
            action()

    def go_on(self) -> None:
        """Turns to the next one that is not passed."""
        name = self._coming()
        if name is None:
            self.below = [say("cli.learning.watch-no-other")]
            self.draw()
            return
        self.turn_to(name)
        self.check()

    def _coming(self) -> str | None:
        """Returns the next exercise that is not passed; the quiz of a unit is asked elsewhere."""
        progress = self.learner.progress()
        order = [name for name in progress.exercises() if name in self.files]
        place = order.index(self.exercise.id) + 1 if self.exercise.id in order else 0
        turned = [*order[place:], *order[:place]]
        return next((name for name in turned if name not in progress.passed | {self.exercise.id}), None)

    def solution(self) -> None:
        """Shows the solution and its explanation once the exercise is passed."""
        from flashpath.course.learner import answers

        try:
            text, explanation = answers.solution(self.learner, self.exercise, give_up=False)
        except FlashpathError as error:
            self.below = [str(error)]
        else:
            self.below = [text, explanation]
        self.draw()

    def hint(self) -> None:
        from flashpath.course.learner.answers import next_hint

        try:
            number, text = next_hint(self.learner, self.exercise)
        except FlashpathError as error:
            self.below = [str(error)]
        else:
            title = say("cli.learning.watch-hint", number=number, count=len(self.exercise.hints))
            self.below = [title + text]
        self.draw()

    def show_list(self) -> None:
        """Shows the exercises around this one; asked for again, the next page of them."""
        from rich.text import Text

        progress = self.learner.progress()
        order = list(progress.exercises())
        here = order.index(self.exercise.id) if self.exercise.id in order else 0
        last = max(0, len(order) - _LISTED)
        if self._list_from is None:
            first = max(0, min(here - _LISTED // 2, last))
        else:
            first = 0 if self._list_from >= last else min(self._list_from + _LISTED, last)
        self._list_from = first
        self.below = []
        for name in order[first : first + _LISTED]:
            mark = Text("✓ ", style="green") if name in progress.passed else Text("· ")
            pointer = Text("> " if name == self.exercise.id else "  ", style="bold")
            quiz = f"   flashpath review {name.partition('/')[0]}" if name.endswith("/quiz") else ""
            self.below.append(Text() + pointer + mark + Text(name) + Text(quiz, style="dim"))
        if last:
            shown = say("cli.learning.watch-listed", first=first + 1, last=first + _LISTED, count=len(order))
            self.below.append(Text(shown, style="dim"))
        self.draw()

    def check_all(self) -> None:
        """Those that were begun, one after the other; a key ends it, with what is known by then."""
        from rich.text import Text

        lines: list[Any] = []
        for exercise, path in self.learner.begun():
            name = exercise.id
            self.below = [*lines, say("cli.learning.watch-checking-one", name=name)]
            self.draw()
            graded = self._grade(exercise, path)
            if graded is None:
                lines.append(say("cli.learning.watch-stopped-at", name=name))
                break
            passed = not isinstance(graded, str) and graded.passed
            mark = Text("✓ ", style="green") if passed else Text("✗ ", style="red")
            said = graded if isinstance(graded, str) else graded.headline
            lines.append(Text() + mark + Text(f"{name}: {said}"))
        self.below = lines or [say("cli.learning.watch-nothing-begun")]
        self.draw()

    def reset(self) -> None:
        from flashpath.course.learner.answers import put_back

        question = say("cli.learning.watch-reset-ask")
        self.below = [question]
        self.draw()
        answer = None
        while answer is None:
            answer = self.keys.wait(_POLL_SECONDS)
        self.below = []
        if answer.lower() != "y":
            self.draw()
            return
        put_back(self.learner, self.exercise, self.path)
        self._stamps[self.exercise.id] = _stamp(self.path)
        self.check()

    def quit(self) -> None:
        self._is_over = True

    # ---- The screen ------------------------------------------------------------------------------------

    def draw(self) -> None:
        if self.as_json:
            self._print_json()
            return
        from rich.text import Text

        from flashpath.cli.learning.verdict_view import show_grade

        if self.keys.is_terminal:
            self.out.clear()
            self._draw_head()
        if self.verdict is not None:
            show_grade(self.out, self.learner, self.verdict, self.path)
        for line in self.below:
            self.out.print(line if isinstance(line, Text) else Text(str(line)))
        if self.keys.is_terminal:
            self._draw_foot()
        sys.stdout.flush()

    def _draw_head(self) -> None:
        """Prints the title, what is asked, and where the lesson is."""
        from rich.text import Text

        from flashpath.cli.learning.verdict_view import linked

        exercise, lang = self.exercise, self.learner.lang
        self.out.print(Text(f"{exercise.id}  {exercise.title.in_(lang)}", style="bold"))
        if self.verdict is None:
            self.out.print(Text("  ") + linked(self.learner, self.path))
        if self.verdict is None or not self.verdict.passed:
            self.out.print(Text(_first_paragraph(exercise.task(lang)), style="italic"))
        self.out.print(Text(say("cli.learning.watch-lesson", unit=exercise.unit), style="dim"))

    def _draw_foot(self) -> None:
        from rich.text import Text

        from flashpath.cli.learning.progress_view import bar
        from flashpath.course.learner.review import finished_checkpoints
        from flashpath.course.state.progress import Count

        progress = self.learner.progress()
        order = progress.exercises()
        count = Count(exercises=len(order), exercises_done=sum(each in progress.passed for each in order))
        self.out.print()
        self.out.print(bar(count, 30) + Text(f" {count.done}/{count.total}"))
        if self.verdict is not None and self.verdict.passed:
            coming = self._coming()
            said = (
                say("cli.learning.watch-passed", exercise=coming)
                if coming
                else say("cli.learning.watch-all-passed")
            )
            self.out.print(Text(said, style="bold green"))
            if finished_checkpoints(self.learner, [self.learner.course.unit(self.exercise.unit)]):
                self.out.print(say("cli.learning.grade-checkpoint", unit=self.exercise.unit))
        keys = say("cli.learning.watch-keys")
        self.out.print(Text(keys, style="dim"))

    def _print_json(self) -> None:
        import json

        if self.verdict is not None:
            typer.echo(
                json.dumps({"event": "graded", "path": str(self.path), **self.verdict.to_json()}, default=str)
            )
        elif self.below:
            event = {
                "event": "said",
                "exercise": self.exercise.id,
                "text": [str(each) for each in self.below],
            }
            typer.echo(json.dumps(event))
        sys.stdout.flush()


def _first_paragraph(task: str) -> str:
    """Returns what a task asks for first, without its heading and its line ends."""
    from flashpath.cli.learning.markdown import joined

    paragraphs = [each for each in task.strip().split("\n\n") if each and not each.startswith("#")]
    return joined(paragraphs[0]).strip() if paragraphs else ""


def _stamp(path: Path) -> Stamp:
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size, status.st_ino
