"""What nvcc, the linkers and the host compiler say, as errors that name the learner's own lines."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from flashpath.errors import FlashpathError
from flashpath.jit.diagnostics import CompileError, Diagnostic, assembler_error, compile_error, show
from flashpath.jit.includes import without_comments
from flashpath.jit.mangling import Unreadable, demangle
from flashpath.jit.programs.recipe import Recipe
from flashpath.jit.source import Source
from flashpath.messages import Message, say

# Files that nvcc writes on its way, named after the source: tmpxft_00005d27_00000000-6_saxpy.cudafe1.cpp.
_ON_THE_WAY = re.compile(
    r"[^\s\"'`:()]*tmpxft_[0-9a-f]+_[0-9a-f]+-\d+_(?P<stem>[^\s\"'`:()]+?)"
    r"(?:\.compute_\w+|\.sm_\w+)?\.(?:cudafe1(?:\.\w+)*|cpp\d\.ii|ptx|cubin|fatbin(?:\.c)?|o)\b"
)
_UNDEFINED = re.compile(r"undefined (?:reference to|symbol:) [`']?(?P<name>[^'\n]+?)'?$", re.MULTILINE)
_UNDEFINED_ON_DEVICE = re.compile(
    r"(?:nvlink error\s*: Undefined reference to|Unresolved extern function) '(?P<name>\w+)'"
)
_DEFINED_TWICE = re.compile(r"multiple definition of [`'](?P<name>[^']+)'")
_NO_LIBRARY = re.compile(r"(?:cannot find|unable to find library) -l(?P<name>[\w.+-]+)")
_RUNTIME_CALL = re.compile(r"(?:__)?cuda[A-Z]\w*")
_DRIVER_CALL = re.compile(r"cu[A-Z]\w*")
_LIBRARIES = (
    "cublasLt",
    "cublas",
    "cufft",
    "curand",
    "cusparse",
    "cusolver",
    "cudnn",
    "nccl",
    "nvrtc",
    "npp",
)
_MOST_NAMES = 5


class LinkError(FlashpathError):
    """The files compile, and do not make a program together. `log` is the linker's own text."""

    def __init__(self, code: str, /, *, log: str, **params: Any) -> None:
        super().__init__(code, **params)
        self.log = log


def cleaned(log: str, recipe: Recipe, objects: dict[str, Path]) -> str:
    """The log with the learner's files in place of those that compilers write on their way.

    `objects`: the path of each object file, and the source it came from.
    """
    text = named_by_source(log, recipe)
    for path, source in objects.items():
        text = text.replace(path, str(source))
    return text.strip()


def named_by_source(text: str, recipe: Recipe) -> str:
    """The text with the names of the sources for those of files that nvcc makes from them."""
    by_stem = {file.stem: str(file) for file in reversed(recipe.files)}
    return _ON_THE_WAY.sub(lambda match: by_stem.get(match["stem"], match["stem"]), text)


def failed_compile(log: str, recipe: Recipe, file: Path, make_ptx: Callable[[], str]) -> FlashpathError:
    """The error for a file that does not compile. `make_ptx` writes what ptxas refused."""
    text = file.read_text(encoding="utf-8", errors="replace")
    source = Source(text, str(file), file.parent)
    if on_device := _UNDEFINED_ON_DEVICE.findall(log):
        return _undefined_on_device(on_device, recipe, log)
    if re.search(r"^ptxas .*?, line \d+; (?:error|fatal)", log, re.MULTILINE):
        return assembler_error(log, make_ptx(), source, recipe.target.arch)
    if recipe.target.is_virtual and "requires separate compilation mode" in log:
        return CompileError("jit.nested-kernels", log=log)
    if too_new := re.search(r"unsupported (?:GNU|clang) version! (?P<why>[^!]+) are not supported!", log):
        return CompileError("jit.host-compiler-too-new", log=log, why=too_new["why"])
    folders = [Path(flag[2:]) for flag in recipe.flags if flag.startswith("-I")]
    return compile_error(log, source, folders, with_host=True)


def failed_link(log: str, recipe: Recipe) -> FlashpathError:
    """The error for objects that do not link."""
    if on_device := _UNDEFINED_ON_DEVICE.findall(log):
        return _undefined_on_device(on_device, recipe, log)
    if twice := _DEFINED_TWICE.search(log):
        places = _places(twice["name"], recipe)
        return LinkError("jit.defined-twice", log=log, name=twice["name"], places=places and f":{places}")
    undefined = list(dict.fromkeys(_UNDEFINED.findall(log)))
    if recipe.target.is_virtual and any("cuda_device_runtime" in name for name in undefined):
        return LinkError("jit.nested-kernels", log=log)
    if "main" in undefined:
        return LinkError("jit.no-main", log=log, files=list(map(str, recipe.files)))
    if undefined:
        return _undefined(undefined, recipe, log)
    if library := _NO_LIBRARY.search(log):
        advice = Message("jit.library-folder")
        if library["name"] in _LIBRARIES:
            advice = Message("jit.library-of-toolkit")
        return LinkError("jit.no-library", log=log, name=library["name"], advice=advice)
    return LinkError("jit.linker-failed", log=log, output=log)


def _undefined(names: Sequence[str], recipe: Recipe, log: str) -> LinkError:
    """Returns which calls nothing answers, and what to do about the first kind of them."""
    api = [name for name in names if _RUNTIME_CALL.match(name) or _DRIVER_CALL.fullmatch(name)]
    library = next((known for known in _LIBRARIES if any(name.startswith(known) for name in names)), None)
    if recipe.target.is_virtual and (api or library):
        missing = api or [name for name in names if name.startswith(str(library))]
        told = _listed(missing, recipe)
        if api:
            return LinkError("jit.runtime-lacks", log=log, **told)
        return LinkError("jit.libraries-need-a-gpu", log=log, **told)
    advice = Message("jit.name-the-definition")
    if library:
        advice = Message("jit.link-library", {"library": library})
    elif any(_DRIVER_CALL.fullmatch(name) for name in names):
        advice = Message("jit.link-driver")
    return LinkError("jit.undefined", log=log, **_listed(names, recipe), advice=advice)


def _undefined_on_device(mangled: Iterable[str], recipe: Recipe, log: str) -> LinkError:
    names = [_readable(name) for name in dict.fromkeys(mangled)]
    return LinkError("jit.undefined-on-device", log=log, **_listed(names, recipe))


def _readable(mangled: str) -> str:
    try:
        function = demangle(mangled)
    except Unreadable:
        return mangled  # extern "C", a variable, or more than the reader knows
    return f"{function.name}({', '.join(map(str, function.parameters))})"


def _listed(names: Sequence[str], recipe: Recipe) -> dict[str, Any]:
    """The first names, and where the very first is used."""
    shown, more = list(names[:_MOST_NAMES]), len(names) - _MOST_NAMES
    listed = Message("jit.and-more", {"names": shown, "count": more}) if more > 0 else shown
    return {"names": listed, "places": _places(names[0], recipe)}


def _places(name: str, recipe: Recipe) -> str:
    """The first line of each file in which the name stands, with a caret under it."""
    plain = re.split(r"[(<]", name)[0].rpartition("::")[2]
    word = re.compile(rf"\b{re.escape(plain)}\b")
    shown: list[str] = []
    for file in recipe.files:
        text = file.read_text(encoding="utf-8", errors="replace")
        use = word.search(without_comments(text, keep_literals=False))
        if use is None:
            continue
        line = text.count("\n", 0, use.start()) + 1
        column = use.start() - text.rfind("\n", 0, use.start())
        here = Diagnostic(str(file), line, column, "error", say("jit.used-here", name=plain))
        shown.append(show(here, Source(text, str(file), file.parent)))
    return "".join(f"\n{lines}" for lines in shown)
