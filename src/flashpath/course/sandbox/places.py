"""Which files a child may read: the system's, Python and its packages; never the course's answers."""

from __future__ import annotations

import contextlib
import functools
import os
import sys
import sysconfig
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import flashpath
from flashpath import settings
from flashpath.errors import FlashpathError

_SYSTEM = (
    "/usr", "/lib", "/lib64", "/lib32", "/bin", "/opt/cuda", "/etc/ld.so.cache", "/etc/ld.so.conf",
    "/etc/ld.so.conf.d", "/etc/localtime", "/etc/alternatives", "/nix/store",
    "/dev/null", "/dev/zero", "/dev/urandom", "/dev/random",
    "/proc/cpuinfo", "/proc/meminfo", "/sys/devices/system/cpu", "/sys/devices/system/node",
    "/sys/fs/cgroup",
)  # fmt: skip
# Two in an editable install: the source, and beside the packages what was compiled of it.
_PACKAGE = tuple(map(Path, flashpath.__path__))
# What the kernel worker itself consists of: neither kernels nor what the course holds.
_OF_THE_PACKAGE = (
    "__init__.py", "errors.py", "settings.py", "messages", "vgpu", "jit", "gpus", "course/sandbox/headers",
)  # fmt: skip


@dataclass(frozen=True)
class Places:
    """What landlock lets a child read, list and, beside its own folder, write."""

    readable: tuple[Path, ...]
    listable: tuple[Path, ...]
    writable: tuple[Path, ...] = ()


def for_learners() -> Places:
    """For a child that runs a learner's Python: nothing of flashpath but the worker itself."""
    return _places()


def for_kernels() -> Places:
    """For the child that compiles and runs kernels: the engine and the compilers' headers too."""
    from flashpath.jit import toolkit

    own = [root / name for root in _PACKAGE for name in _OF_THE_PACKAGE]
    cache = settings.cache_dir()
    with contextlib.suppress(OSError):
        cache.mkdir(parents=True, exist_ok=True)
    found = _places()
    return replace(
        found,
        readable=(*found.readable, *own, *toolkit.headers().folders),
        listable=(*found.listable, *_PACKAGE),
        writable=(cache,),
    )


def for_program_builders() -> Places:
    """For the child that compiles whole programs: the compilers, and what they throw away."""
    from flashpath.vgpu import runtime_library

    found = for_kernels()
    own = [root / "course" / "expressions.py" for root in _PACKAGE]
    compilers = _toolkit_folders()
    return replace(
        found,
        readable=(*found.readable, *own, *compilers, runtime_library.folder()),
        writable=(*found.writable, Path(os.devnull)),
    )


def for_programs(executable: Path) -> Places:
    """For a learner's whole program: the system's libraries, CUDA's runtime, and itself."""
    from flashpath.vgpu import runtime_library

    found = _places()
    own = (executable, runtime_library.folder())
    return replace(found, readable=(*found.readable, *own), writable=(Path(os.devnull),))


def _toolkit_folders() -> list[Path]:
    """The folders of nvcc's toolkit and of the host compiler, wherever they are installed."""
    from flashpath.jit import toolkit

    nvcc = toolkit.nvcc().path.resolve()
    return [nvcc.parent.parent, toolkit.host_compiler_path().resolve().parent.parent]


@functools.cache
def _places() -> Places:
    hidden = _hidden()
    listable: list[Path] = []
    readable: list[Path] = []
    for root in (*map(Path, _SYSTEM), *_python(), *package_folders()):
        readable += _visible(root, hidden, listable)
    readable.append(Path(__file__).parent / "inside")
    return Places(tuple(dict.fromkeys(readable)), tuple(dict.fromkeys(listable)))


def _python() -> Iterable[Path]:
    """The interpreter and its libraries, of the virtual environment and of what it was made from."""
    for root in sorted({sys.prefix, sys.base_prefix, sys.exec_prefix, sys.base_exec_prefix}):
        yield from (Path(root) / "bin", Path(root) / "lib", Path(root) / "lib64", Path(root) / "pyvenv.cfg")
    yield Path(sysconfig.get_path("stdlib"))


@functools.cache
def package_folders() -> tuple[Path, ...]:
    """Where packages are installed, for all users or for one, and what PYTHONPATH names.

    Not the folder that the command was started in: a learner's files are there.
    """
    named = [sysconfig.get_path("purelib"), sysconfig.get_path("platlib")]
    installed = [each for each in sys.path if Path(each).name in ("site-packages", "dist-packages")]
    by_hand = [each for each in os.environ.get("PYTHONPATH", "").split(os.pathsep) if each]
    return tuple(dict.fromkeys(Path(each).resolve() for each in (*named, *installed, *by_hand)))


def _hidden() -> list[Path]:
    """The package with its kernels, the course with its answers, and where an editable install finds them."""
    found = [*_PACKAGE]
    for name in ("course", "programs"):
        with contextlib.suppress(FlashpathError):
            found.append(settings.content_dir(name))
    for folder in package_folders():
        with contextlib.suppress(OSError):
            found += [each for each in folder.iterdir() if "flashpath" in each.name.lower()]
    return [each.resolve() for each in found]


def _visible(root: Path, hidden: Sequence[Path], listable: list[Path]) -> Iterable[Path]:
    """The parts of a tree without what is hidden. Leave is given to whole trees, so one with an exception in
    it is named part by part; the folders in between may be listed, as imports do."""
    try:
        real = root.resolve()
        if any(real.is_relative_to(each) for each in hidden):
            return
        if not any(each.is_relative_to(real) for each in hidden):
            yield real
            return
        listable.append(real)
        parts = sorted(real.iterdir())
    except OSError:
        return  # what cannot be looked at cannot be given
    for part in parts:
        yield from _visible(part, hidden, listable)
