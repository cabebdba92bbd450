"""Compare the engine's special functions with this machine's GPU on all inputs: 2^32 of each instruction.

    python tests/vgpu/hardware/special_functions/verify_all_inputs.py [INSTRUCTION ...] [--output FILE]

Builds verify/: kernels that run each instruction, and the engine's own code on all host threads, which is
compared with what they give. Where instructions are named, only their rows in the file are made anew. Any
machine with an NVIDIA GPU, nvcc and g++ will do; all take a minute or two.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from recover_coefficients import ENGINE

VERIFY = Path(__file__).parent / "verify"
VERIFIED = Path(__file__).parent / "verified.json"
# Those of the engine's fast variant (CMakeLists.txt).
FLAGS = (
    *("-std=c++20", "-O3", "-march=x86-64-v3", "-ffp-contract=off"),
    *("-fno-math-errno", "-fno-trapping-math"),
)


def build(folder: Path) -> Path:
    program, measure, compare = (folder / name for name in ("verify", "measure.o", "compare.o"))
    here = ["-I", VERIFY, "-I", ENGINE]
    nvcc = ["nvcc", "-arch=native", "-std=c++17", "-O3"]
    subprocess.run([*nvcc, "-c", VERIFY / "measure.cu", "-o", measure], check=True)
    subprocess.run(["g++", *FLAGS, *here, "-c", VERIFY / "compare.cpp", "-o", compare], check=True)
    subprocess.run(["nvcc", measure, compare, "-o", program, "-Xcompiler", "-pthread"], check=True)
    return program


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("instructions", nargs="*", metavar="INSTRUCTION")
    parser.add_argument("--output", type=Path, default=VERIFIED)
    options = parser.parse_args(arguments)
    rows: dict[str, dict[str, Any]] = {}
    if options.instructions:
        rows = {row["instruction"]: row for row in json.loads(options.output.read_text())["instructions"]}
    with tempfile.TemporaryDirectory() as folder:
        command = [build(Path(folder)), *options.instructions]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert process.stdout is not None
        about = json.loads(process.stdout.readline())
        for line in process.stdout:
            print(line, end="", flush=True)
            row = json.loads(line)
            rows[row["instruction"]] = row
        if process.wait() != 0:
            return 1
    options.output.write_text(json.dumps(about | {"instructions": list(rows.values())}, indent=1) + "\n")
    return int(any(row["different"] for row in rows.values()))


if __name__ == "__main__":
    sys.exit(main())
