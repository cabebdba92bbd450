"""What a launch costs where there is no clock: by what its run counts.

The cost is what the GPU that is played would need at least, in seconds, for the scarcest of these:

    memory       distinct bytes of global memory, at the memory's bandwidth
    arithmetic   floating-point and tensor operations, at the peak rate of their type (the roofline's)
    issue        warp instructions, one a clock for each of the SM's four schedulers that has a warp
    sectors      32-byte pieces of global accesses, four a clock and SM
    shared       wavefronts of shared memory, one a clock and SM

All but memory are taken on the busiest SM, which runs ceil(blocks / SMs) of the blocks: a grid that leaves
SMs idle, or a last wave that is almost empty, costs accordingly. Of the other four, a hundredth is added, so
that among equally bound candidates the one with less work wins. Latency is not counted: `num_stages`, and
occupancy beyond four warps, decide nothing by themselves.

It says which candidate does least; it is no prediction of a time
(docs/decisions/0006-tuning-without-a-clock.md).
"""

from __future__ import annotations

import math

from flashpath import gpus
from flashpath.vgpu.report import Report

_SCHEDULERS_PER_SM = 4
_SECTORS_PER_CLOCK = 4
_SHARE_OF_THE_REST = 0.01


def cost_seconds(gpu: gpus.Gpu, report: Report, blocks: int, threads: int) -> float:
    """The cost of a launch of `blocks` blocks of `threads` threads: the rule that heads this module."""
    assert report.occupancy is not None
    assert report.roofline is not None
    clock = gpu.boost_clock_mhz * 1e6
    blocks_there = -(-blocks // gpu.sm_count)
    share = blocks_there / blocks  # of all work, what the busiest SM does
    warps_per_block = -(-threads // gpus.WARP_SIZE)
    resident = min(report.occupancy.warps_per_sm, blocks_there * warps_per_block)
    issuing = max(1, min(_SCHEDULERS_PER_SM, resident))
    sectors = sum(each.sectors for each in (report.global_load, report.global_store, report.global_atomic))
    wavefronts = sum(
        each.wavefronts for each in (report.shared_load, report.shared_store, report.shared_atomic)
    )
    terms = (
        report.roofline.memory_seconds,
        report.roofline.compute_seconds * gpu.sm_count * share,
        report.warp_instructions * share / issuing / clock,
        sectors * share / _SECTORS_PER_CLOCK / clock,
        wavefronts * share / clock,
    )
    scarcest = max(terms)
    return scarcest + _SHARE_OF_THE_REST * (sum(terms) - scarcest)


def spread_cost_seconds(report: Report) -> float:
    """The same with the blocks spread evenly over all SMs: of a problem too small to fill the GPU."""
    gpu = gpus.gpu(report.gpu)
    return cost_seconds(gpu, report, gpu.sm_count * _SCHEDULERS_PER_SM, math.prod(report.block))
