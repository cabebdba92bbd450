"""A sample of flash-attn's own tests on flashpath.compat.flash_attn, on a GPU; for docs/flash_attn.md.

    git clone --depth 1 -b v2.7.4.post1 https://github.com/Dao-AILab/flash-attention
    python benchmarks/flash_attn_tests.py flash-attention/tests/test_flash_attn.py \\
        --version 2.7.4.post1 --json benchmarks/results/h200-flash-attn-tests.json
    python benchmarks/flash_attn_tests.py --document docs/flash_attn.md [--check]

The first command runs pytest with benchmarks/flash_attn_sample.py (which chooses the tests), on --workers
processes where pytest-xdist is installed, and writes what became of each. Tests that a time limit of
--seconds leaves over are counted as not run. Its exit code is 0 where the run went to its end, whatever
failed: the record says what. --document writes the record's tables into the document; with --check nothing is
written, and the exit code is 1 where they are others.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import asdict
from pathlib import Path
from typing import Any

from flashpath.bench import read_environment
from flashpath.documents import write_section
from flashpath.jit import device

HERE = Path(__file__).parent
RECORD = HERE / "results" / "h200-flash-attn-tests.json"
SECTION = "flash-attn's tests"
OUTCOMES = ("passed", "failed", "skipped", "not run")


def main() -> int:
    what, _, more = (__doc__ or "").partition("\n")
    parser = argparse.ArgumentParser(
        description=what, epilog=more, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "tests", type=Path, nargs="?", help="test_flash_attn.py of a clone of flash-attention"
    )
    parser.add_argument("--version", default="unknown", help="of the clone, for the record")
    parser.add_argument("--json", type=Path, default=RECORD, help="where the record goes, or is")
    parser.add_argument("--workers", type=int, default=0, help="processes (pytest-xdist)")
    parser.add_argument("--seconds", type=float, help="begin no test after so many")
    parser.add_argument("--document", type=Path, help="write the record's tables into this document")
    parser.add_argument(
        "--check", action="store_true", help="with --document: only say whether it is up to date"
    )
    options = parser.parse_args()
    if options.document is not None:
        return write_document(options.document, options.json, options.check)
    if options.tests is None or not options.tests.is_file():
        parser.error("name test_flash_attn.py of a clone of flash-attention, or --document (see --help)")
    if not device.count():
        print("flash-attn's tests need a GPU, and this machine has none.", file=sys.stderr)
        return 3
    record = run(options.tests, options.version, options.workers, options.seconds)
    options.json.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    total: Counter[str] = Counter()
    for counts in record["tests"].values():
        total.update(counts)
    print(", ".join(f"{total[each]:,} {each}" for each in OUTCOMES if total[each]))
    return 0 if record["ended"] else 1


def run(tests: Path, version: str, workers: int, seconds: float | None) -> dict[str, Any]:
    """pytest over the sample; the record of it."""
    command = [
        *(sys.executable, "-m", "pytest", "-q", "--tb=short", "-p", "no:cacheprovider"),
        *("-c", os.devnull, "--rootdir", str(tests.parent)),  # flash-attn's settings, not ours
        *("-p", "flashpath.compat.as_flash_attn", "-p", "flash_attn_sample", str(tests)),
    ]
    if workers:
        command += ["-n", str(workers), "--dist", "loadgroup"]
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "log"
        environment = {
            **os.environ,
            "PYTHONPATH": os.pathsep.join([str(HERE), *filter(None, [os.environ.get("PYTHONPATH")])]),
            "FLASH_ATTN_TESTS_LOG": str(log),
            "FLASH_ATTN_TESTS_DEADLINE": str(time.time() + seconds if seconds else float("inf")),
        }
        code = subprocess.run(command, env=environment, check=False).returncode
        lines = log.read_text(encoding="utf-8").splitlines() if log.exists() else []
    return {
        "environment": asdict(read_environment("cuda")),
        "flash_attn": version,
        "ended": code in (0, 1),  # pytest's own: all passed, or some failed
        **outcomes([json.loads(each) for each in lines]),
    }


def outcomes(lines: list[list[Any]]) -> dict[str, Any]:
    """For each test function how many passed, and what the failed ones said."""
    tests: dict[str, Counter[str]] = {}
    failures: list[dict[str, str]] = []
    for test, outcome, _, reason in lines:
        kept = "not run" if outcome == "skipped" and "out of time" in reason else outcome
        tests.setdefault(test.partition("[")[0], Counter())[kept] += 1
        if outcome == "failed":
            where = " ".join(reason.split()).rpartition("/")[2]  # from the file's name on
            failures.append({"test": test.partition("@")[0], "reason": where})  # @: pytest-xdist's group
    counts = {
        name: {each: tests[name][each] for each in OUTCOMES if tests[name][each]} for name in sorted(tests)
    }
    return {"tests": counts, "failures": sorted(failures, key=lambda each: each["test"])}


# ---- The document ----------------------------------------------------------------------------------------


def write_document(document: Path, json_file: Path, check: bool) -> int:
    def made() -> str:
        return section(json.loads(json_file.read_text(encoding="utf-8")))

    return write_section(document, SECTION, made, check=check)


def section(record: dict[str, Any]) -> str:
    total: Counter[str] = Counter()
    for counts in record["tests"].values():
        total.update(counts)
    lines = [
        f"A sample of {sum(total.values()):,} of them, from all {len(record['tests'])} test functions of "
        f"`test_flash_attn.py` of {record['flash_attn']}, on an {record['environment']['gpu']}: "
        + ", ".join(f"{total[each]:,} {each}" for each in OUTCOMES if total[each])
        + ".",
        "",
        "| test | passed | of |",
        "|---|---|---|",
    ]
    for name, counts in record["tests"].items():
        lines.append(f"| `{name}` | {counts.get('passed', 0):,} | {sum(counts.values()):,} |")
    if record["failures"]:
        lines += ["", "What failed:", ""]
        lines += [f"- `{each['test']}`\n  `{each['reason']}`" for each in record["failures"]]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    if importlib.util.find_spec("pytest") is None:
        sys.exit("flash-attn's tests need pytest: pip install pytest")
    sys.exit(main())
