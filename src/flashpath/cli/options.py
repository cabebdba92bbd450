"""Options that several commands have: which kernel, compiled how, launched how."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from flashpath.cli.shipped import shipped_all
from flashpath.errors import FlashpathError
from flashpath.messages import say

if TYPE_CHECKING:
    from flashpath.jit.programs import Recipe

# ---- The kernel ----------------------------------------------------------------------------------------

SourceFiles = Annotated[
    list[Path],
    typer.Argument(help=say("cli.option-source-files"), callback=shipped_all),
]
KernelName = Annotated[str | None, typer.Option(help=say("cli.option-kernel"))]
Arch = Annotated[str | None, typer.Option(help=say("cli.option-arch"))]
Defines = Annotated[list[str] | None, typer.Option("--define", "-D", help=say("cli.option-define"))]
Includes = Annotated[list[Path] | None, typer.Option("--include", "-I", help=say("cli.option-include"))]
CompilerFlags = Annotated[list[str] | None, typer.Option(help=say("cli.option-compiler-flag"))]
Compiler = Annotated[str, typer.Option(help=say("cli.option-compiler"))]

# ---- Its launch ----------------------------------------------------------------------------------------

Grid = Annotated[str | None, typer.Option(help=say("cli.option-grid"))]
Block = Annotated[str | None, typer.Option(help=say("cli.option-block"))]
Arguments = Annotated[
    list[str] | None,
    typer.Option(help=say("cli.option-argument")),
]
SharedBytes = Annotated[int, typer.Option(help=say("cli.option-shared"), min=0)]
ArraySeed = Annotated[int, typer.Option(help=say("cli.option-array-seed"), min=0)]

# ---- Of a whole program --------------------------------------------------------------------------------

ProgramArguments = Annotated[
    list[str] | None, typer.Option("--argument", hidden=True)
]  # what stands after --
Std = Annotated[str | None, typer.Option("--std", "-std", help=say("cli.option-std-of-program"))]
Optimize = Annotated[str | None, typer.Option("--optimize", "-O", help=say("cli.option-optimize-of-program"))]
Libraries = Annotated[
    list[str] | None, typer.Option("--library", "-l", help=say("cli.option-library-of-program"))
]
LibraryFolders = Annotated[
    list[Path] | None, typer.Option("--library-folder", "-L", help=say("cli.option-library-folder"))
]
Devices = Annotated[int | None, typer.Option(help=say("cli.option-devices-of-program"), min=1, max=64)]
Timeout = Annotated[float | None, typer.Option(help=say("cli.option-timeout-of-program"), min=0.001)]

# ---- What comes out ------------------------------------------------------------------------------------

AsJson = Annotated[bool, typer.Option("--json", help=say("cli.option-json"))]
Lang = Annotated[str | None, typer.Option(help=say("cli.option-lang-of-work"))]


# ---- A kernel alone, or a whole program ----------------------------------------------------------------


def refuse_python(files: Sequence[Path]) -> None:
    """A file of Python is profiled by Python itself: only there are the arguments of its kernels known."""
    for file in files:
        if file.suffix == ".py":
            raise FlashpathError("cli.profile-of-python", file=file)


def refuse_of_cuda(file: Path, **given: object) -> None:
    """Refuses options of a CUDA kernel, where the file is a Python program with Triton kernels."""
    for name, value in given.items():
        if value:
            raise FlashpathError("cli.run-option-of-cuda", option=f"--{name.replace('_', '-')}", file=file)


def refuse_of_kernels(**given: object) -> None:
    """Options of a kernel alone, where the file is run as a program."""
    for name, value in given.items():
        if value:
            raise FlashpathError("cli.option-of-kernels", option=f"--{name.replace('_', '-')}")


def refuse_of_programs(**given: object) -> None:
    """Options of a program, where a kernel alone is launched."""
    for name, value in given.items():
        if value:
            if name == "arguments":
                raise FlashpathError("cli.arguments-of-programs")
            raise FlashpathError("cli.option-of-programs", option=f"--{name}")


def single(files: Sequence[Path]) -> Path:
    """A kernel alone comes from one file."""
    if len(files) > 1:
        raise FlashpathError("cli.kernel-of-several-files", count=len(files))
    return files[0]


def both(grid: str | None, block: str | None) -> tuple[str, str]:
    """A kernel alone needs both of them."""
    if grid is None or block is None:
        raise FlashpathError("cli.grid-and-block", option="--block" if block is None else "--grid")
    return grid, block


def recipe_of(
    files: Sequence[Path],
    device: str | None,
    arch: str | None,
    define: Sequence[str] | None,
    include: Sequence[Path] | None,
    option: Sequence[str] | None,
    *,
    std: str | None,
    optimize: str | None,
    library: Sequence[str] | None,
    library_folder: Sequence[Path] | None,
    checked: bool = False,
) -> Recipe:
    """The program to build, for the virtual GPU unless another is named."""
    from flashpath.jit import programs

    return programs.make_recipe(
        files,
        programs.choose_target(device or "virtual", arch),
        defines=define or (),
        includes=include or (),
        options=option or (),
        std=std,
        optimize=optimize,
        libraries=library or (),
        library_folders=library_folder or (),
        checked=checked,
    )
