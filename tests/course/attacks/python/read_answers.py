# Read the course's answers and the library's kernels from their files; the paths are given.
# denied
import os


def answer(x, *paths):
    for path in paths:
        name = bytes(path).decode()
        for reader in (lambda: open(name).read(1), lambda: os.open(name, os.O_RDONLY)):
            try:
                reader()
                return 1.0
            except OSError:
                pass
    return 0.0
