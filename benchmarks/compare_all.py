"""Attention: every rung here and every peer that can be imported, over lengths, dimensions and masks.

On a GPU: time, TFLOP/s, memory, distance from float64, and how each is to read and to debug; then speed and
memory beside naive attention. With no GPU: small problems on the virtual one, whose counted bytes
(every sector that is asked for, also again) stand beside the IO bound of the FlashAttention paper.

examples:
  python benchmarks/compare_all.py                                   # all of it: minutes on a GPU
  python benchmarks/compare_all.py --lengths 1024,4096 --dims 128 --directions forward --seconds 0.05
  python benchmarks/compare_all.py --implementations flash_v2_triton "torch (cuDNN)" naive
  python benchmarks/compare_all.py --json h200.jsonl --plots docs/plots --jobs 16
  python benchmarks/report.py --run h200.jsonl                       # into docs/results/
  python benchmarks/compare_all.py --device virtual --lengths 512,1024,2048 --masks full

A record is written as soon as its case is done. What a file given with --json already has is not done again.
"""

from __future__ import annotations

import argparse
import functools
import json
import math
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from flashpath import kernels
from flashpath.bench import (
    Record,
    append,
    bench_ladder,
    beside_naive,
    lengths,
    load,
    measure_ceilings,
    report,
)
from flashpath.bench.attention_traffic import Traffic, count_traffic, table
from flashpath.bench.failure import shown
from flashpath.bench.ladder import ARCHITECTURES
from flashpath.bench.record_files import append_bytes, require_appendable
from flashpath.bench.table import JUDGED, digits, seconds
from flashpath.bench.warming import warm
from flashpath.errors import FlashpathError
from flashpath.jit import device
from flashpath.kernels.attention import cases as problems
from flashpath.kernels.attention.peers import not_importable
from flashpath.kernels.attention.problem import DIM_STEP, LARGEST_DIM, block_pairs
from flashpath.kernels.attention.traffic import ON_CHIP_BYTES
from flashpath.kernels.rung import Case, Ladder
from flashpath.ops.limits import MOST_PRODUCTS_ON_CPU

COMPILED_PEERS = ("torch (flex_attention)", "Triton (plain)")
VIRTUAL_LENGTHS = (256, 512, 1024)


def main() -> int:
    options = arguments().parse_args()
    if options.device is None:
        options.device = "cuda" if device.count() else "virtual"
    if options.device == "cuda" and not device.count():
        print("error: --device cuda, and this machine has no GPU. Try --device virtual.", file=sys.stderr)
        return 3
    try:
        if options.json:
            require_appendable(options.json)
        if options.plots:
            options.plots.mkdir(parents=True, exist_ok=True)
        return timed(options) if options.device == "cuda" else counted(options)
    except FlashpathError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        kept = f" What is done is in {options.json}: the same command goes on." if options.json else ""
        print(f"Interrupted.{kept}", file=sys.stderr)
        return 130


def arguments() -> argparse.ArgumentParser:
    what, _, more = (__doc__ or "").partition("\n")
    parser = argparse.ArgumentParser(
        description=what, epilog=more, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("--device", choices=("cuda", "virtual"), help="by default the GPU, if there is one")
    add("--lengths", type=numbers, help="tokens of a sequence, such as 512,1024")
    add("--dims", type=dimensions, help="of a head, such as 64,128,256")
    add("--directions", type=words(problems.DIRECTIONS), default=problems.DIRECTIONS, help="forward,backward")
    add("--masks", type=words(("causal", "full")), default=("causal", "full"), help="causal,full")
    add("--tokens", type=positive, default=problems.TOKENS, help="on a GPU, of all sequences together")
    add("--hidden", type=positive, default=problems.HIDDEN, help="on a GPU, elements of all heads together")
    add("--implementations", nargs="+", metavar="NAME", help="rungs and peers by name; by default all")
    add("--seconds", type=duration, default=0.1, help="of timing, for each implementation and case")
    add("--jobs", type=int, default=0, help="processes that compile everything beforehand")
    add("--portability", action="store_true", help="also compile every rung for every architecture")
    add(
        "--on-chip",
        type=positive,
        default=ON_CHIP_BYTES,
        help="bytes on the chip: M of the paper's bound",
    )
    add("--json", type=Path, help="a file of JSON lines that is added to, and gone on with")
    add("--plots", type=Path, help="a folder for pictures of speed and memory")
    return parser


def numbers(text: str) -> tuple[int, ...]:
    return tuple(map(positive, text.split(",")))


def dimensions(text: str) -> tuple[int, ...]:
    found = numbers(text)
    if wrong := [each for each in found if each % DIM_STEP or each > LARGEST_DIM]:
        raise argparse.ArgumentTypeError(
            f"{wrong[0]} is no head dimension: they are multiples of {DIM_STEP} up to {LARGEST_DIM}"
        )
    return found


def positive(text: str) -> int:
    if not text.strip().isdecimal() or not int(text):
        raise argparse.ArgumentTypeError(f"{text!r} is no whole number of 1 or more")
    return int(text)


def duration(text: str) -> float:
    try:
        found = float(text)
    except ValueError:
        found = math.nan
    if not 0 < found < math.inf:
        raise argparse.ArgumentTypeError(f"{text!r} is no number above 0")
    return found


def words(known: Sequence[str]):
    def parse(text: str) -> tuple[str, ...]:
        found = tuple(text.split(","))
        if unknown := [each for each in found if each not in known]:
            raise argparse.ArgumentTypeError(f"{unknown[0]!r} is none of {', '.join(known)}")
        return found

    return parse


# ---- On a GPU --------------------------------------------------------------------------------------------


def timed(options: argparse.Namespace) -> int:
    ladder = kernels.ladder("attention")
    rungs, peers = chosen(ladder, options.implementations)
    makers = [
        functools.partial(
            problems.case,
            way,
            max(1, options.tokens // n),
            n,
            max(1, options.hidden // d),
            d,
            mask == "causal",
        )
        for way in options.directions
        for d in options.dims or problems.DIMS
        for mask in options.masks
        for n in options.lengths or problems.LENGTHS
    ]
    records = load(options.json) if options.json and options.json.is_file() else []
    left = [make for make in makers if not is_done(make(), (*rungs, *peers), records)]
    say(
        f"{len(makers)} cases, {len(makers) - len(left)} of them done; {len(rungs)} rungs, {len(peers)} peers"
    )
    for name, module in not_importable().items():
        say(f"not importable here: {name} (module {module})")
    if left and options.jobs:
        start = time.monotonic()
        archs = ARCHITECTURES if options.portability else ()
        warm(ladder.name, left, options.jobs, peers=set(COMPILED_PEERS) & set(peers), archs=archs)
        say(f"compiled in {time.monotonic() - start:.0f} s")
    interrupted = False
    if left:
        told = Told(len(left), len(rungs) + len(peers))

        def keep(record: Record) -> None:
            records.append(record)
            if options.json:
                append(options.json, [record])
            told.tell(record)

        interrupted = bench_ladder(
            ladder,
            cases=[make() for make in left],
            only=rungs,
            peers=peers,
            with_portability=options.portability,
            ceilings=measure_ceilings("cuda", ["bfloat16"]),
            seconds=options.seconds,
            progress=False,
            on_record=keep,
        ).interrupted
    wanted = {make().name for make in makers}
    show([record for record in records if record.case in wanted], options.plots)
    return 130 if interrupted else 0


def chosen(ladder: Ladder, names: Sequence[str] | None) -> tuple[list[str], list[str]]:
    rungs, peers = [rung.name for rung in ladder], list(ladder.peers("cuda"))
    if names is None:
        return rungs, peers
    if unknown := [each for each in names if each not in (*rungs, *peers)]:
        away = not_importable()
        names = (*rungs, *peers)
        if unknown[0] in away:
            module = away[unknown[0]]
            raise FlashpathError("bench.peer-not-importable", name=unknown[0], module=module, names=names)
        raise FlashpathError("bench.no-such-implementation", name=unknown[0], names=names)
    return [each for each in rungs if each in names], [each for each in peers if each in names]


def is_done(case: Case, names: Sequence[str], records: Sequence[Record]) -> bool:
    found = {record.implementation for record in records if record.case == case.name}
    return set(names) <= found


class Told:
    """A line for each case that is done."""

    def __init__(self, cases: int, implementations: int) -> None:
        self.cases, self.implementations = cases, implementations
        self.done, self.start = 0, time.monotonic()
        self.of_case: list[Record] = []

    def tell(self, record: Record) -> None:
        self.of_case.append(record)
        if len(self.of_case) < self.implementations:
            return
        self.done += 1
        fastest = sorted(
            (each for each in self.of_case if each.time), key=lambda each: -(each.tflop_per_s or 0)
        )
        named = ", ".join(f"{each.implementation} {digits(each.tflop_per_s)}" for each in fastest[:3])
        passed = time.monotonic() - self.start
        say(f"[{self.done}/{self.cases}, {passed:.0f} s] {record.case}: {named} TFLOP/s")
        for each in self.of_case:
            if each.error and not each.skipped and not each.time:
                say(f"    {each.implementation}: {shown(each.error)}")
        self.of_case = []


def show(records: Sequence[Record], plots: Path | None) -> None:
    for part in lengths.tables(records):
        print(part.replace("**", ""), end="\n\n")
    print(report.table(JUDGED, list({each.implementation: each for each in records}.values())), end="\n\n")
    if rows := beside_naive.beside_naive(records):
        print("Beside naive attention:\n")
        print(beside_naive.markdown(rows))
    if plots is None:
        return
    for direction in dict.fromkeys(each.parameters["direction"] for each in records):
        some = [each for each in records if each.parameters["direction"] == direction and each.time]
        if some:
            lengths.draw(some, plots / f"attention-{direction}-speed.svg", lengths.speed, "TFLOP/s")
        if any(map(lengths.peak_memory, some)):
            path = plots / f"attention-{direction}-memory.svg"
            lengths.draw(some, path, lengths.peak_memory, "bytes beside the inputs", log=True)


# ---- With no GPU -----------------------------------------------------------------------------------------


def counted(options: argparse.Namespace) -> int:
    ladder = kernels.ladder("attention")
    names = [ladder[each].name for each in options.implementations or [rung.name for rung in ladder]]
    require_countable(options)
    rows = read_rows(options.json)
    for way in options.directions:
        for dim in options.dims or (64,):
            for mask in options.masks:
                lengths_of = options.lengths or VIRTUAL_LENGTHS
                cases = [problems.case(way, 1, n, 1, dim, mask == "causal") for n in lengths_of]
                for case in cases:
                    rows += count_case(ladder, case, names, rows, options)
                shown = [row for row in rows if any(is_of(row, case, options.on_chip) for case in cases)]
                show_counts(f"{way}, dim {dim}, {mask}", [row for row in shown if row.rung in names])
    say("Counted on the virtual GPU; naive by what torch's operators read and write. There are no times.")
    say(f"M is {options.on_chip:,} bytes on the chip, in elements of two bytes. “Once”: every tensor once.")
    return 0


def require_countable(options: argparse.Namespace) -> None:
    """No case that the operator would refuse on CPU tensors."""
    for length in options.lengths or ():
        for dim in options.dims or (64,):
            for mask in options.masks:
                products = block_pairs(length, length, right=0 if mask == "causal" else -1) * 2 * dim
                if products > MOST_PRODUCTS_ON_CPU:
                    raise FlashpathError(
                        "bench.too-long-for-virtual-gpu",
                        length=length, dim=dim, mask=mask, products=products, most=MOST_PRODUCTS_ON_CPU,
                    )  # fmt: skip


def count_case(
    ladder: Ladder, case: Case, names: Sequence[str], rows: Sequence[Traffic], options: argparse.Namespace
) -> list[Traffic]:
    """What is not counted yet."""
    start = time.monotonic()
    done = {row.rung for row in rows if is_of(row, case, options.on_chip)}
    new = count_traffic(
        ladder,
        [case],
        rungs=[each for each in names if each not in done],
        on_chip_bytes=options.on_chip,
        on_row=lambda row: keep_row(options.json, row),
    )
    say(f"{case.name}: {len(new)} rungs in {seconds(time.monotonic() - start)}")
    return new


def read_rows(path: Path | None) -> list[Traffic]:
    if path is None or not path.is_file():
        return []
    try:
        return [Traffic(**json.loads(line)) for line in path.read_text(encoding="utf-8").splitlines()]
    except (ValueError, TypeError) as error:
        raise FlashpathError("bench.no-counts", file=path, error=error) from None


def is_of(row: Traffic, case: Case, on_chip: int) -> bool:
    return row.case == case.name and row.on_chip_bytes == on_chip


def keep_row(path: Path | None, row: Traffic) -> None:
    if path is not None:
        append_bytes(path, (json.dumps(asdict(row), ensure_ascii=False) + "\n").encode())


def show_counts(title: str, rows: Sequence[Traffic]) -> None:
    from rich.console import Console
    from rich.table import Table

    if not rows:
        return
    headings, *cells = table(rows)
    shown = Table(title=title, title_justify="left", box=None, pad_edge=False)
    for index, heading in enumerate(headings):
        shown.add_column(heading, justify="right" if index else "left")
    for row in cells:
        shown.add_row(*row)
    Console(width=None if sys.stdout.isatty() else 200, highlight=False).print(shown, "")
    for row in rows:
        if row.failure:
            say(f"{row.rung}, N = {row.sequence}: {row.failure}")


def say(text: str) -> None:
    print(text, flush=True)


if __name__ == "__main__":
    sys.exit(main())
