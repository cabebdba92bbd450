"""`flashpath resources`: books, papers, documents, courses and communities, all or those of a week."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Annotated, Any

import typer

from flashpath.cli import options

if TYPE_CHECKING:
    from flashpath.course.content import Course, Resource, ResourceUse, Track, Week

_KINDS = {
    "book": ("Books", "书籍"),
    "paper": ("Papers", "论文"),
    "document": ("Documents", "文档"),
    "course": ("Courses", "课程"),
    "community": ("Communities", "社区"),
    "repository": ("Repositories", "代码仓库"),
    "talk": ("Talks", "演讲"),
    "tool": ("Tools", "工具"),
}


def resources(
    track: Annotated[str | None, typer.Option(help="Those of a track, week by week.")] = None,
    week: Annotated[
        str | None, typer.Option(help="Those of one week: 1, or 7-8; of the work folder's track, or --track.")
    ] = None,
    lang: options.Lang = None,
    as_json: options.AsJson = False,
) -> None:
    """List what there is to read and watch, and where people meet.

    Examples:

        flashpath resources

        flashpath resources --track cuda-triton-flash --week 1
    """
    from flashpath.cli.learning.learner import learning
    from flashpath.errors import FlashpathError

    with learning(lang) as learner:
        course = learner.course
        if track is None and week is None:
            _show_all(course, learner.lang, as_json)
            return
        name = track or (learner.workspace.track if learner.workspace is not None else None)
        if name is None:
            raise FlashpathError(
                f"--week {week} is of which track?", f"Add --track, one of {', '.join(course.track_names)}."
            )
        _show_weeks(course, _weeks(course.track(name), week), learner.lang, as_json)


def _weeks(track: Track, wanted: str | None) -> list[Week]:
    from flashpath.course.content import UnknownName

    if wanted is None:
        return list(track.weeks)
    weeks = [each for each in track.weeks if wanted in _numbers(each.number)]
    if not weeks:
        raise UnknownName(f"week in {track.name}", wanted, [each.number for each in track.weeks])
    return weeks


def _numbers(number: str) -> list[str]:
    """What a week is called: "7-8" is also 7 and 8."""
    first, dash, last = number.partition("-")
    if dash and first.isdecimal() and last.isdecimal():
        return [number, *(str(each) for each in range(int(first), int(last) + 1))]
    return [number]


def _show_all(course: Course, lang: str, as_json: bool) -> None:
    from flashpath.cli.learning.markdown import print_markdown
    from flashpath.cli.output import print_json
    from flashpath.course.content.directives import resource_line

    every = list(course.resources.values())
    if as_json:
        print_json([_facts(each, lang) for each in every])
        return
    texts: list[str] = []
    for kind, names in _KINDS.items():
        of_kind = [each for each in every if each.kind == kind]
        if of_kind:
            lines = [f"- {resource_line(each, lang)}" for each in of_kind]
            texts.append("\n".join([f"## {names[lang == 'zh']}", "", *lines, ""]))
    print_markdown("\n".join(texts))


def _show_weeks(course: Course, weeks: list[Week], lang: str, as_json: bool) -> None:
    from flashpath.cli.learning.markdown import print_markdown
    from flashpath.cli.output import print_json
    from flashpath.course.content.directives import resource_line

    if as_json:
        print_json(
            [
                {
                    "week": each.number,
                    "title": each.title.in_(lang),
                    "resources": [
                        {**_facts(course.resource(use.key), lang), "part": use.part} for use in _uses(each)
                    ],
                }
                for each in weeks
            ]
        )
        return
    texts: list[str] = []
    for each in weeks:
        name = f"第 {each.number} 周" if lang == "zh" else f"Week {each.number}"
        lines: list[str] = []
        for use in _uses(each):
            part = f" **{use.part}**" if use.part else ""
            lines.append(f"- {resource_line(course.resource(use.key), lang)}{part}")
        none = "没有指定资料。" if lang == "zh" else "None are named."
        texts.append("\n".join([f"## {name}: {each.title.in_(lang)}", "", *(lines or [none]), ""]))
    print_markdown("\n".join(texts))


def _uses(week: Week) -> list[ResourceUse]:
    """The week's own and its days', each once."""
    return list(dict.fromkeys((*week.resources, *(use for day in week.days for use in day.resources))))


def _facts(resource: Resource, lang: str) -> dict[str, Any]:
    facts = dataclasses.asdict(resource)
    facts["title"] = resource.title.in_(lang)
    facts["note"] = resource.note.in_(lang) if resource.note else None
    return facts
