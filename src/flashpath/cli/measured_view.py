"""How what Nsight measured is shown beside what was counted."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rich.table import Table
from rich.text import Text

from flashpath.bench.nsight import top_stalls
from flashpath.cli.output import print_table
from flashpath.cli.profile_view import bar, in_units
from flashpath.messages import say

if TYPE_CHECKING:
    from rich.console import Console

    from flashpath import gpus
    from flashpath.bench.nsight import Activity, MeasuredLaunch
    from flashpath.vgpu.report import Report

_STALLS_SHOWN = 3
_BAR = 16


@dataclass(frozen=True)
class Pair:
    """A launch that was counted: its bound, its counters (ncu), and its part of the timeline (nsys)."""

    kernel: str
    bound: float
    counters: MeasuredLaunch | None
    activity: Activity | None

    @property
    def seconds(self) -> float | None:
        """With cold caches, as the bound has it, where that was measured."""
        if self.counters is not None:
            return self.counters.seconds
        return None if self.activity is None else self.activity.seconds

    @property
    def of_bound(self) -> float | None:
        return None if self.seconds is None or not self.bound else self.seconds / self.bound


def bandwidth_share(counters: MeasuredLaunch, gpu: gpus.Gpu) -> float | None:
    """Returns the share of the datasheet's bandwidth."""
    rate = counters.bandwidth
    return None if rate is None else rate / (gpu.memory_bandwidth_gb_per_s * 1e9)


def plain_pair(pair: Pair, gpu: gpus.Gpu) -> dict[str, Any] | None:
    """For JSON; None where neither tool measured this launch."""
    if pair.seconds is None:
        return None
    counters: dict[str, Any] | None = None
    if pair.counters is not None:
        stalls = top_stalls(pair.counters.stalls, _STALLS_SHOWN)
        counters = {
            **dataclasses.asdict(pair.counters),
            "dram_bytes": pair.counters.dram_bytes,
            "bandwidth": pair.counters.bandwidth,
            "bandwidth_share": bandwidth_share(pair.counters, gpu),
            "top_stalls": [{**dataclasses.asdict(each), "meaning": each.meaning} for each in stalls],
        }
    return {
        "seconds": pair.seconds,
        "of_bound": pair.of_bound,
        "in_run": None if pair.activity is None else dataclasses.asdict(pair.activity),
        "counters": counters,
    }


# ---- A row for each kernel -----------------------------------------------------------------------------


def show_summary(out: Console, where: str, gpu: gpus.Gpu, pairs: Sequence[Pair]) -> None:
    """The kernel that took the longest first; `where` says what was measured on, and whose the bounds are."""
    out.print(say("cli.measured-launches", count=len(pairs), where=where), markup=False)
    columns = [say("cli.profile-column-launches")]
    with_counters = any(pair.counters for pair in pairs)
    with_activities = any(pair.activity for pair in pairs)
    if with_activities:
        columns += [say("cli.profile-column-in-the-run"), say("cli.profile-column-of-all")]
    if with_counters:
        columns.append(say("cli.profile-column-cold-each"))
    columns += [say("cli.profile-column-bound-each"), say("cli.profile-column-of-bound")]
    if with_counters:
        columns += [say("cli.profile-column-bandwidth"), say("cli.profile-column-of-peak")]
    table = Table()
    table.add_column(say("cli.profile-column-kernel"))
    for column in columns:
        table.add_column(column, justify="right")
    by_kernel: dict[str, list[Pair]] = {}
    for pair in pairs:
        by_kernel.setdefault(pair.kernel, []).append(pair)
    total = sum(_in_run(pairs))
    for name, own in sorted(by_kernel.items(), key=lambda item: -sum(_longest(each) for each in item[1])):
        cells = [name, f"{len(own):,}"]
        if with_activities:
            seconds = sum(_in_run(own))
            cells += [in_units(seconds), f"{seconds / total:.0%}"] if _in_run(own) and total else ["", ""]
        if with_counters:
            cells.append(_mean([each.counters.seconds for each in own if each.counters]))
        cells.append(_mean([each.bound for each in own]))
        ratios = [each.of_bound for each in own if each.of_bound is not None]
        cells.append(_times(sum(ratios) / len(ratios)) if ratios else "")
        if with_counters:
            cells += _bandwidth_cells([each.counters for each in own if each.counters], gpu)
        table.add_row(*cells)
    print_table(out, table)


def _in_run(pairs: Sequence[Pair]) -> list[float]:
    return [each.activity.seconds for each in pairs if each.activity]


def _longest(pair: Pair) -> float:
    if pair.activity is not None:
        return pair.activity.seconds
    return pair.seconds or 0.0


def _mean(seconds: Sequence[float]) -> str:
    return in_units(sum(seconds) / len(seconds)) if seconds else ""


def _bandwidth_cells(counters: Sequence[MeasuredLaunch], gpu: gpus.Gpu) -> list[str]:
    """Returns the bytes over the time of all launches together."""
    known = [each for each in counters if each.dram_bytes is not None]
    seconds = sum(each.seconds for each in known)
    if not seconds:
        return ["", ""]
    rate = sum(each.dram_bytes or 0.0 for each in known) / seconds
    return [_rate(rate), _percent(rate / (gpu.memory_bandwidth_gb_per_s * 1e9))]


def show_alone(
    out: Console, device: str, launches: Sequence[MeasuredLaunch], kernels: Sequence[Activity]
) -> None:
    """What was measured, where nothing was counted to put beside it."""
    if not launches and not kernels:
        out.print(say("cli.measured-nothing"))
        return
    out.print(say("cli.measured-alone", device=device), markup=False)
    table = Table()
    table.add_column(say("cli.profile-column-kernel"))
    for column in (
        say("cli.profile-column-launches"),
        say("cli.profile-column-all"),
        say("cli.profile-column-each"),
    ):
        table.add_column(column, justify="right")
    table.add_column(say("cli.profile-column-tool"))
    for tool, runs in (
        (say("cli.measured-by-nsys"), [(each.name, each.seconds) for each in kernels]),
        (say("cli.measured-by-ncu"), [(each.kernel, each.seconds) for each in launches]),
    ):
        by_kernel: dict[str, list[float]] = {}
        for name, seconds in runs:
            by_kernel.setdefault(name, []).append(seconds)
        for name, own in sorted(by_kernel.items(), key=lambda item: -sum(item[1])):
            table.add_row(name, f"{len(own):,}", in_units(sum(own)), _mean(own), tool)
    print_table(out, table)


# ---- One launch ----------------------------------------------------------------------------------------


def show_launch(out: Console, device: str, gpu: gpus.Gpu, pair: Pair, report: Report) -> None:
    """What was measured of a launch, above what was counted of it."""
    for row in _rows(device, gpu, pair, report):
        row.rstrip()
        out.print(row, no_wrap=True, crop=out.is_terminal, overflow="ellipsis")
    out.print()


def _rows(device: str, gpu: gpus.Gpu, pair: Pair, report: Report) -> list[Text]:
    if pair.seconds is None:
        return [Text(say("cli.measured-not"), "yellow")]
    rows = [Text(say("cli.measured-on", device=device, time=in_units(pair.seconds)), "bold")]
    if pair.of_bound is not None:
        rows[0].append(say("cli.measured-of-bound", ratio=_times(pair.of_bound)), "not bold")
    counters = pair.counters
    if counters is not None:
        rows[0].append(say("cli.measured-cold"), "not bold")
    if pair.activity is not None:
        rows.append(Text(say("cli.measured-in-run", time=in_units(pair.activity.seconds))))
    if counters is None:
        return rows
    if counters.dram_bytes is not None and counters.bandwidth is not None:
        peak = gpu.memory_bandwidth_gb_per_s * 1e9
        rows.append(
            Text(
                say(
                    "cli.measured-traffic",
                    bytes=f"{counters.dram_bytes:,.0f}",
                    counted=report.dram_bytes,
                    rate=_rate(counters.bandwidth),
                    share=_percent(counters.bandwidth / peak),
                    peak=_rate(peak),
                )
            )
        )
    busy = {
        say("cli.measured-memory"): counters.dram_busy,
        "L2": counters.l2_busy,
        say("cli.measured-multiprocessors"): counters.sm_busy,
    }
    if told := _shares(busy):
        rows.append(Text(say("cli.measured-busy", shares=told)))
    if told := _shares({"L1": counters.l1_hits, "L2": counters.l2_hits}):
        rows.append(Text(say("cli.measured-hits", shares=told)))
    if counters.occupancy is not None:
        share = f"{counters.occupancy:.0%}"
        if report.occupancy is None:
            rows.append(Text(say("cli.measured-occupancy", share=share)))
        else:
            fit = f"{report.occupancy.fraction:.0%}"
            rows.append(Text(say("cli.measured-occupancy-of", share=share, fit=fit)))
    stalls = top_stalls(counters.stalls, _STALLS_SHOWN)
    if stalls:
        rows.append(Text(say("cli.measured-stalls"), "dim"))
        widest = max(len(each.reason) for each in stalls)
        for each in stalls:
            drawn = f"{bar(each.share, _BAR):<{_BAR}}"
            rows.append(
                Text.assemble(
                    f"  {each.share:>4.0%} ", (drawn, "yellow"), f" {each.reason:<{widest}}  {each.meaning}"
                )
            )
    return rows


def _shares(named: dict[str, float | None]) -> str:
    # The two counters of a share may be of different replays: it can come out above 1.
    return ", ".join(
        f"{name} {_percent(min(share, 1.0))}" for name, share in named.items() if share is not None
    )


def _percent(share: float) -> str:
    return f"{share:.0%}" if share >= 0.01 or not share else f"{100 * share:.1g}%"


def _times(ratio: float) -> str:
    return f"{ratio:.3g}×" if ratio < 100 else f"{ratio:,.0f}×"


def _rate(bytes_per_second: float) -> str:
    for unit, size in (("TB/s", 1e12), ("GB/s", 1e9), ("MB/s", 1e6)):
        if bytes_per_second >= size:
            return f"{bytes_per_second / size:.3g} {unit}"
    return f"{bytes_per_second:.3g} B/s"
