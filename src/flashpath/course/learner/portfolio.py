"""What an export holds: Markdown pages that stand for themselves, and the kernels as files."""

from __future__ import annotations

import re
import shutil
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, cast

from flashpath import settings
from flashpath.course.answer_file import read_answer
from flashpath.course.content.directives import figure_file
from flashpath.course.content.lesson import load_lesson
from flashpath.course.learner.grading import grade_and_keep
from flashpath.course.learner.notes import EXPORT_MARK, list_notes
from flashpath.course.state.study import spent
from flashpath.course.workspace.titles import titled
from flashpath.errors import FlashpathError
from flashpath.messages import say

if TYPE_CHECKING:
    from flashpath.course.content import Exercise
    from flashpath.course.learner.learner import Learner

_FENCES = {".cu": "cuda", ".py": "python", ".toml": "toml", ".md": "markdown"}


class Folder:
    """Made whole or not at all: written beside its place, and put there when it is complete."""

    def __init__(self, learner: Learner, place: Path) -> None:
        self.place = settings.expanded(place).resolve()
        self.files: list[str] = []
        kept = [Path.cwd().resolve()] + ([learner.workspace.root] if learner.workspace is not None else [])
        if any(each.is_relative_to(self.place) for each in kept):
            raise FlashpathError("course.export-holds", place=place)
        if self.place.exists() and not self.place.is_dir():
            raise FlashpathError("course.export-file", place=place)
        if self.place.exists() and not (self.place / EXPORT_MARK).exists() and any(self.place.iterdir()):
            raise FlashpathError("course.export-foreign", place=place)
        self._parts = self.place.with_name(f".{self.place.name}.part")

    def __enter__(self) -> Self:
        shutil.rmtree(self._parts, ignore_errors=True)
        self._parts.mkdir(parents=True)
        (self._parts / EXPORT_MARK).touch()
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        if kind is None:
            old = self.place.with_name(f".{self.place.name}.old")
            shutil.rmtree(old, ignore_errors=True)
            if self.place.exists():
                self.place.rename(old)
            self._parts.rename(self.place)
            shutil.rmtree(old, ignore_errors=True)
        shutil.rmtree(self._parts, ignore_errors=True)

    def write(self, name: str, text: str) -> None:
        path = self._parts / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8", errors="replace")
        self.files.append(name)

    def copy(self, name: str, source: Path) -> None:
        path = self._parts / name
        path.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, path)
        self.files.append(name)


# ---- The portfolio -------------------------------------------------------------------------------------


def write_portfolio(learner: Learner, folder: Folder) -> None:
    passed = _write_passed(learner, folder)
    notes = [*_write_notes(learner, folder), *passed["notes"]]
    figures = _write_figures(learner, folder)
    has_log = _write_log(learner, folder)
    _write_progress(learner, folder)
    track = learner.track
    study = learner.store.study
    count = learner.progress().of_track()
    lines = [
        f"# {track.title.in_(learner.lang)}",
        "",
        say(
            "course.portfolio-state",
            day=time.strftime("%Y-%m-%d"),
            exercises_done=count.exercises_done,
            exercises=count.exercises,
            tasks_done=count.tasks_done,
            tasks=count.tasks,
            time=spent(study.seconds(track.name)),
        ),
        "",
        "- [" + say("course.portfolio-progress") + "](progress.md)",
    ]
    if has_log:
        lines.append("- [" + say("course.portfolio-log") + "](log.md)")
    for title, pages in (
        (say("course.portfolio-kernels"), passed["kernels"]),
        (say("course.portfolio-answers"), passed["answers"]),
        (say("course.portfolio-notes"), notes),
        (say("course.portfolio-figures"), figures),
    ):
        if pages:
            lines += ["", f"## {title}", "", *(f"- [{name}]({_link(page)})" for name, page in pages)]
    folder.write("README.md", "\n".join(lines) + "\n")


def _write_passed(learner: Learner, folder: Folder) -> dict[str, list[tuple[str, str]]]:
    """Every answer that passed, as it was when it passed last, with its verdict: code, answers, notes."""
    pages: dict[str, list[tuple[str, str]]] = {"kernels": [], "answers": [], "notes": []}
    for name, passed in learner.store.passes().items():
        text = learner.store.text_of_attempt(passed.attempt) if passed.attempt is not None else None
        if text is None or passed.attempt is None:
            continue
        try:
            exercise = learner.course.exercise(name)
        except FlashpathError:  # a unit that is no longer in the course
            title, ending = name, ".txt"
        else:
            title, ending = f"{name}: {exercise.title.in_(learner.lang)}", _ending(exercise)
        shelf = {".md": "notes", ".toml": "answers"}.get(ending, "kernels")
        if ending != ".md":  # whose page has all of it
            folder.write(f"{shelf}/{name}{ending}", text)
        day = time.strftime("%Y-%m-%d", time.localtime(passed.last_at))
        lines = [
            f"# {title}",
            "",
            say("course.portfolio-passed-on", day=day),
            "",
            *report_lines(learner.store.grade_of(passed.attempt)),
            "",
            _fenced(text, ending),
        ]
        folder.write(f"{shelf}/{name}.md", "\n".join(lines) + "\n")
        pages[shelf].append((title, f"{shelf}/{name}.md"))
    return pages


def _write_notes(learner: Learner, folder: Folder) -> list[tuple[str, str]]:
    pages: list[tuple[str, str]] = []
    if learner.workspace is None:
        return pages
    for path, written in list_notes(learner.workspace):
        if written:
            name = f"notes/{path.relative_to(learner.workspace.root).as_posix().replace('/', '-')}"
            folder.copy(name, path)
            heading = re.search(
                r"^# +(.+)$", path.read_text(encoding="utf-8", errors="replace"), re.MULTILINE
            )
            pages.append((heading[1] if heading else path.stem, name))
    return pages


def _write_figures(learner: Learner, folder: Folder) -> list[tuple[str, str]]:
    """The pictures of every unit of which something passed, with what its lesson says below them."""
    pages: list[tuple[str, str]] = []
    for name in dict.fromkeys(each.partition("/")[0] for each in learner.store.passes()):
        try:
            unit = learner.course.unit(name)
            lesson = load_lesson(unit, learner.lang)
        except FlashpathError:  # a unit that is no longer in the course
            continue
        lines = [f"# {unit.title.in_(learner.lang)}"]
        for each in lesson.directives:
            file = figure_file(unit, each.argument, learner.lang, ".svg")
            if each.name == "figure" and file.exists():
                folder.copy(f"figures/{name}/{file.name}", file)
                lines += ["", f"![{each.caption}]({name}/{file.name})", "", each.caption]
        if len(lines) > 1:
            folder.write(f"figures/{name}.md", "\n".join(lines) + "\n")
            pages.append((unit.title.in_(learner.lang), f"figures/{name}.md"))
    return pages


def _write_log(learner: Learner, folder: Folder) -> bool:
    entries = learner.store.log()
    if not entries:
        return False
    lines = ["# " + say("course.portfolio-log")]
    for entry in entries:
        lines += ["", f"## {time.strftime('%Y-%m-%d', time.localtime(entry.at))} · {entry.problem}"]
        for name, text in (
            (say("course.portfolio-solution"), entry.solution),
            (say("course.portfolio-learnt"), entry.learnt),
            (say("course.portfolio-file"), f"`{entry.kernel}`" if entry.kernel else ""),
        ):
            if text:
                lines += ["", f"**{name}**: {text}"]
    folder.write("log.md", "\n".join(lines) + "\n")
    return True


def _write_progress(learner: Learner, folder: Folder) -> None:
    state, lang = learner.progress(), learner.lang
    study = learner.store.study
    lines = ["# " + titled(say("course.portfolio-progress"), state.track.title.in_(lang)), ""]
    lines += [
        say("course.portfolio-week-table"),
        "|---|---|---|",
    ]
    for week in state.track.weeks:
        count = state.of_week(week)
        lines.append(
            f"| {week.number} · {week.title.in_(lang)} | {count.exercises_done}/{count.exercises} "
            f"| {count.tasks_done}/{count.tasks} |"
        )
    for stage in state.track.stages:
        if stage.checkpoints:
            lines += ["", f"## {stage.title.in_(lang)}", ""]
            lines += [
                f"- [{'x' if state.is_ticked(each.id) else ' '}] {each.ask.in_(lang)}"
                for each in stage.checkpoints
            ]
    days = study.seconds_by_day(state.track.name)
    if days:
        lines += [
            "",
            "## " + say("course.portfolio-time"),
            "",
            say("course.portfolio-day-table"),
            "|---|---|",
        ]
        lines += [f"| {day} | {spent(seconds)} |" for day, seconds in days.items()]
    folder.write("progress.md", "\n".join(lines) + "\n")


# ---- A kernel for review -------------------------------------------------------------------------------

_CHECKLIST = (
    "course.check-header",
    "course.check-tail",
    "course.check-neighbours",
    "course.check-barriers",
    "course.check-sums",
    "course.check-indices",
    "course.check-constants",
    "course.check-simpler",
)


def write_review(learner: Learner, exercise: Exercise, folder: Folder) -> None:
    """One answer, graded now, with its report, its task and a checklist for who reviews it."""
    path = learner.file_of(exercise)
    text = read_answer(path, exercise.id)
    grade = grade_and_keep(learner, exercise, path)
    folder.write(path.name, text)
    today = time.strftime("%Y-%m-%d")
    verdict = say("course.portfolio-passes") if grade.passed else say("course.portfolio-fails")
    lines = [
        f"# {exercise.id}: {exercise.title.in_(learner.lang)}",
        "",
        say("course.portfolio-review", today=today, path=path.name, link=_link(path.name), verdict=verdict),
        "",
        "## " + say("course.portfolio-report"),
        "",
        *report_lines(grade.to_json()),
        "",
        "## " + say("course.portfolio-checklist"),
        "",
        *(f"- [ ] {say(code)}" for code in _CHECKLIST),
        "",
        "## " + say("course.portfolio-task"),
        "",
        re.sub(r"^#", "###", exercise.task(learner.lang), flags=re.MULTILINE).strip(),
    ]
    folder.write("README.md", "\n".join(lines) + "\n")


def report_lines(grade: dict[str, Any] | None) -> list[str]:
    """A verdict as Markdown: the headline, the figures counted, the details as they were printed."""
    if not grade:
        return []
    lines = [f"**{grade.get('headline', '')}**"]
    goals = [cast("dict[str, Any]", goal) for goal in _listed(grade.get("goals")) if isinstance(goal, dict)]
    if goals:
        lines += [
            "",
            say("course.portfolio-goal-table"),
            "|---|---|---|---|",
        ]
        for goal in goals:
            sign = "≤" if goal.get("at_most") else "≥"
            mark = "✓" if goal.get("reached") else "✗"
            counted, asked = _figure(goal.get("counted")), _figure(goal.get("asked"))
            lines.append(f"| {goal.get('name')} | {counted} | {sign} {asked} | {mark} |")
    details = [str(each) for each in _listed(grade.get("details"))]
    if details:
        lines += ["", _fenced("\n".join(details), "")]
    return lines


def _listed(value: object) -> list[Any]:
    """A verdict is read from a file, where anything may stand."""
    return cast("list[Any]", value) if isinstance(value, list) else []


def _figure(value: object) -> str:
    return f"{value:g}" if isinstance(value, (int, float)) else str(value)


def _ending(exercise: Exercise) -> str:
    if exercise.skeleton is not None:
        return exercise.skeleton.suffix
    return ".md" if exercise.kind in ("note", "report") else ".toml"


def _fenced(text: str, ending: str) -> str:
    # A fence longer than any in the text, which may be Markdown itself.
    longest = max((len(each) for each in re.findall(r"`{3,}", text)), default=2)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{_FENCES.get(ending, '')}\n{text.rstrip()}\n{fence}"


def _link(path: str) -> str:
    return path.replace(" ", "%20")
