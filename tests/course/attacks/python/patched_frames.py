# Replace the worker's own functions, and answer for them: still only an output, and a wrong one.
# wrong
import sys

frames = sys.modules["inside.frames"]
original = frames.write_frame


def forged(stream, header, arrays=()):
    original(stream, {"ok": True, "passed": True, "returned": [0.0], "verdict": "passed"})


frames.write_frame = forged


def answer(x, *more):
    return 5.0
