"""`flashpath profile FILE.cu`: run a kernel on the virtual GPU, and see what it does."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from flashpath.vgpu.report import Report


def profile(
    file: Annotated[Path, typer.Argument(help="A .cu file.")],
    grid: Annotated[str, typer.Option(help="Blocks: 32, or 16,16.")],
    block: Annotated[str, typer.Option(help="Threads of a block: 256, or 16,16.")],
    kernel: Annotated[str | None, typer.Option(help="Its name; a template instance: 'saxpy<float>'.")] = None,
    arg: Annotated[
        list[str] | None,
        typer.Option(
            help=r"An argument, in order: 2.0, n=1024, f32\[1024] (random), x=f32\[n], zeros:f32\[n,n], "
            r"arange:i32\[n], i32\[n]:0..9, null."
        ),
    ] = None,
    shared: Annotated[int, typer.Option(help="Dynamic shared memory in bytes.", min=0)] = 0,
    device: Annotated[str | None, typer.Option(help="The GPU whose bounds are shown, such as H200.")] = None,
    line: Annotated[int | None, typer.Option(help="Draw the accesses of this line.", min=1)] = None,
    of_block: Annotated[
        int | None, typer.Option(help="Draw those of this block, counted with x first.", min=0)
    ] = None,
    of_warp: Annotated[int | None, typer.Option(help="Draw those of this warp of its block.", min=0)] = None,
    arch: Annotated[
        str | None, typer.Option(help="sm_75 … sm_100a; by default the GPU's own, or sm_80.")
    ] = None,
    define: Annotated[list[str] | None, typer.Option("--define", "-D", help="NAME or NAME=VALUE.")] = None,
    include: Annotated[
        list[Path] | None, typer.Option("--include", "-I", help="A folder of headers.")
    ] = None,
    option: Annotated[list[str] | None, typer.Option(help="A flag for the compiler.")] = None,
    compiler: Annotated[str, typer.Option(help="nvrtc or nvcc.")] = "nvrtc",
    seed: Annotated[int, typer.Option(help="Of the random arrays.", min=0)] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    r"""Run a kernel on the virtual GPU and show what it counted: traffic, conflicts, divergence, hot lines.

    A picture shows one access to global memory, lane by sector, and one to shared memory, bank by bank: the
    most wasteful ones, or those of --line. No GPU is needed, and none is used.

    Examples:

        flashpath profile axpy.cu --grid 32 --block 256 --arg n=8192 --arg 2.0 --arg 'f32\[n]' --arg 'f32\[n]'

        flashpath profile copy.cu --grid 32,32 --block 32,32 --arg n=1024 --arg 'f32\[n,n]' --line 12

        flashpath profile count.cu --kernel 'count<int>' --grid 64 --block 256 --arg 'i32\[65536]:0..9' --json
    """
    from flashpath import jit
    from flashpath.cli.arguments import parse_arguments, parse_extents
    from flashpath.cli.compiling import compile_kernel
    from flashpath.cli.output import console, print_json
    from flashpath.cli.profile_view import show
    from flashpath.vgpu.report import Trace

    blocks, threads = parse_extents(grid, "--grid"), parse_extents(block, "--block")
    arguments = parse_arguments(arg or [], seed)
    found = compile_kernel(file, kernel, arch, define or [], include or [], option or [], compiler)
    report = jit.profile(
        found,
        blocks,
        threads,
        [each.value for each in arguments],
        device,
        shared,
        trace=Trace(of_block, of_warp),
    )
    _name_arrays(report, [each.name for each in arguments])
    if line is not None:
        _check_line(report, found.module.source_name, line)
    if as_json:
        print_json(report.to_dict())
    else:
        show(console(), report, found.module.source_name, found.module.source, line)


def _name_arrays(report: Report, names: list[str]) -> None:
    """Call arrays by the names that they were given on the command line."""
    import dataclasses

    report.traced = tuple(
        dataclasses.replace(access, array=names[access.argument])
        if access.argument is not None and names[access.argument]
        else access
        for access in report.traced
    )


def _check_line(report: Report, file: str, line: int) -> None:
    from flashpath.errors import FlashpathError

    if not report.accesses(line, file=file):
        lines = sorted({access.line for access in report.accesses(file=file)})
        raise FlashpathError(
            f"Line {line} accesses neither global nor shared memory.",
            f"Lines that do: {', '.join(map(str, lines)) or 'none'}.",
        )
