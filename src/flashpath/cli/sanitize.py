"""`flashpath sanitize FILE.cu`: run a kernel on the virtual GPU, and see what is wrong with it."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated

import typer

from flashpath.cli import options
from flashpath.cli.failures import tell_failure
from flashpath.errors import FlashpathError

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
    device: Annotated[str | None, typer.Option(help="The GPU that is played, such as H200.")] = None,
    seeds: Annotated[int, typer.Option(help="How many schedules are tried.", min=1)] = 1,
    budget: Annotated[
        int | None, typer.Option(help="Warp instructions after which a launch is stopped.", min=1)
    ] = None,
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
    r"""Run a program, or a kernel alone, on the virtual GPU and show what is wrong: races, bad accesses,
    missing waits, deadlocks, and mistakes of host code.

    Without --grid and --block the file is a whole program, with main: it is compiled and run, and all of its
    launches are watched. So is its host code: memory that is used before the GPU is done with it, or after it
    was freed, or never freed; copies that go astray; errors that nobody looks at. With them one kernel is
    launched on arrays that --arg describes.

    Each finding is shown with its lines of the source; `flashpath explain-finding race` teaches what it
    means. Some races show only under some orders of warps and blocks: --seeds 20 tries twenty. The exit code
    is 0 where nothing was found, 1 where something was, 2 where the kernel could not be run: it does not
    compile, was given what it cannot take, or the program died without a finding. No GPU is needed, and none
    is used.

    Examples:

        flashpath sanitize queue.cu --seeds 20 -- 1000

        flashpath sanitize main.cu kernels.cu -I include -std=c++20

        flashpath sanitize sum.cu --grid 4 --block 256 --arg n=1024 --arg 'f32\[n]' --arg 'zeros:f32\[4]'

        flashpath sanitize queue.cu --kernel consume --grid 8 --block 64 --arg 'zeros:i32\[64]' --seeds 20

        flashpath sanitize tiles.cu --grid 4,4 --block 16,16 --arg n=64 --arg 'f32\[n,n]' --json
    """
    from flashpath import jit, settings
    from flashpath.cli.arguments import parse_arguments, parse_extents
    from flashpath.cli.compiling import compile_kernel
    from flashpath.cli.output import console, print_json
    from flashpath.cli.program_sanitize import Schedules, sanitize_program
    from flashpath.cli.sanitize_view import show
    from flashpath.vgpu.sanitizing import SANITIZE_BUDGET

    if grid is None and block is None:
        with _failures_are_no_findings():
            options.refuse_of_kernels(kernel=kernel, arg=arg, shared=shared)
            recipe = options.recipe_of(
                files,
                device,
                arch,
                define,
                include,
                option,
                std=std,
                optimize=optimize,
                library=library,
                library_folder=library_folder,
                checked=True,
            )
            how = Schedules(seeds, budget or SANITIZE_BUDGET, devices or 1, timeout)
            findings, died = sanitize_program(recipe, arguments or (), how, as_json)
        if died in _STOPPED:
            raise typer.Exit(died)
        raise typer.Exit(_FOUND if findings else _NOT_RUN if died else 0)
    with _failures_are_no_findings():
        options.refuse_of_programs(
            arguments=arguments,
            timeout=timeout,
            std=std,
            optimize=optimize,
            library=library,
            library_folder=library_folder,
            devices=devices,
        )
        grid, block = options.both(grid, block)
        language = settings.language()
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
        print_json(
            {"kernel": found.name, "grid": blocks, "block": threads, "seeds": seeds, "findings": findings}
        )
    else:
        sources = {found.module.source_name: found.module.source}
        show(console(), found.name, sources, findings, seeds, language)
    if findings:
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
        task = bar.add_task("schedules", total=seeds)
        yield lambda seed, _: bar.update(task, completed=seed)
