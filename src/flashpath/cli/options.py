"""Options that several commands have: which kernel, compiled how, launched how."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

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
Timeout = Annotated[
    float | None, typer.Option(help="Seconds after which a program is ended.", min=0.001)
]

# ---- What comes out ------------------------------------------------------------------------------------

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
