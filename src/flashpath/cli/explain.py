"""`flashpath explain`: what the compilers made of a CUDA kernel, or of a Python program's Triton kernels."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from flashpath.cli import options
from flashpath.cli.shipped import shipped
from flashpath.errors import FlashpathError
from flashpath.messages import say

if TYPE_CHECKING:
    from rich.console import Console


def explain(
    file: Annotated[Path, typer.Argument(help=say("cli.explain-file"), callback=shipped)],
    kernel: options.KernelName = None,
    arch: options.Arch = None,
    block: Annotated[int | None, typer.Option(help=say("cli.explain-block"), min=1)] = None,
    shared: options.SharedBytes = 0,
    gpu: Annotated[str | None, typer.Option(help=say("cli.explain-gpu"))] = None,
    define: options.Defines = None,
    include: options.Includes = None,
    option: options.CompilerFlags = None,
    compiler: options.Compiler = "nvrtc",
    stage: Annotated[str, typer.Option(help=say("cli.explain-stage"))] = "all",
    as_json: options.AsJson = False,
) -> None:
    """Shows what the compilers made of a kernel."""
    from flashpath import jit
    from flashpath.cli.compiling import compile_kernel, in_options
    from flashpath.cli.output import console, print_json

    if file.suffix == ".py":
        from flashpath.cli.explain_triton import explain_program

        of_cuda = {"block": block, "define": define, "include": include, "option": option}
        options.refuse_of_cuda(file, shared=shared, **of_cuda)
        explain_program(file, kernel, arch, gpu, stage, as_json)
        return
    stages = chosen_stages(stage, ("source", "ptx", "sass"))
    found = compile_kernel(file, kernel, arch, define or [], include or [], option or [], compiler)
    try:
        explained = jit.explain(found, block=block, shared=shared, gpu=gpu)
    except FlashpathError as error:
        raise in_options(error) from None
    if as_json:
        print_json(explained)
        return
    out = console()
    if "source" in stages:
        show_stage(out, "source", explained.source, "cuda", explained.source_name)
    if "ptx" in stages:
        show_stage(out, "ptx", explained.ptx, "ptx")
    if "sass" in stages:
        show_stage(out, "sass", explained.sass, "text")
    if stages:
        out.rule(say("cli.explain-resources"), align="left")
    out.print(str(explained), markup=False)


def chosen_stages(stage: str, known: tuple[str, ...]) -> tuple[str, ...]:
    """The stages that --stage names."""
    if stage not in ("all", "none", *known):
        raise FlashpathError("cli.no-such-stage", stage=stage, known=[*known, "all", "none"])
    return {"all": known, "none": ()}.get(stage, (stage,))


def show_stage(out: Console, name: str, text: str | None, language: str, file: str = "") -> None:
    """Shows the text of one stage under its name, in colours where there are some."""
    from rich.syntax import Syntax
    from rich.text import Text

    out.rule(Text(f"{name} · {file}" if file else name), align="left")
    if text is None:
        out.print(say("cli.no-disassembler"))
    elif out.is_terminal:
        out.print(Syntax(text, language, word_wrap=True, background_color="default"))
    else:
        typer.echo(text)
