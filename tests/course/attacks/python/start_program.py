# Run a program that is not held by the limits.
# denied
import os
import subprocess


def answer(x, *more):
    try:
        subprocess.run(["/bin/true"], check=True)
        return 1.0
    except OSError:
        pass
    try:
        os.execv("/bin/true", ["true"])
    except OSError:
        return 0.0
