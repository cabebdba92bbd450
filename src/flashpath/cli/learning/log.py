"""`flashpath log`: problems, their solutions, and what was learnt from them."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from flashpath.cli.options import AsJson, Lang
from flashpath.errors import FlashpathError

if TYPE_CHECKING:
    from flashpath.cli.learning.learner import Learner
    from flashpath.course.state import LogEntry


def log(
    problem: Annotated[str | None, typer.Argument(help="What happened; without it, you are asked.")] = None,
    solution: Annotated[str | None, typer.Option(help="What solved it.")] = None,
    learnt: Annotated[str | None, typer.Option(help="What you learnt.")] = None,
    kernel: Annotated[str | None, typer.Option(help="The file that it is about.")] = None,
    list_all: Annotated[bool, typer.Option("--list", help="Show what was written so far.")] = False,
    lang: Lang = None,
    as_json: AsJson = False,
) -> None:
    """Keep a learning log: a problem, its solution, what was learnt, and the kernel that it is about.

    Examples:

        flashpath log "wrong sums for n = 33" --solution "guard the tail" --learnt "the last warp is not full"

        flashpath log "race in the reduction" --kernel exercises/reduction/shared.cu

        flashpath log

        flashpath log --list
    """
    from flashpath.cli.learning.learner import learning
    from flashpath.cli.output import print_json

    with learning(lang) as learner:
        if list_all:
            entries = learner.store.log()
            if as_json:
                print_json(entries)
            else:
                _show(learner, entries)
            return
        if problem is None:
            problem, solution, learnt, kernel = _ask(learner, solution, learnt, kernel)
        if not problem.strip():
            raise FlashpathError(
                learner.say("The problem is empty.", "问题是空的。"),
                learner.say('Write it: flashpath log "…"', '请写上：flashpath log "…"'),
            )
        number = learner.store.add_log(
            problem.strip(),
            solution=(solution or "").strip(),
            learnt=(learnt or "").strip(),
            kernel=_kernel(learner, kernel),
        )
        if as_json:
            print_json(learner.store.log()[-1])
        else:
            typer.echo(learner.say(f"Kept as entry {number}.", f"已保存为第 {number} 条。"))


def _ask(
    learner: Learner, solution: str | None, learnt: str | None, kernel: str | None
) -> tuple[str, str | None, str | None, str | None]:
    if not sys.stdin.isatty():
        raise FlashpathError(
            learner.say("There is no problem to keep, and nobody to ask.", "没有给出问题，也无法询问。"),
            'flashpath log "…" --solution "…" --learnt "…" --kernel FILE',
        )

    def asked(en: str, zh: str) -> str:
        return typer.prompt(learner.say(en, zh), default="", show_default=False)

    problem = asked("What was the problem", "遇到了什么问题")
    # What is not known yet may be left empty; it is one entry, kept when all was asked.
    solution = solution or asked("What solved it (Enter: not solved yet)", "怎样解决的（回车：尚未解决）")
    learnt = learnt or asked("What did you learn", "学到了什么")
    kernel = kernel or asked("Which file is it about (Enter: none)", "与哪个文件有关（回车：无）")
    return problem, solution, learnt, kernel


def _kernel(learner: Learner, kernel: str | None) -> str:
    """The path as seen from the work folder, so that the folder may be moved; another path as it is."""
    if not kernel:
        return ""
    path = Path(kernel).expanduser()
    if not path.exists():
        raise FlashpathError(
            learner.say(f"There is no file {kernel}.", f"找不到文件 {kernel}。"),
            learner.say(
                "Give the path of a file, or leave --kernel out.", "请给出文件路径，或省略 --kernel。"
            ),
        )
    path = path.resolve()
    if learner.workspace is not None and path.is_relative_to(learner.workspace.root.resolve()):
        return path.relative_to(learner.workspace.root.resolve()).as_posix()
    return str(path)


def _show(learner: Learner, entries: tuple[LogEntry, ...]) -> None:
    from rich.text import Text

    from flashpath.cli.output import console

    out = console()
    if not entries:
        out.print(
            learner.say('Nothing yet. Begin: flashpath log "…"', '还没有记录。开始：flashpath log "…"'),
            markup=False,
        )
    for entry in entries:
        day = time.strftime("%Y-%m-%d %H:%M", time.localtime(entry.at))
        out.print(Text() + Text(f"{entry.id}  {day}  ", style="dim") + Text(entry.problem, style="bold"))
        for name, text in (
            (learner.say("solution", "解决"), entry.solution),
            (learner.say("learnt", "收获"), entry.learnt),
            (learner.say("kernel", "文件"), entry.kernel),
        ):
            if text:
                out.print(Text() + Text(f"   {name}: ", style="dim") + Text(text))
