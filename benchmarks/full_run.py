"""Every ladder on this machine's GPU, in one run: the records that docs/results/ is made of.

    python benchmarks/full_run.py h200.jsonl [LADDER …] [--seconds 0.1]
    python benchmarks/report.py --run h200.jsonl

It is `flashpath bench` for one ladder after the other, with ceilings that are measured once. Records are kept
as soon as a case is done. Compilers take most of the first run; from their caches a second is short.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from flashpath import kernels
from flashpath.bench import append, bench_ladder, measure_ceilings
from flashpath.bench.failure import shown
from flashpath.bench.record_files import require_appendable
from flashpath.errors import FlashpathError
from flashpath.jit import device

ARITHMETICS = ("float32", "tf32", "float16", "bfloat16")


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("output", type=Path, help="a file of JSON lines, which records are added to")
    parser.add_argument("ladders", nargs="*", help="by default all")
    parser.add_argument("--seconds", type=float, default=0.1, help="for each implementation and case")
    options = parser.parse_args()
    if not device.count():
        print("full_run.py times kernels on a GPU, and this machine has none.", file=sys.stderr)
        return 3
    try:
        require_appendable(options.output)
        names: Sequence[str] = options.ladders or kernels.ladders()
        ladders = [kernels.ladder(name) for name in names]
    except FlashpathError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    ceilings = measure_ceilings("cuda", ARITHMETICS)
    for ladder in ladders:
        start = time.monotonic()
        results = bench_ladder(
            ladder,
            ceilings=ceilings,
            seconds=options.seconds,
            progress=False,
            on_record=lambda record: append(options.output, [record]),
        )
        failed = [each for each in results.records if each.error and not each.skipped and not each.time]
        print(
            f"{ladder.name}: {len(results.records)} records in {time.monotonic() - start:.0f} s", flush=True
        )
        for each in failed:
            print(f"  {each.case}, {each.implementation}: {shown(each.error or '')}", flush=True)
        if results.interrupted:
            return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
