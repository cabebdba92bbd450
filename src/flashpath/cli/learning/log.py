"""`flashpath log`: problems, their solutions, and what was learnt from them."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING, Annotated

import typer

from flashpath import settings
from flashpath.cli.options import AsJson, Lang
from flashpath.errors import FlashpathError
from flashpath.messages import say

if TYPE_CHECKING:
    from flashpath.course.learner import Learner
    from flashpath.course.state import LogEntry


def log(
    problem: Annotated[str | None, typer.Argument(help=say("cli.learning.log-problem-option"))] = None,
    solution: Annotated[str | None, typer.Option(help=say("cli.learning.log-solution-option"))] = None,
    learnt: Annotated[str | None, typer.Option(help=say("cli.learning.log-learnt-option"))] = None,
    kernel: Annotated[str | None, typer.Option(help=say("cli.learning.log-kernel-option"))] = None,
    list_all: Annotated[bool, typer.Option("--list", help=say("cli.learning.log-list-option"))] = False,
    lang: Lang = None,
    as_json: AsJson = False,
) -> None:
    """Keeps a learning log: a problem, its solution, what was learnt, and the kernel that it is about."""
    from flashpath.cli.learning.opening import learning
    from flashpath.cli.output import print_json

    with learning(lang) as learner:
        if list_all:
            entries = learner.store.log()
            if as_json:
                print_json(entries)
            else:
                _show(entries)
            return
        if problem is None:
            problem, solution, learnt, kernel = _ask(solution, learnt, kernel)
        if not problem.strip():
            raise FlashpathError("cli.learning.log-problem-empty")
        number = learner.store.add_log(
            problem.strip(),
            solution=(solution or "").strip(),
            learnt=(learnt or "").strip(),
            kernel=_kernel(learner, kernel),
        )
        if as_json:
            print_json(learner.store.log()[-1])
        else:
            typer.echo(say("cli.learning.log-kept", number=number))


def _ask(
    solution: str | None, learnt: str | None, kernel: str | None
) -> tuple[str, str | None, str | None, str | None]:
    if not sys.stdin.isatty():
        raise FlashpathError("cli.learning.log-nobody-to-ask")

    def asked(question: str) -> str:
        return typer.prompt(question, default="", show_default=False)

    problem = asked(say("cli.learning.log-problem"))
    # What is not known yet may be left empty; it is one entry, kept when all was asked.
    solution = solution or asked(say("cli.learning.log-solution"))
    learnt = learnt or asked(say("cli.learning.log-learnt"))
    kernel = kernel or asked(say("cli.learning.log-file"))
    return problem, solution, learnt, kernel


def _kernel(learner: Learner, kernel: str | None) -> str:
    """The path as seen from the work folder, so that the folder may be moved; another path as it is."""
    if not kernel:
        return ""
    path = settings.expanded(kernel)
    if not path.exists():
        raise FlashpathError("cli.learning.log-no-file", file=kernel)
    path = path.resolve()
    if learner.workspace is not None and path.is_relative_to(learner.workspace.root.resolve()):
        return path.relative_to(learner.workspace.root.resolve()).as_posix()
    return str(path)


def _show(entries: tuple[LogEntry, ...]) -> None:
    from rich.text import Text

    from flashpath.cli.output import console

    out = console()
    if not entries:
        out.print(say("cli.learning.log-empty"), markup=False)
    for entry in entries:
        day = time.strftime("%Y-%m-%d %H:%M", time.localtime(entry.at))
        out.print(Text() + Text(f"{entry.id}  {day}  ", style="dim") + Text(entry.problem, style="bold"))
        for name, text in (
            (say("cli.learning.log-entry-solution"), entry.solution),
            (say("cli.learning.log-entry-learnt"), entry.learnt),
            (say("cli.learning.log-entry-file"), entry.kernel),
        ):
            if text:
                out.print(Text() + Text(f"   {name}: ", style="dim") + Text(text))
