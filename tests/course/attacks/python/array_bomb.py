# Describe arrays whose size is more than the message has, or less than nothing.
# Crashed
import os
import struct


def answer(x, *more):
    text = b'{"ok": true, "returned": ["array"], "arrays": [{"dtype": "float64", "shape": [1099511627775]}]}'
    for number in range(3, 64):
        try:
            os.write(number, struct.pack("<4sIQ", b"fp1\n", len(text), 8) + text + bytes(8))
        except OSError:
            pass
    return 1.0
