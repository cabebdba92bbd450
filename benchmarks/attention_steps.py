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
from flashpath.documents import language_of, write_section

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

    def made() -> str:
        return section(ladder, count_steps(ladder), load_runs(RESULTS), language_of(options.document))

    return write_section(options.document, SECTION, made, check=options.check)


if __name__ == "__main__":
    sys.exit(main())
