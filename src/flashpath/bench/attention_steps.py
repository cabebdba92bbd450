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
from flashpath.messages import speaking, spoken

SECTION = "attention steps"
"""Its name in the document."""
# What is counted: one head, all pairs seen, so that the formulas are short. And whose speed is shown: the
# longest problem that the slow rungs are timed on too.
LENGTH, DIM = 512, 64
MEASURED = {"sequence": 1024, "dim": 64, "causal": False}


_WAYS = {"en": {}, "zh": {"forward": "前向", "backward": "反向"}}
_HEADINGS = {
    "en": ("rung", "idea", "bytes", "× once", "× naive", "formula", "× formula"),
    "zh": ("梯级", "思路", "字节", "× 各一次", "× naive", "公式", "× 公式"),
}


def count_steps(ladder: Ladder) -> list[Traffic]:
    """Every rung that has kernels, and naive by its operators."""
    return count_traffic(ladder, [case(way, 1, LENGTH, 1, DIM, causal=False) for way in NAIVE])


def section(ladder: Ladder, rows: Sequence[Traffic], records: Sequence[Record], lang: str = "en") -> str:
    """Returns the text between the markers."""
    length, tokens, heads = MEASURED["sequence"], TOKENS, HIDDEN // MEASURED["dim"]
    words = {
        "en": f"Bytes of one head with N = {LENGTH:,} queries and keys, d = {DIM}, bfloat16, no mask, on the "
        "virtual GPU: every sector of 32 bytes that a warp asks for, also again, and also what an L2 cache "
        "would answer; of naive what torch's operators read and write. The formula is what the loops of a "
        "rung say, in bytes, with tiles of m queries and n keys. “× once” is beside every tensor moved once, "
        "“× naive” beside the first row. Speeds are of larger problems, as the records have them: sequences "
        f"of {length:,} tokens, {tokens:,} tokens and {heads} heads in all, d = {MEASURED['dim']}.",
        "zh": f"一个头的字节数：N = {LENGTH:,} 个查询和键，d = {DIM}，bfloat16，没有掩码，在虚拟 GPU 上统计。"
        "warp 请求的每个 32 字节扇区都计入，重复请求的、L2 缓存能够应答的也计入；"
        "naive 计入 torch 各算子读写的字节。"
        "“公式”由梯级的循环得出，以字节计，分块为 m 个查询、n 个键。“× 各一次”与每个张量只搬运一次相比，"
        "“× naive”与第一行相比。速度取自记录中更大的问题："
        f"序列长 {length:,}，共 {tokens:,} 个 token、{heads} 个头，d = {MEASURED['dim']}。",
    }[lang]
    parts = ["", textwrap.fill(words, width=118) if lang == "en" else words]
    for way, naive in NAIVE.items():
        of_way = [row for row in rows if row.direction == way]
        speeds = measured_speeds(records, way)
        heading = f"TFLOP/s, {next(iter(speeds.values()))[1]}" if speeds else None
        parts += ["", f"**{_WAYS[lang].get(way, way)}**", ""]
        with speaking(lang):
            parts += _table(ladder, of_way, naive, speeds, heading)
    command = f"`python benchmarks/attention_steps.py docs/attention.{'md' if lang == 'en' else 'zh.md'}`"
    parts += ["", {"en": f"{command} writes this section.", "zh": f"本节由 {command} 生成。"}[lang], "", ""]
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
    headings = [*_HEADINGS[spoken()], *filter(None, [speed_heading])]
    rule = "| --- | --- | ---: | ---: | ---: | --- | ---: |"
    lines = [f"| {' | '.join(headings)} |", rule + (" ---: |" if speed_heading else "")]
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
