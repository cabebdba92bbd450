"""A report as plain text."""

from __future__ import annotations

import unicodedata
from typing import TYPE_CHECKING

from flashpath.messages import say
from flashpath.vgpu.report import classes
from flashpath.vgpu.report.names import named

if TYPE_CHECKING:
    from flashpath.vgpu.report.report import Report


def render(report: Report) -> str:
    """Returns a line per count, PTX-level ones labelled so; what did not happen is left out."""
    rows = [
        (say("vgpu.report-instructions"), _instructions(report)),
        (say("vgpu.report-by-class"), by_class(report)),
        (say("vgpu.report-branches"), f"{report.divergent_branches:,} (PTX)"),
        *_memory(report),
        *_arithmetic(report),
        (say("vgpu.report-traffic"), say("vgpu.report-bytes-at-least", bytes=report.dram_bytes)),
        (say("vgpu.report-footprint"), footprint(report)),
    ]
    if (occupancy := report.occupancy) is not None:
        said = say("vgpu.report-limited", share=f"{occupancy.fraction:.0%}", limit=named(occupancy.limit))
        rows.append((say("vgpu.report-occupancy"), said))
    if (roofline := report.roofline) is not None:
        time = f"{roofline.least_seconds * 1e6:.2f} µs"
        rows.append(
            (say("vgpu.report-roofline"), say("vgpu.report-bound", time=time, bound=named(roofline.bound)))
        )
    rows += [(say("vgpu.report-finding"), str(finding)) for finding in report.findings]
    title = say("vgpu.report-title", kernel=report.kernel, gpu=report.gpu)
    return "\n".join([title, *(f"  {padded(what, 22)} {said}" for what, said in rows)])


def padded(text: str, width: int) -> str:
    """Returns the text with spaces to that width; a Chinese character is as wide as two letters."""
    used = sum(2 if unicodedata.east_asian_width(letter) in "WF" else 1 for letter in text)
    return text + " " * max(0, width - used)


def _instructions(report: Report) -> str:
    return say(
        "vgpu.report-instructions-are",
        count=report.instructions,
        warps=report.warp_instructions,
        lanes=report.active_lanes,
    )


def by_class(report: Report) -> str:
    """Returns shares of the instructions, in the order of the classes."""
    counts = report.instructions_by_class
    total = report.instructions or 1
    return ", ".join(
        f"{named(name)} {counts[name] / total:.0%}" for name in classes.CLASSES if counts.get(name)
    )


def _memory(report: Report) -> list[tuple[str, str]]:
    rows: list[tuple[str, str]] = []
    for what, traffic in (
        (say("vgpu.report-global-loads"), report.global_load),
        (say("vgpu.report-global-stores"), report.global_store),
        (say("vgpu.report-global-atomics"), report.global_atomic),
    ):
        if traffic.requests:
            said = say(
                "vgpu.report-sectors",
                requests=traffic.requests,
                sectors=traffic.sectors,
                ratio=traffic.sectors_per_request,
                bytes=traffic.bytes,
            )
            rows.append((what, said))
    for what, traffic in (
        (say("vgpu.report-shared-loads"), report.shared_load),
        (say("vgpu.report-shared-stores"), report.shared_store),
        (say("vgpu.report-shared-atomics"), report.shared_atomic),
    ):
        if traffic.requests:
            said = say(
                "vgpu.report-wavefronts",
                requests=traffic.requests,
                wavefronts=traffic.wavefronts,
                conflicts=traffic.bank_conflicts,
            )
            rows.append((what, said))
    for what, traffic in (
        (say("vgpu.report-local-loads"), report.local_load),
        (say("vgpu.report-local-stores"), report.local_store),
    ):
        if traffic.requests:
            said = say(
                "vgpu.report-local",
                requests=traffic.requests,
                sectors=traffic.sectors,
                bytes=traffic.bytes,
            )
            rows.append((what, said))
    if (atomics := report.atomics).requests:
        said = say(
            "vgpu.report-turns",
            requests=atomics.requests,
            turns=atomics.turns,
            ratio=atomics.turns_per_request,
        )
        rows.append((say("vgpu.report-atomics"), said))
    return rows


def _arithmetic(report: Report) -> list[tuple[str, str]]:
    def kinds(counts: dict[str, int]) -> str:
        return ", ".join(f"{name} {count:,}" for name, count in sorted(counts.items()))

    rows = [("FLOPs (PTX)", f"{report.flops:,}")]
    if report.flops_by_type:
        rows.append(("  " + say("vgpu.report-of-threads"), kinds(report.flops_by_type)))
    if report.tensor_operations:
        said = say("vgpu.report-operations", kinds=kinds(report.tensor_operations))
        rows.append(("  " + say("vgpu.report-of-tensor-cores"), said))
    return rows


def footprint(report: Report) -> str:
    """Returns the memory of the launch, of a block and of a thread."""
    used = report.footprint
    return say(
        "vgpu.report-footprint-is",
        touched=used.global_touched,
        allocated=used.global_allocated,
        static=used.static_shared,
        dynamic=used.dynamic_shared,
        registers=used.registers,
        local=used.local,
    )
