"""What is to be compiled, with which flags: the arguments of `fp.compile`, checked and made definite."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from flashpath import settings
from flashpath.errors import FlashpathError
from flashpath.gpus import parse_arch
from flashpath.jit import assembler, device, nvcc, nvcc_names, nvrtc, toolkit
from flashpath.jit.source import Source, read_source
from flashpath.messages import told

Compiler = Literal["nvrtc", "nvcc"]
Define = str | int | float | bool | None


@dataclass(frozen=True)
class Job:
    """Everything that decides what the compiler will write."""

    source: Source
    arch: str
    compiler: Compiler
    front_flags: tuple[str, ...]
    assembler_flags: tuple[str, ...]
    include_folders: tuple[Path, ...]
    name_expressions: tuple[str, ...]
    missed: set[str] = field(default_factory=set[str], compare=False)  # names of nvcc's that the source uses

    @property
    def is_debug(self) -> bool:
        """Whether code for cuda-gdb is wanted, unoptimised and with its variables."""
        return _is_debug(self.front_flags)

    @property
    def compiler_version(self) -> str:
        return nvrtc.version() if self.compiler == "nvrtc" else nvcc.version()

    def compile_to_ptx(self, text: str) -> tuple[str | None, str]:
        """Run the front end on the source with what was appended to it; None where it failed, and the log."""
        name, flags = self.source.name, self.front_flags
        if self.compiler == "nvcc":
            return nvcc.compile_to_ptx(text, name, flags)
        while True:
            before = nvcc_names.declarations(self.missed)
            ptx, log = nvrtc.compile_to_ptx(text, name, flags, before)
            if ptx is not None or (missed := nvcc_names.missed(log)) <= self.missed:
                return ptx, log
            self.missed.update(missed)

    def assemble(self, ptx: str) -> tuple[bytes | None, str]:
        """PTX to cubin, by the ptxas that belongs to the compiler; None where it was refused, and the log."""
        if self.compiler == "nvrtc":
            return assembler.assemble(ptx, self.arch, self.assembler_flags)
        return nvcc.assemble(ptx, self.arch, [flag.removeprefix("-Xptxas=") for flag in self.assembler_flags])

    def ingredients(self, include_digests: Mapping[str, str]) -> dict[str, Any]:
        """Everything that decides what the compilers will write: the cache's key is made from it."""
        nvrtc_used = self.compiler == "nvrtc"
        return {
            "compiler": [self.compiler, self.compiler_version],
            "assembler": assembler.version() if nvrtc_used else toolkit.nvcc().version,
            "headers": toolkit.headers().version if nvrtc_used else "nvcc's own",
            "flags": [*self.front_flags, "--", *self.assembler_flags],
            "source_name": self.source.name,  # it stands in the line table
            "source": self.source.text,
            "names": self.name_expressions,
            "includes": dict(include_digests),
        }


def make_job(
    path_or_source: str | Path,
    arch: str | None,
    defines: Mapping[str, Define],
    includes: Sequence[str | Path],
    name_expressions: Sequence[str],
    options: Sequence[str],
    variables: Mapping[str, Any] | None,
    compiler: Compiler,
) -> Job:
    """Check what the caller of `fp.compile` gave; its docstring says what each is."""
    if compiler not in ("nvrtc", "nvcc"):
        raise FlashpathError("jit.compiler", value=repr(compiler))
    for what, value in (("name_expressions", name_expressions), ("options", options), ("includes", includes)):
        kinds = (str, Path) if what == "includes" else (str,)
        if isinstance(value, (str, Path)) or not isinstance(value, Iterable):
            raise FlashpathError("jit.not-a-list", what=what, value=repr(value))
        for each in value:
            if not isinstance(each, kinds):
                raise FlashpathError("jit.not-strings", what=what, value=repr(each))
    if not isinstance(defines, Mapping):
        raise FlashpathError("jit.defines", value=repr(defines))
    source = read_source(path_or_source, variables)
    target = parse_arch(arch or device.default_arch())
    folders = tuple(settings.expanded(folder).resolve() for folder in includes)
    for folder in folders:
        if not folder.is_dir():
            raise FlashpathError("jit.no-include-folder", folder=str(folder))
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
    return Job(
        source=source,
        arch=target.name,
        compiler=compiler,
        front_flags=tuple(front_flags),
        assembler_flags=(*back, *(["-g"] if debug else [])),
        include_folders=folders,
        name_expressions=tuple({"".join(name.split()): name for name in name_expressions}.values()),
    )


_MANAGED = {
    ("-arch", "--gpu-architecture", "-gencode", "--generate-code"): told("jit.keyword-arch"),
    ("-I", "--include-path", "-i", "--pre-include", "--system-include"): told("jit.keyword-includes"),
    ("-D", "--define-macro"): told("jit.keyword-defines"),
}
_DEBUG = ("-G", "--device-debug")
# Code that is linked later has no complete PTX of its own.
_FOR_LINKING = (
    "-rdc",
    "--relocatable-device-code",
    "-dc",
    "--device-c",
    "-dlto",
    "--dlink-time-opt",
)
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
                raise FlashpathError("jit.managed-option", option=option, keyword=keyword)
        if option.startswith(_FOR_LINKING):
            raise FlashpathError("jit.linking-option", option=option)
        if option.startswith(_FOR_ASSEMBLER):
            if "=" not in option:
                raise FlashpathError("jit.option-without-value", option=option)
            name, _, values = option.partition("=")
            if "maxrregcount" in name:
                back.append(f"-maxrregcount={values}")
            else:
                back += [f"-Xptxas={value}" for value in values.split(",")]
        else:
            front.append(option)
    return front, back


def _define(name: str, value: Define) -> str:
    if not isinstance(name, str) or not name.isidentifier():
        raise FlashpathError("jit.define-name", name=repr(name))
    if value is None:
        return f"-D{name}"
    if hasattr(value, "__index__"):  # bool and NumPy's integers too
        return f"-D{name}={int(value)}"
    if isinstance(value, float) and not math.isfinite(value):
        raise FlashpathError("jit.define-not-finite", name=name, value=value)
    if not isinstance(value, (str, float)):
        raise FlashpathError("jit.define-value", name=name, value=repr(value))
    return f"-D{name}={value}"
