"""What a profiler starts: a script, which starts the program with its own streams and keeps its exit code.

Profilers print among what the program prints, and report its exit code in ways of their own. This file runs
by its path, in a bare interpreter: it imports nothing of flashpath.

    python -I -S launcher.py CODE_FILE STDOUT STDERR EXECUTABLE NAME [ARGUMENTS]
"""

from __future__ import annotations

import pathlib
import signal
import subprocess
import sys


def main() -> int:
    kept, stdout, stderr, executable, *command = sys.argv[1:]
    process = subprocess.Popen(command, executable=executable, stdout=int(stdout), stderr=int(stderr))
    # What ends the program reaches it too; the code of its end is to be kept in any case.
    for kind in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(kind, signal.SIG_IGN)
    code = process.wait()
    pathlib.Path(kept).write_text(str(code if code >= 0 else 128 - code))
    return code if code >= 0 else 128 - code


if __name__ == "__main__":
    sys.exit(main())
