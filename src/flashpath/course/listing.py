"""The page that lists the tracks for a reader on the web, made from `course/`.

    python -m flashpath.course.listing docs [--check]

writes courses.md and courses.zh.md into that folder; `--check` writes nothing, and fails where they differ.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from flashpath.course.content import Course, Track, Unit, Week, load_course
from flashpath.course.workspace.pages import bullets, joined, resource_lines, section
from flashpath.course.workspace.titles import expected, stars, week_name, week_title
from flashpath.messages import say, speaking

FILES = {"en": "courses.md", "zh": "courses.zh.md"}


def page(course: Course, lang: str) -> str:
    """The whole page in one language."""
    with speaking(lang):
        parts = ["# " + say("course.listing"), say("course.listing-about"), say("course.listing-how")]
        for track in course.tracks:
            parts += _track(course, track, lang)
        units = [_unit_line(each, lang) for each in course.units]
        return joined([*parts, section(say("course.listing-units"), units)])


def _track(course: Course, track: Track, lang: str) -> Iterator[str]:
    yield f"## {track.title.in_(lang)}"
    if track.about:
        yield track.about.in_(lang)
    difficulty = say("course.workspace.difficulty", stars=stars(track.difficulty))
    yield " · ".join([f"`flashpath start {track.name}`", *expected(track), difficulty])
    rows = [say("course.listing-columns"), "|---|---|---|"]
    rows += [_week_row(course, week, lang) for week in track.weeks]
    yield "\n".join(rows)
    yield section(say("course.workspace.prerequisites"), bullets(track.prerequisites.in_(lang)), 3)
    yield section(say("course.workspace.time"), bullets(track.time.in_(lang)), 3)
    yield section(
        say("course.workspace.assessment"), bullets(each.ask.in_(lang) for each in track.assessment), 3
    )
    yield section(
        say("course.workspace.corrections"),
        [
            f"- {', '.join(week_name(week) for week in each.weeks)}{': ' if each.weeks else ''}"
            f"{each.text.in_(lang)}"
            for each in track.corrections
        ],
        3,
    )
    yield section(say("course.workspace.resources"), resource_lines(course, track.resources, lang), 3)


def _week_row(course: Course, week: Week, lang: str) -> str:
    units = ", ".join(_unit_link(course.unit(each), lang) for each in week.all_units)
    title = week_title(week)
    return f"| {title} | {'; '.join(week.goals.in_(lang))} | {units} |"


def _unit_link(unit: Unit, lang: str) -> str:
    if not unit.is_ready:
        return unit.id
    return f"[{unit.id}](../course/units/{unit.id}/lesson.{lang}.md)"


def _unit_line(unit: Unit, lang: str) -> str:
    state = "*" + say("course.workspace.planned-short") + "*"
    if unit.is_ready:
        state = say("course.workspace.minutes", count=unit.minutes)
    return f"- {_unit_link(unit, lang)} · {unit.title.in_(lang)} ({state})"


def main(words: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m flashpath.course.listing", description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--check", action="store_true")
    arguments = parser.parse_args(words)
    course = load_course()
    stale: list[str] = []
    for lang, name in FILES.items():
        file: Path = arguments.folder / name
        text = page(course, lang)
        if file.is_file() and file.read_text(encoding="utf-8") == text:
            continue
        stale.append(os.fspath(file))
        if not arguments.check:
            file.write_text(text, encoding="utf-8")
    if stale and arguments.check:
        print(
            f"{', '.join(stale)}: not what course/ says now; `make figures` writes it anew.", file=sys.stderr
        )
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
