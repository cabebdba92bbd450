"""`flashpath sanitize FILE.cu`: run a kernel on the virtual GPU, and see what is wrong with it."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from flashpath.vgpu.sanitizing import Progress


def sanitize(
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
    device: Annotated[str | None, typer.Option(help="The GPU that is played, such as H200.")] = None,
    seeds: Annotated[int, typer.Option(help="How many schedules are tried.", min=1)] = 1,
    budget: Annotated[
        int | None, typer.Option(help="Warp instructions after which a launch is stopped.", min=1)
    ] = None,
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
    r"""Run a kernel on the virtual GPU and show what is wrong: races, bad accesses, missing waits, deadlocks.

    Each finding is shown with its lines of the source; `flashpath explain-finding race` teaches what it
    means. Some races show only under some orders of warps and blocks: --seeds 20 tries twenty. The exit code
    is 1 where something was found. No GPU is needed, and none is used.

    Examples:

        flashpath sanitize sum.cu --grid 4 --block 256 --arg n=1024 --arg 'f32\[n]' --arg 'zeros:f32\[4]'

        flashpath sanitize queue.cu --kernel consume --grid 8 --block 64 --arg 'zeros:i32\[64]' --seeds 20

        flashpath sanitize tiles.cu --grid 4,4 --block 16,16 --arg n=64 --arg 'f32\[n,n]' --json
    """
    from flashpath import jit
    from flashpath.cli.arguments import parse_arguments, parse_extents
    from flashpath.cli.compiling import compile_kernel
    from flashpath.cli.output import console, print_json
    from flashpath.cli.sanitize_view import show
    from flashpath.vgpu.sanitizing import SANITIZE_BUDGET

    blocks, threads = parse_extents(grid, "--grid"), parse_extents(block, "--block")
    arguments = parse_arguments(arg or [], seed)
    found = compile_kernel(file, kernel, arch, define or [], include or [], option or [], compiler)
    with _progress(seeds) as progress:
        findings = jit.sanitize(
            found,
            blocks,
            threads,
            [each.value for each in arguments],
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
        show(console(), found, findings, seeds)
    if findings:
        raise typer.Exit(1)


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
