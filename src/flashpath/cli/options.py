"""Options that several commands have: which kernel, compiled how, launched how."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from flashpath.cli.shipped import shipped, shipped_all
from flashpath.errors import FlashpathError

if TYPE_CHECKING:
    from flashpath.jit.programs import Recipe

# ---- The kernel ----------------------------------------------------------------------------------------

SourceFile = Annotated[Path, typer.Argument(help="A .cu file.", callback=shipped)]
SourceFiles = Annotated[
    list[Path],
    typer.Argument(help="A .cu file; of a program also several: .cu, .cpp, .cc, .c.", callback=shipped_all),
]
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
    list[str] | None, typer.Option("--argument", hidden=True)
]  # what stands after --
Std = Annotated[str | None, typer.Option("--std", "-std", help="Of a program: c++17, c++20, …")]
Optimize = Annotated[str | None, typer.Option("--optimize", "-O", help="Of a program's host code: 0 … 3.")]
Libraries = Annotated[list[str] | None, typer.Option("--library", "-l", help="A library of a program's.")]
LibraryFolders = Annotated[
    list[Path] | None, typer.Option("--library-folder", "-L", help="A folder of libraries.")
]
Devices = Annotated[int | None, typer.Option(help="How many virtual GPUs a program has.", min=1, max=64)]
Timeout = Annotated[float | None, typer.Option(help="Seconds after which a program is ended.", min=0.001)]

# ---- What comes out ------------------------------------------------------------------------------------

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Lang = Annotated[
    str | None, typer.Option(help="en or zh; by default FLASHPATH_LANG, the work folder's, or the locale's.")
]


# ---- A kernel alone, or a whole program ----------------------------------------------------------------


def refuse_python(files: Sequence[Path]) -> None:
    """A file of Python is profiled by Python itself: only there are the arguments of its kernels known."""
    for file in files:
        if file.suffix == ".py":
            raise FlashpathError(
                f"{file} is Python; this command profiles CUDA C++.",
                "Profile a Triton kernel where it is launched:\n"
                "      import flashpath as fp\n"
                "      print(fp.profile(kernel, grid=grid, args=(x, y, n), BLOCK=1024))  # one launch\n"
                "    or, for all launches of a piece of code:\n"
                "      with fp.vgpu.triton(profile=True) as gpu:\n"
                "          my_function(x)\n"
                '      print(*gpu.reports, sep="\\n")',
            )


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


def single(files: Sequence[Path]) -> Path:
    """A kernel alone comes from one file."""
    if len(files) > 1:
        raise FlashpathError(
            f"{len(files)} files were given, and a kernel alone comes from one.",
            "Leave out --grid and --block to run them as a whole program.",
        )
    return files[0]


def both(grid: str | None, block: str | None) -> tuple[str, str]:
    """A kernel alone needs both of them."""
    if grid is None or block is None:
        raise FlashpathError(
            f"--{'block' if block is None else 'grid'} is missing.",
            "A kernel alone is launched with both; without both the file is run as a whole program.",
        )
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
