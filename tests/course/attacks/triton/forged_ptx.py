# Send PTX whose kernel takes other parameters than it says. (Run without the reading of the source.)
# BuildFailed
import os
import struct

import triton
import triton.language as tl

code = b""".version 8.0
.target sm_80
.address_size 64
.visible .entry answer(.param .u64 a, .param .u64 b)
{
	ret;
}
"""
text = (
    b'{"ok": true, "name": "answer", "num_warps": 4, "shared": 0, "arrays": [{"dtype": "uint8", "shape": [%d]}]}'
    % len(code)
)
loaded = b'{"ok": true, "arrays": []}'
for number in range(3, 64):
    try:
        os.write(number, struct.pack("<4sIQ", b"fp1\n", len(loaded), 0) + loaded)
        os.write(number, struct.pack("<4sIQ", b"fp1\n", len(text), len(code)) + text + code)
    except OSError:
        pass


@triton.jit
def answer(n, x, y, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + at, 2 * tl.load(x + at, mask=at < n), mask=at < n)
