"""`flashpath note`: today's note, a week's, a source file's, the environment's, made from a template."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
import time
from pathlib import Path
from typing import Annotated

import typer

from flashpath.cli.options import AsJson, Lang
from flashpath.errors import FlashpathError
from flashpath.messages import say, speaking


def note(
    source: Annotated[str | None, typer.Argument(help=say("cli.learning.note-source"))] = None,
    file: Annotated[str | None, typer.Option(help=say("cli.learning.note-file"))] = None,
    week: Annotated[str | None, typer.Option(help=say("cli.learning.note-week"))] = None,
    name: Annotated[str | None, typer.Option(help=say("cli.learning.note-name"))] = None,
    environment: Annotated[
        bool, typer.Option("--environment", help=say("cli.learning.note-environment"))
    ] = False,
    edit: Annotated[bool, typer.Option("--edit/--no-edit", help=say("cli.learning.note-edit"))] = True,
    listed: Annotated[bool, typer.Option("--list", help=say("cli.learning.note-list"))] = False,
    lang: Lang = None,
    as_json: AsJson = False,
) -> None:
    """Begins a note from its template in the work folder, and opens it; never over one that is there."""
    from flashpath.cli.learning.opening import learning
    from flashpath.cli.output import print_json
    from flashpath.course.learner.new_note import begin_note
    from flashpath.course.learner.notes import list_notes

    with learning(lang) as learner:
        if sum(given is not None for given in (source, file, week, name)) + environment > 1:
            raise FlashpathError("cli.learning.note-one")
        if listed:
            notes = list_notes(learner.folder)
            if as_json:
                print_json([{"path": str(path), "written": written} for path, written in notes])
            else:
                for path, written in notes:
                    typer.echo(f"{'☑' if written else '☐'} {learner.shown(path)}")
            return
        key, path, is_new = begin_note(
            learner,
            environment_note,
            file=file or source,
            week=week,
            name="environment" if environment else name,
        )
        if as_json:
            print_json({"path": str(path), "new": is_new, "name": key})
            return
        typer.echo(learner.shown(path))
        editor = os.environ.get("VISUAL") or os.environ.get("EDITOR")
        if edit and editor and sys.stdin.isatty() and sys.stdout.isatty():
            _edit(editor, path)


def _edit(editor: str, path: Path) -> None:
    try:
        done = subprocess.run([*shlex.split(editor), str(path)], check=False)
    except (OSError, ValueError) as error:
        raise FlashpathError("cli.learning.note-editor", editor=editor, error=error) from None
    if done.returncode:
        raise typer.Exit(1)


def environment_note(lang: str) -> str:
    """Returns the note on this machine, filled by what doctor finds."""
    from flashpath.cli.doctor import report
    from flashpath.cli.doctor.checks import run_checks
    from flashpath.course.learner.note_templates import fill

    with speaking(lang):
        groups = run_checks()
        lines: list[str] = []
        for title, checks in groups.items():
            lines += [f"### {title}", "", say("cli.learning.note-checks"), "|---|---|---|"]
            for check in checks:
                found = str(check.found).replace("|", "\\|").replace("\n", " ")
                lines.append(f"| {check.name} | {check.status} | {found} |")
            lines.append("")
        mendable = [check for checks in groups.values() for check in checks if check.fix]
        if mendable:
            lines += ["### " + say("cli.learning.note-mend"), "", "```sh"]
            lines += [f"# {check.name}\n{check.fix}" for check in mendable]
            lines += ["```"]
        verdict = report.verdict(groups)
    today = time.strftime("%Y-%m-%d")
    return fill("environment", lang, date=today, verdict=str(verdict), checks="\n".join(lines).strip())
