"""`fp.compile`: source → PTX → cubin → `Module`, through the cache."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from flashpath.errors import FlashpathError
from flashpath.jit import ptx
from flashpath.jit.cache import Entry, KernelCache
from flashpath.jit.diagnostics import assembler_error
from flashpath.jit.front_end import run_front_end
from flashpath.jit.includes import scan_includes
from flashpath.jit.job import Compiler, Define, Job, make_job
from flashpath.jit.module import Module
from flashpath.jit.names import KernelName, KernelNotFound, names_of_entries


def compile(  # noqa: A001 - the design's name: fp.compile
    path_or_source: str | Path,
    arch: str | None = None,
    defines: Mapping[str, Define] | None = None,
    includes: Sequence[str | Path] = (),
    name_expressions: Sequence[str] = (),
    options: Sequence[str] = (),
    *,
    variables: Mapping[str, Any] | None = None,
    compiler: Compiler = "nvrtc",
    cache: KernelCache | None = None,
) -> Module:
    """Compile CUDA C++ to PTX and cubin, with no GPU, driver or toolkit needed.

    path_or_source: a `.cu` file, a `.cu.jinja` template (filled from `variables`), or the source itself.
    arch: `sm_75` … `sm_121a`; by default the GPU's own, or sm_80 where there is none.
    defines: preprocessor macros, `{"BLOCK": 256}`.
    includes: folders for `#include`, after the source's own.
    name_expressions: the template instances wanted, `["saxpy<float>"]`; other kernels need no mention.
    options: further compiler flags, such as `--use_fast_math` or `-maxrregcount=64`.
    """
    job = make_job(
        path_or_source, arch, defines or {}, includes, name_expressions, options, variables, compiler
    )
    scanned = scan_includes(job.source.text, job.source.folder, job.include_folders)
    if cache is not None and not isinstance(cache, KernelCache):
        raise FlashpathError(f"cache is {cache!r}.", "Give a KernelCache(folder), or leave it out.")
    store = cache or KernelCache()
    key = store.key(job.ingredients(scanned.digests))
    # What `#include MACRO` names cannot be known by scanning, so such a source is compiled every time.
    entry = store.load(key) if scanned.complete else None
    if entry is None:
        build, files = _build(job, scanned.digests)
        entry = store.store(key, build, files) if scanned.complete else Entry(key, build, files)
    return _module(entry)


def _build(job: Job, include_digests: Mapping[str, str]) -> tuple[dict[str, Any], dict[str, bytes]]:
    """Compile; returns what goes into build.json, and the artefacts."""
    started = time.perf_counter()
    text, front_log, marked = run_front_end(job)
    cubin, back_log = job.assemble(text)
    if cubin is None:
        raise assembler_error(back_log, text, job.source, job.arch)
    entries = [entry.name for entry in ptx.entries(text)]
    for each in marked:
        if each.lowered not in entries:
            raise KernelNotFound(
                f"{each.name!r} is no kernel: it is not declared __global__.", "Leave it out."
            )
    names = names_of_entries(entries, marked)
    build = {
        "source": str(job.source.rendered_from or job.source.name),
        "source_name": job.source.name,
        "arch": job.arch,
        "compiler": f"{job.compiler} {job.compiler_version}",
        "flags": list(job.front_flags),
        "assembler_flags": list(job.assembler_flags),
        "includes": dict(include_digests),
        "kernels": [name.to_json() for name in names],
        "built": time.time(),
        "seconds": round(time.perf_counter() - started, 4),
    }
    files = {
        "source.cu": job.source.text.encode(),
        "kernel.ptx": text.encode(),
        "kernel.cubin": cubin,
        "compiler.log": f"{front_log}\n{back_log}".strip().encode(),
    }
    return build, files


def _module(entry: Entry) -> Module:
    return Module(
        source=entry.files["source.cu"].decode(),
        source_name=entry.build["source_name"],
        arch=entry.build["arch"],
        ptx=entry.files["kernel.ptx"].decode(),
        cubin=entry.files["kernel.cubin"],
        log=entry.files["compiler.log"].decode(),
        names=tuple(KernelName.from_json(each) for each in entry.build["kernels"]),
        cache_entry=entry,
    )
