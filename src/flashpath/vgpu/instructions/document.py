"""The section about instructions in a document, made anew."""

from __future__ import annotations

import sys
import textwrap
from collections.abc import Iterable, Iterator
from pathlib import Path

from flashpath.documents import with_section
from flashpath.vgpu.instructions.known import rows
from flashpath.vgpu.instructions.refused import REFUSED, refusal, special_registers

SECTION = "instructions"


def _table(head: tuple[str, ...], body: Iterable[tuple[str, ...]]) -> Iterator[str]:
    yield f"| {' | '.join(head)} |"
    yield "|" + "---|" * len(head)
    for cells in body:
        yield f"| {' | '.join(cells)} |"


def section() -> str:
    """The section between the markers."""
    shown: set[str] = set()

    def known() -> Iterator[tuple[str, str, str]]:
        for row in rows():
            name = "" if row.instruction_class in shown else row.instruction_class
            shown.add(row.instruction_class)
            yield name, " ".join(f"`{opcode}`" for opcode in row.opcodes), row.forms

    def refused() -> Iterator[tuple[str, str]]:
        for example in REFUSED:
            problem = refusal(example.instruction, example.before)
            if problem is None:
                raise AssertionError(f"{example.instruction} is known: take it out of the list")
            yield example.what, problem.partition(": ")[2].rstrip(".").replace("|", "\\|")

    readable, unreadable = special_registers()
    return "\n".join(
        [
            "",
            *_table(("class", "opcodes", "forms"), known()),
            "",
            textwrap.fill(
                f"Special registers: {', '.join(readable)}. Not known: {', '.join(unreadable)}.", width=118
            ),
            "",
            "Refused, and what the error says:",
            "",
            *_table(("what", "error"), refused()),
            "",
            "",
        ]
    )


def main() -> None:
    """Write the section into the document that is named."""
    if len(sys.argv) != 2:
        raise SystemExit("usage: python -m flashpath.vgpu.instructions DOCUMENT.md")
    document = Path(sys.argv[1])
    text = with_section(document.read_text(encoding="utf-8"), SECTION, section())
    document.write_text(text, encoding="utf-8")
