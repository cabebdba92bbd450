"""The checks as a table for people and as JSON for programs."""

from __future__ import annotations

import dataclasses
from typing import Any

from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

from flashpath.cli.doctor import find
from flashpath.cli.doctor.check import Check
from flashpath.cli.output import print_table
from flashpath.messages import say

_STYLE = {"ok": "green", "warn": "yellow", "missing": "dim"}
# What is a word, and no product's name, is shown in the language; programs read the name itself.
_SHOWN = {
    "ok": "cli.doctor.status-ok",
    "warn": "cli.doctor.status-warn",
    "missing": "cli.doctor.status-missing",
    "Compilers": "cli.doctor.group-compilers",
    "Tools": "cli.doctor.group-tools",
    "This machine": "cli.panel-machine",
    "CUDA headers": "cli.doctor.name-headers",
    "C++ compiler": "cli.doctor.name-compiler",
    "NVIDIA driver": "cli.doctor.name-driver",
    "Disassembler": "cli.doctor.name-disassembler",
    "Engine": "cli.doctor.name-engine",
    "Vector extensions": "cli.doctor.name-vector",
    "Disk": "cli.doctor.name-disk",
    "Sandbox": "cli.doctor.name-sandbox",
    "Environment": "cli.doctor.name-environment",
}


def shown(name: str) -> str:
    """Returns the name of a check, a group or a status as a person reads it."""
    return say(_SHOWN[name]) if name in _SHOWN else name


def verdict(groups: dict[str, list[Check]]) -> str:
    checks = [check for group in groups.values() for check in group]
    failed = [check.name for check in checks if check.failed]
    if failed:
        return say("cli.doctor.not-ready", names=[shown(name) for name in failed])
    gpu = next((check for check in checks if check.name == "GPU"), None)
    if gpu is not None and gpu.status == "missing":
        return say("cli.doctor.ready-without-gpu")
    return say("cli.doctor.ready")


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


def sights(groups: dict[str, list[Check]]) -> set[str]:
    """What a track's tasks may ask for; without a GPU flashpath's own function stands for flash-attn's."""
    fine = {check.name for group in groups.values() for check in group if check.status == "ok"}
    found = {name for name, check in (("toolkit", "NVRTC"), ("torch", "torch")) if check in fine}
    if "flash-attn" in fine or ("GPU" not in fine and "Engine" in fine):
        found.add("flash-attn")
    return found


def show(groups: dict[str, list[Check]], console: Console) -> None:
    # One width for all tables, so that their columns stand below each other.
    name_width = max(cell_len(shown(check.name)) for group in groups.values() for check in group)
    for title, group in groups.items():
        console.print(Text(shown(title), style="bold"))
        table = Table(box=None, show_header=False, pad_edge=False, padding=(0, 2, 0, 0))
        table.add_column(width=max(cell_len(shown(status)) for status in _STYLE))
        table.add_column(width=name_width)
        table.add_column(overflow="fold")
        for check in group:
            table.add_row(
                Text(shown(check.status), style=_status_style(check)),
                Text(shown(check.name)),
                _details(check),
            )
        print_table(console, table)
        console.print()
    mendable = [check for group in groups.values() for check in group if check.fix]
    if mendable:
        console.print(Text(say("cli.doctor.to-mend"), style="bold"))
        for check in mendable:
            need = say("cli.doctor.required") if check.required else say("cli.doctor.optional")
            # Never wrapped: a command is there to be copied.
            console.print(Text(f"  # {shown(check.name)} ({need})", style="dim"), soft_wrap=True)
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
