"""Options that several commands have: which kernel, compiled how, launched how."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from flashpath.errors import FlashpathError

if TYPE_CHECKING:
    from flashpath.jit.programs import Recipe

# ---- The kernel ----------------------------------------------------------------------------------------

SourceFile = Annotated[Path, typer.Argument(help="A .cu file.")]
KernelName = Annotated[str | None, typer.Option(help="Its name; a template instance: 'saxpy<float>'.")]
Arch = Annotated[str | None, typer.Option(help="sm_75 … sm_100a; by default the GPU's own, or sm_80.")]
Defines = Annotated[list[str] | None, typer.Option("--define", "-D", help="NAME or NAME=VALUE.")]
Includes = Annotated[list[Path] | None, typer.Option("--include", "-I", help="A folder of headers.")]
CompilerFlags = Annotated[list[str] | None, typer.Option(help="A flag for the compiler.")]
Compiler = Annotated[str, typer.Option(help="nvrtc or nvcc.")]

# ---- Its launch ----------------------------------------------------------------------------------------

Grid = Annotated[str | None, typer.Option(help="Blocks: 32, or 16,16.")]
Block = Annotated[str | None, typer.Option(help="Threads of a block: 256, or 16,16.")]
Arguments = Annotated[
    list[str] | None,
    typer.Option(
        help=r"An argument, in order: 2.0, n=1024, f32\[1024] (random), x=f32\[n], zeros:f32\[n,n], "
        r"arange:i32\[n], i32\[n]:0..9, null."
    ),
]
SharedBytes = Annotated[int, typer.Option(help="Dynamic shared memory in bytes.", min=0)]
ArraySeed = Annotated[int, typer.Option(help="Of the random arrays.", min=0)]

# ---- Of a whole program --------------------------------------------------------------------------------

ProgramArguments = Annotated[
    list[str] | None, typer.Argument(help="For the program, where the file is run as one; after --.")
]
Timeout = Annotated[float | None, typer.Option(help="Seconds after which a program is ended.", min=0.001)]

# ---- What comes out ------------------------------------------------------------------------------------

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]


# ---- A kernel alone, or a whole program ----------------------------------------------------------------


def refuse_of_kernels(**given: object) -> None:
    """Options of a kernel alone, where the file is run as a program."""
    for name, value in given.items():
        if value:
            raise FlashpathError(
                f"--{name.replace('_', '-')} is for a kernel alone; without --grid and --block the file "
                "is run as a whole program.",
                "Add --grid and --block, or leave it out.",
            )


def refuse_of_programs(**given: object) -> None:
    """Options of a program, where a kernel alone is launched."""
    for name, value in given.items():
        if value:
            what = "What follows --" if name == "arguments" else f"--{name}"
            raise FlashpathError(f"{what} is for a whole program.", "Leave out --grid and --block.")


def both(grid: str | None, block: str | None) -> tuple[str, str]:
    """A kernel alone needs both of them."""
    if grid is None or block is None:
        raise FlashpathError(
            f"--{'block' if block is None else 'grid'} is missing.",
            "A kernel alone is launched with both; without both the file is run as a whole program.",
        )
    return grid, block


def recipe_of(
    file: Path,
    device: str | None,
    arch: str | None,
    define: Sequence[str] | None,
    include: Sequence[Path] | None,
    option: Sequence[str] | None,
    *,
    checked: bool = False,
) -> Recipe:
    """The program to build, for the virtual GPU unless another is named."""
    from flashpath.jit import programs

    return programs.make_recipe(
        [file],
        programs.choose_target(device or "virtual", arch),
        defines=define or (),
        includes=include or (),
        options=option or (),
        checked=checked,
    )
