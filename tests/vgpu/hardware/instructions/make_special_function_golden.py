"""Run every approximate instruction on this machine's GPU and keep what it gave, for tests without a GPU.

    python tests/vgpu/hardware/instructions/make_special_function_golden.py [--output FILE]

Any machine with an NVIDIA GPU of sm_90 or newer and flashpath's own dependencies will do. Results of
samples are kept whole, of sweeps (all fractions of an exponent) a digest.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from gpu_runs import InstructionRuns
from special_function_cases import INSTRUCTIONS, Array, samples, sweep

from flashpath.jit.assembler import version

GOLDEN = Path(__file__).parent / "special_functions.npz"


def digest(bits: Array) -> str:
    return hashlib.sha256(bits.tobytes()).hexdigest()


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--output", type=Path, default=GOLDEN)
    options = parser.parse_args(arguments)
    gpu = InstructionRuns(INSTRUCTIONS.values())
    golden: dict[str, Any] = {}
    digests: dict[str, dict[str, str]] = {}
    for opcode, instruction in INSTRUCTIONS.items():
        golden[opcode] = gpu.run(instruction, *samples(instruction))
        digests[opcode] = {
            str(field): digest(gpu.run(instruction, sweep(field, instruction.step)))
            for field in instruction.sweeps
        }
    about = {"gpu": gpu.name, "ptxas": version(), "sha256 of sweeps": digests}
    np.savez_compressed(options.output, about=np.array(json.dumps(about)), **golden)
    print(f"{len(INSTRUCTIONS)} instructions on {gpu.name}: {options.output.stat().st_size} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
