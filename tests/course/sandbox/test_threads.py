"""The threads of an answer: a limited number, whoever grades."""

from __future__ import annotations

import subprocess
import sys

import pytest

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="threads are counted by Linux's limit")

# Linux lets the superuser have any number: there, the process becomes another user first.
FLOOD = """
import contextlib, os, resource, threading
from flashpath.course.sandbox.inside import restrict
if os.getuid() == 0:
    os.setuid(65534)
assert restrict.set_limits({"cpu_seconds": 60, "memory_bytes": 8 << 30, "file_bytes": 1 << 20})
threading.stack_size(64 << 10)
end, started = threading.Event(), 0
with contextlib.suppress(RuntimeError):
    for _ in range(6000):
        threading.Thread(target=end.wait).start()
        started += 1
end.set()
print(started)
"""


def test_threads_are_limited() -> None:
    done = subprocess.run([sys.executable, "-c", FLOOD], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    # Other processes of the same user may end or start meanwhile.
    assert 8 <= int(done.stdout) <= 1500
