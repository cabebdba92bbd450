"""`flashpath explain FILE.cu`: what the compiler made of a kernel."""

from __future__ import annotations

from typing import Annotated

import typer

from flashpath.cli import options
from flashpath.messages import say


def explain(
    file: options.SourceFile,
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
    """Shows what the compiler made of a kernel."""
    from rich.syntax import Syntax
    from rich.text import Text

    from flashpath import jit
    from flashpath.cli.compiling import compile_kernel, in_options
    from flashpath.cli.output import console, print_json
    from flashpath.errors import FlashpathError

    stages = {"all": ("source", "ptx", "sass"), "none": ()}.get(stage, (stage,))
    if not set(stages) <= {"source", "ptx", "sass"}:
        raise FlashpathError("cli.no-such-stage", stage=stage)
    found = compile_kernel(file, kernel, arch, define or [], include or [], option or [], compiler)
    try:
        explained = jit.explain(found, block=block, shared=shared, gpu=gpu)
    except FlashpathError as error:
        raise in_options(error) from None
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
                out.print(say("cli.no-disassembler"))
            elif out.is_terminal:
                out.print(Syntax(text, language, word_wrap=True, background_color="default"))
            else:
                typer.echo(text)
    if stages:
        out.rule(say("cli.explain-resources"), align="left")
    out.print(str(explained), markup=False)
