# Start processes until the machine stops.
# denied
import ctypes
import os


def answer(x, *more):
    started = 0
    for _ in range(1000):
        try:
            if os.fork() == 0:
                os._exit(0)
            started += 1
        except OSError:
            break
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.syscall(57) > 0 or libc.syscall(58) > 0:
        started += 1
    return 1.0 if started else 0.0
