"""Drives NVIDIA's profilers over a whole program, and reads what they measured.

Nsight Compute (`ncu`) replays each launch and reads the GPU's counters: time, memory traffic, occupancy, why
warps waited. Nsight Systems (`nsys`) watches one undisturbed run: when each copy and kernel began and ended.
Each of them starts the program anew. What they say is kept apart from what the virtual GPU counted, and put
beside it launch by launch (`match`).
"""

from __future__ import annotations

from flashpath.bench.nsight.compute import MeasuredLaunch, measure_launches, read_launches
from flashpath.bench.nsight.matching import Launch, Matches, match
from flashpath.bench.nsight.session import Problem, ProfiledRun, Session
from flashpath.bench.nsight.stalls import Stall, top_stalls
from flashpath.bench.nsight.systems import Activity, read_activities, record_timeline, trace_of
from flashpath.bench.nsight.tools import find, missing

__all__ = [
    "Activity",
    "Launch",
    "Matches",
    "MeasuredLaunch",
    "Problem",
    "ProfiledRun",
    "Session",
    "Stall",
    "find",
    "match",
    "measure_launches",
    "missing",
    "read_activities",
    "read_launches",
    "record_timeline",
    "top_stalls",
    "trace_of",
]
