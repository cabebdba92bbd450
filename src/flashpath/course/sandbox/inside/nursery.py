"""A process that has loaded what one kind of worker needs, and forks a child for every plan that it is sent.

It is started before it hears of any plan, sees no learner's file and no data, and ends when the socket that
it was given closes, which is when the process that started it ends. A child begins where `boot.py` would be
after loading: it gives up what its plan says, and only then reads its first message.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import json
import os
import select
import socket
import struct
import sys
import tempfile
from collections.abc import Mapping
from typing import Any

FDS = 4  # requests, answers, what is printed; and where the exit status goes
_MOST_PLAN = 1 << 20


def serve(control: socket.socket, plan: Mapping[str, Any], worker: Any, state: Any) -> None:
    """Fork until the other side of the socket is gone.

    While the first child works, a worker that has something to warm up for the next ones does so.
    """
    warm: Any = getattr(worker, "warm", None)
    children: dict[int, tuple[int, int]] = {}  # by pidfd: the process, and where its status goes
    gc.freeze()  # no child looks through what is loaded, which would write into every page of it
    while True:
        ready, _, _ = select.select([control.fileno(), *children], [], [])
        for each in ready:
            if each in children:
                _report(each, *children.pop(each))
        if control.fileno() in ready:
            message, fds, _, _ = socket.recv_fds(control, _MOST_PLAN, FDS)
            if not message:
                os._exit(0)  # and the children end with this process
            child_plan = json.loads(message)
            pid = os.fork()
            if pid == 0:
                control.close()
                for pidfd, (_, status) in children.items():
                    os.close(pidfd)
                    os.close(status)
                _become(child_plan, fds, worker, state)
            for each in fds[: FDS - 1]:
                os.close(each)
            pidfd = os.pidfd_open(pid)
            children[pidfd] = pid, fds[-1]
            socket.send_fds(control, [struct.pack("<i", pid)], [pidfd])
            if warm is not None:
                with contextlib.suppress(Exception):  # then children do it themselves
                    warm(plan)
                warm = None
                gc.collect()
                gc.freeze()


def _report(pidfd: int, pid: int, status: int) -> None:
    _, code = os.waitpid(pid, 0)
    with contextlib.suppress(OSError):  # nobody may be interested any more
        os.write(status, struct.pack("<i", os.waitstatus_to_exitcode(code)))
    os.close(status)
    os.close(pidfd)


def _become(plan: Mapping[str, Any], fds: list[int], worker: Any, state: Any) -> None:
    """In the fork: never returns."""
    try:
        os.setsid()
        for number, fd in enumerate(fds[:3]):
            os.dup2(fd, number)
        for fd in fds:
            os.close(fd)
        os.environ.clear()
        os.environ.update(plan["environment"])
        tempfile.tempdir = None  # it was found for another process
        os.chdir(plan["folder"])
        boot: Any = importlib.import_module("inside.boot")
        boot.begin(plan, worker, state)
    except BaseException as error:  # no frames of ours in what a learner reads
        with contextlib.suppress(OSError):
            os.write(2, f"{type(error).__name__}: {error}\n".encode())
        os._exit(1)
    finally:
        sys.stderr.flush()
        os._exit(0)
