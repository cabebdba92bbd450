"""Pictures of one access of a warp: its lanes against the sectors of memory, and against the banks.

A row is what the hardware does once: a sector that it moves, or a pass over the banks. A tall picture is a
slow access.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.cells import cell_len
from rich.text import Text

from flashpath.messages import say

if TYPE_CHECKING:
    from flashpath.vgpu.report import Access, Pass, Sector

_LABEL = 10
_RULER = "0       8       16      24    31"
_HIT, _SEVERAL, _MISS = "█", "▓", "·"
_PLAIN = str.maketrans({_HIT: "#", _SEVERAL: "%", _MISS: ".", "⋮": ":", "…": "..."})


def picture(access: Access, most_rows: int | None = None, encoding: str | None = None) -> list[Text]:
    """Draws the sectors of a global access, or the banks of a shared one, with a title and a verdict.

    Where the encoding, by default that of the output, has no blocks, they are drawn with ASCII characters.
    """
    rows = [_title(access), *(_sectors if access.space == "global" else _banks)(access, most_rows)]
    try:
        (_HIT + _SEVERAL + _MISS).encode(encoding or sys.stdout.encoding or "utf-8")
    except (UnicodeEncodeError, LookupError):
        for row in rows:
            row.plain = row.plain.translate(_PLAIN)
    return rows


def _title(access: Access) -> Text:
    place = say("cli.picture-line", line=access.line) if access.line else ""
    x, y, z = access.block
    block = f"({x},{y},{z})" if y or z else str(x)
    array = access.array or say("cli.picture-memory", space=access.space)
    what, where = {
        "load": (say("cli.picture-load", size=access.size), say("cli.picture-from", array=array)),
        "store": (say("cli.picture-store", size=access.size), say("cli.picture-to", array=array)),
        "atomic": (say("cli.picture-atomic", size=access.size), say("cli.picture-on", array=array)),
    }[access.kind]
    by = say("cli.picture-by", warp=access.warp, block=block)
    return Text.assemble((f"{place}{what}", "bold"), f"{where}{by}")


def _cut(rows: Sequence[Text], most: int | None, more: str) -> list[Text]:
    """The first rows and the last one, where there are too many."""
    if most is None or len(rows) <= most:
        return list(rows)
    left = len(rows) - most + 1
    return [
        *rows[: most - 2],
        Text(f"{'⋮':>{_LABEL}}  {say(more, count=left)}", "dim"),
        rows[-1],
    ]


def _lanes_of(cells: Sequence[str], style: str) -> Text:
    text = Text()
    for cell in cells:
        text.append(cell, "dim" if cell == _MISS else style)
    return text


# ---- Global memory -------------------------------------------------------------------------------------


def _sectors(access: Access, most_rows: int | None) -> list[Text]:
    rows = [_sector_row(sector, access.base) for sector in access.sectors]
    asked = sum(sector.bytes_used for sector in access.sectors)
    moved = 32 * len(access.sectors)
    count, ideal = len(access.sectors), access.ideal_sectors
    if access.turns > 1:
        verdict = Text(say("cli.picture-turns", lanes=access.turns), "red")
    elif count == ideal:
        verdict = Text(say("cli.picture-fewest", count=count, asked=asked), "green")
    else:
        verdict = Text(say("cli.picture-wasted", count=count, moved=moved, asked=asked, ideal=ideal), "red")
    heading = Text(f"{'lane':>{_LABEL}}  {_RULER}  " + say("cli.picture-of-sector"), "dim")
    return [heading, *_cut(rows, most_rows, "cli.picture-more-sectors"), verdict]


def _sector_row(sector: Sector, base: int) -> Text:
    # A full sector is no waste; one with a single value in it is moved for an eighth of what it holds.
    style = "green" if sector.bytes_used == 32 else "yellow" if sector.bytes_used >= 16 else "red"
    lanes = [_HIT if lane in sector.lanes else _MISS for lane in range(32)]
    words = [_HIT if sector.used >> 4 * word & 0xF else _MISS for word in range(8)]
    offset = f"{sector.address - base:+,}"
    return Text.assemble(
        f"{offset:>{_LABEL}}  ",
        _lanes_of(lanes, style),
        "  ",
        _lanes_of(words, style),
        " " + say("cli.picture-used", bytes=sector.bytes_used),
    )


# ---- Shared memory -------------------------------------------------------------------------------------


def _banks(access: Access, most_rows: int | None) -> list[Text]:
    rows = [_pass_row(number, each) for number, each in enumerate(access.passes, 1)]
    count, conflicts = access.wavefronts, access.bank_conflicts
    if conflicts:
        verdict = Text(
            say("cli.picture-conflicts", count=count, conflicts=conflicts, ideal=count - conflicts), "red"
        )
    else:
        verdict = Text(say("cli.picture-no-conflict", count=count), "green")
    heading = Text(f"{'bank':>{_LABEL}}  {_RULER}", "dim")
    return [heading, *_cut(rows, most_rows, "cli.picture-more-passes"), verdict]


def _pass_row(number: int, each: Pass) -> Text:
    cells = [_SEVERAL if len(served) > 1 else _HIT if served else _MISS for served in each.banks]
    name = say("cli.picture-pass", number=number)
    style = "red" if each.is_conflict else "green"
    return Text.assemble(
        f"{' ' * (_LABEL - cell_len(name))}{name}  ", _lanes_of(cells, style), f"  {_ranges(each.lanes)}"
    )


def _ranges(lanes: Sequence[int]) -> str:
    """Lanes as people write them: "lanes 0-7, 16-23"."""
    runs: list[list[int]] = []
    for lane in lanes:
        if runs and lane == runs[-1][-1] + 1:
            runs[-1].append(lane)
        else:
            runs.append([lane])
    texts = [str(run[0]) if len(run) == 1 else f"{run[0]}-{run[-1]}" for run in runs]
    shown = ", ".join(texts[:4]) + (" …" if len(texts) > 4 else "")
    return say("cli.picture-lanes", count=len(lanes), lanes=shown)
