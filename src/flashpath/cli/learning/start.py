"""`flashpath start`: the work folder of a track, made or completed."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from flashpath.cli.options import AsJson, Lang

if TYPE_CHECKING:
    from flashpath.course.content import Course, Track
    from flashpath.course.workspace import Made


def start(
    track: Annotated[
        str | None, typer.Argument(help="cuda-triton-flash, …; without it, all are listed.")
    ] = None,
    into: Annotated[
        Path | None, typer.Option(help="The folder; by default one of the track's name here.")
    ] = None,
    lang: Lang = None,
    as_json: AsJson = False,
) -> None:
    """Begin a track: make a work folder with its plan, lessons, exercises and notes, as a git repository.

    Run again, it adds what is new and what is missing, and changes nothing that you wrote. Nothing is
    downloaded.

    Examples:

        flashpath start

        flashpath start cuda-triton-flash

        flashpath start flash-attention-source --lang zh --into 源码学习
    """
    from flashpath import settings
    from flashpath.cli.learning.note import environment_note
    from flashpath.course.content import load_course
    from flashpath.course.speech import speaking
    from flashpath.course.workspace import Workspace

    if track is None:
        _list(load_course(), settings.language(lang), as_json)
        return
    if lang is not None:
        lang = settings.language(lang)
    around = Workspace.around() if into is None else None
    with speaking(settings.language(lang)):
        found = load_course().track(track)  # says which there are
    if around is not None and around.track == found.name:
        into = around.root  # started again inside its own folder
    made = Workspace.create(track, into, lang, environment=environment_note)
    _remember(made)
    if as_json:
        _print_json(made)
    else:
        _tell(made)


# ---- The tracks ----------------------------------------------------------------------------------------


def _list(course: Course, lang: str, as_json: bool) -> None:
    from flashpath.cli.output import console, print_json

    if as_json:
        print_json([_facts(each, lang) for each in course.tracks])
        return
    from rich.text import Text

    from flashpath.course.workspace.words import stars

    out = console()
    for each in course.tracks:
        expected = " · ".join((*_expected(each, lang), stars(each.difficulty)))
        out.print(Text.assemble((each.name, "bold"), "  ", each.title.in_(lang)))
        out.print(Text(f"    {expected}"))
        if each.about is not None:
            out.print(Text(f"    {each.about.in_(lang)}"))
    how = {"en": "Begin one", "zh": "开始学习"}[lang]
    out.print(f"\n{how}: flashpath start {course.track_names[0]}", markup=False)


def _expected(track: Track, lang: str) -> list[str]:
    from flashpath.course.workspace.words import word

    count, of = (track.days_expected, "days") if track.days_expected else (track.weeks_expected, "weeks")
    found = [f"{count} {word(of, lang)}"] if count else []
    return [*found, f"{track.hours} {word('hours', lang)}"] if track.hours else found


def _facts(track: Track, lang: str) -> dict[str, object]:
    return {
        "name": track.name,
        "title": track.title.in_(lang),
        "about": track.about.in_(lang) if track.about else None,
        "weeks": track.weeks_expected,
        "days": track.days_expected,
        "hours": track.hours,
        "difficulty": track.difficulty,
        "units": list(track.units),
    }


# ---- What was made -------------------------------------------------------------------------------------


def _remember(made: Made) -> None:
    """Commands that are run elsewhere find the folder that was used last."""
    from flashpath.cli.failures import tell
    from flashpath.course.speech import speaking
    from flashpath.course.state import Store, StoreError

    try:
        with speaking(made.workspace.lang), Store() as store:
            store.set("work_folder", str(made.workspace.root))
            store.set("track", made.workspace.track)
            store.set("language", made.workspace.lang)
    except StoreError as error:  # the folder is there, and found from inside
        tell(f"warning: {error}")


def _print_json(made: Made) -> None:
    from flashpath.cli.output import print_json

    print_json(
        {
            "root": str(made.workspace.root),
            "track": made.workspace.track,
            "lang": made.workspace.lang,
            "is_new": made.is_new,
            "files": dict(made.counts),
            "kept": list(made.kept),
            "git": made.git,
            "git_said": made.git_said or None,
            "exercises": dict(made.workspace.marker.exercises),
            "notes": dict(made.workspace.marker.notes),
        }
    )


_SAID = {
    "made": ("Made {root}: {new} files.", "已创建 {root}：{new} 个文件。"),
    "completed": (
        "{root}: {new} files added, {updated} brought up to date, {same} as they were.",
        "{root}：新增 {new} 个文件，更新 {updated} 个，{same} 个未变。",
    ),
    "kept": (
        "{count} of yours left as they are, though there is something newer: {names}",
        "{count} 个你改过的文件保持原样（有更新的版本）：{names}",
    ),
    "begun": ("A git repository with a first commit is in it.", "已建立 git 仓库并做了第一次提交。"),
    "there": ("", ""),
    "inside": (
        "It lies in the git repository {said}, so it has none of its own.",
        "它位于 git 仓库 {said} 中，因此没有另建仓库。",
    ),
    "none": (
        "There is no git here, so no repository was made; everything else works.",
        "没有找到 git，因此没有建立仓库；其他功能不受影响。",
    ),
    "failed": (
        "git could not make the repository: {said}. Everything else works.",
        "git 未能建立仓库：{said}。其他功能不受影响。",
    ),
    "next": ("Next:", "下一步："),
}


def _tell(made: Made) -> None:
    lang = made.workspace.lang

    def say(key: str, **values: object) -> None:
        text = _SAID[key][lang == "zh"].format(**values)
        if text:
            typer.echo(text)

    counts = made.counts
    say(
        "made" if made.is_new else "completed",
        root=made.workspace.root,
        new=counts["new"],
        updated=counts["updated"],
        same=counts["same"],
    )
    if made.kept:
        shown = ", ".join(made.kept[:5]) + (" …" if len(made.kept) > 5 else "")
        say("kept", count=len(made.kept), names=shown)
    say(made.git, said=made.git_said)
    say("next")
    root = made.workspace.root
    if root != Path.cwd():
        typer.echo(f"  cd {_shown(root)}")
    typer.echo("  flashpath next")


def _shown(root: Path) -> str:
    """As it is typed after cd; letters of any language need no quotes."""
    here = Path.cwd()
    text = str(root.relative_to(here) if root.is_relative_to(here) else root)
    return text if re.fullmatch(r"[\w@%+=:,./-]+", text) else shlex.quote(text)
