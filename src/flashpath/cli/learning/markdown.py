"""Markdown in the terminal: code highlighted, a pager where it is long; into a pipe as it is."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import typer
from rich import markdown as rich_markdown
from rich.cells import cell_len
from rich.console import Console
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

from flashpath.course.content.text import lines_outside_code

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.console import ConsoleOptions, RenderableType, RenderResult

_WIDTH = 112  # what commands print fits; longer lines are hard to read


class _Heading(rich_markdown.Heading):
    """At the left, where the text is."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        text = self.text
        text.justify = "left"
        if self.tag == "h1":
            yield Text.assemble("", text, style="bold underline")
        elif self.tag == "h2":
            yield Text("")
            yield Text.assemble(("▌ ", "cyan"), text, style="bold")
        else:
            yield Text.assemble(text, style="bold")


class _Paragraph(rich_markdown.Paragraph):
    """Wrapped by the rules of both languages."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        yield from _lines(self.text, options.max_width)


class _Table(rich_markdown.TableElement):
    """A table that is never cropped: Chinese has no spaces, and rich takes a line for one long word."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        for table in super().__rich_console__(console, options):
            assert isinstance(table, Table)
            for column in table.columns:
                column.header = _Cell(column.header)
                column._cells = [_Cell(cell) for cell in column._cells]  # pyright: ignore[reportPrivateUsage]
            yield table


class _Cell:
    """The text of a cell, wrapped as a paragraph is."""

    def __init__(self, content: RenderableType) -> None:
        self.text = content if isinstance(content, Text) else Text(str(content))

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        yield from _lines(self.text, options.max_width)

    def __rich_measure__(self, console: Console, options: ConsoleOptions) -> Measurement:
        return Measurement(widest_piece(self.text.plain), cell_len(self.text.plain))


def _lines(text: Text, width: int) -> Iterator[Text]:
    for line in text.divide(breaks(text.plain, width)):
        line.rstrip()
        yield line


class _Markdown(rich_markdown.Markdown):
    elements = {  # noqa: RUF012
        **rich_markdown.Markdown.elements,
        "heading_open": _Heading,
        "paragraph_open": _Paragraph,
        "table_open": _Table,
    }


def print_markdown(text: str, *, pager: bool = True) -> None:
    """Rendered on a terminal, paged where it is longer than the screen."""
    out = screen()
    if not out.is_terminal:
        typer.echo(text, nl=not text.endswith("\n"))
        return
    rendered = _Markdown(joined(text), code_theme="ansi_dark")
    if not pager or len(out.render_lines(rendered, pad=False)) < out.height:
        out.print(rendered)
        return
    os.environ.setdefault("LESS", "-R")  # or less shows colours as their codes
    with out.pager(styles=True, links=True):
        out.print(rendered)


def screen() -> Console:
    """As wide as the terminal, but no wider than what is read with ease; words are wrapped."""
    out = Console(highlight=False, emoji=False)
    out.width = min(_WIDTH, out.width)
    return out


# ---- Chinese -------------------------------------------------------------------------------------------

_NO_LINE_BEGINS_WITH = "，。；：！？、）」』》”’…,.;:!?)"
_NO_LINE_ENDS_WITH = "（「『《“‘("


def breaks(text: str, width: int) -> list[int]:
    """Where the lines of a paragraph end: after spaces, and between Chinese characters, which have none."""
    found: list[int] = []
    start = allowed = used = 0
    for at, letter in enumerate(text):
        if at > start and _may_break(text[at - 1], letter):
            allowed = at
        used += cell_len(letter)
        if letter == "\n":
            found.append(at + 1)
            start, allowed, used = at + 1, at + 1, 0
        elif used > width and letter != " " and at > start:
            start = allowed if allowed > start else at  # a word that is wider than the line is cut
            found.append(start)
            used = cell_len(text[start : at + 1])
    return [each for each in found if each < len(text)]


def widest_piece(text: str) -> int:
    """How wide the widest piece is that no line may end in."""
    widest = start = 0
    for at in range(1, len(text) + 1):
        if at == len(text) or _may_break(text[at - 1], text[at]):
            widest = max(widest, cell_len(text[start:at].rstrip()))
            start = at
    return widest


def _may_break(before: str, after: str) -> bool:
    if before == " ":
        return after != " "
    if cell_len(before) < 2 and cell_len(after) < 2:
        return False
    return after not in _NO_LINE_BEGINS_WITH and after != " " and before not in _NO_LINE_ENDS_WITH


def joined(text: str) -> str:
    """Markdown whose paragraphs have no line end between two Chinese characters: it would become a space."""
    lines: list[str] = []
    for line, is_text in lines_outside_code(text):
        before = lines[-1] if lines else ""
        next_text = line.strip()
        if (
            is_text
            and before
            and next_text
            and not before.startswith("#")
            and cell_len(before[-1]) == 2
            and cell_len(next_text[0]) == 2
        ):
            lines[-1] += next_text
        else:
            lines.append(line)
    return "\n".join(lines) + "\n"
