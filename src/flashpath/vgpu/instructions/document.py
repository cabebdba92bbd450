"""The section about instructions in a document, made anew."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

from flashpath.documents import wrapped, write_section
from flashpath.messages import say
from flashpath.vgpu.instructions.known import rows
from flashpath.vgpu.instructions.refused import REFUSED, refusal, special_registers
from flashpath.vgpu.report.names import named

SECTION = "instructions"
_KNOWN = ("vgpu.instructions.head-class", "vgpu.instructions.head-opcodes", "vgpu.instructions.head-forms")
_REFUSED = ("vgpu.instructions.head-what", "vgpu.instructions.head-error")


def _table(head: tuple[str, ...], body: Iterable[tuple[str, ...]]) -> Iterator[str]:
    yield f"| {' | '.join(map(say, head))} |"
    yield "|" + "---|" * len(head)
    for cells in body:
        yield f"| {' | '.join(cells)} |"


def section() -> str:
    """Returns the section between the markers, in the language that is spoken."""
    shown: set[str] = set()

    def known() -> Iterator[tuple[str, str, str]]:
        for row in rows():
            name = "" if row.instruction_class in shown else named(row.instruction_class)
            shown.add(row.instruction_class)
            yield name, " ".join(f"`{opcode}`" for opcode in row.opcodes), row.forms

    def refused() -> Iterator[tuple[str, str]]:
        for example in REFUSED:
            problem = refusal(example.instruction, example.before)
            if problem is None:
                raise AssertionError(f"{example.instruction} is known: take it out of the list")
            yield say(example.what), problem.replace("|", "\\|")

    readable, unreadable = special_registers()
    return "\n".join(
        [
            "",
            *_table(_KNOWN, known()),
            "",
            wrapped(say("vgpu.instructions.special-registers", readable=readable, refused=unreadable)),
            "",
            say("vgpu.instructions.refused"),
            "",
            *_table(_REFUSED, refused()),
            "",
            "",
        ]
    )


def main() -> None:
    """Writes the section into the documents that are named, each in its language."""
    documents = map(Path, sys.argv[1:])
    sys.exit(
        max((write_section(document, SECTION, section, check=False) for document in documents), default=0)
    )
