"""What a launch on the virtual GPU counted.

Global requests, sectors and bytes and the bank conflicts of shared memory follow the hardware's rules: they
equal what Nsight Compute counted on an H200 for the launches in tests/vgpu/golden, but for one, named there.
Instructions, lanes, branches, shared requests and FLOPs are counted in PTX: ptxas merges and removes some of
them on the way to machine code. Cycles are not known.
"""

from __future__ import annotations

from flashpath.vgpu.report.access import FIRST_ACCESSES, Access, Pass, PlacedArray, Sector, Trace
from flashpath.vgpu.report.counts import (
    AtomicTraffic,
    Counts,
    GlobalTraffic,
    Line,
    LocalTraffic,
    SharedTraffic,
)
from flashpath.vgpu.report.report import Footprint, Report, make_report

__all__ = [
    "FIRST_ACCESSES",
    "Access",
    "AtomicTraffic",
    "Counts",
    "Footprint",
    "GlobalTraffic",
    "Line",
    "LocalTraffic",
    "Pass",
    "PlacedArray",
    "Report",
    "Sector",
    "SharedTraffic",
    "Trace",
    "make_report",
]
