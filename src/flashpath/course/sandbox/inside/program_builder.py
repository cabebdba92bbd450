"""The child that compiles whole programs, and explains what they recorded. It runs no code of a learner's: a
program is text for compilers, which are processes of this one's own, held as it is."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, BinaryIO

from flashpath import gpus
from flashpath.course.expressions import ExpressionError, evaluate
from flashpath.errors import FlashpathError
from flashpath.jit import toolkit
from flashpath.jit.cache import KernelCache
from flashpath.jit.programs.building import cook
from flashpath.jit.programs.host_code import HostCode
from flashpath.jit.programs.recipe import LADDERS, Recipe, make_recipe
from flashpath.jit.programs.store import EXECUTABLE, LOG, Program
from flashpath.jit.programs.target import Target
from flashpath.jit.programs.watcher import Unwatched
from flashpath.messages import catalogue
from flashpath.vgpu import recorded
from flashpath.vgpu.host_findings import HostFinding
from flashpath.vgpu.program_report import ProgramReport

from . import failures, frames

Message = Mapping[str, Any]
# Whatever the folder is called in which a text is compiled, what comes of it is the same.
_SAME_FOLDER = "-Xcompiler=-ffile-prefix-map="
_FORMAT = 1  # part of every key: raised when an answer is compiled in another way


def prepare(plan: Message) -> None:
    """Find the compilers, and load what is said, before files are out of reach."""
    del plan
    toolkit.nvcc()
    toolkit.host_compiler()
    toolkit.headers()
    gpus.gpus()
    for room in ("messages", "gpus", "jit", "vgpu"):
        catalogue(room)


def serve(requests: BinaryIO, answers: BinaryIO, folder: str, state: None) -> None:
    """Build once, then explain as often as asked."""
    del state
    program: _Built | None = None
    while True:
        try:
            message, arrays = frames.read_frame(requests)
        except frames.Closed:
            return
        try:
            if message["do"] == "build":
                program = _Built(message, Path(folder))
                frames.write_frame(answers, {"ok": True})
            else:
                assert program is not None
                frames.write_frame(answers, {"ok": True, **program.explained(message, arrays[0].tobytes())})
        except FlashpathError as error:
            frames.write_frame(answers, failures.as_answer(error))
        except Exception as error:  # ours to mend, or a record that a program has written by itself
            frames.write_frame(answers, {"defect": f"{type(error).__name__}: {error}"[:2000]})


class _Built:
    """The program of a learner's file, made for the sanitizer."""

    def __init__(self, message: Message, folder: Path) -> None:
        self._gpu = gpus.gpu(message["gpu"])
        file = Path(message["file_name"])
        (folder / file).write_text(message["source"], encoding="utf-8")
        major, minor = self._gpu.capability
        target = Target(f"sm_{major}{minor}", self._gpu)
        recipe = make_recipe([file], target, options=[f"{_SAME_FOLDER}{folder}=."], checked=True)
        # An answer stands on its own: the ladders' kernels are no headers of it.
        recipe = replace(recipe, flags=tuple(flag for flag in recipe.flags if flag != f"-I{LADDERS}"))
        log = _made(recipe, message["source"], folder / EXECUTABLE)
        self._program = Program(recipe, folder / EXECUTABLE, log, built=True)

    def explained(self, message: Message, record: bytes) -> dict[str, Any]:
        """What a run recorded: what is wrong, what was counted, and whether it came to its end."""
        recording = recorded.read_text(record.decode(errors="replace"), HostCode(self._program))
        ordered = recording.in_order()
        for each in ordered:
            str(each)  # it can be said: not so of what a program has made up
        return {
            "findings": [
                {"host": isinstance(each, HostFinding), "finding": each.as_data()} for each in ordered
            ],
            "counts": _counted(message["counts"], message["names"], ProgramReport.of(recording)),
            "ended": recording.has_ended or not record,
        }


def _counted(counts: Sequence[str], names: Message, report: ProgramReport) -> dict[str, float]:
    found: dict[str, float] = {}
    for expression in counts:
        try:
            found[expression] = float(evaluate(expression, {**names, "report": report}))
        except (ExpressionError, TypeError):  # such as a share of copies, where there are none
            found[expression] = math.nan
    return found


def _made(recipe: Recipe, source: str, executable: Path) -> str:
    """Write the executable, compiled now or before; returns what the compilers said."""
    cache = KernelCache()
    plain = replace(recipe, flags=tuple(flag for flag in recipe.flags if not flag.startswith(_SAME_FOLDER)))
    ingredients = {**plain.ingredients(), "folder": "."}
    key = cache.key({**ingredients, "answer": _FORMAT, "source": source})
    entry = cache.load(key)
    if entry is None:
        scratch = executable.parent / "build"
        scratch.mkdir()
        cooked = cook(recipe, scratch, Unwatched(), in_groups=False)
        log = cooked.log.replace(f"{recipe.folder}/", "")
        files = {EXECUTABLE: cooked.executable.read_bytes(), LOG: log.encode()}
        entry = cache.store(key, _build_of(plain), files)
    # With the mode from the beginning: to change one is refused here.
    with os.fdopen(os.open(executable, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o755), "wb") as file:
        file.write(entry.files[EXECUTABLE])
    return entry.files[LOG].decode(errors="replace")


def _build_of(recipe: Recipe) -> dict[str, Any]:
    return {
        "source": str(recipe.files[0]),
        "arch": recipe.target.arch,
        "compiler": "nvcc",
        "flags": [*recipe.code_flags, *recipe.flags],
        "assembler_flags": [],
        "kernels": [],
        "built": time.time(),
        "seconds": 0.0,
    }
