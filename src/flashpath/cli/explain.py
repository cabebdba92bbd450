"""`flashpath explain FILE.cu`: what the compiler made of a kernel."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from flashpath.errors import FlashpathError

# Errors advise in Python; here the same is said in options.
_IN_OPTIONS = (
    (r"fp\.compile\(…, name_expressions=\[(.+?)\]\)", r"--kernel \1"),
    (r"fp\.compile\(…, includes=\[(.+?)\]\)", r"-I \1"),
    (r"fp\.compile\(…, defines=\{.*?\}\)", r"-D NAME=VALUE"),
    (r"compiler='(\w+)'", r"--compiler \1"),
    (r"\bname_expressions=", "--kernel"),
    (r"\bincludes=", "-I"),
    (r"\bdefines=", "-D"),
    (r"\barch=", "--arch"),
    (r"^options holds\b", "--option is"),
    (r"^defines has the name\b", "-D has the name"),
    (r"; CUDA source given as a string [^.]*", ""),
)


def explain(
    file: Annotated[Path, typer.Argument(help="A .cu file.")],
    kernel: Annotated[str | None, typer.Option(help="Its name; a template instance: 'saxpy<float>'.")] = None,
    arch: Annotated[
        str | None, typer.Option(help="sm_75 … sm_100a; by default the GPU's own, or sm_80.")
    ] = None,
    block: Annotated[int | None, typer.Option(help="Threads per block, for the occupancy.", min=1)] = None,
    shared: Annotated[int, typer.Option(help="Dynamic shared memory in bytes.", min=0)] = 0,
    gpu: Annotated[str | None, typer.Option(help="The GPU whose occupancy is shown, such as H200.")] = None,
    define: Annotated[list[str] | None, typer.Option("--define", "-D", help="NAME or NAME=VALUE.")] = None,
    include: Annotated[
        list[Path] | None, typer.Option("--include", "-I", help="A folder of headers.")
    ] = None,
    option: Annotated[list[str] | None, typer.Option(help="A flag for the compiler.")] = None,
    compiler: Annotated[str, typer.Option(help="nvrtc or nvcc.")] = "nvrtc",
    stage: Annotated[
        str, typer.Option(help="What to print besides the summary: source, ptx, sass, all or none.")
    ] = "all",
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Show source, PTX, SASS, registers, memory, spills and occupancy of a kernel. No GPU is needed.

    Examples:

        flashpath explain saxpy.cu --kernel saxpy --arch sm_90a

        flashpath explain matmul.cu --kernel 'matmul<float, 32>' --gpu H200 --block 256 --stage sass
    """
    from rich.syntax import Syntax
    from rich.text import Text

    from flashpath import jit
    from flashpath.cli.output import console, print_json
    from flashpath.errors import FlashpathError

    stages = {"all": ("source", "ptx", "sass"), "none": ()}.get(stage, (stage,))
    if not set(stages) <= {"source", "ptx", "sass"}:
        raise FlashpathError(f"--stage is {stage!r}.", "It is one of source, ptx, sass, all, none.")
    if compiler not in ("nvrtc", "nvcc"):
        raise FlashpathError(f"--compiler is {compiler!r}.", "It is nvrtc or nvcc.")
    defines = {
        name: value if equals else None
        for name, equals, value in (text.partition("=") for text in define or [])
    }
    instances = [kernel] if kernel is not None and "<" in kernel else []
    try:
        module = jit.compile(
            file,
            arch,
            defines,
            include or [],
            instances,
            option or [],
            compiler="nvcc" if compiler == "nvcc" else "nvrtc",
        )
        if kernel is None and len(module.kernels) != 1:
            raise _choose(file, module.kernels, module.source)
        explained = jit.explain(module[kernel or module.kernels[0]], block=block, shared=shared, gpu=gpu)
    except FlashpathError as error:
        error.problem = _in_options(error.problem)
        error.fix = error.fix and _in_options(error.fix)
        raise
    if as_json:
        print_json(explained)
        return
    out = console()
    for name, text, language in (
        ("source", explained.source, "cuda"),
        ("ptx", explained.ptx, "ptx"),
        ("sass", explained.sass, "text"),
    ):
        if name in stages:
            title = f"{name} · {explained.source_name}" if name == "source" else name
            out.rule(Text(title), align="left")
            if text is None:
                out.print("No disassembler was found. pip install triton brings one.")
            elif out.is_terminal:
                out.print(Syntax(text, language, word_wrap=True, background_color="default"))
            else:
                typer.echo(text)
    if stages:
        out.rule("resources", align="left")
    out.print(str(explained), markup=False)


def _in_options(text: str) -> str:
    for pattern, option in _IN_OPTIONS:
        text = re.sub(pattern, option, text)
    return text


def _choose(file: Path, compiled: list[str], source: str) -> FlashpathError:
    """The error where no kernel was named and there is not exactly one."""
    from flashpath.errors import FlashpathError
    from flashpath.jit.names import declared_kernels

    templates = [each.name for each in declared_kernels(source) if each.is_template]
    example = f"--kernel '{templates[0]}<float>'" if templates else ""
    if compiled:
        instance = f"; an instance of a template: {example}" if templates else ""
        names = ", ".join([*compiled, *(f"{name}<…>" for name in templates)])
        count = len(compiled) + len(templates)
        return FlashpathError(f"{file} has {count} kernels: {names}.", f"Name one with --kernel{instance}.")
    if templates:
        names = ", ".join(f"{name}<…>" for name in templates)
        return FlashpathError(
            f"{file} has only templates: {names}. There is no kernel until one is instantiated.",
            f"Name an instance with its own arguments: {example}.",
        )
    return FlashpathError(
        f"{file} has no kernel: there is no __global__ function in it.",
        "Declare one: __global__ void name(…) { … }",
    )
