"""Runs the kept PTX on this machine's GPU and keeps its results: `python make_golden.py [--output FILE]`.

Any machine with an NVIDIA GPU of sm_90 will do; NumPy and cuda-bindings are needed, flashpath itself is not.
The driver compiles the PTX. Tests compare the virtual GPU with what stands in golden_h200.npz.
"""

from __future__ import annotations

# pyright: basic
import argparse
import json
import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parents[4]))

import catalogue
from catalogue import Array, Case

from tests.harness.real_gpu import Gpu


def run(gpu: Gpu, case: Case, image: bytes) -> list[Array]:
    """The results of one launch of a kernel in PTX or a cubin."""
    arguments = case.make_arguments()
    gpu.run(image, case.kernel, case.grid, case.block, arguments, case.outputs, case.shared)
    results = (arguments[k] for k in sorted(case.outputs))
    return [each for each in results if isinstance(each, np.ndarray)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", type=Path, default=catalogue.GOLDEN)
    options = parser.parse_args()
    gpu = Gpu()
    kept: dict[str, Array] = {}
    inputs: dict[str, str] = {}
    for case in catalogue.CASES:
        text = catalogue.load_ptx(case.module)
        results = run(gpu, case, text.encode() + b"\0")
        joined = b"".join(each.tobytes() for each in results)
        kept[case.name] = np.frombuffer(joined, np.uint8)
        inputs[case.name] = case.digest_of_inputs()
    modules = {case.module: catalogue.digest(catalogue.load_ptx(case.module)) for case in catalogue.CASES}
    about = {"gpu": gpu.name, "driver": gpu.driver_version, "ptx": modules, "inputs": inputs}
    kept["about"] = np.array(json.dumps(about))
    np.savez_compressed(options.output, **kept)  # pyright: ignore[reportArgumentType] (its stubs)
    print(f"{len(catalogue.CASES)} kernels, {options.output.stat().st_size} bytes, {gpu.name}")


if __name__ == "__main__":
    main()
