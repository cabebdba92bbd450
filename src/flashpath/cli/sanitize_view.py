"""How `flashpath sanitize` shows what was found: each finding with the lines of the source that it names."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from rich.text import Text

if TYPE_CHECKING:
    from rich.console import Console

    from flashpath.jit import Kernel
    from flashpath.vgpu.findings import Dim3, Finding

_NEAR = 1  # lines shown around one that is named
_WIDEST = 100  # columns of source


def show(out: Console, kernel: Kernel, findings: Sequence[Finding], seeds: int) -> None:
    """All findings, or that there are none."""
    schedules = f"{seeds} schedules" if seeds > 1 else "one schedule"
    if not findings:
        rest = "" if seeds > 1 else "; --seeds 20 tries twenty"
        out.print(Text.assemble(("✓ ", "green"), f"{kernel.name}: nothing found under {schedules}{rest}"))
        return
    for number, finding in enumerate(findings, 1):
        for row in _rows(finding, number, kernel):
            out.print(row, soft_wrap=True)
        out.print()
    number = f"{len(findings)} finding{'s' if len(findings) > 1 else ''}"
    out.print(Text.assemble((f"{kernel.name}: {number}", "bold red"), f" under {schedules}"))


def _rows(finding: Finding, number: int, kernel: Kernel) -> Iterable[Text]:
    yield Text.assemble(f"{number}. ", (finding.kind, "bold red"), f": {finding.message}")
    often = [f"met {finding.count:,} times"] if finding.count > 1 else []
    often += [f"first under seed {finding.seed}"] if finding.seed else []
    if often:
        yield Text(f"   {', '.join(often)}", "dim")
    notes: dict[tuple[str, int], list[str]] = {}
    who = f"block {_point(finding.block)}, thread {_point(finding.thread)}"
    notes.setdefault((finding.file, finding.line), []).append(who)
    if finding.other is not None:
        other = finding.other
        said = f"{other.action}: block {_point(other.block)}, thread {_point(other.thread)}".removeprefix(
            ": "
        )
        notes.setdefault((other.file, other.line), []).append(said)
    for file in dict.fromkeys(file for file, _ in notes):
        yield from _excerpt(
            file, {line: said for (each, line), said in notes.items() if each == file}, kernel
        )
    if finding.advice:
        yield Text.assemble(("   → ", "cyan"), finding.advice.replace("`", ""))


def _point(extent: Dim3) -> str:
    return f"({', '.join(map(str, extent))})"


def _excerpt(file: str, notes: dict[int, list[str]], kernel: Kernel) -> Iterable[Text]:
    """The named lines and their neighbours, each named one with who was there."""
    from rich.syntax import Syntax

    yield Text(f"   {file}" if file else "   (no line is known)", "dim")
    source = _source(file, kernel)
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
            yield Text(f"    line {line}: {'; '.join(said)}" if line else f"    {'; '.join(said)}")


def _source(file: str, kernel: Kernel) -> list[str]:
    """The lines of a file: the kernel's own source, or a header that can be read; else none."""
    if file == kernel.module.source_name:
        return kernel.module.source.splitlines()
    try:
        return Path(file).read_text(encoding="utf-8", errors="replace").splitlines() if file else []
    except OSError:
        return []
