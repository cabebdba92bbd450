"""Run every tensor-core case on this machine's GPU and keep what it gave, for the tests that have no GPU.

    python tests/vgpu/hardware/tensor_core/make_tensor_core_golden.py [--output FILE] [--tiles N] [--seed N]

Any machine with an NVIDIA GPU of sm_90 and flashpath's own dependencies will do; others lack some of
the instructions. Of every tile a checksum is kept, of the first of every recipe the registers as well.
"""

from __future__ import annotations

import argparse
import json
import sys
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from tensor_core_cases import TARGET, Array, Case, cases, module_ptx
from tensor_core_numbers import inputs

from flashpath.jit.assembler import assemble, version

sys.path.insert(0, str(Path(__file__).parents[4]))  # where it runs as a program

from tests.harness.real_gpu import Gpu

GOLDEN = Path(__file__).parent / "h200.npz"
TILES = 64  # of each recipe
KEPT = 1  # of those, whole


class TensorCoreRuns:
    """The kernels of all cases, compiled for this machine's GPU."""

    def __init__(self) -> None:
        self._gpu = Gpu()
        self.name = self._gpu.name
        cubin, log = assemble(module_ptx(list(cases().values())), TARGET, [])
        if cubin is None:
            raise SystemExit(log)
        self._cubin = cubin

    def run(self, case: Case, registers: Sequence[Array]) -> Array:
        """Registers of A, B and C to those of D."""
        tiles = len(registers[0])
        d: Array = np.full((tiles, case.registers[0], 32), 0xAAAAAAAA, case.word(0))
        arguments = (d, *map(np.ascontiguousarray, registers))
        self._gpu.run(self._cubin, case.entry, (tiles, 1, 1), (32, 1, 1), arguments, outputs={0})
        return d


def checksums(registers: Array) -> Array:
    """One of each tile."""
    return np.array([zlib.crc32(tile.tobytes()) for tile in registers], np.uint32)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--output", type=Path, default=GOLDEN)
    parser.add_argument("--tiles", type=int, default=TILES, help="of each recipe")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--kept", type=int, default=KEPT, help="tiles of each recipe that are kept whole")
    options = parser.parse_args(arguments)
    gpu = TensorCoreRuns()
    about = {"gpu": gpu.name, "ptxas": version(), "tiles": options.tiles, "seed": options.seed}
    golden: dict[str, Array] = {"about": np.array(json.dumps(about | {"kept": options.kept}))}
    for opcode, case in cases().items():
        d = gpu.run(case, inputs(case, options.tiles, options.seed))
        golden[f"{opcode}/checksums"] = checksums(d)
        golden[f"{opcode}/tiles"] = d.reshape(-1, options.tiles, *d.shape[1:])[:, : options.kept]
    save: Any = np.savez_compressed  # its stub takes no names
    save(options.output, **golden)
    print(f"{len(cases())} cases on {about['gpu']}: {options.output.stat().st_size} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
