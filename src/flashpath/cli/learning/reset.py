"""`flashpath reset`: begin an exercise anew; the old version is kept."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from flashpath.cli.options import AsJson, Lang
from flashpath.errors import FlashpathError

if TYPE_CHECKING:
    from flashpath.cli.learning.learner import Learner
    from flashpath.course.content import Exercise


def reset(
    exercise: Annotated[str, typer.Argument(help="first-kernel/saxpy, or its file.")],
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    bring_back: Annotated[
        bool, typer.Option("--bring-back", help="Undo: write what the last reset replaced.")
    ] = False,
    lang: Lang = None,
    as_json: AsJson = False,
) -> None:
    """Put the exercise's file back to its beginning. What you wrote is kept: --bring-back writes it again.

    Examples:

        flashpath reset first-kernel/saxpy

        flashpath reset first-kernel/saxpy --yes

        flashpath reset first-kernel/saxpy --bring-back
    """
    from flashpath.cli.learning.learner import learning
    from flashpath.cli.output import print_json

    with learning(lang) as learner:
        found, path = learner.find(exercise)
        if bring_back:
            kept = learner.store.kept_files(found.id)
            text = learner.store.text_of(kept[-1].submission) if kept else None
            if text is None:
                raise FlashpathError(learner.say(f"{found.id} was never reset.", f"{found.id} 从未重置过。"))
        else:
            question = learner.say(
                f"Put {learner.shown(path)} back to its beginning? What you wrote is kept.",
                f"把 {learner.shown(path)} 恢复到最初？你写的内容会保留。",
            )
            if path.exists() and not yes and not typer.confirm(question, err=True):
                raise typer.Exit(1)
            text = None
        put_back(learner, found, path, text)
        if as_json:
            print_json({"exercise": found.id, "path": str(path), "brought_back": bring_back})
            return
        shown = learner.shown(path)
        if bring_back:
            typer.echo(learner.say(f"{shown} is as it was before the reset.", f"{shown} 已恢复到重置之前。"))
        else:
            typer.echo(learner.say(f"{shown} is as it was at first.", f"{shown} 已恢复到最初。"))


def put_back(learner: Learner, exercise: Exercise, path: Path, text: str | None = None) -> None:
    """Write the beginning, or `text`, in place of what is there, which is kept first."""
    from flashpath.course.workspace.beginnings import beginning

    new = beginning(exercise, learner.lang) if text is None else text
    if path.exists():
        old = path.read_text(encoding="utf-8", errors="surrogateescape")
        if old == new:
            return
        learner.store.keep_file(exercise.id, path, old)
    write_whole(path, new)


def write_whole(path: Path, text: str) -> None:
    """The file is the old one or the new one at every moment, never half of it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "w", encoding="utf-8", errors="surrogateescape") as file:
            file.write(text)
        mode = path.stat().st_mode & 0o777 if path.exists() else 0o644
        Path(name).chmod(mode)
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
