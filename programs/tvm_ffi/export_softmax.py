"""Write softmax.so: a rung of the softmax ladder as a library that needs neither torch nor flashpath.

python programs/tvm_ffi/export_softmax.py [FOLDER]

The library takes float32 and bfloat16, any number of rows, and every row length for which the rung does what
it does for one of those named here. `call_softmax.py` and `call_softmax.cu` call it.
"""

import sys
from pathlib import Path

import flashpath as fp

folder = Path(sys.argv[1] if len(sys.argv) > 1 else ".")
library = fp.export(
    fp.kernels.ladder("softmax")["warp_per_row"],
    folder / "softmax.so",
    "x: dtype[64, n], out: dtype[64, n]",
    sizes={"dtype": ["float32", "bfloat16"], "n": [32, 64, 128, 256, 512, 1024, 2048]},
)
print(f"{library.path}: {library.path.stat().st_size // 1024} KiB, {library.variants} variants")
print(library.signature)
