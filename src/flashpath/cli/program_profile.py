"""`flashpath profile FILE.cu` of a whole program: it runs, and each of its launches is reported."""

from __future__ import annotations

import dataclasses
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from rich.table import Table

from flashpath.cli.compiling import build_program
from flashpath.cli.output import console, print_json
from flashpath.cli.profile_view import in_units, show
from flashpath.errors import FlashpathError
from flashpath.messages import say

if TYPE_CHECKING:
    from rich.console import Console

    from flashpath import gpus
    from flashpath.jit.programs import Recipe, Run
    from flashpath.vgpu.recorded import RecordedLaunch, Recording

_MOST_REPORTS = 4  # launches that are all shown; of more, the costliest of each kernel


@dataclass(frozen=True)
class Wanted:
    """What is shown of a program's launches."""

    launch: int | None = None  # its number, from 1 on; None: a choice
    as_json: bool = False
    timeline: Path | None = None
    devices: int = 1  # virtual GPUs


def profile_program(recipe: Recipe, arguments: Sequence[str], timeout: float | None, wanted: Wanted) -> int:
    """Run the program, show what its launches did; returns the program's exit code."""
    build_program(recipe)
    gpu = recipe.target.gpu
    if gpu is None:
        from flashpath.cli.program_measured import measure_program

        return measure_program(recipe, arguments, timeout, wanted)
    from flashpath.cli.run import timeline_file
    from flashpath.jit.programs import Run

    with timeline_file(wanted.timeline) as trace:
        # Beside JSON nothing else is printed: what the program says goes to stderr then.
        options = {"timeline": trace, "devices": wanted.devices}
        how = Run(timeout, options, output=2 if wanted.as_json else None)
        code, recording = count_launches(recipe, arguments, how)
    check_launch(wanted, len(recording.launches))
    if wanted.as_json:
        reports = [each.report(gpu).to_dict() for each in recording.launches]
        print_json({"exit_code": code, "launches": reports})
    else:
        _show(console(), recipe, gpu, recording, wanted)
    return code


def count_launches(recipe: Recipe, arguments: Sequence[str], how: Run) -> tuple[int, Recording]:
    """Run the program on the virtual GPU: its exit code, and what its launches did."""
    from flashpath.jit import programs
    from flashpath.vgpu import recorded

    with tempfile.TemporaryDirectory(prefix="flashpath-profile-") as folder:
        record = Path(folder) / "record.jsonl"
        counting = {**how.options, "record": record, "profile": True}
        code = programs.run(recipe, arguments, dataclasses.replace(how, options=counting))
        return code, recorded.read(record) if record.exists() else recorded.Recording()


def check_launch(wanted: Wanted, launches: int) -> None:
    """Refuse to show a launch that was not made."""
    if wanted.launch is not None and not 1 <= wanted.launch <= launches:
        raise FlashpathError("cli.profile-no-such-launch", launch=wanted.launch, count=launches)


def _show(out: Console, recipe: Recipe, gpu: gpus.Gpu, recording: Recording, wanted: Wanted) -> None:
    out.print()
    if not recording.launches:
        out.print(say("cli.profile-no-kernel"))
        return
    out.print(_summary(gpu, recording.launches))
    out.print()
    chosen = chosen_launches(recording.launches, wanted)
    for number in chosen:
        launch = recording.launches[number - 1]
        out.print(say("cli.profile-launch-number", number=number), style="bold")
        name, source = source_of(recipe, launch)
        show(out, launch.report(gpu), name, source)
    if len(chosen) < len(recording.launches):
        out.print(say("cli.profile-other-launches"), markup=False)


def _summary(gpu: gpus.Gpu, launches: Sequence[RecordedLaunch]) -> Table:
    """A row for each kernel, the one with the longest bound first."""
    table = Table(title=say("cli.profile-launches", count=len(launches), gpu=gpu.name))
    table.add_column(say("cli.profile-column-kernel"))
    for column in (
        say("cli.profile-column-launches"),
        say("cli.profile-column-bound-all"),
        say("cli.profile-column-of-all"),
        say("cli.profile-column-bound-each"),
        say("cli.profile-column-traffic"),
    ):
        table.add_column(column, justify="right")
    total = sum(each.seconds for each in launches)
    by_kernel: dict[str, list[RecordedLaunch]] = {}
    for each in launches:
        by_kernel.setdefault(each.kernel.name, []).append(each)
    ordered = sorted(by_kernel.items(), key=lambda item: -sum(each.seconds for each in item[1]))
    for name, own in ordered:
        seconds = sum(each.seconds for each in own)
        table.add_row(
            name,
            f"{len(own):,}",
            in_units(seconds),
            f"{seconds / total:.0%}" if total else "",
            in_units(seconds / len(own)),
            f"{sum(each.memory_sectors for each in own) * 32:,} B",
        )
    return table


def chosen_launches(
    launches: Sequence[RecordedLaunch], wanted: Wanted, seconds: Sequence[float] | None = None
) -> list[int]:
    """The numbers of the launches that are reported in full; `seconds` are their times, else the bounds."""
    if wanted.launch is not None:
        return [wanted.launch]
    if len(launches) <= _MOST_REPORTS:
        return list(range(1, len(launches) + 1))
    costs = [each.seconds for each in launches] if seconds is None else seconds
    costliest: dict[str, int] = {}
    for number, each in enumerate(launches, 1):
        best = costliest.setdefault(each.kernel.name, number)
        if costs[number - 1] > costs[best - 1]:
            costliest[each.kernel.name] = number
    return sorted(costliest.values())


def source_of(recipe: Recipe, launch: RecordedLaunch) -> tuple[str, str]:
    """The file that most of the kernel's lines are of, as the line table names it, and its text."""
    counted: dict[str, int] = {}
    for place in launch.kernel.listing.groups:
        if place.file:
            counted[place.file] = counted.get(place.file, 0) + 1
    name = max(counted, key=lambda file: counted[file], default=str(recipe.files[0]))
    try:
        return name, Path(name).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return name, ""
