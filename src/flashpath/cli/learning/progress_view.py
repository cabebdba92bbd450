"""Progress for people: a bar for each week, tasks and exercises of the weeks that are opened, checkpoints."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING

from rich.text import Text

from flashpath.cli.output import console
from flashpath.course.content.proof import SEEN, SET
from flashpath.course.learner.overview import command_of_task
from flashpath.course.state.study import spent
from flashpath.course.workspace.sets import set_name
from flashpath.course.workspace.titles import day_name, week_name
from flashpath.messages import say

if TYPE_CHECKING:
    from flashpath.course.content import Checkpoint, Day, Part, Task, Unit, Week
    from flashpath.course.learner import Learner
    from flashpath.course.state.progress import Count, Progress

_BAR = 20


def bar(count: Count, width: int = _BAR) -> Text:
    """`━━━━━━────`: what is done, and what is not."""
    filled = int(count.share * width)
    if count.done and not filled:
        filled = 1
    return Text() + Text("━" * filled, style="green") + Text("─" * (width - filled), style="dim")


class View:
    """The track, its weeks, and the days of the weeks that are opened; `detailed`: units' checkpoints too."""

    def __init__(self, learner: Learner, state: Progress, *, detailed: bool) -> None:
        self.learner = learner
        self.state = state
        self.detailed = detailed
        self.out = console()

    def show(self, opened: Collection[Week]) -> None:
        track = self.state.track
        self._show_head()
        for stage in track.stages:
            self.out.print()
            self.out.print(Text(stage.title.in_(self.learner.lang), style="bold underline"))
            for week in stage.weeks:
                self._show_week(week, week in opened)
            if any(week in opened for week in stage.weeks):
                self._show_checkpoints(stage.checkpoints, say("cli.learning.progress-checkpoints"))
        if track.assessment and len(opened) == len(track.weeks):
            self.out.print()
            self._show_checkpoints(track.assessment, say("cli.learning.progress-assessment"))

    def _show_head(self) -> None:
        learner, state = self.learner, self.state
        count, study = state.of_track(), learner.store.study
        self.out.print(Text(state.track.title.in_(learner.lang), style="bold"))
        self.out.print(bar(count) + Text(f"  {self._done(count)}"))
        if count.exercises and count.exercises_done == count.exercises:
            self.out.print(
                Text(say("cli.learning.progress-all-passed", count=count.exercises), style="bold green")
            )
        streak, seconds = study.streak(), study.seconds(state.track.name)
        line = say("cli.learning.progress-streak", days=streak, time=spent(seconds))
        due = len(learner.store.reviews.due())
        if due:
            line += say("cli.learning.progress-due", due=due)
        self.out.print(Text(line))

    def _done(self, count: Count) -> str:
        parts: list[str] = []
        if count.exercises:
            done = f"{count.exercises_done}/{count.exercises}"
            parts.append(say("cli.learning.progress-exercises", done=done))
        if count.tasks:
            done = f"{count.tasks_done}/{count.tasks}"
            parts.append(say("cli.learning.progress-tasks", done=done))
        if count.planned:
            parts.append(say("cli.learning.progress-planned", count=count.planned))
        return " · ".join(parts)

    def _show_week(self, week: Week, is_open: bool) -> None:
        lang, count = self.learner.lang, self.state.of_week(week)
        title = f"{week_name(week.number)} · {week.title.in_(lang)}"
        mark = Text("✓ ", style="green") if count.is_done else Text("  ")
        self.out.print(
            Text() + mark + bar(count) + Text(f" {title}") + Text(f"  {self._done(count)}", style="dim")
        )
        if not is_open:
            return
        for day in week.days:
            self._show_day(day)
        left = [each for each in self.state.course.parts(week) if each.day is None]
        if left and week.days:
            self.out.print(Text("    " + say("course.workspace.more-exercises")))
        self._show_parts(left, "      " if week.days else "    ")
        self._show_tasks(week.tasks, "    ")

    def _show_day(self, day: Day) -> None:
        lang = self.learner.lang
        title = f"{day_name(day.number)} · {day.title.in_(lang)}"
        self.out.print(Text(f"    {title}") + Text(f"  {self._done(self.state.of_day(day))}", style="dim"))
        self._show_parts(self.state.course.parts_of_day(day), "      ")
        self._show_tasks(day.tasks, "      ")

    def _show_parts(self, parts: Iterable[Part], indent: str) -> None:
        for part in parts:
            unit, passed = part.unit, self.state.passed
            title = f"{unit.name}  {unit.title.in_(self.learner.lang)}"
            if not unit.is_ready:
                coming = say("cli.learning.progress-to-come")
                self.out.print(Text(f"{indent}· {title}  {coming}", style="dim"))
                continue
            self.out.print(Text(f"{indent}{'✓' if passed.issuperset(part.exercises) else '·'} {title}"))
            self._show_exercises(unit, part.exercises, f"{indent}    ")

    def _show_exercises(self, unit: Unit, exercises: Iterable[str], indent: str) -> None:
        state = self.state
        for exercise in exercises:
            name = exercise.partition("/")[2]
            if exercise in state.passed:
                self.out.print(Text(f"{indent}✓ {name}", style="green"))
                continue
            seen = say("cli.learning.progress-solution-seen") if exercise in state.given_up else ""
            self.out.print(Text(f"{indent}· {name}{seen}"))
        for each in unit.checkpoints if self.detailed else ():
            name = f"{unit.name}/{each.id}"
            self._show_tick(indent, state.is_ticked(name), each.ask.in_(self.learner.lang), name)

    def _show_tasks(self, tasks: Iterable[Task], indent: str) -> None:
        for task in tasks:
            done = self.state.is_done(task)
            self._show_tick(indent, done, task.do.in_(self.learner.lang), self._proof(task))

    def _proof(self, task: Task) -> str:
        """Returns what a task is known by; of a problem set also how much of it is solved."""
        proof = task.done_by
        if proof is not None and proof.kind == SEEN:
            return command_of_task(self.learner, task)
        if proof is None or proof.kind != SET:
            return task.id if proof is None else str(proof)
        chosen = self.state.track.problem_set(proof.name)
        return f"{set_name(chosen)}  {self.state.solved(chosen)}/{len(chosen.problems)}"

    def _show_checkpoints(self, checkpoints: Collection[Checkpoint], title: str) -> None:
        if not checkpoints:
            return
        lang, state = self.learner.lang, self.state
        ticked = sum(state.is_ticked(each.id) for each in checkpoints)
        self.out.print(Text(f"  {title} {ticked}/{len(checkpoints)}", style="bold"))
        topic = None
        for each in checkpoints:
            if each.topic is not None and each.topic != topic:
                self.out.print(Text(f"    {each.topic.in_(lang)}"))
            topic = each.topic
            self._show_tick("    ", state.is_ticked(each.id), each.ask.in_(lang), each.id)

    def _show_tick(self, indent: str, done: bool, text: str, name: str) -> None:
        mark = Text("☑", style="green") if done else Text("☐")
        self.out.print(Text(indent) + mark + Text(f" {text}  ") + Text(name, style="dim"))
