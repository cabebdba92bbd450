"""`flashpath sanitize FILE.cu`: run a kernel on the virtual GPU, and see what is wrong with it."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Any

import typer

from flashpath.cli import options
from flashpath.cli.failures import tell_failure
from flashpath.errors import FlashpathError
from flashpath.messages import say

if TYPE_CHECKING:
    from flashpath.vgpu.sanitizing import Progress

# Exit codes: those of every command, but for these.
_FOUND = 1
_NOT_RUN = 2
_STOPPED = (124, 130, 143)  # by --timeout, Ctrl-C, or another who asked for its end


def sanitize(
    files: options.SourceFiles,
    arguments: options.ProgramArguments = None,
    grid: options.Grid = None,
    block: options.Block = None,
    kernel: options.KernelName = None,
    arg: options.Arguments = None,
    shared: options.SharedBytes = 0,
    device: Annotated[str | None, typer.Option(help=say("cli.sanitize-device"))] = None,
    seeds: Annotated[int, typer.Option(help=say("cli.sanitize-seeds"), min=1)] = 1,
    budget: Annotated[int | None, typer.Option(help=say("cli.option-budget"), min=1)] = None,
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
    timeout: options.Timeout = None,
    as_json: options.AsJson = False,
) -> None:
    """Shows what is wrong with a program, or with a kernel alone."""
    from flashpath import jit
    from flashpath.cli.arguments import parse_arguments, parse_extents
    from flashpath.cli.compiling import compile_kernel
    from flashpath.cli.output import console, print_json
    from flashpath.cli.program_sanitize import Schedules, sanitize_program
    from flashpath.cli.sanitize_view import plain, show
    from flashpath.vgpu.findings import without_notes
    from flashpath.vgpu.sanitizing import SANITIZE_BUDGET

    of_programs: dict[str, Any] = {"std": std, "optimize": optimize, "library": library}
    of_programs["library_folder"] = library_folder
    if grid is None and block is None:
        with _failures_are_no_findings():
            options.refuse_of_kernels(kernel=kernel, arg=arg, shared=shared)
            recipe = options.recipe_of(
                files, device, arch, define, include, option, checked=True, **of_programs
            )
            how = Schedules(seeds, budget or SANITIZE_BUDGET, devices or 1, timeout)
            findings, died = sanitize_program(recipe, arguments or (), how, as_json)
        if died in _STOPPED:
            raise typer.Exit(died)
        raise typer.Exit(_FOUND if without_notes(findings) else _NOT_RUN if died else 0)
    with _failures_are_no_findings():
        options.refuse_of_programs(arguments=arguments, timeout=timeout, devices=devices, **of_programs)
        grid, block = options.both(grid, block)
        blocks, threads = parse_extents(grid, "--grid"), parse_extents(block, "--block")
        values = parse_arguments(arg or [], seed)
        found = compile_kernel(
            options.single(files), kernel, arch, define or [], include or [], option or [], compiler
        )
        with _progress(seeds) as progress:
            findings = jit.sanitize(
                found,
                blocks,
                threads,
                [each.value for each in values],
                device,
                shared,
                seeds=seeds,
                budget=budget or SANITIZE_BUDGET,
                progress=progress,
            )
    if as_json:
        launch = {"kernel": found.name, "grid": blocks, "block": threads, "seeds": seeds}
        print_json({**launch, "findings": [plain(finding) for finding in findings]})
    else:
        sources = {found.module.source_name: found.module.source}
        show(console(), found.name, sources, findings, seeds)
    if without_notes(findings):
        raise typer.Exit(_FOUND)


@contextmanager
def _failures_are_no_findings() -> Generator[None]:
    """Whoever asks whether a kernel is right must not take one that cannot run for one with a bug."""
    try:
        yield
    except (FlashpathError, OSError) as error:
        raise typer.Exit(max(_NOT_RUN, tell_failure(error))) from None


@contextmanager
def _progress(seeds: int) -> Generator[Progress | None]:
    """A bar on a terminal, on stderr: results stay alone on stdout."""
    from rich.console import Console
    from rich.progress import Progress as Bar

    err = Console(stderr=True)
    if seeds == 1 or not err.is_terminal:
        yield None
        return
    with Bar(console=err, transient=True) as bar:
        task = bar.add_task(say("cli.sanitize-progress"), total=seeds)
        yield lambda seed, _: bar.update(task, completed=seed)
