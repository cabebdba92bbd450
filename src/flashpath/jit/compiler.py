"""`fp.compile`: source → PTX → cubin → `Module`, through the cache."""

from __future__ import annotations

import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from flashpath.errors import FlashpathError
from flashpath.jit import ptx
from flashpath.jit.cache import Entry, KernelCache
from flashpath.jit.diagnostics import assembler_error
from flashpath.jit.front_end import run_front_end
from flashpath.jit.includes import scan_includes
from flashpath.jit.job import Compiler, Define, Job, make_job
from flashpath.jit.module import CUBIN, LOG, Module
from flashpath.jit.names import KernelName, KernelNotFound, about_kernel, names_of_entries
from flashpath.jit.source import Source

Build = Mapping[str, Any]
Files = Mapping[str, bytes]


def compile(  # noqa: A001 - called as fp.compile
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
    assemble: bool = True,
    source_name: str | None = None,
) -> Module:
    """Compile CUDA C++ to PTX and cubin, with no GPU, driver or toolkit needed.

    path_or_source: a `.cu` file, a `.cu.jinja` template (filled from `variables`), or the source itself.
    arch: `sm_75` … `sm_121a`; by default the GPU's own, or sm_80 where there is none.
    defines: preprocessor macros, `{"BLOCK": 256}`.
    includes: folders for `#include`, after the source's own.
    name_expressions: the template instances wanted, `["saxpy<float>"]`; other kernels need no mention.
    options: further compiler flags, such as `--use_fast_math` or `-maxrregcount=64`.
    assemble: False leaves the machine code, half of the time, until it is asked for: by a GPU, a report, or a
    launch on the virtual GPU whose blocks may need more registers than there are.
    source_name: what messages and line tables call a source that is given as text, instead of source.cu.
    """
    job = make_job(
        path_or_source, arch, defines or {}, includes, name_expressions, options, variables, compiler
    )
    if source_name is not None:
        job = replace(job, source=replace(job.source, name=_checked_name(source_name, job.source)))
    scanned = scan_includes(job.source.text, job.source.folder, job.include_folders)
    if cache is not None and not isinstance(cache, KernelCache):
        raise FlashpathError("jit.cache", value=repr(cache))
    builder = _Builder(job, scanned.digests, (cache or KernelCache()) if scanned.complete else None)
    entry = builder.assembled() if assemble else builder.compiled()
    return Module(
        source=entry.files["source.cu"].decode(),
        source_name=entry.build["source_name"],
        arch=entry.build["arch"],
        ptx=entry.files["kernel.ptx"].decode(),
        names=tuple(KernelName.from_json(each) for each in entry.build["kernels"]),
        cache_entry=entry,
        assemble=builder.assembled,
    )


def _checked_name(name: str, source: Source) -> str:
    if source.folder is not None:
        raise FlashpathError("jit.source-name-of-file", name=repr(name))
    if not isinstance(name, str) or not re.fullmatch(r"[^\x00-\x1f\"\\/]+", name):
        raise FlashpathError("jit.source-name", name=repr(name))
    return name


class _Builder:
    """Runs the compilers for what the cache does not have.

    Without a store nothing is kept: what `#include MACRO` names cannot be known by scanning, so such a source
    is compiled every time.
    """

    def __init__(self, job: Job, include_digests: Mapping[str, str], store: KernelCache | None) -> None:
        self.job, self.include_digests, self.store = job, include_digests, store
        ingredients = job.ingredients(include_digests)
        self.key = KernelCache.key(ingredients)
        self.compiled_key = KernelCache.key({**ingredients, "assembler": None})

    def compiled(self) -> Entry:
        """Returns the entry with PTX, and with machine code where the cache has it."""
        entry = self._load(self.key) or self._load(self.compiled_key)
        return entry or self._keep(self.compiled_key, *self._compile())

    def assembled(self) -> Entry:
        """Returns the entry with machine code."""
        entry = self._load(self.key)
        if entry is None:
            begun = self._load(self.compiled_key)
            parts = self._compile() if begun is None else (begun.build, begun.files)
            entry = self._keep(self.key, *self._assemble(*parts))
            if begun is not None and self.store is not None:
                self.store.remove(self.compiled_key)
        return entry

    def _load(self, key: str) -> Entry | None:
        return None if self.store is None else self.store.load(key)

    def _keep(self, key: str, build: Build, files: Files) -> Entry:
        return Entry(key, build, files) if self.store is None else self.store.store(key, build, files)

    def _compile(self) -> tuple[Build, Files]:
        """Returns what goes into build.json, and the artefacts: PTX, but no machine code yet."""
        job = self.job
        started = time.perf_counter()
        text, log, marked = run_front_end(job)
        entries = [entry.name for entry in ptx.entries(text)]
        for each in marked:
            if each.lowered not in entries:
                raise KernelNotFound("jit.not-global", **about_kernel(each.name))
        names = names_of_entries(entries, marked)
        build = {
            "source": str(job.source.rendered_from or job.source.name),
            "source_name": job.source.name,
            "arch": job.arch,
            "compiler": f"{job.compiler} {job.compiler_version}",
            "flags": list(job.front_flags),
            "assembler_flags": list(job.assembler_flags),
            "includes": dict(self.include_digests),
            "kernels": [name.to_json() for name in names],
            "built": time.time(),
            "seconds": round(time.perf_counter() - started, 4),
        }
        files = {"source.cu": job.source.text.encode(), "kernel.ptx": text.encode(), LOG: log.encode()}
        return build, files

    def _assemble(self, build: Build, files: Files) -> tuple[Build, Files]:
        """The same with machine code."""
        started = time.perf_counter()
        text = files["kernel.ptx"].decode()
        cubin, log = self.job.assemble(text)
        if cubin is None:
            raise assembler_error(log, text, self.job.source, self.job.arch)
        seconds = round(build["seconds"] + time.perf_counter() - started, 4)
        both = f"{files[LOG].decode()}\n{log}".strip().encode()
        return {**build, "seconds": seconds}, {**files, CUBIN: cubin, LOG: both}
