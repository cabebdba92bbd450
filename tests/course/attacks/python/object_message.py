# Send a message with arrays of Python objects, which would be made while they are read.
# Crashed
import os
import struct


def answer(x, *more):
    text = b'{"ok": true, "returned": ["array"], "arrays": [{"dtype": "object", "shape": [1]}]}'
    for number in range(3, 64):
        try:
            os.write(number, struct.pack("<4sIQ", b"fp1\n", len(text), 8) + text + bytes(8))
        except OSError:
            pass
    return 1.0
