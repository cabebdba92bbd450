"""`flashpath resources`: what there is to read and watch, all of it or a week's; and papers fetched."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Annotated, Any

import typer

from flashpath.cli import options
from flashpath.course.workspace.titles import week_title
from flashpath.messages import did_you_mean, say

if TYPE_CHECKING:
    from flashpath.course.content import Course, Resource, ResourceUse, Track, Week
    from flashpath.course.learner import Learner

_KINDS = {
    "book": "cli.learning.resources-books",
    "paper": "cli.learning.resources-papers",
    "document": "cli.learning.resources-documents",
    "course": "cli.learning.resources-courses",
    "community": "cli.learning.resources-communities",
    "repository": "cli.learning.resources-repositories",
    "talk": "cli.learning.resources-talks",
    "tool": "cli.learning.resources-tools",
}


def resources(
    track: Annotated[str | None, typer.Option(help=say("cli.learning.resources-track"))] = None,
    week: Annotated[str | None, typer.Option(help=say("cli.learning.resources-week"))] = None,
    fetch: Annotated[bool, typer.Option("--fetch", help=say("cli.learning.resources-fetch"))] = False,
    lang: options.Lang = None,
    as_json: options.AsJson = False,
) -> None:
    """Lists what there is to read and watch, and where people meet; fetches papers."""
    from flashpath.cli.learning.opening import learning
    from flashpath.errors import FlashpathError

    with learning(lang, must_keep=False, must_show=False) as learner:
        course = learner.course
        if fetch:
            weeks = _weeks(course.track(track or learner.folder.track), week)
            if not _fetch(learner, weeks, as_json):
                raise typer.Exit(1)
            return
        if track is None and week is None:
            _show_all(course, learner.lang, as_json)
            return
        name = track or (learner.workspace.track if learner.workspace is not None else None)
        if name is None:
            raise FlashpathError("cli.learning.resources-which-track", week=week, names=course.track_names)
        _show_weeks(course, _weeks(course.track(name), week), learner.lang, as_json)


def _fetch(learner: Learner, weeks: list[Week], as_json: bool) -> bool:
    """Saves the papers of the weeks; returns whether all of them are there now."""
    from rich.text import Text

    from flashpath.cli.failures import warn
    from flashpath.cli.output import console, print_json
    from flashpath.course.learner.papers import fetch_papers

    keys = dict.fromkeys(use.key for week in weeks for use in _uses(week))
    papers = [paper for paper in map(learner.course.resource, keys) if paper.kind == "paper"]
    fetched = fetch_papers(learner.folder, papers)
    if as_json:
        print_json(
            [
                {
                    "paper": each.key,
                    "path": str(each.path),
                    "is_there": each.problem is None,
                    "problem": each.problem and each.problem.problem,
                }
                for each in fetched
            ]
        )
        return all(each.problem is None for each in fetched)
    for each in fetched:
        if each.problem is not None:
            warn(each.problem)
            continue
        code = "cli.learning.resources-was-there" if each.was_there else "cli.learning.resources-fetched"
        console().print(Text(say(code, path=learner.shown(each.path))))
    if not fetched:
        console().print(say("cli.learning.resources-no-papers"))
    return all(each.problem is None for each in fetched)


def _weeks(track: Track, wanted: str | None) -> list[Week]:
    from flashpath.course.content import UnknownName

    if wanted is None:
        return list(track.weeks)
    weeks = [each for each in track.weeks if wanted in _numbers(each.number)]
    if not weeks:
        numbers = [week.number for week in track.weeks]
        raise UnknownName(
            "course.content.unknown-week", track=track.name, name=wanted, advice=did_you_mean(wanted, numbers)
        )
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
    for kind, title in _KINDS.items():
        of_kind = [each for each in every if each.kind == kind]
        if of_kind:
            lines = [f"- {resource_line(each, lang)}" for each in of_kind]
            texts.append("\n".join([f"## {say(title)}", "", *lines, ""]))
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
        lines: list[str] = []
        for use in _uses(each):
            part = f" **{use.part}**" if use.part else ""
            lines.append(f"- {resource_line(course.resource(use.key), lang)}{part}")
        texts.append(
            "\n".join([f"## {week_title(each)}", "", *(lines or [say("cli.learning.resources-none")]), ""])
        )
    print_markdown("\n".join(texts))


def _uses(week: Week) -> list[ResourceUse]:
    """The week's own and its days', each once."""
    return list(dict.fromkeys((*week.resources, *(use for day in week.days for use in day.resources))))


def _facts(resource: Resource, lang: str) -> dict[str, Any]:
    facts = dataclasses.asdict(resource)
    facts["title"] = resource.title.in_(lang)
    facts["note"] = resource.note.in_(lang) if resource.note else None
    return facts
