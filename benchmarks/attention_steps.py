"""What each rung of attention changed, in counted bytes and measured speed: a section of docs/attention.md.

    python benchmarks/attention_steps.py docs/attention.md [--check]

Bytes are counted on the virtual GPU now; speeds are those of benchmarks/results/, where there are any. With
--check nothing is written, and the exit code is 1 where the section is another. No GPU is needed.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from flashpath import kernels
from flashpath.bench.attention_steps import SECTION, count_steps, section
from flashpath.bench.record_files import load_runs
from flashpath.documents import with_section
from flashpath.errors import FlashpathError

RESULTS = Path(__file__).parent / "results"


def main() -> int:
    what, _, more = (__doc__ or "").partition("\n")
    parser = argparse.ArgumentParser(
        description=what, epilog=more, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("document", type=Path)
    parser.add_argument("--check", action="store_true", help="only say whether it is up to date")
    options = parser.parse_args()
    ladder = kernels.ladder("attention")
    try:
        text = options.document.read_text(encoding="utf-8")
        wanted = with_section(text, SECTION, section(ladder, count_steps(ladder), load_runs(RESULTS)))
    except (FlashpathError, OSError, ValueError) as error:
        print(f"error: {options.document}: {error}", file=sys.stderr)
        return 1
    if options.check:
        if text != wanted:
            print(f"{options.document} is out of date: leave out --check.", file=sys.stderr)
        return int(text != wanted)
    options.document.write_text(wanted, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
