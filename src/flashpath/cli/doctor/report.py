"""The checks as a table for people and as JSON for programs."""

from __future__ import annotations

import dataclasses
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from flashpath.cli.doctor import find
from flashpath.cli.doctor.check import Check
from flashpath.cli.output import print_table

_STYLE = {"ok": "green", "warn": "yellow", "missing": "dim"}


def verdict(groups: dict[str, list[Check]]) -> str:
    checks = [check for group in groups.values() for check in group]
    failed = [check.name for check in checks if check.failed]
    if failed:
        return f"Not ready: {', '.join(failed)}."
    gpu = next((check for check in checks if check.name == "GPU"), None)
    if gpu is not None and gpu.status == "missing":
        return "Ready to compile. There is no GPU here; what needs one says so."
    return "Ready."


def as_json(groups: dict[str, list[Check]]) -> dict[str, Any]:
    checks = [
        {"group": title, **dataclasses.asdict(check)} for title, group in groups.items() for check in group
    ]
    return {
        "flashpath": find.distribution("flashpath"),
        "ok": not any(check.failed for group in groups.values() for check in group),
        "verdict": verdict(groups),
        "checks": checks,
    }


def show(groups: dict[str, list[Check]], console: Console) -> None:
    # One width for all tables, so that their columns stand below each other.
    name_width = max(len(check.name) for group in groups.values() for check in group)
    for title, group in groups.items():
        console.print(Text(title, style="bold"))
        table = Table(box=None, show_header=False, pad_edge=False, padding=(0, 2, 0, 0))
        table.add_column(width=len("missing"))
        table.add_column(width=name_width)
        table.add_column(overflow="fold")
        for check in group:
            table.add_row(Text(check.status, style=_status_style(check)), Text(check.name), _details(check))
        print_table(console, table)
        console.print()
    mendable = [check for group in groups.values() for check in group if check.fix]
    if mendable:
        console.print(Text("To mend", style="bold"))
        for check in mendable:
            need = "required" if check.required else "optional"
            # Never wrapped: a command is there to be copied.
            console.print(Text(f"  # {check.name} ({need})", style="dim"), soft_wrap=True)
            console.print(Text(f"  {check.fix}"), soft_wrap=True)
        console.print()
    console.print(Text(verdict(groups), style="bold"))


def _status_style(check: Check) -> str:
    return "bold red" if check.failed else _STYLE[check.status]


def _details(check: Check) -> Text:
    text = Text(check.found)
    if check.status != "ok":
        text.append(f"\n{check.matters}", style="dim")
    return text
