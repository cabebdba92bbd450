"""CUDA C++ to PTX, and the C++ names and types of the kernels in it.

The compiler is asked about kernels by markers (see names.py). Which names to ask for is partly a guess from
the source text, so a run may have to be repeated with fewer or with more of them.
"""

from __future__ import annotations

from collections.abc import Sequence

from flashpath.errors import FlashpathError
from flashpath.jit import ptx
from flashpath.jit.diagnostics import compile_error, parse_log
from flashpath.jit.job import Job
from flashpath.jit.names import (
    MARKER_FILE,
    KernelName,
    KernelNotFound,
    about_kernel,
    declared_kernels,
    extern_c_kernels,
    instances,
    kernel_not_found,
    markers,
    read_markers,
)
from flashpath.jit.source import Source
from flashpath.messages import Message


def run_front_end(job: Job) -> tuple[str, str, list[KernelName]]:
    """PTX, the log, and what the markers told of the kernels."""
    guessed = [name for name in extern_c_kernels(job.source.text) if name not in job.name_expressions]
    names = [*job.name_expressions, *guessed]
    text, log = _run(job, names)
    if text is None and guessed:
        # A kernel seen in the text may be compiled out (#if): try again with the ones surely wanted.
        names = list(job.name_expressions)
        text, log = _run(job, names)
    if text is None:
        for each in parse_log(log):
            if each.file == MARKER_FILE and each.severity == "error":
                others = [other for other in parse_log(log) if other.file != MARKER_FILE]
                if not any(other.severity == "error" for other in others):
                    raise _wrong_name(names[each.line - 1], each.message, job.source)
        raise compile_error(_without_marker_errors(log), job.source, job.include_folders)
    text, marked = read_markers(text, names)
    text, marked = _ask_further(job, names, text, marked)
    if names and job.is_debug:
        # Debug information describes the markers too: it is taken from a run without any.
        plain, _ = job.compile_to_ptx(job.source.text + instances(job.name_expressions))
        text = plain or text
    return text, log, marked


def _ask_further(
    job: Job, names: Sequence[str], text: str, marked: list[KernelName]
) -> tuple[str, list[KernelName]]:
    """The types of the extern "C" kernels that only the preprocessor could find, such as a macro's."""
    told = {each.lowered for each in marked}
    further = [
        each.name for each in ptx.entries(text) if each.name not in told and not each.name.startswith("_Z")
    ]
    while further:
        names_now = [*names, *further]
        again, log = _run(job, names_now)
        if again is not None:
            return read_markers(again, names_now)
        # A name that cannot be spelled outside its namespace stays without types.
        wrong = {names_now[each.line - 1] for each in parse_log(log) if each.file == MARKER_FILE}
        if wrong.isdisjoint(further):
            break
        further = [name for name in further if name not in wrong]
    return text, marked


def _run(job: Job, names: Sequence[str]) -> tuple[str | None, str]:
    return job.compile_to_ptx(job.source.text + markers(names))


def _wrong_name(name: str, message: str, source: Source) -> FlashpathError:
    declared, also = declared_kernels(source.text), Message("jit.compiler-says", {"message": message})
    base = name.partition("<")[0].rpartition("::")[2].strip()
    if "<" in name and any(each.is_template and each.name == base for each in declared):
        return KernelNotFound("jit.no-such-instance", **about_kernel(name, also), base=base)
    if any(name == each.name for each in declared):
        return KernelNotFound("jit.kernel-cannot-be-named", **about_kernel(name, also))
    return kernel_not_found(name, [], source.text, also)


def _without_marker_errors(log: str) -> str:
    blocks = log.split("\n\n")
    return "\n\n".join(block for block in blocks if not block.lstrip().startswith(MARKER_FILE))
