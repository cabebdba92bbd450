"""The table that fp.attention and fp.attention_decode choose their rungs by, made from a benchmark's records.

    python benchmarks/compare_all.py --json h200.jsonl
    python benchmarks/dispatch_table.py h200.jsonl [MORE …]
    flashpath explain-dispatch attention --shape 4 4096 16 128 --causal --device H200

Without files it reads all records of benchmarks/results/. It writes
src/flashpath/kernels/attention/dispatch_table.json: for every GPU, direction, dimension, mask and length, and
for every step of decoding, what Triton and CUDA C++ took. With --check it writes nothing, and exits with 1
where the file is another.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from flashpath.bench.dispatch_cells import table_of
from flashpath.bench.record_files import load, load_runs
from flashpath.errors import FlashpathError
from flashpath.kernels.attention.dispatch_table import FILE, write

RESULTS = Path(__file__).parent / "results"


def main() -> int:
    what, _, more = (__doc__ or "").partition("\n")
    parser = argparse.ArgumentParser(
        description=what, epilog=more, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("records", nargs="*", type=Path, help="files of records; by default the repository's")
    parser.add_argument("--capability", type=capability, help="of the GPU, such as 9.0, if it is not known")
    parser.add_argument("--output", type=Path, default=FILE)
    parser.add_argument("--check", action="store_true", help="only say whether the table is up to date")
    options = parser.parse_args()
    try:
        records = [each for file in options.records for each in load(file)] or load_runs(RESULTS)
        table = table_of(records, options.capability)
    except FlashpathError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    if options.check:
        with tempfile.TemporaryDirectory() as folder:
            write(Path(folder) / "table.json", table)
            is_same = (Path(folder) / "table.json").read_bytes() == options.output.read_bytes()
        print(f"{options.output} is {'up to date' if is_same else 'out of date'}.", file=sys.stderr)
        return 0 if is_same else 1
    write(options.output, table)
    cells = [*table.cells, *table.decode_cells]
    print(f"{len(cells)} cells of {', '.join(dict.fromkeys(cell.gpu for cell in cells)) or 'no GPU'}.")
    return 0


def capability(text: str) -> tuple[int, int]:
    major, minor = map(int, text.split("."))
    return major, minor


if __name__ == "__main__":
    sys.exit(main())
