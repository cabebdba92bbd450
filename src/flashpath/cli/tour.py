"""`flashpath tour`: one kernel from source to result in under a minute."""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from flashpath.cli.output import in_language
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
        raise FlashpathError("cli.tour-save-suffix", file=save)
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
        typer.echo(say("cli.tour-saved", file=save))


def walk(out: Console) -> None:
    """The tour itself, a step at a time."""
    from flashpath import kernels
    from flashpath.jit import compile
    from flashpath.jit import device as cuda

    rung = kernels.ladder("vector_add")["one_per_thread"]
    out.print("\n" + say("cli.tour-title") + "\n")
    _show_source(out, rung)

    arch = cuda.default_arch()
    kernel = compile(rung.file, arch, name_expressions=["vector_add<float>"])["vector_add<float>"]
    milliseconds = kernel.module.build_seconds * 1e3
    _step(out, say("cli.tour-2"), say("cli.tour-compiled", arch=arch, milliseconds=milliseconds))
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
    _say(out, f"[bold cyan]{title}[/]  {text}", indent=0)


def _say(out: Console, text: str, *, indent: int = 3) -> None:
    """Prints a paragraph, wrapped at the width of a terminal and indented."""
    from rich.padding import Padding

    if out.is_terminal:
        out.print(Padding(text, (0, 0, 0, indent)), soft_wrap=False)
    else:
        out.print(" " * indent + text)


def _code(out: Console, text: str, language: str) -> None:
    from rich.padding import Padding
    from rich.syntax import Syntax

    if out.is_terminal:
        code = Syntax(text, language, background_color="default", word_wrap=True)
        out.print(Padding(code, (1, 3)), soft_wrap=False)
    else:  # rich would fill every line with spaces
        out.print("\n" + "".join(f"   {line}\n" for line in text.splitlines()), markup=False)


def _show_source(out: Console, rung: Rung) -> None:
    _step(out, say("cli.tour-1"), rung.idea)
    source = rung.file.read_text(encoding="utf-8")
    body = source[source.index("template") :].rstrip()
    _code(out, body, "cuda")


def _show_stages(out: Console, kernel: Kernel) -> None:
    from flashpath.jit import explain
    from flashpath.jit.stages import ptx_instructions, sass_instructions

    explained = explain(kernel)
    heart = [
        line.strip() for line in explained.ptx.splitlines() if ".global.f32" in line or "add.f32" in line
    ]
    _code(out, "\n".join(" ".join(line.split()) for line in heart), "ptx")
    ptx = ptx_instructions(explained.ptx)
    if explained.sass:
        _say(out, say("cli.tour-heart-sass", ptx=ptx, sass=sass_instructions(explained.sass)))
    else:
        _say(out, say("cli.tour-heart", ptx=ptx))
    used = explained.resources
    _say(
        out,
        say(
            "cli.tour-resources",
            registers=used.registers,
            local=used.local_memory,
            spilled=used.spill_stores,
        ),
    )
    out.print()


def _run_on_gpu(out: Console, rung: Rung, gpu: str) -> None:
    import numpy as np
    import torch

    from flashpath.bench import time_interleaved

    rng = np.random.default_rng(0)
    a, b = (rng.standard_normal(ELEMENTS, dtype=np.float32) for _ in "ab")
    on_gpu: Any = [torch.asarray(each).cuda() for each in (a, b)]
    got = rung(*on_gpu).cpu().numpy()
    blocks = -(-ELEMENTS // 256)
    _step(out, say("cli.tour-3"), say("cli.tour-on-gpu", gpu=gpu, elements=ELEMENTS, blocks=blocks))
    _check(int((got != a + b).sum()), ELEMENTS)
    _say(out, say("cli.tour-equal"))
    n = 2**26
    large: Any = [torch.randn(n, device="cuda") for _ in "abc"]
    work: Callable[[], Any] = lambda: rung(*large)  # noqa: E731
    seconds = time_interleaved({"rung": work})["rung"].median or float("nan")
    gigabytes = 3 * 4 * n / 1e9
    _say(
        out,
        say(
            "cli.tour-rate",
            elements=n,
            gigabytes=gigabytes,
            microseconds=seconds * 1e6,
            rate=gigabytes / seconds,
        ),
    )
    out.print()


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
        say("cli.tour-3"),
        say("cli.tour-on-virtual", gpu=report.gpu, elements=ELEMENTS, blocks=blocks),
    )
    _check(int((c != a + b).sum()), ELEMENTS)
    _say(out, say("cli.tour-counted"))
    out.print()
    for what, traffic in (
        (say("cli.tour-loads"), report.global_load),
        (say("cli.tour-stores"), report.global_store),
    ):
        counted = say(
            "cli.tour-traffic",
            what=what,
            requests=traffic.requests,
            sectors=traffic.sectors_per_request,
            bytes=traffic.bytes,
        )
        _say(out, counted, indent=5)
    _say(out, say("cli.tour-dram", bytes=report.dram_bytes, least=3 * 4 * ELEMENTS), indent=5)
    _say(out, say("cli.tour-four-sectors"), indent=5)


def _check(wrong: int, elements: int) -> None:
    from flashpath.errors import FlashpathError

    if wrong:
        raise FlashpathError("cli.tour-differs", wrong=wrong, elements=elements)


def _show_occupancy(out: Console, kernel: Kernel) -> None:
    from flashpath import gpus

    used = kernel.resources
    out.print()
    _say(out, say("cli.tour-occupancy"))
    for gpu in gpus.gpus():
        found = gpus.occupancy(gpu, 256, used.registers, used.static_shared)
        threads = found.blocks_per_sm * 256 * gpu.sm_count
        held = say("cli.tour-holds", sms=gpu.sm_count, blocks=found.blocks_per_sm, fraction=found.fraction)
        out.print(f"     {gpu.name:<9} {threads:>8,} = {held}")
    out.print()


def _show_coalescing(out: Console, rung: Rung, kernel: Kernel) -> None:
    """One line changed, the same result, eight times the traffic: in the addresses of a warp themselves."""
    import numpy as np
    from rich.text import Text

    from flashpath.cli.pictures import picture
    from flashpath.jit import compile, profile

    _step(out, say("cli.tour-4"), say("cli.tour-first-warp"))
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
        for row in picture(access, most_rows=8, encoding=out.encoding)[1:]:
            row.rstrip()
            out.print(Text("   ").append_text(row))
        least = report.global_load.ideal_sectors_per_request
        all_loads = say(
            "cli.tour-all-loads",
            sectors=report.global_load.sectors,
            each=report.global_load.sectors_per_request,
            least=least,
        )
        _say(out, all_loads)
    out.print()


def _show_next(out: Console) -> None:
    _step(out, say("cli.tour-5"), "")
    commands = (
        ("flashpath run FILE.cu", say("cli.tour-next-run")),
        ("flashpath ladder vector_add", say("cli.tour-next-ladder")),
        ("flashpath ladder vector_add vectorized", say("cli.tour-next-rung")),
        ("flashpath explain FILE.cu", say("cli.tour-next-explain")),
        ("flashpath profile FILE.cu --help", say("cli.tour-next-profile")),
        ("flashpath bench vector_add", say("cli.tour-next-bench")),
        ("flashpath doctor", say("cli.tour-next-doctor")),
    )
    _list(out, commands)


def _offer_course(out: Console) -> None:
    """Where to go from here: the tracks, and the one command that begins."""
    from flashpath.course.content import load_course

    course = load_course()
    ready = sum(unit.status == "ready" for unit in course.units)
    _step(out, say("cli.tour-6"), say("cli.tour-course", units=ready))
    _list(out, [(f"flashpath start {track.name}", in_language(track.title)) for track in course.tracks])


def _list(out: Console, commands: Sequence[tuple[str, str]]) -> None:
    """Prints commands and what they do, in two columns that fit a terminal."""
    from rich.padding import Padding
    from rich.table import Table

    if out.is_terminal:
        table = Table.grid(padding=(0, 2, 0, 0))
        table.add_column(style="bold", no_wrap=True)
        for row in commands:
            table.add_row(*row)
        out.print(Padding(table, (0, 0, 0, 3)), soft_wrap=False)
    else:
        for command, what in commands:
            out.print(f"   {command:<40} {what}", highlight=False)
    out.print()
