"""What a child gives up before it sees anything of a learner's: resources, files, processes, the network.

Every part is optional: a system that lacks one still grades. `in_force` says what holds here.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import struct
import sys
from collections.abc import Collection, Iterable
from pathlib import Path
from typing import Any

_LINUX = sys.platform == "linux"
_PR_SET_PDEATHSIG, _PR_SET_NO_NEW_PRIVS = 1, 38
_CLONE_NEWNS, _CLONE_NEWUSER, _CLONE_NEWNET = 0x20000, 0x10000000, 0x40000000
_OPEN_FILES = 256

in_force: list[str] = []  # what has been given up so far in this process


def _libc() -> Any:
    return ctypes.CDLL(None, use_errno=True)


def die_with(parent: int) -> None:
    """A child whose parent has ended ends too."""
    if not _LINUX:
        return
    if _libc().prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0) == 0:
        in_force.append("dies-with-parent")
    if os.getppid() != parent:  # it ended before the call above
        os._exit(1)


def leave_network() -> bool:
    """Into a network of its own, with nothing in it, and a namespace of mounts, where `sight.narrow` works.

    Needs one thread, and a kernel that lets users do it.
    """
    if not _LINUX:
        return False
    libc = _libc()
    user, group = os.getuid(), os.getgid()
    left = libc.unshare(_CLONE_NEWUSER | _CLONE_NEWNET) == 0
    if left:
        _stay(user, group)
    left = left or libc.unshare(_CLONE_NEWNET) == 0
    if left:
        in_force.append("no-network")
    return left


def _stay(user: int, group: int) -> None:
    """Keeps the user of outside in a namespace of users, where nobody else is."""
    for name, text in (
        ("uid_map", f"{user} {user} 1"),
        ("setgroups", "deny"),
        ("gid_map", f"{group} {group} 1"),
    ):
        with contextlib.suppress(OSError):
            Path("/proc/self", name).write_text(text, encoding="ascii")


def hide_files(plan: dict[str, Any]) -> bool:
    """Nothing is seen of the file system but what the plan names; not even whether it is there."""
    if not _LINUX or _libc().unshare(_CLONE_NEWNS) != 0:
        return False
    from . import sight

    return sight.narrow(plan["tree"], plan["folder"])


def enforce(plan: dict[str, Any]) -> None:
    """Give up what the plan says; each part where the system has it."""
    if hide_files(plan):
        in_force.append("unseen")
    if set_limits(plan["limits"]):
        in_force.append("rlimits")
    if _LINUX:
        _libc().prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
        # Of one thread and those that it starts: where a library has started others, they are not held.
        alone = len(os.listdir("/proc/self/task")) == 1  # noqa: PTH208 - names alone are wanted
        if restrict_files(plan["read"], plan["list"], plan["write"]) and alone:
            in_force.append("landlock")
        if restrict_calls(plan["allowed"]):
            in_force.append("seccomp")


# ---- Resources -----------------------------------------------------------------------------------------


def set_limits(limits: dict[str, Any]) -> bool:
    """Limits on CPU time, memory, files; counted from what the libraries have taken so far."""
    try:
        import resource
    except ImportError:  # Windows
        return False
    seconds, memory, file_bytes = limits["cpu_seconds"], limits["memory_bytes"], limits["file_bytes"]
    used = resource.getrusage(resource.RUSAGE_SELF)
    cpu = int(used.ru_utime + used.ru_stime + seconds) + 1
    _limit(resource.RLIMIT_CPU, cpu)
    _limit(resource.RLIMIT_CORE, 0)
    _limit(resource.RLIMIT_FSIZE, file_bytes)
    _limit(resource.RLIMIT_NOFILE, _OPEN_FILES)
    if _LINUX:
        # Libraries reserve address space that they never use: what is reserved by now does not count.
        pages = int(Path("/proc/self/statm").read_text().split()[0])
        _limit(resource.RLIMIT_AS, pages * os.sysconf("SC_PAGE_SIZE") + memory)
        # It counts the threads of all of the user's processes: those that there are now do not count.
        _limit(resource.RLIMIT_NPROC, _threads_of_user() + _MORE_THREADS)
    elif sys.platform == "darwin":
        _limit(resource.RLIMIT_DATA, memory)
        _limit(resource.RLIMIT_NPROC, 1)  # threads do not count there
    return True


_MORE_THREADS = 512


def _threads_of_user() -> int:
    """Returns how many threads all processes of this user have."""
    count, own = 0, os.getuid()
    for process in os.scandir("/proc"):
        with contextlib.suppress(OSError):
            if process.name.isdigit() and process.stat().st_uid == own:
                count += len(os.listdir(f"/proc/{process.name}/task"))  # noqa: PTH208 - names alone
    return count


def _limit(which: int, value: int) -> None:
    import resource

    _, most = resource.getrlimit(which)
    if most != resource.RLIM_INFINITY:
        value = min(value, most)
    with contextlib.suppress(ValueError, OSError):  # this one is not to be had here
        resource.setrlimit(which, (value, value))


# ---- Files: landlock -----------------------------------------------------------------------------------

_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446  # the same numbers on every architecture
_VERSION_FLAG = 1
_PATH_BENEATH = 1
_EXECUTE, _WRITE, _READ, _LIST = 1 << 0, 1 << 1, 1 << 2, 1 << 3
_TRUNCATE, _IOCTL = 1 << 14, 1 << 15
_OF_FILES = _EXECUTE | _WRITE | _READ | _TRUNCATE | _IOCTL


def landlock_version() -> int:
    """What the kernel knows of landlock; 0 where it has none."""
    if not _LINUX:
        return 0
    return max(0, int(_libc().syscall(_CREATE_RULESET, None, 0, _VERSION_FLAG)))


def restrict_files(readable: Iterable[str], listable: Iterable[str], writable: Iterable[str]) -> bool:
    """From now on only these can be read, listed or written, and no TCP port be reached."""
    version = landlock_version()
    if version == 0:
        return False
    libc = _libc()
    handled = (1 << 13) - 1
    for since, bit in ((2, 1 << 13), (3, _TRUNCATE), (5, _IOCTL)):
        handled |= bit if version >= since else 0
    attributes = struct.pack("<Q", handled)
    attributes += struct.pack("<Q", 0b11) if version >= 4 else b""  # bind and connect, allowed to nobody
    attributes += (
        struct.pack("<Q", 0b11) if version >= 6 else b""
    )  # no signal out of here, no abstract socket
    ruleset = libc.syscall(_CREATE_RULESET, attributes, len(attributes), 0)
    if ruleset < 0:
        return False
    try:
        # Of /proc this process's own part, which the parent cannot name: for it that is another one.
        for path in (*readable, "/proc/self"):
            _allow(libc, ruleset, path, _READ | _LIST | _EXECUTE)
        for path in listable:
            _allow(libc, ruleset, path, _LIST)
        for path in writable:
            _allow(libc, ruleset, path, handled & ~(_IOCTL | _EXECUTE))
        return libc.syscall(_RESTRICT_SELF, ruleset, 0) == 0
    finally:
        os.close(ruleset)


def _allow(libc: Any, ruleset: int, path: str, access: int) -> None:
    try:
        opened = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return  # what is not there needs no leave
    try:
        if not os.path.isdir(path):  # noqa: PTH112 - pathlib would look at the whole path again
            access &= _OF_FILES
        rule = struct.pack("<Qi", access, opened)
        libc.syscall(_ADD_RULE, ruleset, _PATH_BENEATH, rule, 0)
    finally:
        os.close(opened)


# ---- System calls: seccomp -----------------------------------------------------------------------------

# Numbers on x86-64 and on aarch64; None where the architecture has no such call.
_REFUSED: dict[str, tuple[int | None, int | None]] = {
    # The network, and messages to other processes.
    "socket": (41, 198), "socketpair": (53, 199), "connect": (42, 203), "bind": (49, 200),
    "listen": (50, 201), "accept": (43, 202), "accept4": (288, 242), "sendto": (44, 206),
    "sendmsg": (46, 211), "sendmmsg": (307, 269), "shmget": (29, 194), "shmat": (30, 196),
    "shmctl": (31, 195), "msgget": (68, 186), "msgsnd": (69, 189), "msgrcv": (70, 188), "msgctl": (71, 187),
    "semget": (64, 190), "semop": (65, 193), "semctl": (66, 191), "semtimedop": (220, 192),
    "mq_open": (240, 180), "mq_unlink": (241, 181),
    # Other processes: seen, signalled, slowed down, started.
    "ptrace": (101, 117), "process_vm_readv": (310, 270), "process_vm_writev": (311, 271),
    "process_madvise": (440, 440), "process_mrelease": (448, 448), "kcmp": (312, 272), "tkill": (200, 130),
    "rt_sigqueueinfo": (129, 138), "rt_tgsigqueueinfo": (297, 240), "pidfd_open": (434, 434),
    "pidfd_getfd": (438, 438), "pidfd_send_signal": (424, 424), "setpriority": (141, 140),
    "sched_setparam": (142, 118), "sched_setscheduler": (144, 119), "sched_setattr": (314, 274),
    "ioprio_set": (251, 30), "migrate_pages": (256, 238), "move_pages": (279, 239), "setsid": (112, 157),
    "setpgid": (109, 154), "execve": (59, 221), "execveat": (322, 281), "fork": (57, None),
    "vfork": (58, None),
    # What files are, which landlock leaves to their owner; and ways to files that it does not see.
    "chmod": (90, None), "fchmod": (91, 52), "fchmodat": (268, 53), "fchmodat2": (452, 452),
    "chown": (92, None), "fchown": (93, 55), "lchown": (94, None), "fchownat": (260, 54),
    "utime": (132, None), "utimes": (235, None), "futimesat": (261, None), "utimensat": (280, 88),
    "setxattr": (188, 5), "lsetxattr": (189, 6), "fsetxattr": (190, 7), "setxattrat": (463, 463),
    "removexattr": (197, 14), "lremovexattr": (198, 15), "fremovexattr": (199, 16),
    "removexattrat": (466, 466), "file_setattr": (469, 469), "truncate": (76, 45), "mknod": (133, None),
    "mknodat": (259, 33), "open_by_handle_at": (304, 265), "name_to_handle_at": (303, 264),
    "fanotify_init": (300, 262), "inotify_init": (253, None), "inotify_init1": (294, 26),
    "memfd_create": (319, 279), "memfd_secret": (447, 447),
    # Who it is, and what it sees of the system. A change of either could undo `die_with`.
    "setuid": (105, 146), "setgid": (106, 144), "setreuid": (113, 145), "setregid": (114, 143),
    "setresuid": (117, 147), "setresgid": (119, 149), "setgroups": (116, 159), "setfsuid": (122, 151),
    "setfsgid": (123, 152), "capset": (126, 91), "personality": (135, 92), "seccomp": (317, 277),
    "unshare": (272, 97), "setns": (308, 268), "mount": (165, 40), "umount2": (166, 39),
    "move_mount": (429, 429), "open_tree": (428, 428), "open_tree_attr": (467, 467), "fsopen": (430, 430),
    "fsconfig": (431, 431), "fsmount": (432, 432), "fspick": (433, 433), "mount_setattr": (442, 442),
    "statmount": (457, 457), "listmount": (458, 458), "pivot_root": (155, 41), "chroot": (161, 51),
    # The system itself.
    "bpf": (321, 280), "perf_event_open": (298, 241), "userfaultfd": (323, 282), "io_uring_setup": (425, 425),
    "io_uring_enter": (426, 426), "io_uring_register": (427, 427), "add_key": (248, 217),
    "request_key": (249, 218), "keyctl": (250, 219), "init_module": (175, 105), "finit_module": (313, 273),
    "delete_module": (176, 106), "kexec_load": (246, 104), "kexec_file_load": (320, 294),
    "reboot": (169, 142), "swapon": (167, 224), "swapoff": (168, 225), "acct": (163, 89),
    "quotactl": (179, 60), "quotactl_fd": (443, 443), "syslog": (103, 116), "settimeofday": (164, 170),
    "clock_settime": (227, 112), "clock_adjtime": (305, 266), "adjtimex": (159, 171),
    "sethostname": (170, 161), "setdomainname": (171, 162), "vhangup": (153, 58), "iopl": (172, None),
    "ioperm": (173, None), "modify_ldt": (154, None),
}  # fmt: skip
_FIRST_UNKNOWN = 470  # calls that are newer than this list; programs fall back where a kernel has none
# What some children are allowed of these. Files may be marked as used now, as a cache does with its entries;
TOUCHING = ("utimensat",)
# the process may become another program, which is held by the same restrictions;
BECOMING = ("execve",)
# and it may start others, which are held by them too.
STARTING = ("execve", "fork", "vfork", "clone")
_OWN_PROCESS_ONLY = {
    "kill": (62, 129), "tgkill": (234, 131), "prlimit64": (302, 261), "sched_setaffinity": (203, 122),
}  # fmt: skip
_ZERO_IS_OWN = ("prlimit64", "sched_setaffinity")
_CLONE, _CLONE3 = (56, 220), (435, 435)
_CLONE_THREAD = 0x00010000
_CLONE_NEW_ANY = 0x7E020000  # every kind of namespace that `clone` can make

# Of calls that are needed, what is refused: the numbers, which argument tells, and its values there.
_REFUSED_PARTS: dict[str, tuple[tuple[int, int], int, tuple[int, ...]]] = {
    # PDEATHSIG, DUMPABLE, KEEPCAPS, SECCOMP, CAPBSET_DROP, SECUREBITS, MM, CHILD_SUBREAPER, CAP_AMBIENT,
    # SCHED_CORE, PTRACER
    "prctl": ((157, 167), 0, (1, 4, 8, 22, 24, 28, 35, 36, 47, 62, 0x59616D61)),
    # SETOWN, SETSIG, SETOWN_EX: signals to whoever is named; SETLEASE, NOTIFY
    "fcntl": ((72, 25), 1, (8, 10, 15, 1024, 1026)),
    # TIOCSCTTY, TIOCSTI, TIOCLINUX, FIOSETOWN, SIOCSPGRP; FS_IOC_SETFLAGS twice, FS_IOC_FSSETXATTR
    "ioctl": ((16, 29), 1, (0x540E, 0x5412, 0x541C, 0x8901, 0x8902, 0x40046602, 0x40086602, 0x401C5820)),
}

_ARCHITECTURES = {"x86_64": (0, 0xC000003E), "aarch64": (1, 0xC00000B7)}
_X32 = 0x40000000  # x86-64's second set of calls, the same ones by other numbers

_LOAD, _JUMP_EQUAL, _JUMP_AT_LEAST, _JUMP_ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_NUMBER_AT, _ARCHITECTURE_AT, _FIRST_ARGUMENT_AT = 0, 4, 16
_ALLOWED, _ERROR = 0x7FFF0000, 0x00050000
_EPERM, _ENOSYS = 1, 38
_SET_FILTER, _ALL_THREADS = 1, 1
_SECCOMP = (317, 277)

Instruction = tuple[int, int, int, int]  # code, where to go if true, if false, the constant


def _program(which: int, architecture: int, own: int, allowed: Collection[str] = ()) -> list[Instruction]:
    """The filter. `allowed`: calls that are let through although they are on the list of those refused."""
    refuse: Instruction = (_RETURN, 0, 0, _ERROR | _EPERM)
    allow: Instruction = (_RETURN, 0, 0, _ALLOWED)
    made: list[Instruction] = [
        (_LOAD, 0, 0, _ARCHITECTURE_AT),
        (_JUMP_EQUAL, 1, 0, architecture),
        refuse,
        (_LOAD, 0, 0, _NUMBER_AT),
        (_JUMP_AT_LEAST, 0, 1, _X32),
        refuse,
        (_JUMP_AT_LEAST, 0, 1, _FIRST_UNKNOWN),
        (_RETURN, 0, 0, _ERROR | _ENOSYS),
    ]
    for name, numbers in _REFUSED.items():
        number = numbers[which]
        if number is not None and name not in allowed:
            made += [(_JUMP_EQUAL, 0, 1, number), refuse]
    for pair, argument, values in _REFUSED_PARTS.values():
        made += [
            (_JUMP_EQUAL, 0, 2 * len(values) + 2, pair[which]),
            (_LOAD, 0, 0, _FIRST_ARGUMENT_AT + 8 * argument),  # its lower half, which is all that counts
        ]
        for value in values:
            made += [(_JUMP_EQUAL, 0, 1, value), refuse]
        made.append(allow)
    for name, numbers in _OWN_PROCESS_ONLY.items():
        made += [
            (_JUMP_EQUAL, 0, 5, numbers[which]),
            (_LOAD, 0, 0, _FIRST_ARGUMENT_AT),
            (_JUMP_EQUAL, 2, 0, own),
            (_JUMP_EQUAL, 1, 0, 0 if name in _ZERO_IS_OWN else own),
            refuse,
            allow,
        ]
    # Threads, but no processes unless they are allowed, and no namespaces. The newer call hides its flags
    # from a filter: programs fall back.
    made += [
        (_JUMP_EQUAL, 0, 1, _CLONE3[which]),
        (_RETURN, 0, 0, _ERROR | _ENOSYS),
        (_JUMP_EQUAL, 0, 4, _CLONE[which]),
        (_LOAD, 0, 0, _FIRST_ARGUMENT_AT),
        (_JUMP_ANY_BIT, 1, 0, _CLONE_NEW_ANY),
        allow if "clone" in allowed else (_JUMP_ANY_BIT, 1, 0, _CLONE_THREAD),
        refuse,
    ]
    return [*made, allow]


def restrict_calls(allowed: Collection[str] = ()) -> bool:
    """From now on the kernel refuses calls that neither kernels nor arithmetic need, in all threads."""
    known = _ARCHITECTURES.get(os.uname().machine) if _LINUX else None
    if known is None:
        return False
    which, architecture = known
    program = _program(which, architecture, os.getpid(), allowed)
    packed = b"".join(struct.pack("<HBBI", *each) for each in program)
    room = ctypes.create_string_buffer(packed, len(packed))
    fprog = struct.pack("<HxxxxxxQ", len(program), ctypes.addressof(room))
    libc = _libc()
    libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    return libc.syscall(_SECCOMP[which], _SET_FILTER, _ALL_THREADS, fprog) == 0
