# Change the mode, the owner, the times or the attributes of files outside, or their length; the paths are given.
# denied
import ctypes
import os


def answer(x, *paths):
    libc = ctypes.CDLL(None, use_errno=True)
    for path in paths:
        name = bytes(path).decode()
        raw = name.encode()
        number = {"x86_64": (90, 268, 280, 132), "aarch64": (53, 53, 88, 88)}[os.uname().machine]
        for attempt in (
            lambda: os.chmod(name, 0o777),
            lambda: os.chmod(name, 0o777, dir_fd=os.open(".", os.O_RDONLY)),
            lambda: os.utime(name, (1, 1)),
            lambda: os.utime(name),
            lambda: os.chown(name, os.getuid(), os.getgid()),
            lambda: os.lchown(name, os.getuid(), os.getgid()),
            lambda: os.setxattr(name, "user.verdict", b"passed"),
            lambda: os.truncate(name, 0),
            lambda: libc.syscall(452, -100, raw, 0o777, 0) == 0 or os.stat("nothing"),  # fchmodat2
            lambda: libc.syscall(number[2], -100, raw, None, 0) == 0 or os.stat("nothing"),
        ):
            try:
                attempt()
                return 1.0
            except OSError:
                pass
    return 0.0
