"""`flashpath export-kernel WHAT LIBRARY`: a kernel or a rung as a library with one TVM-FFI function."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from flashpath.cli import options
from flashpath.cli.shipped import shipped
from flashpath.messages import say


def export_kernel(
    what: Annotated[str, typer.Argument(help=say("cli.export-kernel-what"))],
    library: Annotated[Path, typer.Argument(help=say("cli.export-kernel-library"))],
    signature: Annotated[
        list[str], typer.Option("--signature", "-s", help=say("cli.export-kernel-signature"))
    ],
    launch: Annotated[str | None, typer.Option(help=say("cli.export-kernel-launch"))] = None,
    require: Annotated[list[str] | None, typer.Option(help=say("cli.export-kernel-require"))] = None,
    size: Annotated[list[str] | None, typer.Option(help=say("cli.export-kernel-size"))] = None,
    arch: Annotated[list[str] | None, typer.Option(help=say("cli.export-kernel-arch"))] = None,
    name: Annotated[str | None, typer.Option(help=say("cli.export-kernel-name"))] = None,
    kernel: options.KernelName = None,
    define: options.Defines = None,
    include: options.Includes = None,
    option: options.CompilerFlags = None,
    compiler: options.Compiler = "nvrtc",
    as_json: options.AsJson = False,
) -> None:
    """Writes a kernel or a rung as a library with one TVM-FFI function."""
    from flashpath import kernels
    from flashpath.cli.compiling import compile_kernel, in_options
    from flashpath.cli.output import console, print_json
    from flashpath.errors import FlashpathError
    from flashpath.kernels.exporting import ARCHITECTURES, export

    architectures = arch or list(ARCHITECTURES)
    ladder, slash, rung = what.partition("/")
    try:
        if slash and rung and not what.endswith(".cu"):
            chosen = kernels.ladder(ladder)[rung]
            sizes = dict(map(_size, size or ()))
            made = export(
                chosen,
                library,
                signature,
                launch,
                name=name,
                requires=require or (),
                sizes=sizes,
                arch=architectures,
            )
        else:
            if len(signature) != 1 or size:
                raise FlashpathError("kernels.export-launch-of-kernel")
            file = shipped(Path(what))
            compiled = [
                compile_kernel(file, kernel, each, define or [], include or [], option or [], compiler)
                for each in architectures
            ]
            made = export(compiled, library, signature[0], launch, name=name, requires=require or ())
    except FlashpathError as error:
        raise in_options(error) from None
    if as_json:
        print_json(made)
        return
    out = console()
    archs = ", ".join(made.architectures)
    out.print(
        say("cli.export-kernel-done", path=made.path, variants=made.variants, archs=archs), markup=False
    )
    out.print(made.about, markup=False, highlight=False)


def _size(text: str) -> tuple[str, list[str]]:
    """`n=128,1000` as a name and its values."""
    from flashpath.errors import FlashpathError

    name, equals, values = text.partition("=")
    found = [value.strip() for value in values.split(",") if value.strip()]
    if not equals or not name.strip().isidentifier() or not found:
        raise FlashpathError("cli.export-kernel-no-size", size=text)
    return name.strip(), found
