"""Pictures of one access of a warp: its lanes against the sectors of memory, and against the banks.

A row is what the hardware does once: a sector that it moves, or a pass over the banks. A tall picture is a
slow access.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.text import Text

if TYPE_CHECKING:
    from flashpath.vgpu.report import Access, Pass, Sector

_LABEL = 10
_RULER = "0       8       16      24    31"
_HIT, _SEVERAL, _MISS = "█", "▓", "·"


def picture(access: Access, most_rows: int | None = None) -> list[Text]:
    """The sectors of a global access, or the banks of a shared one, with a title and what it comes to."""
    return [_title(access), *(_sectors if access.space == "global" else _banks)(access, most_rows)]


def _title(access: Access) -> Text:
    place = f"line {access.line}: " if access.line else ""
    where = {"load": "from", "store": "to", "atomic": "on"}[access.kind]
    x, y, z = access.block
    block = f"({x},{y},{z})" if y or z else str(x)
    text = Text.assemble((f"{place}{access.kind} of {access.size} bytes a lane", "bold"))
    array = access.array or f"{access.space} memory"
    return text.append(f" {where} {array}, by warp {access.warp} of block {block}")


def _cut(rows: Sequence[Text], most: int | None, what: str) -> list[Text]:
    """The first rows and the last one, where there are too many."""
    if most is None or len(rows) <= most:
        return list(rows)
    left = len(rows) - most + 1
    return [*rows[: most - 2], Text(f"{'⋮':>{_LABEL}}  {left} more {what}", "dim"), rows[-1]]


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
    count = f"{len(access.sectors)} sector{'s' * (len(access.sectors) != 1)}"
    if len(access.sectors) == access.ideal_sectors:
        verdict = Text(f"{count} for {asked} distinct bytes: the fewest there can be.", "green")
    else:
        verdict = Text(
            f"{count} move {moved:,} bytes for {asked} asked for; {access.ideal_sectors} would do.", "red"
        )
    if access.turns > 1:
        verdict = Text(f"{access.turns} lanes meet at one address, and go one after the other.", "red")
    return [
        Text(f"{'lane':>{_LABEL}}  {_RULER}  32 bytes of it", "dim"),
        *_cut(rows, most_rows, "sectors"),
        verdict,
    ]


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
        f" {sector.bytes_used:>2} used",
    )


# ---- Shared memory -------------------------------------------------------------------------------------


def _banks(access: Access, most_rows: int | None) -> list[Text]:
    rows = [_pass_row(number, each) for number, each in enumerate(access.passes, 1)]
    count = f"{access.wavefronts} pass{'es' * (access.wavefronts != 1)} over the banks"
    if access.bank_conflicts:
        ideal = access.wavefronts - access.bank_conflicts
        verdict = Text(f"{count}, {access.bank_conflicts} of them conflicts; {ideal} would do.", "red")
    else:
        verdict = Text(f"{count}: no conflict.", "green")
    return [
        Text(f"{'bank':>{_LABEL}}  {_RULER}", "dim"),
        *_cut(rows, most_rows, "passes"),
        verdict,
    ]


def _pass_row(number: int, each: Pass) -> Text:
    cells = [_SEVERAL if len(served) > 1 else _HIT if served else _MISS for served in each.banks]
    name = f"pass {number}"
    style = "red" if each.is_conflict else "green"
    return Text.assemble(f"{name:>{_LABEL}}  ", _lanes_of(cells, style), f"  {_ranges(each.lanes)}")


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
    return f"lane{'s' * (len(lanes) != 1)} {shown}"
