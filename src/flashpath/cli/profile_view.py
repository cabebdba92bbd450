"""How `flashpath profile` shows a report: the verdict, the counters, the hot lines, pictures of accesses."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from rich.cells import cell_len
from rich.text import Text

from flashpath.cli.output import shown_file
from flashpath.cli.pictures import picture
from flashpath.messages import Message, say
from flashpath.vgpu.report.names import named
from flashpath.vgpu.report.text import padded

if TYPE_CHECKING:
    from rich.console import Console

    from flashpath.vgpu.report import Access, Counts, Report

_WIDEST = 110
_EIGHTHS = " ▏▎▍▌▋▊▉█"
_NEAR = 2  # lines shown around one that did something
_CLASSES_SHOWN = 8
_TALLEST = 12  # rows of a picture that nobody asked for


def show(out: Console, report: Report, source_name: str, source: str, line: int | None = None) -> None:
    """All of it; `line` chooses the accesses that are drawn, else the most wasteful are."""
    accesses = chosen_accesses(report, source_name, line)
    for part in (
        _header(report),
        _verdict(report),
        _counters(report),
        _classes(report),
        _listing(out, report, source_name, source),
        *(picture(access, _TALLEST if line is None else None) for access in accesses),
    ):
        for each in part:
            each.rstrip()
            out.print(each, no_wrap=True, crop=out.is_terminal, overflow="ellipsis")
        if part:
            out.print()


# ---- What it comes to ----------------------------------------------------------------------------------


def _header(report: Report) -> list[Text]:
    grid, block = (" × ".join(map(str, _trimmed(extent))) for extent in (report.grid, report.block))
    return [
        Text.assemble(
            (report.kernel, "bold"), say("cli.profile-where", gpu=report.gpu, grid=grid, block=block)
        )
    ]


def right(text: str, width: int) -> str:
    """Returns the text behind spaces, such that both fill that width on a terminal."""
    return " " * (width - cell_len(text)) + text


def _trimmed(extent: Sequence[int]) -> list[int]:
    trimmed = list(extent)
    while len(trimmed) > 1 and trimmed[-1] == 1:
        trimmed.pop()
    return trimmed


def _verdict(report: Report) -> list[Text]:
    rows: list[Text] = []
    roofline, occupancy = report.roofline, report.occupancy
    if roofline is not None:
        rows.append(
            Text.assemble(
                (say("cli.profile-bound-by", bound=named(roofline.bound)), "bold"),
                say("cli.profile-at-least", time=in_units(roofline.least_seconds), gpu=roofline.gpu),
            )
        )
        rows.append(
            Text(
                say(
                    "cli.profile-intensity",
                    bytes=report.dram_bytes,
                    flops=report.flops,
                    intensity=roofline.intensity,
                    ridge=roofline.ridge,
                )
            )
        )
    if occupancy is not None:
        rows.append(
            Text(
                say("cli.profile-occupancy", share=f"{occupancy.fraction:.0%}", limit=named(occupancy.limit))
            )
        )
    used = report.footprint
    rows.append(
        Text(
            say(
                "cli.profile-footprint",
                registers=used.registers,
                local=used.local,
                static=used.static_shared,
                dynamic=used.dynamic_shared,
            )
        )
    )
    return rows


def in_units(seconds: float) -> str:
    """A time as people read it."""
    for unit, scale in (("s", 1.0), ("ms", 1e3), ("µs", 1e6)):
        if seconds * scale >= 1:
            return f"{seconds * scale:.2f} {unit}"
    return f"{seconds * 1e9:.2f} ns"


# ---- Counters beside what they could be ----------------------------------------------------------------


def _counters(report: Report) -> list[Text]:
    titles = ((say("cli.profile-counted"), 15), (say("cli.profile-each"), 9), (say("cli.profile-ideal"), 8))
    rows = [Text(" " * 26 + "".join(right(title, width) for title, width in titles), "dim")]

    def compared(what: str, count: int, each: float, ideal: float, waste: float, of: str) -> None:
        """A count, what it is for each request or instruction, what it could be, and how far off that is."""
        row = Text(f"{padded(what, 26)}{count:>15,}{each:>9.2f}{ideal:>8.2f}  ")
        good = waste <= 1.005
        style = "green" if good else "yellow" if waste < 2 else "red"
        rows.append(
            row.append("✓" if good else say("cli.profile-waste", ratio=f"{waste:.3g}", what=of), style)
        )

    def counted(what: str, count: int) -> None:
        rows.append(Text(f"{padded(what, 26)}{count:>15,}"))

    for space, code, counter, of in (
        ("global", "cli.profile-sectors", "sectors", say("cli.profile-bytes")),
        ("shared", "cli.profile-shared-passes", "wavefronts", say("cli.profile-passes")),
    ):
        for name in ("load", "store", "atomic"):
            traffic = getattr(report, f"{space}_{name}")
            if traffic.requests:
                each = getattr(traffic, f"{counter}_per_request")
                ideal = getattr(traffic, f"ideal_{counter}_per_request")
                what = Message(code, {"access": named(f"{space} {name}")}).text()
                compared(what, getattr(traffic, counter), each, ideal, each / ideal, of)
    if atomics := report.atomics.turns_per_request:
        what = say("cli.profile-atomics")
        compared(what, report.atomics.turns, atomics, 1, atomics, say("cli.profile-turns"))
    if lanes := report.active_lanes:
        what, of = say("cli.profile-instructions"), say("cli.profile-instructions-of")
        compared(what, report.instructions, lanes, 32, 32 / lanes, of)
    counted(say("cli.profile-branches"), report.divergent_branches)
    for name in ("load", "store"):
        local = getattr(report, f"local_{name}")
        if local.requests:
            counted(say("cli.profile-local-sectors", access=named(f"local {name}")), local.sectors)
    for element, count in sorted(report.flops_by_type.items()):
        counted(f"{element} FLOPs (PTX)", count)
    for element, count in sorted(report.tensor_operations.items()):
        counted(say("cli.profile-tensor-operations", element=element), count)
    return rows


def _classes(report: Report) -> list[Text]:
    ordered = sorted(report.instructions_by_class.items(), key=lambda each: -each[1])
    rows = [Text(say("cli.profile-by-class"), "dim")]
    for name, count in ordered[:_CLASSES_SHOWN]:
        share = count / report.instructions
        rows.append(Text.assemble(f"  {padded(named(name), 18)}{share:>5.0%} ", (bar(share, 32), "cyan")))
    rest = sum(count for _, count in ordered[_CLASSES_SHOWN:])
    if rest:
        others = padded(say("cli.profile-other-classes"), 18)
        rows.append(Text(f"  {others}{rest / report.instructions:>5.0%}"))
    return rows


def bar(share: float, width: int) -> str:
    """A share as a bar of at most so many characters, in steps of an eighth; the least share is visible."""
    eighths = max(round(share * width * 8), 1 if share > 0 else 0)
    full, part = divmod(eighths, 8)
    return "█" * full + (_EIGHTHS[part] if part else "")


# ---- The source and its heat ---------------------------------------------------------------------------

_HEAT: tuple[tuple[str, Callable[[Counts], int]], ...] = (
    ("cli.profile-heat-instructions", lambda counts: counts.instructions),
    ("cli.profile-heat-sectors", lambda counts: counts.global_sectors),
    ("cli.profile-heat-conflicts", lambda counts: counts.bank_conflicts),
)
_BAR = 4
_GOES_ON = "  ↪ "  # before the rest of a line that is wider than its column


def _listing(out: Console, report: Report, source_name: str, source: str) -> list[Text]:
    from rich.syntax import Syntax

    heats = [(title, count, total) for title, count in _HEAT if (total := count(report))]
    own = {line.line: line for line in report.lines if line.file == source_name}
    texts = source.splitlines()
    shown = sorted(
        {near for line in own for near in range(line - _NEAR, line + _NEAR + 1) if 1 <= near <= len(texts)}
    )
    cell = _BAR + 5
    room = max(min(out.width, _WIDEST) - 6 - (cell + 1) * len(heats), 20)
    title = Text(f"{'':<6}{shown_file(source_name)[-room:]:<{room}}", "dim")
    for name, _, _ in heats:
        title.append(f" {right(Message(name).text(), cell)}", "dim")
    rows = [title]
    highlighter = Syntax("", "cuda", background_color="default")
    before = shown[0] - 1 if shown else 0
    for number in shown:
        if number > before + 1:
            rows.append(Text(f"{'⋮':>4}", "dim"))
        before = number
        code = highlighter.highlight(texts[number - 1].expandtabs(4).rstrip())
        code.rstrip()
        first, *rest = (
            code.wrap(out, room - len(_GOES_ON), overflow="fold", no_wrap=False)
            if code.cell_len > room
            else [code]
        )
        first.truncate(room, pad=True)
        row = Text.assemble((f"{number:>4}  ", "dim"), first)
        for _, count, total in heats:
            share = count(own[number]) / total if number in own else 0.0
            row.append_text(_heat(share))
        rows += [row, *(Text.assemble(" " * 6, (_GOES_ON, "dim"), part) for part in rest)]
    rows.extend(_elsewhere(report, source_name))
    return rows


def _heat(share: float) -> Text:
    if not share:
        return Text(" " * (_BAR + 6))
    style = "red" if share >= 0.4 else "yellow" if share >= 0.15 else "blue"
    percent = f"{share:.0%}" if share >= 0.005 else "<1%"
    return Text.assemble(f" {percent:>4} ", (f"{bar(share, _BAR):<{_BAR}}", style))


def _elsewhere(report: Report, source_name: str) -> list[Text]:
    """What the lines of other files did: headers that were inlined."""
    files: dict[str, int] = {}
    for line in report.lines:
        if line.file != source_name:
            files[line.file] = files.get(line.file, 0) + line.instructions
    ordered = sorted(files.items(), key=lambda each: -each[1])

    def share(count: int) -> str:
        return f"{count / report.instructions:.0%}"

    return [
        Text("      " + say("cli.profile-elsewhere", share=share(count), file=shown_file(file)), "dim")
        for file, count in ordered
    ]


# ---- Which access is drawn -----------------------------------------------------------------------------


def chosen_accesses(report: Report, file: str, line: int | None) -> list[Access]:
    """Those of a line of a file; else, of each space, the one that wastes the most, or the first of all."""
    if line is not None:  # an unrolled loop has the same access many times
        found = report.accesses(line, file=file)
        alike = {(each.kind, each.space, each.array): each for each in reversed(found)}
        return list(reversed(alike.values()))
    often = {(each.file, each.line): each.warp_instructions for each in report.lines}

    def waste(access: Access) -> int:
        excess = len(access.sectors) - access.ideal_sectors + access.bank_conflicts
        return excess * often.get((access.file, access.line), 1)

    spaces = (report.accesses(space="global"), report.accesses(space="shared"))
    return [max(accesses, key=waste) for accesses in spaces if accesses]
