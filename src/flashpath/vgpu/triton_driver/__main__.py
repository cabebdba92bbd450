"""`python -m flashpath.vgpu.triton_driver FILE.py …`: its Triton kernels run on the virtual GPU."""

from __future__ import annotations

import runpy
import sys
from pathlib import Path

from flashpath.vgpu.triton_driver import enable_triton


def main() -> None:
    """Run the program that the first argument names, as Python would."""
    file = sys.argv[1]
    sys.argv[:] = sys.argv[1:]
    sys.path[0] = str(Path(file).absolute().parent)
    enable_triton()
    runpy.run_path(file, run_name="__main__")


if __name__ == "__main__":
    main()
