"""`flashpath start`: the work folder of a track, made or completed."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from flashpath.cli.options import AsJson, Lang
from flashpath.messages import say, speaking

if TYPE_CHECKING:
    from flashpath.course.content import Course, Track
    from flashpath.course.workspace import Made


def start(
    track: Annotated[str | None, typer.Argument(help=say("cli.learning.start-track"))] = None,
    folder: Annotated[Path | None, typer.Argument(help=say("cli.learning.start-into"))] = None,
    into: Annotated[Path | None, typer.Option(help=say("cli.learning.start-into-too"))] = None,
    lang: Lang = None,
    as_json: AsJson = False,
) -> None:
    """Makes the work folder of a track, or completes it."""
    from flashpath import settings
    from flashpath.cli.learning.note import environment_note
    from flashpath.course.content import load_course
    from flashpath.course.workspace import Workspace
    from flashpath.errors import FlashpathError

    if folder is not None and into is not None:
        raise FlashpathError("cli.learning.start-two-folders", folder=folder, into=into)
    into = into if folder is None else folder
    if track is None:
        with speaking(settings.language(lang)):
            _list(load_course(), settings.language(lang), as_json)
        return
    if lang is not None:
        lang = settings.language(lang)
    around = Workspace.around() if into is None else None
    with speaking(settings.language(lang)):
        course = load_course()
        found = course.track(track)  # says which there are
        if str(folder) in course.track_names and str(folder) != found.name:
            raise FlashpathError("cli.learning.start-two-tracks", track=found.name, other=str(folder))
    if around is not None and around.track == found.name:
        into = around.root  # started again inside its own folder
    made = Workspace.create(track, into, lang, environment=environment_note)
    with speaking(made.workspace.lang):
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

    from flashpath.course.workspace.titles import expected, stars

    out = console()
    for each in course.tracks:
        takes = " · ".join((*expected(each), stars(each.difficulty)))
        out.print(Text.assemble((each.name, "bold"), "  ", each.title.in_(lang)))
        out.print(Text(f"    {takes}"))
        if each.about is not None:
            out.print(Text(f"    {each.about.in_(lang)}"))
    out.print("\n" + say("cli.learning.start-how", track=course.track_names[0]), markup=False)


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
    """Lets commands that are run elsewhere find the folder that was used last."""
    from flashpath.cli.failures import warn
    from flashpath.course.learner.learner import remember
    from flashpath.course.state import Store, StoreError

    try:
        with Store() as store:
            remember(store, made.workspace)
    except StoreError as error:  # the folder is there, and found from inside
        warn(error)


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
            "git_said": str(made.git_said) or None,
            "exercises": dict(made.workspace.marker.exercises),
            "notes": dict(made.workspace.marker.notes),
        }
    )


_GIT = {
    "begun": "cli.learning.start-git-begun",
    "inside": "cli.learning.start-git-inside",
    "none": "cli.learning.start-git-none",
    "failed": "cli.learning.start-git-failed",
}


def _tell(made: Made) -> None:
    counts, root = made.counts, made.workspace.root
    code = "cli.learning.start-made" if made.is_new else "cli.learning.start-completed"
    typer.echo(say(code, root=root, new=counts["new"], updated=counts["updated"], same=counts["same"]))
    if made.kept:
        names = ", ".join(made.kept[:5]) + (" …" if len(made.kept) > 5 else "")
        typer.echo(say("cli.learning.start-kept", count=len(made.kept), names=names))
    if made.git in _GIT:
        typer.echo(say(_GIT[made.git], said=made.git_said))
    typer.echo(say("cli.learning.start-next"))
    if root != Path.cwd():
        typer.echo(f"  cd {_shown(root)}")
    typer.echo("  flashpath next")


def _shown(root: Path) -> str:
    """As it is typed after cd; letters of any language need no quotes."""
    here = Path.cwd()
    text = str(root.relative_to(here) if root.is_relative_to(here) else root)
    return text if re.fullmatch(r"[\w@%+=:,./-]+", text) else shlex.quote(text)
