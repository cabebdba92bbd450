# Undo the restrictions: raise limits, change namespaces, mount, load a filter of one's own.
# denied
import ctypes
import os
import resource


def answer(x, *more):
    libc = ctypes.CDLL(None, use_errno=True)
    for call in (
        lambda: libc.unshare(0x10000000),
        lambda: libc.mount(b"none", b"/", b"tmpfs", 0, None),
        lambda: libc.chroot(b"/"),
        lambda: libc.syscall(321, 0, None, 0),  # bpf
        lambda: -1 if libc.syscall(425, 1, None) < 0 else 0,  # io_uring_setup
        lambda: libc.syscall(302, os.getppid(), resource.RLIMIT_CPU, None, ctypes.create_string_buffer(16)),
    ):
        if call() == 0:
            return 1.0
    soft, hard = resource.getrlimit(resource.RLIMIT_CPU)
    try:
        resource.setrlimit(resource.RLIMIT_CPU, (hard + 1000, hard + 1000))
        return 1.0
    except (ValueError, OSError):
        return 0.0
