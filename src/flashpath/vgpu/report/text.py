"""A report as plain text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flashpath.vgpu.report import classes

if TYPE_CHECKING:
    from flashpath.vgpu.report.report import Report


def render(report: Report) -> str:
    """A line per count, PTX-level ones labelled so; what did not happen is left out."""
    rows = [
        ("instructions (PTX)", _instructions(report)),
        ("by class (PTX)", by_class(report)),
        ("divergent branches", f"{report.divergent_branches:,} (PTX)"),
        *_memory(report),
        *_arithmetic(report),
        ("memory traffic", f"{report.dram_bytes:,} bytes at least"),
        ("memory footprint", footprint(report)),
    ]
    if report.occupancy is not None:
        rows.append(("occupancy", f"{report.occupancy.fraction:.0%}, limited by {report.occupancy.limit}"))
    if report.roofline is not None:
        bound = f"{report.roofline.least_seconds * 1e6:.2f} µs at least, bound by {report.roofline.bound}"
        rows.append(("roofline", f"{bound} (datasheet peaks, not a measured time)"))
    rows += [("finding", str(finding)) for finding in report.findings]
    title = f"{report.kernel} on the virtual GPU ({report.gpu})"
    return "\n".join([title, *(f"  {what:<22} {said}" for what, said in rows)])


def _instructions(report: Report) -> str:
    return (
        f"{report.instructions:,} by {report.warp_instructions:,} warp instructions, "
        f"{report.active_lanes:.1f} of 32 lanes active"
    )


def by_class(report: Report) -> str:
    """Shares of the instructions, in the order of the classes."""
    counts = report.instructions_by_class
    total = report.instructions or 1
    return ", ".join(f"{name} {counts[name] / total:.0%}" for name in classes.CLASSES if counts.get(name))


def _memory(report: Report) -> list[tuple[str, str]]:
    rows: list[tuple[str, str]] = []
    for what, traffic in (
        ("global loads", report.global_load),
        ("global stores", report.global_store),
        ("global atomics", report.global_atomic),
    ):
        if traffic.requests:
            said = (
                f"{traffic.requests:,} requests, {traffic.sectors:,} sectors "
                f"({traffic.sectors_per_request:.2f} a request), {traffic.bytes:,} bytes asked for"
            )
            rows.append((what, said))
    for what, traffic in (
        ("shared loads", report.shared_load),
        ("shared stores", report.shared_store),
        ("shared atomics", report.shared_atomic),
    ):
        if traffic.requests:
            said = (
                f"{traffic.requests:,} requests, {traffic.wavefronts:,} wavefronts, "
                f"{traffic.bank_conflicts:,} bank conflicts"
            )
            rows.append((what, said))
    for what, traffic in (
        ("local loads (PTX)", report.local_load),
        ("local stores (PTX)", report.local_store),
    ):
        if traffic.requests:
            said = f"{traffic.requests:,} requests, {traffic.sectors:,} sectors, {traffic.bytes:,} bytes"
            rows.append((what, said))
    if report.atomics.requests:
        turns = f"{report.atomics.turns:,} turns ({report.atomics.turns_per_request:.2f} a request)"
        rows.append(("atomics in turn", f"{report.atomics.requests:,} requests, {turns}"))
    return rows


def _arithmetic(report: Report) -> list[tuple[str, str]]:
    def kinds(counts: dict[str, int]) -> str:
        return ", ".join(f"{name} {count:,}" for name, count in sorted(counts.items()))

    rows = [("FLOPs (PTX)", f"{report.flops:,}")]
    if report.flops_by_type:
        rows.append(("  of threads", kinds(report.flops_by_type)))
    if report.tensor_operations:
        rows.append(("  of tensor cores", f"{kinds(report.tensor_operations)} operations"))
    return rows


def footprint(report: Report) -> str:
    """The memory of the launch, of a block and of a thread."""
    used = report.footprint
    return (
        f"global {used.global_touched:,} of {used.global_allocated:,} bytes; a block: shared "
        f"{used.static_shared:,} static + {used.dynamic_shared:,} dynamic; a thread: {used.registers} "
        f"registers, {used.local:,} bytes local"
    )
