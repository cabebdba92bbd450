"""Pages of Markdown made from a track: itself, its weeks, its days; lessons and exercises."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

from flashpath.course.content import (
    Checkpoint,
    Course,
    Day,
    Exercise,
    Part,
    ResourceUse,
    Stage,
    Task,
    Track,
    Unit,
    Week,
)
from flashpath.course.content.directives import markdown, resource_line
from flashpath.course.content.lesson import load_lesson
from flashpath.course.content.proof import EXERCISE, NOTE, RAN, SEEN, SET, UNIT
from flashpath.course.content.text import lines_outside_code
from flashpath.course.content.unit import QUIZ
from flashpath.course.workspace.titles import day_title, expected, stars, week_title
from flashpath.messages import Message, say

Places = Callable[[str], str]


@dataclass(frozen=True)
class Site:
    """What all pages of one folder share: the content, the language, and where things lie in the folder."""

    course: Course
    track: Track
    lang: str
    started: str
    exercises: str  # the folder of all exercises
    lesson_place: Callable[[Unit], str]
    week_place: Callable[[Week], str]
    day_place: Callable[[Day], str] | None  # where days have pages of their own
    note_places: dict[str, str]
    begun_notes: frozenset[str]  # those that are there from the start; any other is made by its command

    def link(self, page: str, target: str, text: str) -> str:
        """Returns a link from one file of the folder to another."""
        return f"[{text}]({address(page, target)})"

    def figure_place(self, unit: Unit, name: str) -> str:
        """Returns where a figure lies: beside the lessons, in a folder of its unit."""
        return f"{os.path.dirname(self.lesson_place(unit))}/figures/{unit.id}/{name}"  # noqa: PTH120

    def exercise_folder(self, exercise: Exercise) -> str:
        return f"{self.exercises}/{exercise.unit}/{exercise.name}"

    def units(self, names: Iterable[str]) -> list[Unit]:
        return [self.course.unit(each) for each in names]


def address(page: str, target: str) -> str:
    """Returns how a page of the folder names another file of it."""
    return os.path.relpath(target, os.path.dirname(page) or ".")  # noqa: PTH120


def joined(parts: Iterable[str]) -> str:
    """Paragraphs, each with an empty line between, none of them empty."""
    return "\n\n".join(part.strip("\n") for part in parts if part.strip()) + "\n"


def section(heading: str, lines: Sequence[str], level: int = 2) -> str:
    """A heading and its lines; nothing where there are none."""
    return f"{'#' * level} {heading}\n\n" + "\n".join(lines) if lines else ""


def bullets(texts: Iterable[str]) -> list[str]:
    return [f"- {each}" for each in texts]


# ---- The track -----------------------------------------------------------------------------------------


def track_page(site: Site) -> str:
    """README.md of the folder: the plan on one page."""
    track, lang = site.track, site.lang
    return joined(
        [
            f"# {track.title.in_(lang)}",
            track.about.in_(lang) if track.about else "",
            "\n".join(bullets(_facts(site))),
            section(say("course.workspace.prerequisites"), bullets(track.prerequisites.in_(lang))),
            section(say("course.workspace.time"), bullets(track.time.in_(lang))),
            section(say("course.workspace.commands"), _commands()),
            section(
                say("course.workspace.plan"),
                [line for stage in track.stages for line in _stage_lines(site, stage)],
            ),
            section(say("course.workspace.assessment"), list(_checkpoint_lines(track.assessment, lang))),
            section(say("course.workspace.habits"), bullets(track.habits.in_(lang))),
            section(
                say("course.workspace.corrections"),
                bullets(each.text.in_(lang) for each in track.corrections_of(None)),
            ),
            section(say("course.workspace.resources"), resource_lines(site.course, track.resources, lang)),
        ]
    )


def _facts(site: Site) -> Iterator[str]:
    track = site.track
    if times := expected(track):
        yield say("course.workspace.expected", times=", ".join(times))
    yield say("course.workspace.difficulty", stars=stars(track.difficulty))
    if track.practice:
        yield say("course.workspace.practice", stars=stars(track.practice))
    yield say("course.workspace.started", date=site.started)
    yield say("course.workspace.finished", date="________")


def _commands() -> list[str]:
    commands = (
        ("flashpath next", say("course.workspace.command-next")),
        ("flashpath read UNIT", say("course.workspace.command-read")),
        ("flashpath watch", say("course.workspace.command-watch")),
        ("flashpath hint EXERCISE", say("course.workspace.command-hint")),
        ("flashpath progress --tick TASK", say("course.workspace.command-tick")),
        ("flashpath note", say("course.workspace.command-note")),
        ("flashpath start TRACK", say("course.workspace.command-start")),
    )
    return ["```sh", *(f"{command:<32} # {meaning}" for command, meaning in commands), "```"]


def _stage_lines(site: Site, stage: Stage) -> Iterator[str]:
    lang = site.lang
    title = stage.title.in_(lang)
    if stage.weeks_expected:
        weeks = say("course.workspace.weeks", count=stage.weeks_expected)
        title += f" ({weeks})"
    yield from (f"### {title}", "")
    for week in stage.weeks:
        name = week_title(week)
        if site.day_place is None:
            yield f"- {site.link('README.md', site.week_place(week), name)}"
            continue
        for day in week.days:
            name = day_title(day)
            yield f"- {site.link('README.md', site.day_place(day), name)}"
    yield ""


# ---- A week --------------------------------------------------------------------------------------------


def week_page(site: Site, stage: Stage, week: Week, page: str, between: Sequence[str] = ()) -> str:
    """README.md of a week; `between` are sections of its own, after its goals."""
    lang = site.lang
    return joined(
        [
            f"# {week_title(week)}",
            " · ".join(_week_facts(site, stage, week)),
            section(say("course.workspace.goals"), bullets(week.goals.in_(lang))),
            *(each.in_(lang) for each in (stage.note, week.note) if each is not None),
            corrections(site, week),
            *between,
            *_tasks_of_week(site, week, page),
            *_units_of_week(site, week, page),
            section(say("course.workspace.programs"), program_lines(site, week.all_units)),
            section(say("course.workspace.files"), bullets(f"`{each}`" for each in week.files)),
            *(_formulas(site, week)),
            section(say("course.workspace.outputs"), [f"- [ ] {each}" for each in week.outputs.in_(lang)]),
            section(say("course.workspace.checkpoints"), list(_checkpoint_lines(stage.checkpoints, lang)))
            if week is stage.weeks[-1]
            else "",
            section(say("course.workspace.resources"), resource_lines(site.course, week.resources, lang)),
            section(say("course.workspace.next"), _next_week(site, week, page)),
        ]
    )


def _week_facts(site: Site, stage: Stage, week: Week) -> Iterator[str]:
    yield stage.title.in_(site.lang)
    if week.hours:
        yield say("course.workspace.hours", count=week.hours)
    if week.difficulty:
        yield stars(week.difficulty)


def corrections(site: Site, week: Week) -> str:
    """Where the plan is out of date."""
    lines = bullets(each.text.in_(site.lang) for each in site.track.corrections_of(week))
    return section(say("course.workspace.corrections"), lines)


def _tasks_of_week(site: Site, week: Week, page: str) -> Iterator[str]:
    if not week.days:
        yield section(say("course.workspace.tasks"), [task_line(site, each, page) for each in week.tasks])
        return
    yield "## " + say("course.workspace.tasks")
    for day in week.days:
        title = day_title(day)
        yield section(title, [task_line(site, each, page) for each in day.tasks], 3)
    yield section(say("course.workspace.more-tasks"), [task_line(site, each, page) for each in week.tasks], 3)


def task_line(site: Site, task: Task, page: str) -> str:
    """A box to tick, the task, and what marks it as done."""
    text = f"- [ ] {task.do.in_(site.lang)}"
    proof = task.done_by
    if proof is None or (proof.unit is not None and not site.course.unit(proof.unit).is_ready):
        return f"{text} `{task.id}`"
    name = site.track.problem_set(proof.name).number if proof.kind == SET else proof.name
    said = say(_PROOFS[proof.kind], name=name)
    if proof.kind == NOTE and proof.name in site.begun_notes:
        said = site.link(page, site.note_places[proof.name], said)
    elif proof.kind == SEEN and proof.name.startswith(RAN):
        said = say("course.workspace.done-by-run", name=proof.name.removeprefix(RAN).replace(" ", " -- ", 1))
    return f"{text} ({said})"


_PROOFS = {
    UNIT: "course.workspace.done-by-unit",
    EXERCISE: "course.workspace.done-by-exercise",
    NOTE: "course.workspace.done-by-note",
    SET: "course.workspace.done-by-set",
    SEEN: "course.workspace.done-by-doctor",
}


def _units_of_week(site: Site, week: Week, page: str) -> Iterator[str]:
    """Yields those of its days, and then what no day has."""
    parts = list(site.course.parts(week))
    of_days = [each for each in parts if each.day is not None]
    others = unit_lines(site, (each for each in parts if each.day is None), page)
    yield section(say("course.workspace.lessons-and-exercises"), unit_lines(site, of_days, page) or others)
    if of_days:
        yield section(say("course.workspace.more-exercises"), others, 3)


def unit_lines(site: Site, parts: Iterable[Part], page: str) -> list[str]:
    """Each unit with those exercises; of one that is planned, its goals, and the quiz where there is one."""
    exercises: dict[str, set[str]] = {}
    for part in parts:
        exercises.setdefault(part.unit.id, set()).update(part.exercises)
    lines: list[str] = []
    for unit in site.units(exercises):
        title = unit.title.in_(site.lang)
        if not unit.is_ready:
            planned = say("course.workspace.planned")
            lines.append(f"- {unit.id} · {title} (*{planned}*)")
            lines += [f"  - {each}" for each in unit.goals.in_(site.lang)]
        else:
            minutes = say("course.workspace.minutes", count=unit.minutes)
            lines.append(f"- {unit.id} · {site.link(page, site.lesson_place(unit), title)} ({minutes})")
        shown = [each for each in exercises_of(unit) if each.id in exercises[unit.id]]
        lines += [f"  {exercise_line(site, each, page)}" for each in shown]
    return lines


def exercises_of(unit: Unit) -> tuple[Exercise, ...]:
    """All of a unit that is ready; of one that is planned, the quiz where there is one already."""
    if unit.is_ready:
        return unit.all_exercises()
    return (unit.exercise(QUIZ),) if unit.has_quiz else ()


def program_lines(site: Site, names: Iterable[str]) -> list[str]:
    """The whole programs that come with the units, as they are run from anywhere."""
    programs = dict.fromkeys(each for unit in site.units(names) for each in unit.programs)
    return bullets(f"`flashpath run programs/{each}`" for each in programs)


def exercise_line(site: Site, exercise: Exercise, page: str) -> str:
    target = f"{site.exercise_folder(exercise)}/{'answers.toml' if exercise.kind == 'quiz' else 'README.md'}"
    minutes = say("course.workspace.minutes", count=exercise.minutes)
    said = f"{minutes}, `flashpath grade {exercise.id}`"
    return f"- [ ] {site.link(page, target, exercise.title.in_(site.lang))}: {said}"


def _formulas(site: Site, week: Week) -> Iterator[str]:
    if week.formulas:
        yield "## " + say("course.workspace.formulas")
    for each in week.formulas:
        yield f"**{each.title.in_(site.lang)}**\n\n```\n{each.text.strip()}\n```"


def _checkpoint_lines(checkpoints: Sequence[Checkpoint], lang: str) -> Iterator[str]:
    """Boxes, those of one topic under its name."""
    for topic, group in groupby(checkpoints, lambda each: each.topic.in_(lang) if each.topic else ""):
        if topic:
            yield from ("", f"**{topic}**", "")
        for each in group:
            yield f"- [ ] {each.ask.in_(lang)} `{each.id}`"


def _next_week(site: Site, week: Week, page: str) -> list[str]:
    weeks = site.track.weeks
    after = weeks[weeks.index(week) + 1 :][:1]
    if not after:
        return [site.link(page, "README.md", site.track.title.in_(site.lang))]
    (coming,) = after
    name = week_title(coming)
    return [f"{site.link(page, site.week_place(coming), name)}", "", *bullets(coming.goals.in_(site.lang))]


def resource_lines(course: Course, uses: Iterable[ResourceUse], lang: str) -> list[str]:
    """Each resource in a line: title, chapters, by whom, and what it is good for."""
    lines: list[str] = []
    for use in uses:
        found = course.resource(use.key)
        part = ""
        if use.part:
            is_tutorial = "tutorial" in found.title.en.lower()
            code = "course.workspace.parts" if is_tutorial else "course.workspace.chapters"
            part = f" ({Message(code, {'part': use.part.replace('-', '–')}).text(lang)})"
        lines.append(f"- {resource_line(found, lang, part)}")
    return lines


# ---- A day ---------------------------------------------------------------------------------------------


def day_page(site: Site, week: Week, day: Day, page: str, around: Sequence[tuple[str, Day]]) -> str:
    """One day on a page of its own; `around` are the days beside it with their pages."""
    lang = site.lang
    return joined(
        [
            f"# {day_title(day)}",
            week.title.in_(lang),
            section(say("course.workspace.goals"), bullets(day.goals.in_(lang))),
            day.note.in_(lang) if day.note else "",
            section(say("course.workspace.time"), _time_boxes(day)),
            section(say("course.workspace.files"), bullets(f"`{each}`" for each in day.files)),
            section(say("course.workspace.tasks"), [task_line(site, each, page) for each in day.tasks]),
            section(
                say("course.workspace.lessons-and-exercises"),
                unit_lines(site, site.course.parts_of_day(day), page),
            ),
            section(say("course.workspace.programs"), program_lines(site, day.units)),
            corrections(site, week) if _is_corrected(site, week, day) else "",
            " · ".join(site.link(page, target, day_title(other)) for target, other in around),
        ]
    )


def _is_corrected(site: Site, week: Week, day: Day) -> bool:
    """What is corrected is shown on the days whose files it names."""
    said = " ".join(each.text.en for each in site.track.corrections_of(week))
    return any(file.rpartition("/")[2] in said for file in day.files)


_BOXES = {
    "theory": "course.workspace.theory",
    "reading": "course.workspace.reading",
    "practice": "course.workspace.practising",
    "reflection": "course.workspace.reflection",
}


def _time_boxes(day: Day) -> list[str]:
    return [
        f"- [ ] {say('course.workspace.minutes', count=minutes)}: {say(_BOXES[box])}"
        for box, minutes in day.minutes.items()
    ]


# ---- Lessons and exercises -----------------------------------------------------------------------------


def lesson_page(site: Site, unit: Unit, page: str) -> str:
    """Returns a lesson with everything put in, and links to the exercises and figures of this folder."""

    def link(name: str) -> str:
        folder = site.exercise_folder(site.course.exercise(name))
        return address(page, f"{folder}/{'answers.toml' if name.endswith('/quiz') else 'README.md'}")

    def image(file: Path) -> str:
        return address(page, site.figure_place(unit, file.name))

    return markdown(site.course, load_lesson(unit, site.lang), image=image, link=link)


def planned_page(site: Site, unit: Unit) -> str:
    """What is known of a unit before it is written."""
    return joined(
        [
            f"# {unit.title.in_(site.lang)}",
            "*" + say("course.workspace.planned") + "*",
            section(say("course.workspace.goals"), bullets(unit.goals.in_(site.lang))),
        ]
    )


def material_page(site: Site, title: str, units: Iterable[Unit], page: str) -> str:
    """Several lessons on one page, each a level deeper."""
    parts = [f"# {title}"]
    for unit in units:
        text = lesson_page(site, unit, page) if unit.is_ready else planned_page(site, unit)
        parts.append(demoted(text))
    return joined(parts)


def demoted(text: str) -> str:
    """Returns Markdown with every heading a level deeper; marks inside code are none."""
    return "".join(
        f"#{line}\n" if is_text and re.match(r"#{1,5} ", line) else f"{line}\n"
        for line, is_text in lines_outside_code(text)
    )


def exercise_page(site: Site, exercise: Exercise, file: str) -> str:
    """README.md beside what the learner fills in."""
    task = exercise.task(site.lang).strip()
    name = file.rpartition("/")[2]
    said = say("course.workspace.how-to-grade", name=name, exercise=exercise.id)
    return f"{task}\n\n---\n\n{said}\n"
