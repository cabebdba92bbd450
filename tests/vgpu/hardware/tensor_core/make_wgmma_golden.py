"""Run every type of wgmma on this machine's GPU, keep what it gave, and say where the virtual GPU differs.

    python tests/vgpu/hardware/tensor_core/make_wgmma_golden.py [--output FILE] [--tiles N] [--seed N]

A GPU of sm_90 is needed. Of every tile a checksum is kept. What differs is printed by type and recipe, with
the first element that does: the model of its sums is then to be mended (engine/exec/tensor_core/wgmma.cpp,
`add_exactly`).
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from make_tensor_core_golden import checksums
from tensor_core_cases import FLOATS
from tensor_core_numbers import RECIPES
from wgmma_cases import TARGET, arguments, inputs, module_ptx, unpack_sums, wgmma_cases
from wgmma_runs import run_on_the_virtual_gpu

from flashpath.jit.assembler import assemble, version

sys.path.insert(0, str(Path(__file__).parents[4]))  # where it runs as a program

from tests.harness.real_gpu import Gpu

GOLDEN = Path(__file__).parent / "h200_wgmma.npz"
TILES = 32  # of each recipe


def main(words: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--output", type=Path, default=GOLDEN)
    parser.add_argument("--tiles", type=int, default=TILES, help="of each recipe")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args(words)
    gpu = Gpu()
    cubin, log = assemble(module_ptx(), TARGET, [])
    if cubin is None:
        raise SystemExit(log)
    about = {"gpu": gpu.name, "ptxas": version(), "tiles": options.tiles, "seed": options.seed}
    golden: dict[str, Any] = {"about": np.array(json.dumps(about))}
    wrong = 0
    for name, case in wgmma_cases().items():
        matrices = inputs(case, options.tiles, options.seed)
        registers, factors = arguments(matrices)
        d = registers.copy()
        gpu.run(cubin, case.entry, (len(d), 1, 1), (128, 1, 1), (d, factors), outputs={0})
        golden[f"{name}/checksums"] = checksums(d)
        there, here = (
            unpack_sums(case, d),
            unpack_sums(case, run_on_the_virtual_gpu(case, registers, factors)),
        )
        recipes = list(RECIPES) if case.kinds[1] in FLOATS else ["any bits"]
        for recipe, gpus_d, own_d in zip(
            recipes, np.split(there, len(recipes)), np.split(here, len(recipes)), strict=True
        ):
            differ = np.argwhere(gpus_d != own_d)
            wrong += len(differ)
            if len(differ):
                at = tuple(differ[0])
                values = f"{gpus_d[at]:#x}, here {own_d[at]:#x}"
                print(f"{name}, {recipe}: {len(differ)} of {gpus_d.size} differ, at {at}: {values}")
    save: Any = np.savez_compressed  # its stub takes no names
    save(options.output, **golden)
    size = options.output.stat().st_size
    print(f"{len(wgmma_cases())} types on {about['gpu']}: {wrong} elements differ, {size} bytes")
    return int(wrong != 0)


if __name__ == "__main__":
    sys.exit(main())
