"""Run the arithmetic whose bits are left open on this machine's GPU and keep what it gave.

    python tests/vgpu/hardware/instructions/make_arithmetic_golden.py [--output FILE]

Any machine with an NVIDIA GPU of sm_90 or newer and flashpath's own dependencies will do.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from arithmetic_cases import INSTRUCTIONS, operands
from gpu_runs import InstructionRuns

from flashpath.jit.assembler import version

GOLDEN = Path(__file__).parent / "arithmetic.npz"


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--output", type=Path, default=GOLDEN)
    options = parser.parse_args(arguments)
    gpu = InstructionRuns(INSTRUCTIONS.values())
    golden: dict[str, Any] = {
        opcode: gpu.run(instruction, *operands(instruction)) for opcode, instruction in INSTRUCTIONS.items()
    }
    about = json.dumps({"gpu": gpu.name, "ptxas": version()})
    np.savez_compressed(options.output, about=np.array(about), **golden)
    print(f"{len(INSTRUCTIONS)} instructions on {gpu.name}: {options.output.stat().st_size} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
