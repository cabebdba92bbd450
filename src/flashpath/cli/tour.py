"""`flashpath tour`: one kernel from source to result in under a minute."""

from __future__ import annotations

import io
import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from flashpath.messages import say

if TYPE_CHECKING:
    from rich.console import Console

    from flashpath.jit import Kernel
    from flashpath.kernels import Rung

ELEMENTS = 1_000_003  # prime: the last block is not full
# The same elements, handed out the other way round: neighbouring threads are a whole grid apart.
NEIGHBOURS = "blockIdx.x * (long long)blockDim.x + threadIdx.x"
FAR_APART = "threadIdx.x * (long long)gridDim.x + blockIdx.x"


def tour(
    save: Annotated[
        Path | None,
        typer.Option(help=say("cli.tour-save"), dir_okay=False),
    ] = None,
) -> None:
    """Shows one kernel from its source to its result, or saves that."""
    from rich.console import Console

    from flashpath.cli.output import console
    from flashpath.errors import FlashpathError

    if save is not None and save.suffix not in (".svg", ".txt"):
        raise FlashpathError(f"--save got {save}.", "Give a file that ends in .svg or .txt.")
    if save is None:
        walk(console())
    else:
        out = Console(file=io.StringIO(), highlight=False, record=True, width=96, force_terminal=True)
        walk(out)
        if save.suffix == ".svg":
            picture = out.export_svg(title="flashpath tour")
            # rich's frame, less the fonts it would load over the network.
            save.write_text(re.sub(r"@font-face \{.*?\}\s*", "", picture, flags=re.DOTALL), encoding="utf-8")
        else:
            save.write_text(out.export_text(), encoding="utf-8")
        typer.echo(f"Saved {save}.")


def walk(out: Console) -> None:
    """The tour itself, a step at a time."""
    from flashpath import kernels
    from flashpath.jit import compile
    from flashpath.jit import device as cuda

    rung = kernels.ladder("vector_add")["one_per_thread"]
    out.print("\n[bold]flashpath[/]: one CUDA kernel, from its source to its result\n")
    _show_source(out, rung)

    arch = cuda.default_arch()
    kernel = compile(rung.file, arch, name_expressions=["vector_add<float>"])["vector_add<float>"]
    took = f"{kernel.module.build_seconds * 1e3:.0f} ms"
    _step(out, "2. Compile", f"NVRTC wrote PTX and a cubin for {arch} in {took}, no CUDA toolkit needed")
    _show_stages(out, kernel)

    if cuda.count():
        _run_on_gpu(out, rung, cuda.device(0).name)
    else:
        _run_on_virtual_gpu(out, kernel)
        _show_occupancy(out, kernel)
    _show_coalescing(out, rung, kernel)
    _show_next(out)
    _offer_course(out)


def _step(out: Console, title: str, text: str) -> None:
    out.print(f"[bold cyan]{title}[/]  {text}")


def _code(out: Console, text: str, language: str) -> None:
    from rich.padding import Padding
    from rich.syntax import Syntax

    if out.is_terminal:
        out.print(Padding(Syntax(text, language, background_color="default"), (1, 3)))
    else:  # rich would fill every line with spaces
        out.print("\n" + "".join(f"   {line}\n" for line in text.splitlines()), markup=False)


def _show_source(out: Console, rung: Rung) -> None:
    _step(out, "1. A kernel", rung.idea)
    source = rung.file.read_text(encoding="utf-8")
    body = source[source.index("template") :].rstrip()
    _code(out, body, "cuda")


def _show_stages(out: Console, kernel: Kernel) -> None:
    from flashpath.jit import explain
    from flashpath.jit.explanation import ptx_instructions, sass_instructions

    explained = explain(kernel)
    heart = [
        line.strip() for line in explained.ptx.splitlines() if ".global.f32" in line or "add.f32" in line
    ]
    _code(out, "\n".join(" ".join(line.split()) for line in heart), "ptx")
    sass = f", which ptxas turned into {sass_instructions(explained.sass)} of SASS" if explained.sass else ""
    used = explained.resources
    out.print(
        f"   That is the heart of its {ptx_instructions(explained.ptx)} PTX instructions{sass}.\n"
        f"   A thread uses {used.registers} registers and {used.local_memory} bytes of local memory; "
        f"{used.spill_stores} bytes are spilled.\n"
    )


def _run_on_gpu(out: Console, rung: Rung, gpu: str) -> None:
    import numpy as np
    import torch

    from flashpath.bench import time_interleaved

    rng = np.random.default_rng(0)
    a, b = (rng.standard_normal(ELEMENTS, dtype=np.float32) for _ in "ab")
    on_gpu: Any = [torch.asarray(each).cuda() for each in (a, b)]
    got = rung(*on_gpu).cpu().numpy()
    _step(out, "3. Run", f"on {gpu}: {ELEMENTS:,} elements, {-(-ELEMENTS // 256):,} blocks of 256 threads")
    _check(int((got != a + b).sum()), ELEMENTS)
    out.print("   [green]Every element equals NumPy's, to the bit.[/]")
    n = 2**26
    large: Any = [torch.randn(n, device="cuda") for _ in "abc"]
    work: Callable[[], Any] = lambda: rung(*large)  # noqa: E731
    seconds = time_interleaved({"rung": work})["rung"].median or float("nan")
    gigabytes = 3 * 4 * n / 1e9
    rate = f"{gigabytes / seconds:,.0f} GB/s"
    out.print(f"   {n:,} elements move {gigabytes:.2f} GB in {seconds * 1e6:.0f} µs: {rate}.\n")


def _run_on_virtual_gpu(out: Console, kernel: Kernel) -> None:
    import numpy as np

    from flashpath.jit import profile

    rng = np.random.default_rng(0)
    a, b = (rng.standard_normal(ELEMENTS, dtype=np.float32) for _ in "ab")
    c = np.full_like(a, np.nan)
    blocks = -(-ELEMENTS // 256)
    report = profile(kernel, blocks, 256, (ELEMENTS, a, b, c))
    _step(
        out,
        "3. Run",
        f"no GPU here: on the virtual one ({report.gpu}), {ELEMENTS:,} elements, {blocks:,} blocks of 256",
    )
    _check(int((c != a + b).sum()), ELEMENTS)
    out.print("   [green]Every element equals NumPy's, to the bit.[/] What it counted on the way:\n")
    for what, traffic in (("loads", report.global_load), ("stores", report.global_store)):
        out.print(
            f"     global {what:<7} {traffic.requests:>7,} requests of a warp, "
            f"{traffic.sectors_per_request:.1f} sectors of 32 bytes each, {traffic.bytes:>9,} bytes"
        )
    least = 3 * 4 * ELEMENTS
    out.print(
        f"     memory traffic {report.dram_bytes:,} bytes; the least for two inputs and an output "
        f"is {least:,}\n"
        f"     32 threads × 4 bytes are 128 bytes, or 4 sectors; only the last of an array is not full."
    )


def _check(wrong: int, elements: int) -> None:
    from flashpath.errors import FlashpathError

    if wrong:
        raise FlashpathError(f"{wrong} of {elements} elements differ from NumPy's.", "flashpath doctor")


def _show_occupancy(out: Console, kernel: Kernel) -> None:
    from flashpath import gpus

    used = kernel.resources
    out.print("\n   How many of its threads a GPU holds at once, from the compiled code:")
    for gpu in gpus.gpus():
        found = gpus.occupancy(gpu, 256, used.registers, used.static_shared)
        threads = found.blocks_per_sm * 256 * gpu.sm_count
        out.print(
            f"     {gpu.name:<9} {threads:>8,} = {gpu.sm_count:>3} SMs × {found.blocks_per_sm} blocks "
            f"× 256 threads ({found.fraction:.0%} of the most)"
        )
    out.print()


def _show_coalescing(out: Console, rung: Rung, kernel: Kernel) -> None:
    """One line changed, the same result, eight times the traffic: in the addresses of a warp themselves."""
    import numpy as np
    from rich.text import Text

    from flashpath.cli.pictures import picture
    from flashpath.jit import compile, profile

    _step(out, "4. Look closer", "how the first warp reads a, by the addresses that the virtual GPU saw")
    source = rung.file.read_text(encoding="utf-8").replace(NEIGHBOURS, FAR_APART)
    scattered = compile(source, kernel.arch, name_expressions=[kernel.name])[kernel.name]
    blocks = 256
    n = blocks * 256
    a, b = (np.arange(n, dtype=np.float32) for _ in "ab")
    for index, version in ((NEIGHBOURS, kernel), (FAR_APART, scattered)):
        c = np.full_like(a, np.nan)
        report = profile(version, blocks, 256, (n, a, b, c))
        _check(int((c != a + b).sum()), n)
        access = next(each for each in report.accesses(kind="load") if each.argument == 1)
        out.print(f"\n   [bold]i = {index}[/]")
        for row in picture(access, most_rows=8)[1:]:
            row.rstrip()
            out.print(Text("   ").append_text(row))
        least = report.global_load.ideal_sectors_per_request
        out.print(
            f"   All loads: {report.global_load.sectors:,} sectors, "
            f"{report.global_load.sectors_per_request:.0f} a request; the fewest are {least:.0f}."
        )
    out.print()


def _show_next(out: Console) -> None:
    _step(out, "5. Next", "")
    for command, what in (
        ("flashpath run FILE.cu", "a whole CUDA program of your own, host code included"),
        ("flashpath ladder vector_add", "this kernel and four more ways to write it"),
        ("flashpath ladder vector_add vectorized", "the source of one of them"),
        ("flashpath explain FILE.cu", "the same look into a kernel of your own"),
        ("flashpath profile FILE.cu --help", "its counts, hot lines and pictures, on the virtual GPU"),
        ("flashpath bench vector_add", "time them all against PyTorch"),
        ("flashpath doctor", "what this machine has, and what it lacks"),
    ):
        out.print(f"   [bold]{command:<40}[/] {what}")
    out.print()


def _offer_course(out: Console) -> None:
    """Where to go from here: the tracks, and the one command that begins."""
    from flashpath.course.content import load_course

    course = load_course()
    ready = sum(unit.status == "ready" for unit in course.units)
    _step(
        out,
        "6. Learn",
        f"the course, in English and Chinese: {ready} units whose exercises are graded here, with no GPU",
    )
    for track in course.tracks:
        out.print(f"   [bold]{'flashpath start ' + track.name:<40}[/] {track.title.en}", highlight=False)
    out.print()
