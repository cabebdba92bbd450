"""Run every tensor-core case on this machine's GPU and keep what it gave, for the tests that have no GPU.

    python tests/vgpu/hardware/tensor_core/make_tensor_core_golden.py [--output FILE] [--tiles N] [--seed N]

Any machine with an NVIDIA GPU of sm_90, torch and flashpath's own dependencies will do; others lack some of
the instructions. Of every tile a checksum is kept, of the first of every recipe the registers as well.
"""

from __future__ import annotations

import argparse
import ctypes
import importlib
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

GOLDEN = Path(__file__).parent / "h200.npz"
TILES = 64  # of each recipe
KEPT = 1  # of those, whole


class Gpu:
    """The kernels of all cases, loaded."""

    def __init__(self) -> None:
        self._torch: Any = importlib.import_module("torch")
        self._driver: Any = importlib.import_module("cuda.bindings.driver")
        self._torch.zeros(1, device="cuda")  # makes the context
        cubin, log = assemble(module_ptx(list(cases().values())), TARGET, [])
        if cubin is None:
            raise SystemExit(log)
        self._module: Any = self._checked(self._driver.cuModuleLoadData(cubin))

    def _checked(self, result: Sequence[Any]) -> Any:
        if int(result[0]) != 0:
            raise SystemExit(f"the driver says {result[0]}")
        return result[1] if len(result) > 1 else None

    @property
    def name(self) -> str:
        return str(self._torch.cuda.get_device_name(0))

    def run(self, case: Case, registers: Sequence[Array]) -> Array:
        """Registers of A, B and C to those of D."""
        torch = self._torch
        on_gpu = [torch.from_numpy(each.view(np.uint8).ravel()).cuda() for each in registers]
        tiles = len(registers[0])
        d = np.full((tiles, case.registers[0], 32), 0xAAAAAAAA, case.word(0))
        of_d = torch.from_numpy(d.view(np.uint8).ravel()).cuda()
        function = self._checked(self._driver.cuModuleGetFunction(self._module, case.entry.encode()))
        addresses = tuple(tensor.data_ptr() for tensor in (of_d, *on_gpu))
        parameters = (addresses, (ctypes.c_void_p,) * 4)
        self._checked(self._driver.cuLaunchKernel(function, tiles, 1, 1, 32, 1, 1, 0, 0, parameters, 0))
        torch.cuda.synchronize()
        return of_d.cpu().numpy().view(case.word(0)).reshape(d.shape)


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
    gpu = Gpu()
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
