"""The section of docs/attention.md about what each rung changed: counted bytes, formulas, measured speed."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

from flashpath.bench.attention_traffic import NAIVE, Traffic, count_traffic
from flashpath.bench.record import Record
from flashpath.bench.report import code, newest
from flashpath.bench.table import digits
from flashpath.kernels.attention.cases import HIDDEN, TOKENS, case
from flashpath.kernels.rung import Ladder

SECTION = "attention steps"
"""Its name in the document."""
# What is counted: one head, all pairs seen, so that the formulas are short. And whose speed is shown: the
# longest problem that the slow rungs are timed on too.
LENGTH, DIM = 512, 64
MEASURED = {"sequence": 1024, "dim": 64, "causal": False}


def count_steps(ladder: Ladder) -> list[Traffic]:
    """Every rung that has kernels, and naive by its operators."""
    return count_traffic(ladder, [case(way, 1, LENGTH, 1, DIM, causal=False) for way in NAIVE])


def section(ladder: Ladder, rows: Sequence[Traffic], records: Sequence[Record]) -> str:
    """The text between the markers."""
    words = (
        f"Bytes of one head with N = {LENGTH:,} queries and keys, d = {DIM}, bfloat16, no mask, on the "
        "virtual GPU: every sector of 32 bytes that a warp asks for, also again, and also what an L2 cache "
        "would answer; of naive what torch's operators read and write. The formula is what the loops of a "
        "rung say, in bytes, with tiles of m queries and n keys. “× once” is beside every tensor moved once, "
        "“× naive” beside the first row. Speeds are of larger problems, as the records have them: sequences "
        f"of {MEASURED['sequence']:,} tokens, {TOKENS:,} tokens and {HIDDEN // MEASURED['dim']} heads in "
        f"all, d = {MEASURED['dim']}."
    )
    parts = ["", textwrap.fill(words, width=118)]
    for way, naive in NAIVE.items():
        of_way = [row for row in rows if row.direction == way]
        speeds = measured_speeds(records, way)
        heading = f"TFLOP/s, {next(iter(speeds.values()))[1]}" if speeds else None
        parts += ["", f"**{way}**", "", *_table(ladder, of_way, naive, speeds, heading)]
    parts += ["", "`python benchmarks/attention_steps.py docs/attention.md` writes this section.", "", ""]
    return "\n".join(parts)


def measured_speeds(records: Sequence[Record], direction: str) -> dict[str, tuple[float, str]]:
    """TFLOP/s of each rung on one problem, and the GPU; of the machine that was measured last."""
    wanted = {"direction": direction, **MEASURED}
    found = [
        record
        for record in newest([each for each in records if each.ladder == "attention"])
        if record.environment.gpu and record.tflop_per_s and dict(record.parameters) == wanted
    ]
    if not found:
        return {}
    gpu = max(found, key=lambda record: record.timestamp).environment.gpu or ""
    return {
        record.implementation: (record.tflop_per_s or 0.0, gpu)
        for record in found
        if record.environment.gpu == gpu
    }


def _table(
    ladder: Ladder,
    rows: Sequence[Traffic],
    naive: str,
    speeds: dict[str, tuple[float, str]],
    speed_heading: str | None,
) -> list[str]:
    headings = ["rung", "idea", "bytes", "× once", "× naive", "formula", "× formula"]
    headings += [speed_heading] if speed_heading else []
    lines = [f"| {' | '.join(headings)} |"]
    lines.append("| --- | --- | ---: | ---: | ---: | --- | ---: |" + (" ---: |" if speed_heading else ""))
    of_naive = next((row.bytes for row in rows if row.rung == naive), None)
    for row in rows:
        moved = row.bytes
        cells = [
            code(row.rung),
            ladder[row.rung].idea.replace("|", "\\|"),
            "failed" if moved is None else f"{moved:,}",
            "–" if moved is None else digits(moved / row.least),
            "–" if moved is None or not of_naive else digits(moved / of_naive),
            row.formula or "–",
            "–" if moved is None or not row.by_formula else digits(moved / row.by_formula),
        ]
        if speed_heading:
            cells.append(digits(speeds[row.rung][0]) if row.rung in speeds else "–")
        lines.append(f"| {' | '.join(cells)} |")
    return lines
