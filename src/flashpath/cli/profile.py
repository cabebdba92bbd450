"""`flashpath profile FILE.cu`: run a kernel on the virtual GPU, and see what it does."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from flashpath.cli import options
from flashpath.errors import FlashpathError
from flashpath.messages import say

if TYPE_CHECKING:
    from flashpath.vgpu.report import Report


def profile(
    files: options.SourceFiles,
    arguments: options.ProgramArguments = None,
    grid: options.Grid = None,
    block: options.Block = None,
    kernel: options.KernelName = None,
    arg: options.Arguments = None,
    shared: options.SharedBytes = 0,
    device: Annotated[str | None, typer.Option(help=say("cli.profile-device"))] = None,
    line: Annotated[int | None, typer.Option(help=say("cli.profile-line"), min=1)] = None,
    of_block: Annotated[int | None, typer.Option(help=say("cli.profile-of-block"), min=0)] = None,
    of_warp: Annotated[int | None, typer.Option(help=say("cli.profile-of-warp"), min=0)] = None,
    arch: options.Arch = None,
    define: options.Defines = None,
    include: options.Includes = None,
    option: options.CompilerFlags = None,
    std: options.Std = None,
    optimize: options.Optimize = None,
    library: options.Libraries = None,
    library_folder: options.LibraryFolders = None,
    devices: options.Devices = None,
    compiler: options.Compiler = "nvrtc",
    seed: options.ArraySeed = 0,
    launch: Annotated[int | None, typer.Option(help=say("cli.profile-launch"), min=1)] = None,
    timeout: options.Timeout = None,
    timeline: Annotated[Path | None, typer.Option(help=say("cli.profile-timeline"))] = None,
    as_json: options.AsJson = False,
) -> None:
    """Shows what a program, or a kernel alone, does on the virtual GPU."""
    from flashpath import jit
    from flashpath.cli.arguments import parse_arguments, parse_extents
    from flashpath.cli.compiling import compile_kernel
    from flashpath.cli.output import console, print_json
    from flashpath.cli.profile_view import show
    from flashpath.cli.program_profile import Wanted, profile_program
    from flashpath.vgpu.report import Trace

    options.refuse_python(files)
    of_programs: dict[str, Any] = {"std": std, "optimize": optimize, "library": library}
    of_programs["library_folder"] = library_folder
    if grid is None and block is None:
        options.refuse_of_kernels(
            kernel=kernel, arg=arg, shared=shared, line=line, of_block=of_block, of_warp=of_warp
        )
        recipe = options.recipe_of(files, device, arch, define, include, option, **of_programs)
        wanted = Wanted(launch, as_json, timeline, devices or 1)
        raise typer.Exit(profile_program(recipe, arguments or (), timeout, wanted))
    options.refuse_of_programs(
        arguments=arguments,
        launch=launch,
        timeout=timeout,
        timeline=timeline,
        devices=devices,
        **of_programs,
    )
    grid, block = options.both(grid, block)
    blocks, threads = parse_extents(grid, "--grid"), parse_extents(block, "--block")
    values = parse_arguments(arg or [], seed)
    found = compile_kernel(
        options.single(files), kernel, arch, define or [], include or [], option or [], compiler
    )
    trace = Trace(of_block, of_warp)
    report = jit.profile(found, blocks, threads, [each.value for each in values], device, shared, trace=trace)
    _name_arrays(report, [each.name for each in values])
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
        dataclasses.replace(access, name=names[access.argument])
        if access.argument is not None and names[access.argument]
        else access
        for access in report.traced
    )


def _check_line(report: Report, file: str, line: int) -> None:
    if not report.accesses(line, file=file):
        lines = sorted({access.line for access in report.accesses(file=file)})
        if not lines:
            raise FlashpathError("cli.profile-no-accesses", line=line)
        raise FlashpathError("cli.profile-line-without-accesses", line=line, lines=lines)
