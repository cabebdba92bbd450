# Make namespaces of one's own with a thread, look at the system's log and keys, set its clock.
# denied
import ctypes
import os

CLONE_VM, CLONE_SIGHAND, CLONE_THREAD = 0x100, 0x800, 0x10000


def answer(x, *more):
    libc = ctypes.CDLL(None, use_errno=True)
    log, clock, adjust = {"x86_64": (103, 227, 159), "aarch64": (116, 112, 171)}[os.uname().machine]
    stack = ctypes.create_string_buffer(1 << 16)
    clone = 56 if os.uname().machine == "x86_64" else 220
    for space in (0x20000, 0x02000000, 0x04000000, 0x08000000, 0x40000000):
        flags = CLONE_VM | CLONE_SIGHAND | CLONE_THREAD | space
        if libc.syscall(clone, flags, None, None, None, None) >= 0 or ctypes.get_errno() != 1:
            return 1.0
    if libc.syscall(log, 3, stack, 100) > 0 or libc.syscall(clock, 0, stack) == 0:
        return 1.0
    if libc.syscall(adjust, stack) >= 0 or libc.syscall(1000) != -1:
        return 1.0
    return 0.0
