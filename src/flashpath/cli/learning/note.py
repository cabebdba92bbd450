"""`flashpath note`: today's note, a week's, a source file's, the environment's, made from a template."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from flashpath.cli.options import AsJson, Lang
from flashpath.errors import FlashpathError

if TYPE_CHECKING:
    from flashpath.cli.learning.learner import Learner
    from flashpath.course.content import Task, Week

_NO_NAME = "/\\:"  # what separates folders, here or where the work folder is taken to


def note(
    source: Annotated[
        str | None, typer.Argument(help="A note on this source file; by default today's note.")
    ] = None,
    file: Annotated[str | None, typer.Option(help="The same: --file csrc/flash_attn/src/softmax.h.")] = None,
    week: Annotated[str | None, typer.Option(help="The note of this week of the track: 1, 7-8.")] = None,
    name: Annotated[str | None, typer.Option(help="The note that a task of the track names.")] = None,
    environment: Annotated[
        bool, typer.Option("--environment", help="What this machine has, filled in by doctor.")
    ] = False,
    edit: Annotated[
        bool, typer.Option("--edit/--no-edit", help="Open it in $VISUAL or $EDITOR, where one is set.")
    ] = True,
    listed: Annotated[bool, typer.Option("--list", help="List the notes that are there.")] = False,
    lang: Lang = None,
    as_json: AsJson = False,
) -> None:
    """Begin a note from its template in the work folder, and open it; one that is there is never overwritten.

    Examples:

        flashpath note

        flashpath note --week 1

        flashpath note csrc/flash_attn/src/flash_fwd_kernel.h

        flashpath note --environment

        flashpath note --name flash-attention-paper --no-edit
    """
    from flashpath.cli.learning.learner import learning
    from flashpath.cli.learning.notes import list_notes, place_of
    from flashpath.cli.output import print_json

    with learning(lang) as learner:
        if sum(each is not None for each in (source, file, week, name)) + environment > 1:
            raise FlashpathError(
                learner.say("One note at a time.", "一次只能写一篇笔记。"),
                learner.say(
                    "Give one of --file, --week, --name and --environment.",
                    "请在 --file、--week、--name、--environment 中选一个。",
                ),
            )
        root = learner.folder.root
        if listed:
            notes = list_notes(root)
            if as_json:
                print_json([{"path": str(path), "written": written} for path, written in notes])
            else:
                for path, written in notes:
                    typer.echo(f"{'☑' if written else '☐'} {learner.shown(path)}")
            return
        key, text = _chosen(learner, file or source, week, "environment" if environment else name)
        path = place_of(root, key, learner.folder.lang)
        is_new = not path.exists()
        if is_new:
            content = text()
            path.parent.mkdir(parents=True, exist_ok=True)
            try:
                with path.open("x", encoding="utf-8") as opened:  # never over one that is there
                    opened.write(content)
            except FileExistsError:
                is_new = False
    editor = os.environ.get("VISUAL") or os.environ.get("EDITOR")
    if as_json:
        print_json({"path": str(path), "new": is_new, "name": key})
        return
    typer.echo(learner.shown(path))
    if edit and editor and sys.stdin.isatty() and sys.stdout.isatty():
        _edit(learner, editor, path)


def _chosen(
    learner: Learner, file: str | None, week: str | None, name: str | None
) -> tuple[str, Callable[[], str]]:
    """The name of the note, and what it begins with where there is none yet."""
    if file is not None:
        return f"source-{_plain(learner, _flat(file), file)}", lambda: _source_file(learner, file)
    if name is not None and name.startswith("week-"):
        week = name.removeprefix("week-")
    if week is not None:
        found = _week(learner, week)
        return f"week-{week}", lambda: _weekly(learner, found)
    if name == "environment":
        return name, lambda: environment_note(learner.lang)
    if name is not None:
        return _plain(learner, name, name), lambda: _named(learner, name)
    return time.strftime("%Y-%m-%d"), lambda: _daily(learner)


def _plain(learner: Learner, name: str, given: str) -> str:
    """The name, if it is one: a note lies among the notes, never where its name leads to."""
    if name.strip() and name.isprintable() and not name.startswith(".") and not set(name) & set(_NO_NAME):
        return name
    raise FlashpathError(
        learner.say(f"{given!r} is no name for a note.", f"{given!r} 不能作为笔记的名字。"),
        learner.say(
            "Give a plain name, such as warp-shuffles: no slashes, and no dot at its beginning.",
            "请给出普通的名字，例如 warp-shuffles：不含斜杠，也不以点开头。",
        ),
    )


def _edit(learner: Learner, editor: str, path: Path) -> None:
    try:
        done = subprocess.run([*shlex.split(editor), str(path)], check=False)
    except (OSError, ValueError) as error:
        raise FlashpathError(
            learner.say(
                f"The editor {editor!r} cannot be started: {error}.", f"无法启动编辑器 {editor!r}：{error}。"
            ),
            learner.say("Set $EDITOR to one that is there.", "请把 $EDITOR 设为可用的编辑器。"),
        ) from None
    if done.returncode:
        raise typer.Exit(1)


# ---- What each begins with -----------------------------------------------------------------------------


def _daily(learner: Learner) -> str:
    from flashpath.course.notes import fill

    coming = learner.progress().next()
    place = ""
    if coming is not None:
        place = learner.say(f"Week {coming.week.number}", f"第 {coming.week.number} 周")
        if coming.day is not None:
            place += learner.say(f", day {coming.day.number}", f"，第 {coming.day.number} 天")
        place += f" · {(coming.day or coming.week).title.in_(learner.lang)}"
    return fill("daily", learner.lang, date=time.strftime("%Y-%m-%d"), place=place)


def _week(learner: Learner, number: str) -> Week:
    for each in learner.track.weeks:
        if each.number == number:
            return each
    numbers = ", ".join(each.number for each in learner.track.weeks)
    raise FlashpathError(
        learner.say(
            f"{learner.track.name} has no week {number!r}.", f"{learner.track.name} 没有第 {number} 周。"
        ),
        learner.say(f"It has {numbers}.", f"有：{numbers}。"),
    )


def _weekly(learner: Learner, week: Week) -> str:
    from flashpath.course.notes import fill

    listed = [f"- {each}" for each in (*week.goals.in_(learner.lang), *week.outputs.in_(learner.lang))]
    return fill(
        "weekly", learner.lang, week=week.number, title=week.title.in_(learner.lang), goals="\n".join(listed)
    )


def _source_file(learner: Learner, file: str) -> str:
    from flashpath.course.notes import fill

    path = Path(file).expanduser()
    return fill("source-file", learner.lang, name=path.name, path=file, version=_version(path))


def _version(path: Path) -> str:
    """The commit of the repository that the file lies in, where it lies in one."""
    if not path.exists():
        return "?"
    try:
        done = subprocess.run(
            ["git", "-C", str(path.parent), "describe", "--always", "--tags"],
            capture_output=True,
            text=True,
            check=False,
            timeout=10,
        )
    except (OSError, subprocess.TimeoutExpired):
        return "?"
    return done.stdout.strip() or "?"


def environment_note(lang: str) -> str:
    """The note on this machine, filled by what doctor finds."""
    from flashpath.cli.doctor import report
    from flashpath.cli.doctor.checks import run_checks
    from flashpath.course.notes import fill

    zh = lang == "zh"
    groups = run_checks()
    lines: list[str] = []
    for title, checks in groups.items():
        head = "| 项目 | 状态 | 检查结果 |" if zh else "| what | state | found |"
        lines += [f"### {title}", "", head, "|---|---|---|"]
        for check in checks:
            found = check.found.replace("|", "\\|").replace("\n", " ")
            lines.append(f"| {check.name} | {check.status} | {found} |")
        lines.append("")
    mendable = [check for checks in groups.values() for check in checks if check.fix]
    if mendable:
        lines += ["### 如何补齐" if zh else "### To mend", "", "```sh"]
        lines += [f"# {check.name}\n{check.fix}" for check in mendable]
        lines += ["```"]
    return fill(
        "environment",
        lang,
        date=time.strftime("%Y-%m-%d"),
        verdict=report.verdict(groups),
        checks="\n".join(lines).strip(),
    )


def _task(learner: Learner, name: str) -> Task | None:
    for _, _, task in learner.track.tasks():
        if task.done_by == f"note:{name}":
            return task
    return None


def _named(learner: Learner, name: str) -> str:
    from flashpath.course.notes import fill

    task = _task(learner, name)
    title = name.replace("-", " ").capitalize()
    what = f"> {task.do.in_(learner.lang)}" if task is not None else ""
    return fill("note", learner.lang, title=title, task=what)


def _flat(file: str) -> str:
    """A file's name, and its folder where that tells files of one name apart."""
    path = Path(file)
    parts = [part for part in path.parts[-2:] if part not in ("/", "..", ".", "~")]
    return "-".join(parts).replace(" ", "-")
