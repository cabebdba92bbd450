"""Nsight Compute: the GPU's counters for each launch of a program."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from flashpath.bench.nsight.session import Problem, Session
from flashpath.messages import say
from flashpath.vgpu.device import engine

Dim3 = tuple[int, int, int]

MOST_LAUNCHES = 200
"""Each is replayed several times: a program with thousands would take minutes."""

_METRICS = {
    "seconds": "gpu__time_duration.sum",
    "dram_read": "dram__bytes_read.sum",
    "dram_written": "dram__bytes_write.sum",
    "dram_busy": "dram__throughput.avg.pct_of_peak_sustained_elapsed",
    "l2_busy": "lts__throughput.avg.pct_of_peak_sustained_elapsed",
    "sm_busy": "sm__throughput.avg.pct_of_peak_sustained_elapsed",
    "occupancy": "sm__warps_active.avg.pct_of_peak_sustained_active",
    "l1_hits": "l1tex__t_sector_hit_rate.pct",
    "l2_hits": "lts__t_sector_hit_rate.pct",
    "registers": "launch__registers_per_thread",
}
_SCALES = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0, "%": 0.01}
# Which reasons there are depends on the GPU.
_STALLS = "regex:smsp__average_warps_issue_stalled_.*_per_issue_active.ratio"
_STALL = re.compile(r"smsp__average_warps_issue_stalled_(\w+)_per_issue_active\.ratio")
_EXTENT = re.compile(r"\((\d+), (\d+), (\d+)\)")


@dataclass(frozen=True)
class MeasuredLaunch:
    """One launch on a real GPU, with its counters; None where the profiler gave no figure.

    Shares are between 0 and 1. Caches were empty before it, and clocks as the GPU chose them.
    """

    kernel: str
    grid: Dim3
    block: Dim3
    seconds: float
    dram_read: float | None = None
    """Bytes; what stays in the L2 is not written."""
    dram_written: float | None = None
    dram_busy: float | None = None
    """The share of what memory could have moved in that time; so for the L2 and the multiprocessors."""
    l2_busy: float | None = None
    sm_busy: float | None = None
    occupancy: float | None = None
    """Warps that were resident, of the most that a multiprocessor holds."""
    l1_hits: float | None = None
    l2_hits: float | None = None
    registers: int | None = None
    stalls: Mapping[str, float] = field(default_factory=dict[str, float])
    """Cycles that a warp spent for each reason, for an instruction issued."""

    @property
    def dram_bytes(self) -> float | None:
        return None if self.dram_read is None else self.dram_read + (self.dram_written or 0.0)

    @property
    def bandwidth(self) -> float | None:
        """Bytes a second, to and from memory."""
        return None if self.dram_bytes is None or not self.seconds else self.dram_bytes / self.seconds


def measure_launches(ncu: Path, session: Session) -> tuple[list[MeasuredLaunch], Problem | None]:
    """Run the program under ncu. What was measured before a problem is there, too."""
    output = session.folder / "launches.csv"
    command = [str(ncu), "--target-processes", "all", "--csv", "--page", "raw", "--print-units", "base"]
    command += ["--print-kernel-base", "mangled", "--launch-count", str(MOST_LAUNCHES)]
    # The clocks are the machine's, which may be shared: they are left alone.
    command += ["--clock-control", "none", "--log-file", str(output)]
    command += ["--metrics", ",".join([*_METRICS.values(), _STALLS])]
    run = session.run_under(command, "ncu", own_output=False)
    text = output.read_text(errors="replace") if output.is_file() else run.log
    launches = list(read_launches(text))
    if run.ended_by_us:
        return launches, Problem("ncu", say("bench.nsight-ncu-ended"))
    return launches, _problem(text, run.code)


def read_launches(text: str) -> Iterator[MeasuredLaunch]:
    """The launches in ncu's CSV, with the messages around it; those that failed are left out."""
    lines = text.splitlines()
    begin = next((at for at, line in enumerate(lines) if line.startswith('"ID"')), len(lines))
    rows = csv.DictReader(line for line in lines[begin:] if line.startswith('"'))
    units: Mapping[str, str] = next(rows, dict[str, str]())
    for row in rows:
        seconds = _figure(row, units, _METRICS["seconds"])
        grid, block = (_EXTENT.fullmatch(row.get(f"{what} Size") or "") for what in ("Grid", "Block"))
        if seconds is None or grid is None or block is None or int(grid[1]) == 0:
            continue
        figures = {name: _figure(row, units, metric) for name, metric in _METRICS.items()}
        registers = figures.pop("registers")
        del figures["seconds"]
        yield MeasuredLaunch(
            engine().kernel_name(row["Kernel Name"]),
            (int(grid[1]), int(grid[2]), int(grid[3])),
            (int(block[1]), int(block[2]), int(block[3])),
            seconds,
            registers=None if registers is None else int(registers),
            stalls={
                found[1]: value
                for metric in row
                if (found := _STALL.fullmatch(metric or ""))
                and (value := _figure(row, units, metric)) is not None
            },
            **figures,
        )


def _figure(row: Mapping[str, str], units: Mapping[str, str], metric: str) -> float | None:
    text = (row.get(metric) or "").replace(",", "")
    try:
        return float(text) * _SCALES.get(units.get(metric) or "", 1.0)
    except ValueError:  # "n/a", or a metric that this GPU does not have
        return None


def _problem(text: str, code: int | None) -> Problem | None:
    """Returns what ncu complained of, in our words where it is known."""
    said = [line.removeprefix("==ERROR== ") for line in text.splitlines() if line.startswith("==ERROR==")]
    own = [line for line in said if not line.startswith("The application returned an error code")]
    if any("ERR_NVGPUCTRPERM" in line for line in own):
        return Problem(
            "ncu",
            say("bench.nsight-counters-locked"),
            say("bench.nsight-unlock-counters"),
        )
    if own:
        fix = None
        if any("LaunchFailed" in line for line in own):
            fix = say("bench.nsight-launch-failed")
        return Problem("ncu", f"ncu: {' '.join(own)}", fix)
    if code is None:
        last = text.strip().splitlines()[-1:] or [say("bench.nsight-silent")]
        return Problem("ncu", say("bench.nsight-ncu-did-not-run", why=last[0]))
    return None
