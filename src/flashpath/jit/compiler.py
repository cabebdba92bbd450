"""`fp.compile`: source → PTX → cubin → `Module`, through the cache."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from flashpath.errors import FlashpathError
from flashpath.gpus import parse_arch
from flashpath.jit import assembler, device, nvcc, nvrtc, ptx, toolkit
from flashpath.jit.cache import Entry, KernelCache
from flashpath.jit.diagnostics import assembler_error, compile_error, parse_log
from flashpath.jit.includes import scan_includes
from flashpath.jit.mangling import CType
from flashpath.jit.module import Module
from flashpath.jit.names import (
    MARKER_FILE,
    KernelName,
    KernelNotFound,
    declared_kernels,
    extern_c_kernels,
    instances,
    kernel_not_found,
    markers,
    names_of_entries,
    read_markers,
)
from flashpath.jit.source import Source, read_source

Compiler = Literal["nvrtc", "nvcc"]
Define = str | int | float | bool | None


@dataclass(frozen=True)
class _Job:
    """Everything that decides what the compiler will write."""

    source: Source
    arch: str
    compiler: Compiler
    front_flags: tuple[str, ...]
    assembler_flags: tuple[str, ...]
    include_folders: tuple[Path, ...]
    name_expressions: tuple[str, ...]


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
    arch: `sm_75` … `sm_100a`; by default the GPU's own, or sm_80 where there is none.
    defines: preprocessor macros, `{"BLOCK": 256}`.
    includes: folders for `#include`, after the source's own.
    name_expressions: the template instances wanted, `["saxpy<float>"]`; other kernels need no mention.
    options: further compiler flags, such as `--use_fast_math` or `-maxrregcount=64`.
    """
    job = _make_job(
        path_or_source, arch, defines or {}, includes, name_expressions, options, variables, compiler
    )
    scanned = scan_includes(job.source.text, job.source.folder, job.include_folders)
    store = cache or KernelCache()
    key = store.key(_ingredients(job, scanned.digests))
    # What `#include MACRO` names cannot be known by scanning, so such a source is compiled every time.
    entry = store.load(key) if scanned.complete else None
    if entry is None:
        build, files = _build(job, scanned.digests)
        entry = store.store(key, build, files) if scanned.complete else Entry(key, build, files)
    return _module(entry)


def _make_job(
    path_or_source: str | Path,
    arch: str | None,
    defines: Mapping[str, Define],
    includes: Sequence[str | Path],
    name_expressions: Sequence[str],
    options: Sequence[str],
    variables: Mapping[str, Any] | None,
    compiler: Compiler,
) -> _Job:
    if compiler not in ("nvrtc", "nvcc"):
        raise FlashpathError(f"compiler is {compiler!r}.", "It is 'nvrtc' or 'nvcc'.")
    for what, value in (("name_expressions", name_expressions), ("options", options), ("includes", includes)):
        if isinstance(value, str):
            raise FlashpathError(f"{what} is the string {value!r}.", f"Give a list: {what}=[{value!r}].")
    source = read_source(path_or_source, variables)
    target = parse_arch(arch or device.default_arch())
    folders = tuple(Path(folder).expanduser().resolve() for folder in includes)
    for folder in folders:
        if not folder.is_dir():
            raise FlashpathError(f"The include folder {folder} does not exist.", "Check includes=.")
    front, back = _split_options(options)
    debug = _is_debug(front)
    folders = (*([source.folder] if source.folder else []), *folders)
    search = [*folders, *(toolkit.headers().folders if compiler == "nvrtc" else ())]
    front_flags = [
        f"-arch={target.compute if compiler == 'nvrtc' else target.name}",
        *([] if any(flag.startswith(("-std", "--std")) for flag in front) else ["-std=c++17"]),
        *([] if debug else ["-lineinfo"]),  # source lines in PTX cost nothing at run time
        *(f"-I{folder}" for folder in search),
        *(_define(name, value) for name, value in defines.items()),
        *front,
    ]
    return _Job(
        source=source,
        arch=target.name,
        compiler=compiler,
        front_flags=tuple(front_flags),
        assembler_flags=(*back, *(["-g"] if debug else [])),
        include_folders=folders,
        name_expressions=tuple({"".join(name.split()): name for name in name_expressions}.values()),
    )


_MANAGED = {
    ("-arch", "--gpu-architecture", "-gencode", "--generate-code"): "arch=",
    ("-I", "--include-path", "-include", "--pre-include"): "includes=",
    ("-D", "--define-macro"): "defines=",
}
_DEBUG = ("-G", "--device-debug")
_FOR_ASSEMBLER = ("-maxrregcount", "--maxrregcount", "-Xptxas", "--ptxas-options")


def _is_debug(front_flags: Sequence[str]) -> bool:
    return any(flag in _DEBUG for flag in front_flags)


def _split_options(options: Sequence[str]) -> tuple[list[str], list[str]]:
    """The front end's flags and ptxas's."""
    front: list[str] = []
    back: list[str] = []
    for option in options:
        for prefixes, keyword in _MANAGED.items():
            if option.startswith(prefixes):
                raise FlashpathError(
                    f"options holds {option!r}.", f"Use {keyword} for that, so the cache sees it."
                )
        if option.startswith(_FOR_ASSEMBLER):
            if "=" not in option:
                raise FlashpathError(f"options holds {option!r}.", f"Write it with a value: {option}=….")
            back.append(
                option.replace("--maxrregcount", "-maxrregcount").replace("--ptxas-options", "-Xptxas")
            )
        else:
            front.append(option)
    return front, back


def _define(name: str, value: Define) -> str:
    if not name.isidentifier():
        raise FlashpathError(f"defines has the name {name!r}.", "A macro's name is a C identifier.")
    if value is None:
        return f"-D{name}"
    return f"-D{name}={int(value) if isinstance(value, bool) else value}"


def _ingredients(job: _Job, include_digests: Mapping[str, str]) -> dict[str, Any]:
    compiler_version = nvrtc.version() if job.compiler == "nvrtc" else nvcc.version()
    return {
        "compiler": [job.compiler, compiler_version],
        "assembler": assembler.version() if job.compiler == "nvrtc" else toolkit.nvcc().version,
        "headers": toolkit.headers().version if job.compiler == "nvrtc" else "nvcc's own",
        "flags": [*job.front_flags, "--", *job.assembler_flags],
        "source_name": job.source.name,  # it stands in the line table
        "source": job.source.text,
        "names": job.name_expressions,
        "includes": dict(include_digests),
    }


def _build(job: _Job, include_digests: Mapping[str, str]) -> tuple[dict[str, Any], dict[str, bytes]]:
    """Compile; returns what goes into build.json, and the artefacts."""
    started = time.perf_counter()
    text, front_log, marked = _front_end(job)
    assemble = assembler.assemble if job.compiler == "nvrtc" else nvcc.assemble
    cubin, back_log = assemble(text, job.arch, _assembler_flags(job))
    if cubin is None:
        raise assembler_error(back_log, text, job.source, job.arch)
    names = names_of_entries([entry.name for entry in ptx.entries(text)], marked)
    build = {
        "source": str(job.source.rendered_from or job.source.name),
        "source_name": job.source.name,
        "arch": job.arch,
        "compiler": f"{job.compiler} {nvrtc.version() if job.compiler == 'nvrtc' else nvcc.version()}",
        "flags": list(job.front_flags),
        "assembler_flags": list(job.assembler_flags),
        "includes": dict(include_digests),
        "kernels": [_name_to_json(name) for name in names],
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


def _assembler_flags(job: _Job) -> list[str]:
    if job.compiler == "nvrtc":
        return list(job.assembler_flags)
    return [flag.removeprefix("-Xptxas=") for flag in job.assembler_flags]


def _front_end(job: _Job) -> tuple[str, str, list[KernelName]]:
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
    if names and _is_debug(job.front_flags):
        # Debug information describes the markers too: it is taken from a run without any.
        plain, _ = _compile_to_ptx(job, job.source.text + instances(job.name_expressions))
        text = plain or text
    return text, log, marked


def _ask_further(
    job: _Job, names: Sequence[str], text: str, marked: list[KernelName]
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


def _run(job: _Job, names: Sequence[str]) -> tuple[str | None, str]:
    return _compile_to_ptx(job, job.source.text + markers(names))


def _compile_to_ptx(job: _Job, text: str) -> tuple[str | None, str]:
    compile_to_ptx = nvrtc.compile_to_ptx if job.compiler == "nvrtc" else nvcc.compile_to_ptx
    return compile_to_ptx(text, job.source.name, job.front_flags)


def _wrong_name(name: str, message: str, source: Source) -> FlashpathError:
    if any(name == each.name for each in declared_kernels(source.text)):
        error = KernelNotFound(
            f"The kernel {name!r} cannot be named so.",
            "Leave it out: name_expressions is for template instances; or write its namespace, ns::name.",
        )
    else:
        error = kernel_not_found(name, [], source.text)
    error.problem += f"\n  The compiler says: {message}"
    return error


def _without_marker_errors(log: str) -> str:
    blocks = log.split("\n\n")
    return "\n\n".join(block for block in blocks if not block.lstrip().startswith(MARKER_FILE))


# ---- build.json → Module -------------------------------------------------------------------------------


def _name_to_json(name: KernelName) -> dict[str, Any]:
    parameters = None if name.parameters is None else [_type_to_json(each) for each in name.parameters]
    return {"name": name.name, "lowered": name.lowered, "parameters": parameters}


def _type_to_json(kind: CType) -> dict[str, Any]:
    result: dict[str, Any] = {"text": kind.text, "const": kind.const}
    if kind.pointee is not None:
        result["pointee"] = _type_to_json(kind.pointee)
    return result


def _type_from_json(data: Mapping[str, Any]) -> CType:
    pointee = data.get("pointee")
    return CType(data["text"], _type_from_json(pointee) if pointee else None, const=data["const"])


def _name_from_json(data: Mapping[str, Any]) -> KernelName:
    parameters = data["parameters"]
    types = None if parameters is None else tuple(_type_from_json(each) for each in parameters)
    return KernelName(data["name"], data["lowered"], types)


def _module(entry: Entry) -> Module:
    return Module(
        source=entry.files["source.cu"].decode(),
        source_name=entry.build["source_name"],
        arch=entry.build["arch"],
        ptx=entry.files["kernel.ptx"].decode(),
        cubin=entry.files["kernel.cubin"],
        log=entry.files["compiler.log"].decode(),
        names=tuple(_name_from_json(each) for each in entry.build["kernels"]),
        cache_entry=entry,
    )
