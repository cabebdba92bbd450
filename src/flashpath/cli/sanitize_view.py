"""How `flashpath sanitize` shows what was found: each finding with the lines of the source that it names."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from rich.text import Text

if TYPE_CHECKING:
    from rich.console import Console

    from flashpath.vgpu.findings import Dim3, Finding
    from flashpath.vgpu.host_findings import HostFinding

_NEAR = 1  # lines shown around one that is named
_WIDEST = 100  # columns of source


@dataclass(frozen=True)
class _Words:
    """What the view itself says; the messages of findings are English."""

    schedules: str
    one_schedule: str
    nothing: str
    try_more: str
    findings: str
    one_finding: str
    under: str
    met: str
    first_seed: str
    who: str
    did: str
    within: str
    no_line: str
    line: str
    host: str
    called: str
    launched: str
    also_called: str
    actions: dict[str, str]


_WORDS = {
    "en": _Words(
        schedules="under {} schedules",
        one_schedule="under one schedule",
        nothing="{kernel}: nothing found {schedules}",
        try_more="; --seeds 20 tries twenty",
        findings="{kernel}: {count} findings",
        one_finding="{kernel}: 1 finding",
        under=" {}",
        met="met {:,} times",
        first_seed="first under seed {}",
        who="block {block}, thread {thread}",
        did="{}: ",
        within=", in {}",
        no_line="(no line is known)",
        line="line {}: ",
        host="here",
        called="called from here",
        launched="launched here",
        also_called="{}, which is called from here",
        actions={},
    ),
    "zh": _Words(
        schedules="在 {} 种调度下",
        one_schedule="在一种调度下",
        nothing="{kernel}：{schedules}没有发现问题",
        try_more="；--seeds 20 会试二十种",
        findings="{kernel}：发现 {count} 个问题",
        one_finding="{kernel}：发现 1 个问题",
        under="（{}）",
        met="遇到 {:,} 次",
        first_seed="最先出现在种子 {} 下",
        who="线程块 {block}，线程 {thread}",
        did="{}：",
        within="，位于 {}",
        no_line="（行号未知）",
        line="第 {} 行：",
        host="在这里",
        called="从这里调用",
        launched="在这里启动",
        also_called="{}，它从这里调用",
        actions={"read": "读", "write": "写", "atomic": "原子操作", "freed": "释放", "allocated": "分配"},
    ),
}


def show(
    out: Console,
    name: str,
    sources: Mapping[str, str],
    findings: Sequence[Finding | HostFinding],
    seeds: int,
    language: str,
) -> None:
    """All findings of a kernel or a program, or that there are none; `sources`: texts of files, if known."""
    words = _WORDS[language]
    schedules = words.schedules.format(seeds) if seeds > 1 else words.one_schedule
    if not findings:
        said = words.nothing.format(kernel=name, schedules=schedules)
        out.print(Text.assemble(("✓ ", "green"), said, "" if seeds > 1 else words.try_more))
        return
    for number, finding in enumerate(findings, 1):
        for row in _rows(finding, number, sources, language):
            out.print(row, soft_wrap=True)
        out.print()
    summary = words.findings if len(findings) > 1 else words.one_finding
    summary = summary.format(kernel=name, count=len(findings))
    out.print(Text.assemble((summary, "bold red"), words.under.format(schedules)))


def _rows(
    finding: Finding | HostFinding, number: int, sources: Mapping[str, str], language: str
) -> Iterable[Text]:
    words = _WORDS[language]
    yield Text.assemble(f"{number}. ", (finding.kind, "bold red"), f": {finding.message}")
    often = [words.met.format(finding.count)] if finding.count > 1 else []
    often += [words.first_seed.format(finding.seed)] if finding.seed else []
    if often:
        yield Text(f"   {', '.join(often)}", "dim")
    notes: dict[tuple[str, int], list[str]] = {}
    from flashpath.vgpu.host_findings import HostFinding

    told = _of_host(finding, words) if isinstance(finding, HostFinding) else _of_kernel(finding, words)
    for place, said in told:
        notes.setdefault(place, []).append(said)
    for file in dict.fromkeys(file for file, _ in notes):
        at = {line: said for (each, line), said in notes.items() if each == file}
        yield from _excerpt(file, at, sources, words)
    if finding.advice:
        yield Text.assemble(("   → ", "cyan"), _advice(finding, language).replace("`", ""))


_Notes = Iterable[tuple[tuple[str, int], str]]  # a file and a line, and what is said there


def _of_kernel(finding: Finding, words: _Words) -> _Notes:
    for party in [finding] if finding.other is None else [finding, finding.other]:
        action = getattr(party, "action", "")
        said = words.did.format(words.actions.get(action, action)) if action else ""
        said += words.who.format(block=_point(party.block), thread=_point(party.thread))
        said += words.within.format(party.library) if party.library else ""
        yield (party.file, party.line), said
    for depth, place in enumerate(finding.launched):
        file, _, line = place.rpartition(":")
        yield (file, int(line)), words.called if depth else words.launched


def _of_host(finding: HostFinding, words: _Words) -> _Notes:
    for depth, frame in enumerate(finding.stack):
        yield (frame.file, frame.line), words.called if depth else words.host
    if finding.other is not None:
        what = words.actions.get(finding.other.what, finding.other.what)
        for depth, frame in enumerate(finding.other.stack):
            yield (frame.file, frame.line), words.also_called.format(what) if depth else what


def _advice(finding: Finding | HostFinding, language: str) -> str:
    if language == "en":
        return finding.advice or ""
    from flashpath.vgpu.explanations import explain_finding

    summary = explain_finding(finding.kind, language).summary
    return f"{summary}。怎样改正，见 flashpath explain-finding {finding.kind}。"


def _point(extent: Dim3) -> str:
    return f"({', '.join(map(str, extent))})"


def _excerpt(
    file: str, notes: dict[int, list[str]], sources: Mapping[str, str], words: _Words
) -> Iterable[Text]:
    """The named lines and their neighbours, each named one with who was there."""
    from rich.syntax import Syntax

    yield Text(f"   {file or words.no_line}", "dim")
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
            yield Text(f"    {words.line.format(line) if line else ''}{'; '.join(said)}")


def _source(file: str, sources: Mapping[str, str]) -> list[str]:
    """The lines of a file: one that is known, or one that can be read; else none."""
    if file in sources:
        return sources[file].splitlines()
    try:
        return Path(file).read_text(encoding="utf-8", errors="replace").splitlines() if file else []
    except OSError:
        return []
