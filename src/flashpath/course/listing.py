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
from flashpath.course.workspace.words import stars, titled, week_name, word

FILES = {"en": "courses.md", "zh": "courses.zh.md"}
_HEAD = {
    "en": (
        "The courses",
        "Four plans over the same units: what is learnt once counts in each. "
        "Made from `course/` by `make figures`. [中文](courses.zh.md)",
        "Begin one with `flashpath start TRACK`: it makes a work folder with the plan, lessons, exercises "
        "and templates for notes, and needs neither a GPU nor the network.",
    ),
    "zh": (
        "课程",
        "四条学习路线，共用同一批单元：学过一次，处处算数。"
        "本页由 `make figures` 从 `course/` 生成。[English](courses.md)",
        "用 `flashpath start 路线` 开始：它会建立学习目录，包含计划、讲义、练习和笔记模板，"
        "不需要 GPU，也不需要联网。",
    ),
}
_COLUMNS = {"en": ("week", "about", "units"), "zh": ("周", "主题", "单元")}
_UNITS = {"en": "The units", "zh": "单元"}


def page(course: Course, lang: str) -> str:
    """The whole page in one language."""
    title, about, how = _HEAD[lang]
    parts = [f"# {title}", about, how]
    for track in course.tracks:
        parts += _track(course, track, lang)
    parts.append(section(_UNITS[lang], [_unit_line(each, lang) for each in course.units]))
    return joined(parts)


def _track(course: Course, track: Track, lang: str) -> Iterator[str]:
    yield f"## {track.title.in_(lang)}"
    if track.about:
        yield track.about.in_(lang)
    count, of = (track.days_expected, "days") if track.days_expected else (track.weeks_expected, "weeks")
    facts = [f"`flashpath start {track.name}`", f"{count} {word(of, lang)}"]
    facts += [f"{track.hours} {word('hours', lang)}"] if track.hours else []
    yield " · ".join([*facts, f"{word('difficulty', lang)} {stars(track.difficulty)}"])
    rows = [f"| {' | '.join(_COLUMNS[lang])} |", "|---|---|---|"]
    rows += [_week_row(course, week, lang) for week in track.weeks]
    yield "\n".join(rows)
    yield section(word("prerequisites", lang), bullets(track.prerequisites.in_(lang)), 3)
    yield section(word("time", lang), bullets(track.time.in_(lang)), 3)
    yield section(word("assessment", lang), bullets(each.ask.in_(lang) for each in track.assessment), 3)
    yield section(
        word("corrections", lang),
        [
            f"- {', '.join(week_name(week, lang) for week in each.weeks)}{': ' if each.weeks else ''}"
            f"{each.text.in_(lang)}"
            for each in track.corrections
        ],
        3,
    )
    yield section(word("resources", lang), resource_lines(course, track.resources, lang), 3)


def _week_row(course: Course, week: Week, lang: str) -> str:
    units = ", ".join(_unit_link(course.unit(each), lang) for each in week.all_units)
    title = titled(week_name(week.number, lang), week.title.in_(lang), lang)
    return f"| {title} | {'; '.join(week.goals.in_(lang))} | {units} |"


def _unit_link(unit: Unit, lang: str) -> str:
    if not unit.is_ready:
        return unit.id
    return f"[{unit.id}](../course/units/{unit.id}/lesson.{lang}.md)"


def _unit_line(unit: Unit, lang: str) -> str:
    said = f"{unit.minutes} {word('minutes', lang)}" if unit.is_ready else f"*{word('planned-short', lang)}*"
    return f"- {_unit_link(unit, lang)} · {unit.title.in_(lang)} ({said})"


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
