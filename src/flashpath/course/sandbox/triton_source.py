"""A learner's Triton file → PTX, in a child that sees nothing but the file; what comes back is checked."""

from __future__ import annotations

import functools
import hashlib
import re
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any, cast

import numpy as np

from flashpath import gpus
from flashpath.course.sandbox import places
from flashpath.course.sandbox.child import Child
from flashpath.course.sandbox.errors import BuildFailed, Crashed, SandboxError, reported
from flashpath.course.sandbox.job import Array, KernelJob, Limits
from flashpath.course.sandbox.python_source import check_python, failed_at
from flashpath.jit.cache import KernelCache
from flashpath.messages import told

IMPORTS = ("triton", "triton.language", "math")
_PTX = "kernel.ptx"
_MOST_PTX_BYTES = 16 << 20
_MOST_SHARED_BYTES = 227 << 10
_MOST_WARPS = 32


@dataclass(frozen=True)
class BuiltTriton:
    """A compiled kernel, as the child that built it describes it."""

    ptx: Array
    name: str
    num_warps: int
    shared: int
    printed: str


def check_triton(job: KernelJob, file_name: str) -> None:
    """Look at the learner's file before any process starts."""
    check_python(job.source, file_name, IMPORTS)


def build_triton(job: KernelJob, file_name: str, limits: Limits) -> BuiltTriton:
    """Compile for a signature in which pointers are aligned to 16 bytes and nothing else is known.

    What came of a text is kept, as of other kernels: the next grade, and each hint, asks for the same ones.
    """
    cache, key = KernelCache(), _key(job, file_name)
    kept = cache.load(key)
    if kept is not None:
        return _checked(kept.build, [np.frombuffer(kept.files[_PTX], np.uint8)], "")
    started = time.perf_counter()
    built = _built(job, file_name, limits)
    if not built.printed:  # what a file does beside defining kernels, it does anew each time
        _keep(cache, key, job, file_name, built, time.perf_counter() - started)
    return built


def _key(job: KernelJob, file_name: str) -> str:
    return KernelCache.key(
        {
            "triton answer": _builder(),
            "source": job.source,
            "file": file_name,
            "kernel": job.kernel,
            "arch": job.arch,
            "constants": dict(job.constants),
            "num_warps": job.num_warps,
            "parameters": job.parameter_messages,
        }
    )


@functools.cache
def _builder() -> list[str]:
    """What decides, beside the text, what the child makes of it: Triton, and all that is the sandbox."""
    digest = hashlib.sha256()
    for file in sorted(Path(__file__).parent.rglob("*.py")):
        digest.update(file.read_bytes())
    return [_triton(), sys.version, digest.hexdigest()]


def _triton() -> str:
    try:
        return f"triton {metadata.version('triton')}"
    except metadata.PackageNotFoundError:  # built by somebody, under another name
        return "triton"


def _keep(
    cache: KernelCache, key: str, job: KernelJob, file_name: str, built: BuiltTriton, seconds: float
) -> None:
    build: dict[str, Any] = {
        "source": file_name,
        "arch": job.arch,
        "compiler": _triton(),
        "flags": [],
        "assembler_flags": [],
        "kernels": [],
        "built": time.time(),
        "seconds": round(seconds, 4),
        "name": built.name,
        "num_warps": built.num_warps,
        "shared": built.shared,
    }
    cache.store(key, build, {_PTX: built.ptx.tobytes()})


def _built(job: KernelJob, file_name: str, limits: Limits) -> BuiltTriton:
    arch = gpus.parse_arch(job.arch)
    capability = arch.major * 10 + arch.minor
    plan = {"capability": capability}
    child = Child("triton_builder", limits, places.for_learners(), trusted=False, plan=plan)
    try:
        return _build(child, job, file_name, capability, limits)
    finally:
        child.close()


def _build(child: Child, job: KernelJob, file_name: str, capability: int, limits: Limits) -> BuiltTriton:
    header, _ = child.ask(
        told("course.sandbox.importing", file=file_name),
        limits.import_seconds,
        {"do": "load", "source": job.source, "file_name": file_name},
    )
    _check(header, child, job.source, file_name)
    request = {
        "do": "build",
        "source": job.source,
        "file_name": file_name,
        "kernel": job.kernel,
        "capability": capability,
        "constants": dict(job.constants),
        "num_warps": job.num_warps,
        "parameters": job.parameter_messages,
    }
    step = told("course.sandbox.building", file=file_name)
    try:
        header, arrays = child.ask(step, limits.build_seconds, request, most_answer_bytes=_MOST_PTX_BYTES)
    except Crashed as error:
        if error.how.code != "course.sandbox.ended-by-signal" or error.how.params["signal"] == "SIGKILL":
            raise
        # What the file does by itself, it has done by its import.
        crashed = Crashed(error.how, error.last, told("course.sandbox.triton-crashed"))
        crashed.printed = error.printed
        raise crashed from None
    _check(header, child, job.source, file_name)
    # The learner's file by its name alone: the folder is gone when somebody reads the line.
    here = f"{child.folder}/".encode()
    texts = [
        np.frombuffer(each.tobytes().replace(here, b""), np.uint8) if _is_text(each) else each
        for each in arrays
    ]
    return _checked(header, texts, child.take_printed())


def _check(header: dict[str, Any], child: Child, source: str, file_name: str) -> None:
    if header.get("ok") is not True:
        error = _failure(header, source, file_name)
        error.printed = child.take_printed()
        raise error


def _failure(header: dict[str, Any], source: str, file_name: str) -> SandboxError:
    problem, line, column = reported(header.get("failed")), header.get("line"), header.get("column")
    if problem is None or type(line) is not int:
        return Crashed(told("course.sandbox.sent-no-answer"))
    lines = source.count("\n") + 1
    return failed_at(source, file_name, problem, line if 0 < line <= lines else 0, _whole(column))


def _whole(value: Any) -> int | None:
    return value if type(value) is int and 0 < value < 1 << 16 else None


def _is_text(array: Array) -> bool:
    return array.dtype.name == "uint8" and array.ndim == 1


def _checked(header: Mapping[str, Any], arrays: list[Array], printed: str) -> BuiltTriton:
    """What an untrusted child says of its PTX; the child that runs it compares it with the PTX again."""
    name, warps, shared = header.get("name"), header.get("num_warps"), header.get("shared")
    good = (
        isinstance(name, str)
        and re.fullmatch(r"[A-Za-z_$][\w$]{0,1000}", name) is not None
        and type(warps) is int
        and 1 <= warps <= _MOST_WARPS
        and type(shared) is int
        and shared >= 0
        and len(arrays) == 1
        and _is_text(arrays[0])
    )
    if not good:
        raise Crashed(told("course.sandbox.sent-no-kernel"))
    name, warps, shared = str(name), int(cast("int", warps)), int(cast("int", shared))
    if shared > _MOST_SHARED_BYTES:
        raise BuildFailed(
            told("course.sandbox.too-much-shared", kernel=name, shared=shared, most=_MOST_SHARED_BYTES)
        )
    if header.get("num_ctas", 1) != 1 or header.get("scratch", 0) != 0 or header.get("descriptors"):
        raise BuildFailed(told("course.sandbox.no-clusters", kernel=name))
    return BuiltTriton(arrays[0], name, warps, shared, printed)
