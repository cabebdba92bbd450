"""Pages of Markdown made from a track: itself, its weeks, its days; lessons and exercises."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from flashpath.course.content import (
    Checkpoint,
    Course,
    Day,
    Exercise,
    ResourceUse,
    Stage,
    Task,
    Track,
    Unit,
    Week,
)
from flashpath.course.content.unit import QUIZ
from flashpath.course.workspace.words import day_name, stars, titled, week_name, word

Places = Callable[[str], str]
_NOTE = "note:"


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

    def say(self, key: str) -> str:
        return word(key, self.lang)

    def link(self, page: str, target: str, text: str) -> str:
        """A link from one file of the folder to another."""
        return f"[{text}]({os.path.relpath(target, os.path.dirname(page) or '.')})"  # noqa: PTH120

    def exercise_folder(self, exercise: Exercise) -> str:
        return f"{self.exercises}/{exercise.unit}/{exercise.name}"

    def units(self, names: Iterable[str]) -> list[Unit]:
        return [self.course.unit(each) for each in names]


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
    track, lang, say = site.track, site.lang, site.say
    return joined(
        [
            f"# {track.title.in_(lang)}",
            track.about.in_(lang) if track.about else "",
            "\n".join(bullets(_facts(site))),
            section(say("prerequisites"), bullets(track.prerequisites.in_(lang))),
            section(say("time"), bullets(track.time.in_(lang))),
            section(say("commands"), _commands(lang)),
            section(say("plan"), [line for stage in track.stages for line in _stage_lines(site, stage)]),
            section(say("assessment"), list(_checkpoint_lines(track.assessment, lang))),
            section(say("habits"), bullets(track.habits.in_(lang))),
            section(say("corrections"), bullets(each.text.in_(lang) for each in track.corrections_of(None))),
            section(say("resources"), resource_lines(site.course, track.resources, lang)),
        ]
    )


def _facts(site: Site) -> Iterator[str]:
    track, say = site.track, site.say
    separator = "：" if site.lang == "zh" else ": "
    count, of = (track.days_expected, "days") if track.days_expected else (track.weeks_expected, "weeks")
    expected = [f"{count} {say(of)}"] if count else []
    expected += [f"{track.hours} {say('hours')}"] if track.hours else []
    if expected:
        yield f"{say('expected')}{separator}{', '.join(expected)}"
    yield f"{say('difficulty')}{separator}{stars(track.difficulty)}"
    if track.practice:
        yield f"{say('practice')}{separator}{stars(track.practice)}"
    yield f"{say('started')}{separator}{site.started}"
    yield f"{say('finished')}{separator}________"


def _commands(lang: str) -> list[str]:
    commands = (
        ("flashpath next", "what to do now", "现在该做什么"),
        ("flashpath read UNIT", "a lesson in the terminal", "在终端里读讲义"),
        ("flashpath watch", "grades a file whenever it is saved", "每次保存文件时自动评分"),
        ("flashpath hint EXERCISE", "a hint, one step at a time", "给出下一步提示"),
        ("flashpath progress --tick TASK", "marks a task that was done by hand", "勾选手动完成的任务"),
        ("flashpath note", "today's note", "今天的笔记"),
        (
            "flashpath start TRACK",
            "again: adds what is new, changes nothing of yours",
            "再次运行：补上新内容，不动你写的东西",
        ),
    )
    return [
        "```sh",
        *(f"{command:<32} # {zh if lang == 'zh' else en}" for command, en, zh in commands),
        "```",
    ]


def _stage_lines(site: Site, stage: Stage) -> Iterator[str]:
    lang = site.lang
    title = stage.title.in_(lang)
    if stage.weeks_expected:
        title += f" ({stage.weeks_expected} {site.say('weeks')})"
    yield from (f"### {title}", "")
    for week in stage.weeks:
        name = titled(week_name(week.number, lang), week.title.in_(lang), lang)
        if site.day_place is None:
            yield f"- {site.link('README.md', site.week_place(week), name)}"
            continue
        for day in week.days:
            name = titled(day_name(day.number, lang), day.title.in_(lang), lang)
            yield f"- {site.link('README.md', site.day_place(day), name)}"
    yield ""


# ---- A week --------------------------------------------------------------------------------------------


def week_page(site: Site, stage: Stage, week: Week, page: str, between: Sequence[str] = ()) -> str:
    """README.md of a week; `between` are sections of its own, after its goals."""
    lang, say = site.lang, site.say
    return joined(
        [
            f"# {titled(week_name(week.number, lang), week.title.in_(lang), lang)}",
            " · ".join(_week_facts(site, stage, week)),
            section(say("goals"), bullets(week.goals.in_(lang))),
            *(each.in_(lang) for each in (stage.note, week.note) if each is not None),
            corrections(site, week),
            *between,
            *_tasks_of_week(site, week, page),
            section(say("lessons-and-exercises"), unit_lines(site, week.all_units, page)),
            section(say("programs"), program_lines(site, week.all_units)),
            section(say("files"), bullets(f"`{each}`" for each in week.files)),
            *(_formulas(site, week)),
            section(say("outputs"), [f"- [ ] {each}" for each in week.outputs.in_(lang)]),
            section(say("checkpoints"), list(_checkpoint_lines(stage.checkpoints, lang)))
            if week is stage.weeks[-1]
            else "",
            section(say("resources"), resource_lines(site.course, week.resources, lang)),
            section(say("next"), _next_week(site, week, page)),
        ]
    )


def _week_facts(site: Site, stage: Stage, week: Week) -> Iterator[str]:
    yield stage.title.in_(site.lang)
    if week.hours:
        yield f"{week.hours} {site.say('hours')}"
    if week.difficulty:
        yield stars(week.difficulty)


def corrections(site: Site, week: Week) -> str:
    """Where the plan is out of date."""
    lines = bullets(each.text.in_(site.lang) for each in site.track.corrections_of(week))
    return section(site.say("corrections"), lines)


def _tasks_of_week(site: Site, week: Week, page: str) -> Iterator[str]:
    say = site.say
    if not week.days:
        yield section(say("tasks"), [task_line(site, each, page) for each in week.tasks])
        return
    yield f"## {say('tasks')}"
    for day in week.days:
        title = titled(day_name(day.number, site.lang), day.title.in_(site.lang), site.lang)
        yield section(title, [task_line(site, each, page) for each in day.tasks], 3)
    yield section(say("more-tasks"), [task_line(site, each, page) for each in week.tasks], 3)


def task_line(site: Site, task: Task, page: str) -> str:
    """A box to tick, the task, and what marks it as done."""
    text = f"- [ ] {task.do.in_(site.lang)}"
    if task.done_by is None:
        return f"{text} `{task.id}`"
    if task.done_by.startswith(_NOTE):
        name = task.done_by.removeprefix(_NOTE)
        said = site.say("done-by-note").format(name)
        if name in site.begun_notes:
            said = site.link(page, site.note_places[name], said)
        return f"{text} ({said})"
    by = "done-by-exercise" if "/" in task.done_by else "done-by-unit"
    unit = site.course.unit(task.done_by.partition("/")[0])
    if not unit.is_ready:
        return f"{text} `{task.id}`"
    return f"{text} ({site.say(by).format(task.done_by)})"


def unit_lines(site: Site, names: Iterable[str], page: str) -> list[str]:
    """Each unit with its exercises; of one that is planned, its goals, and the quiz where there is one."""
    lines: list[str] = []
    for unit in site.units(names):
        title = unit.title.in_(site.lang)
        if not unit.is_ready:
            lines.append(f"- {unit.id} · {title} (*{site.say('planned')}*)")
            lines += [f"  - {each}" for each in unit.goals.in_(site.lang)]
        else:
            minutes = f"{unit.minutes} {site.say('minutes')}"
            lines.append(f"- {unit.id} · {site.link(page, site.lesson_place(unit), title)} ({minutes})")
        lines += [f"  {exercise_line(site, each, page)}" for each in exercises_of(unit)]
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
    said = f"{exercise.minutes} {site.say('minutes')}, `flashpath grade {exercise.id}`"
    return f"- [ ] {site.link(page, target, exercise.title.in_(site.lang))}: {said}"


def _formulas(site: Site, week: Week) -> Iterator[str]:
    if week.formulas:
        yield f"## {site.say('formulas')}"
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
    name = titled(week_name(coming.number, site.lang), coming.title.in_(site.lang), site.lang)
    return [f"{site.link(page, site.week_place(coming), name)}", "", *bullets(coming.goals.in_(site.lang))]


def resource_lines(course: Course, uses: Iterable[ResourceUse], lang: str) -> list[str]:
    """Each resource in a line: title, chapters, by whom, and what it is good for."""
    lines: list[str] = []
    for use in uses:
        found = course.resource(use.key)
        title = found.title.in_(lang)
        text = f"[{title}]({found.url})" if found.url else title
        if use.part:
            unit = "parts" if "tutorial" in found.title.en.lower() else "chapters"
            text += f" ({word(unit, lang).format(use.part.replace('-', '–'))})"
        by = f", {found.by}" if found.by else ""
        lines.append(f"- {text}{by}" + (f". {found.note.in_(lang)}" if found.note else ""))
    return lines


# ---- A day ---------------------------------------------------------------------------------------------


def day_page(site: Site, week: Week, day: Day, page: str, around: Sequence[tuple[str, Day]]) -> str:
    """One day on a page of its own; `around` are the days beside it with their pages."""
    lang, say = site.lang, site.say
    return joined(
        [
            f"# {titled(day_name(day.number, lang), day.title.in_(lang), lang)}",
            week.title.in_(lang),
            section(say("goals"), bullets(day.goals.in_(lang))),
            day.note.in_(lang) if day.note else "",
            section(say("time"), _time_boxes(site, day)),
            section(say("files"), bullets(f"`{each}`" for each in day.files)),
            section(say("tasks"), [task_line(site, each, page) for each in day.tasks]),
            section(say("lessons-and-exercises"), unit_lines(site, day.units, page)),
            section(say("programs"), program_lines(site, day.units)),
            corrections(site, week) if _is_corrected(site, week, day) else "",
            " · ".join(
                site.link(page, target, titled(day_name(other.number, lang), other.title.in_(lang), lang))
                for target, other in around
            ),
        ]
    )


def _is_corrected(site: Site, week: Week, day: Day) -> bool:
    """What is corrected is shown on the days whose files it names."""
    said = " ".join(each.text.en for each in site.track.corrections_of(week))
    return any(file.rpartition("/")[2] in said for file in day.files)


def _time_boxes(site: Site, day: Day) -> list[str]:
    names = {"practice": "practice-box"}
    return [
        f"- [ ] {minutes} {site.say('minutes')}: {site.say(names.get(box, box))}"
        for box, minutes in day.minutes.items()
    ]


# ---- Lessons and exercises -----------------------------------------------------------------------------


def lesson_page(site: Site, unit: Unit, page: str) -> str:
    """A lesson with everything put in, and links to the exercises of this folder."""
    from flashpath.course.content.directives import markdown
    from flashpath.course.content.lesson import load_lesson

    def link(name: str) -> str:
        folder = site.exercise_folder(site.course.exercise(name))
        target = f"{folder}/{'answers.toml' if name.endswith('/quiz') else 'README.md'}"
        return os.path.relpath(target, os.path.dirname(page) or ".")  # noqa: PTH120

    return markdown(site.course, load_lesson(unit, site.lang), link=link)


def planned_page(site: Site, unit: Unit) -> str:
    """What is known of a unit before it is written."""
    return joined(
        [
            f"# {unit.title.in_(site.lang)}",
            f"*{site.say('planned')}*",
            section(site.say("goals"), bullets(unit.goals.in_(site.lang))),
        ]
    )


def material_page(site: Site, title: str, units: Iterable[Unit], page: str) -> str:
    """Several lessons on one page, each a level deeper."""
    parts = [f"# {title}"]
    for unit in units:
        text = lesson_page(site, unit, page) if unit.is_ready else planned_page(site, unit)
        parts.append(demoted(text))
    return joined(parts)


_FENCE = re.compile(r"\s*(```+|~~~+)")


def demoted(text: str) -> str:
    """Every heading a level deeper; marks inside code are none."""
    lines: list[str] = []
    fence = ""
    for line in text.splitlines():
        mark = _FENCE.match(line)
        if mark and not fence:
            fence = mark[1]
        elif mark and line.strip().startswith(fence):
            fence = ""
        elif not fence and re.match(r"#{1,5} ", line):
            line = f"#{line}"
        lines.append(line)
    return "\n".join(lines) + "\n"


def exercise_page(site: Site, exercise: Exercise, file: str) -> str:
    """README.md beside what the learner fills in."""
    task = exercise.task(site.lang).strip()
    name = file.rpartition("/")[2]
    grade, hint = f"`flashpath grade {exercise.id}`", f"`flashpath hint {exercise.id}`"
    said = {
        "en": f"Write into `{name}`, then: {grade}. Stuck: {hint}.",
        "zh": f"在 `{name}` 中作答，然后运行 {grade}；卡住了就用 {hint}。",
    }[site.lang]
    return f"{task}\n\n---\n\n{said}\n"
