"""How `flashpath sanitize` shows what was found: each finding with the lines of the source that it names."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.text import Text

from flashpath.messages import Message, say
from flashpath.vgpu.findings import action_said, without_notes
from flashpath.vgpu.host_findings import HostFinding, HostParty

if TYPE_CHECKING:
    from rich.console import Console

    from flashpath.vgpu.findings import Dim3, Finding

_NEAR = 1  # lines shown around one that is named
_WIDEST = 100  # columns of source


def show(
    out: Console,
    name: str,
    sources: Mapping[str, str],
    findings: Sequence[Finding | HostFinding],
    seeds: int,
) -> None:
    """All findings of a kernel or a program, or that there are none; `sources`: texts of files, if known."""
    schedules = Message("cli.sanitize-one-schedule")
    if seeds > 1:
        schedules = Message("cli.sanitize-schedules", {"count": seeds})
    if not findings:
        code = "cli.sanitize-nothing" if seeds > 1 else "cli.sanitize-nothing-yet"
        out.print(
            Text.assemble(("✓ ", "green"), Message(code, {"name": name, "schedules": schedules}).text())
        )
        return
    for number, finding in enumerate(findings, 1):
        for row in _rows(finding, number, sources):
            out.print(row, soft_wrap=True)
        out.print()
    out.print(
        Text.assemble(
            _counted(name, findings),
            say("cli.sanitize-under", schedules=schedules),
        )
    )


def _counted(name: str, findings: Sequence[Finding | HostFinding]) -> tuple[str, str]:
    """Says how many findings there are, and how many notes, which are none."""
    wrong = len(without_notes(findings))
    notes = len(findings) - wrong
    if not wrong:
        return say("cli.sanitize-notes", name=name, count=notes), "bold yellow"
    if not notes:
        return say("cli.sanitize-findings", name=name, count=wrong), "bold red"
    return say("cli.sanitize-findings-and-notes", name=name, count=wrong, notes=notes), "bold red"


def plain(finding: Finding | HostFinding) -> dict[str, Any]:
    """Returns a finding as JSON has it: with its sentence, and with the message as data."""
    made: dict[str, Any] = {field.name: getattr(finding, field.name) for field in dataclasses.fields(finding)}
    if isinstance(finding.other, HostParty):
        made["other"] = {"what": str(finding.other.what), "stack": finding.other.stack}
    return made | {"message": finding.message, "said": finding.said.as_data()}


def _rows(finding: Finding | HostFinding, number: int, sources: Mapping[str, str]) -> Iterable[Text]:
    headline = say("cli.sanitize-headline", what=finding.said)
    yield Text.assemble(f"{number}. ", (finding.kind, "bold red"), headline)
    often = [say("cli.sanitize-met", count=finding.count)] if finding.count > 1 else []
    often += [say("cli.sanitize-first-seed", seed=finding.seed)] if finding.seed else []
    if often:
        yield Text("   " + say("cli.list", items=often), "dim")
    notes: dict[tuple[str, int], list[str]] = {}
    told = _of_host(finding) if isinstance(finding, HostFinding) else _of_kernel(finding)
    for place, said in told:
        notes.setdefault(place, []).append(said)
    for file in dict.fromkeys(file for file, _ in notes):
        at = {line: said for (named, line), said in notes.items() if named == file}
        yield from _excerpt(file, at, sources)
    yield Text.assemble(("   → ", "cyan"), finding.advice.replace("`", ""))


_Notes = Iterable[tuple[tuple[str, int], str]]  # a file and a line, and what is said there


def _of_kernel(finding: Finding) -> _Notes:
    for party in [finding] if finding.other is None else [finding, finding.other]:
        said: str | Message = Message(
            "vgpu.thread-of-block", {"block": _point(party.block), "thread": _point(party.thread)}
        )
        if action := getattr(party, "action", ""):
            said = Message("cli.sanitize-did", {"action": action_said(action), "who": said})
        if party.library:
            said = Message("cli.sanitize-within", {"what": said, "library": party.library})
        yield (party.file, party.line), str(said)
    for depth, place in enumerate(finding.launched):
        file, _, line = place.rpartition(":")
        yield (file, int(line)), say("cli.sanitize-called") if depth else say("cli.sanitize-launched")


def _of_host(finding: HostFinding) -> _Notes:
    for depth, frame in enumerate(finding.stack):
        yield (frame.file, frame.line), say("cli.sanitize-called") if depth else say("cli.sanitize-here")
    if finding.other is not None:
        what = finding.other.what
        for depth, frame in enumerate(finding.other.stack):
            yield (frame.file, frame.line), say("cli.sanitize-also-called", what=what) if depth else str(what)


def _point(extent: Dim3) -> str:
    return f"({', '.join(map(str, extent))})"


def _excerpt(file: str, notes: dict[int, list[str]], sources: Mapping[str, str]) -> Iterable[Text]:
    """The named lines and their neighbours, each named one with who was there."""
    from rich.syntax import Syntax

    yield Text("   " + (file or say("cli.sanitize-no-line")), "dim")
    source = _source(file, sources)
    numbers = sorted(
        near for line in notes for near in range(line - _NEAR, line + _NEAR + 1) if 1 <= near <= len(source)
    )
    highlighter = Syntax("", "cuda", background_color="default")
    before = 0
    for number in dict.fromkeys(numbers):
        if before and number > before + 1:
            yield Text(f"{'⋮':>8}", "dim")
        before = number
        code = highlighter.highlight(source[number - 1].expandtabs(4).rstrip())
        code.rstrip()
        code.truncate(_WIDEST, overflow="ellipsis")
        row = Text.assemble(
            (f"{'▸' if number in notes else ' ':>4}{number:>4} ", "red" if number in notes else "dim"), code
        )
        for said in notes.get(number, []):
            row.append(f"   ← {said}", "bold yellow")
        yield row
    for line, said in notes.items():
        if not 1 <= line <= len(source):
            at = say("cli.sanitize-line", line=line) if line else ""
            yield Text(f"    {at}{'; '.join(said)}")


def _source(file: str, sources: Mapping[str, str]) -> list[str]:
    """The lines of a file: one that is known, or one that can be read; else none."""
    if file in sources:
        return sources[file].splitlines()
    try:
        return Path(file).read_text(encoding="utf-8", errors="replace").splitlines() if file else []
    except OSError:
        return []
