"""`flashpath tour`: one kernel from source to result in under a minute."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from rich.console import Console

    from flashpath.jit import Kernel
    from flashpath.kernels import Rung

ELEMENTS = 1_000_003  # prime: the last block is not full


def tour(
    save: Annotated[
        Path | None,
        typer.Option(help="Also save what is shown, as .svg (a picture) or .txt.", dir_okay=False),
    ] = None,
) -> None:
    """Compile a first CUDA kernel, run it, check it against NumPy, and see what the compiler made of it.

    Without a GPU the kernel is compiled and explained; running it without one comes with the virtual GPU.

    Examples:

        flashpath tour

        flashpath tour --save tour.svg
    """
    from rich.console import Console

    from flashpath.cli.output import console
    from flashpath.errors import FlashpathError

    if save is not None and save.suffix not in (".svg", ".txt"):
        raise FlashpathError(f"--save got {save}.", "Give a file that ends in .svg or .txt.")
    out = console() if save is None else Console(highlight=False, record=True, width=96, force_terminal=True)
    walk(out)
    if save is not None:
        if save.suffix == ".svg":
            out.save_svg(str(save), title="flashpath tour", code_format=_svg_without_web_fonts())
        else:
            out.save_text(str(save))


def _svg_without_web_fonts() -> str:
    """rich's frame, less the fonts it would load over the network."""
    import re

    from rich._export_format import CONSOLE_SVG_FORMAT

    return re.sub(r"@font-face \{\{.*?\}\}\s*", "", CONSOLE_SVG_FORMAT, flags=re.DOTALL)


def walk(out: Console) -> None:
    """The tour itself, a step at a time."""
    from flashpath import kernels
    from flashpath.jit import device as cuda
    from flashpath.kernels.building import cuda_compiles_for

    rung = kernels.ladder("vector_add")["one_per_thread"]
    out.print("\n[bold]flashpath[/]: one CUDA kernel, from its source to its result\n")
    _show_source(out, rung)

    arch = cuda.default_arch()
    started = time.perf_counter()
    compiled: Any = cuda_compiles_for(rung.file, "vector_add<float>")(arch)
    kernel: Kernel = compiled
    _step(
        out, "2. Compile", f"NVRTC wrote PTX and a cubin for {arch} in {_ms(started)}, no CUDA toolkit needed"
    )
    _show_stages(out, kernel)

    if cuda.count():
        _run_on_gpu(out, rung, cuda.device(0).name)
    else:
        _step(out, "3. Run", "there is no GPU here, so it was not run")
        out.print(
            "   The kernel above is compiled for real and would run unchanged on an NVIDIA GPU. The virtual GPU,\n"
            "   which will run it on this machine and count every access, is not in this version yet."
        )
        _show_occupancy(out, kernel)
    _show_next(out)


def _step(out: Console, title: str, text: str) -> None:
    out.print(f"[bold cyan]{title}[/]  {text}")


def _ms(started: float) -> str:
    return f"{(time.perf_counter() - started) * 1e3:.0f} ms"


def _show_source(out: Console, rung: Rung) -> None:
    from rich.padding import Padding
    from rich.syntax import Syntax

    _step(out, "1. A kernel", f"c = a + b: {rung.idea}")
    source = rung.file.read_text(encoding="utf-8")
    body = source[source.index("template") :].rstrip()
    out.print(Padding(Syntax(body, "cuda", background_color="default"), (1, 3)))


def _show_stages(out: Console, kernel: Kernel) -> None:
    from rich.padding import Padding
    from rich.syntax import Syntax

    from flashpath.jit import explain
    from flashpath.jit.explain import ptx_instructions, sass_instructions

    explained = explain(kernel)
    heart = [
        line.strip() for line in explained.ptx.splitlines() if ".global.f32" in line or "add.f32" in line
    ]
    out.print(Padding(Syntax("\n".join(heart), "ptx", background_color="default"), (1, 3)))
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
    on_gpu: Any = [torch.from_numpy(each).cuda() for each in (a, b)]
    got = rung(*on_gpu).cpu().numpy()
    wrong = int((got != a + b).sum())
    _step(out, "3. Run", f"on {gpu}: {ELEMENTS:,} elements, {-(-ELEMENTS // 256):,} blocks of 256 threads")
    if wrong:
        from flashpath.errors import FlashpathError

        raise FlashpathError(f"{wrong} of {ELEMENTS} elements differ from NumPy's.", "flashpath doctor")
    out.print("   [green]Every element equals NumPy's, to the bit.[/]")
    n = 2**26
    large: Any = [torch.randn(n, device="cuda") for _ in "abc"]
    work: Callable[[], Any] = lambda: rung(*large)  # noqa: E731
    seconds = time_interleaved({"rung": work})["rung"].median or float("nan")
    gigabytes = 3 * 4 * n / 1e9
    out.print(
        f"   {n:,} elements move {gigabytes:.2f} GB in {seconds * 1e6:.0f} µs: {gigabytes / seconds:,.0f} GB/s.\n"
    )


def _show_occupancy(out: Console, kernel: Kernel) -> None:
    from flashpath import gpus
    from flashpath.jit import explain

    out.print("\n   Blocks of 256 threads that fit on one SM, from the compiled code:")
    for gpu in gpus.gpus():
        found = explain(kernel, block=256, gpu=gpu).occupancy
        full = "█" * round(found.fraction * 20)
        out.print(
            f"     {gpu.name:<9} {full:<20} {found.fraction:>4.0%}  "
            f"{found.blocks_per_sm} blocks × {gpu.sm_count} SMs, limited by {found.limit}"
        )
    out.print()


def _show_next(out: Console) -> None:
    _step(out, "4. Next", "")
    for command, what in (
        ("flashpath ladder vector_add", "four more ways to write this kernel, and the idea of each"),
        ("flashpath ladder vector_add vectorized", "the source of one of them"),
        ("flashpath explain FILE.cu", "the same look into a kernel of your own"),
        ("flashpath bench vector_add", "time them all against PyTorch"),
        ("flashpath doctor", "what this machine has, and what it lacks"),
    ):
        out.print(f"   [bold]{command:<40}[/] {what}")
    out.print()
