"""`flashpath explain-dispatch OPERATOR`: which rung an operator takes for a shape on a GPU, and why."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperCommand

from flashpath.cli import options

if TYPE_CHECKING:
    from rich.console import Console

    from flashpath.kernels.attention.dispatch_table import Cell
    from flashpath.kernels.where import Where

_DTYPES = ("float16", "bfloat16")
_NEAREST = 4  # cells that are shown


class ShapeCommand(TyperCommand):
    """A command whose --shape takes its numbers one after the other: --shape 4 4096 16 128."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        return super().parse_args(ctx, joined(args))


def joined(words: Sequence[str]) -> list[str]:
    """`--shape 4 4096 16 128` as `--shape 4x4096x16x128`: an option has one value."""
    found: list[str] = []
    is_shape = False
    for word in words:
        if is_shape and word[:1].isdigit():
            found[-1] += word if found[-1] == "" else f"x{word}"
        else:
            is_shape = word == "--shape"
            found += [word, ""] if is_shape else [word]
    if "--shape" in found and found[place := found.index("--shape") + 1] == "":
        del found[place]  # typer says that it needs a value
    return found


@dataclass(frozen=True)
class Asked:
    """What a call would be given."""

    shape: str
    keys: int | None
    kv_heads: int | None
    v_dim: int | None
    page_size: int | None
    causal: bool
    dtype: str
    backend: str | None
    where: Where


@dataclass(frozen=True)
class Way:
    """A direction, the rung that it takes, and what was measured near by."""

    name: str
    backend: str
    rung: str
    why: str
    measured: Cell | None = None
    nearest: Sequence[Cell] = ()


def explain_dispatch(
    operator: Annotated[str, typer.Argument(help="attention or decode.")] = "attention",
    shape: Annotated[
        str,
        typer.Option(
            metavar="BATCH SEQUENCE HEADS DIM",
            help="Of q, and of k and v unless said otherwise; of decode, the sequence is what the cache has.",
        ),
    ] = "4x4096x16x128",
    keys: Annotated[
        int | None, typer.Option(help="Tokens of k and v, if not as many as of q.", min=1)
    ] = None,
    kv_heads: Annotated[int | None, typer.Option(help="Heads of k and v, if fewer.", min=1)] = None,
    v_dim: Annotated[int | None, typer.Option(help="Of a head of v, if another.", min=8)] = None,
    page_size: Annotated[
        int | None, typer.Option(help="Of decode: keys of a page of the cache.", min=1)
    ] = None,
    causal: Annotated[bool, typer.Option(help="A query sees no key behind its place.")] = False,
    dtype: Annotated[str, typer.Option(help="float16 or bfloat16.")] = "bfloat16",
    backend: Annotated[str | None, typer.Option(help="As a call would give it.")] = None,
    device: Annotated[
        str | None, typer.Option(help="sm_90, H200, cuda or cpu; by default the GPU, if there is one.")
    ] = None,
    as_json: options.AsJson = False,
) -> None:
    """Say which rung answers a call, for each direction, and what was measured that makes it the fastest.

    No GPU is needed: name one. The nearest problem that was measured on such a GPU decides; where none was,
    its instructions do. `python benchmarks/dispatch_table.py` makes the table of what was measured.

    Examples:

        flashpath explain-dispatch attention --shape 4 4096 16 128 --causal --device H200

        flashpath explain-dispatch attention --shape 1 512 8 256 --device sm_86 --json

        flashpath explain-dispatch decode --shape 8 8192 32 128 --kv-heads 8 --page-size 16 --device H200
    """
    from flashpath.cli.output import console, print_json
    from flashpath.errors import FlashpathError

    if operator not in _OPERATORS:
        raise FlashpathError(
            f"There is no choice to explain of {operator!r}.",
            f"It explains {', '.join(_OPERATORS)}; flashpath ladder {operator} shows the rungs there are.",
        )
    if dtype not in _DTYPES:
        raise FlashpathError(f"--dtype is {dtype!r}.", f"It is one of {', '.join(_DTYPES)}.")
    if page_size and operator != "decode":
        raise FlashpathError("--page-size is of decode's cache.", "Leave it out.")
    where = _where(device)
    asked = Asked(shape, keys, kv_heads, v_dim, page_size, causal, dtype, backend, where)
    words, ways = _OPERATORS[operator](asked)
    runs = _runs() if any(way.nearest for way in ways) else []
    if as_json:
        told: dict[str, Any] = {"asked": words, "device": dataclasses.asdict(where), "runs": runs}
        print_json(told | {way.name: dataclasses.asdict(way) for way in ways})
        return
    _show(words, ways, console())
    for run in runs:
        console().print(f"Measured with {run}.", markup=False)
    if operator == "attention" and where.capability and not runs:
        console().print("Nothing was measured on such a GPU: python benchmarks/compare_all.py measures one.")


def _runs() -> list[str]:
    from flashpath.kernels.attention import dispatch_table

    return list(dispatch_table.table().runs)


def _where(device: str | None) -> Where:
    from flashpath.jit import device as cuda
    from flashpath.kernels.where import named

    return named(device or ("cuda" if cuda.count() else "cpu"))


# ---- The operators -------------------------------------------------------------------------------------


def _sizes(asked: Asked) -> tuple[int, ...]:
    from flashpath.cli.sizes import parse_size
    from flashpath.kernels import ladder

    return parse_size(ladder("attention"), asked.shape)


def _empty(asked: Asked, *sizes: int) -> Any:
    """A tensor without memory."""
    import torch

    return torch.empty(sizes, dtype=getattr(torch, asked.dtype), device="meta")


def _attention(asked: Asked) -> tuple[str, list[Way]]:
    from flashpath.kernels.attention import dispatch_table
    from flashpath.kernels.attention.dispatch import choose
    from flashpath.kernels.attention.problem import Options, check

    batch, queries, heads, dim = _sizes(asked)
    of_keys = batch, asked.keys or queries, asked.kv_heads or heads
    q = _empty(asked, batch, queries, heads, dim)
    k, v = _empty(asked, *of_keys, dim), _empty(asked, *of_keys, asked.v_dim or dim)
    problem = check(q, k, v, Options(causal=asked.causal))
    ways: list[Way] = []
    for way, rungs in dispatch_table.RUNGS.items():
        choice = choose(problem, asked.backend, way, asked.where)
        nearest: Sequence[Cell] = ()
        if asked.where.capability:
            place = max(problem.dim, problem.v_dim), asked.causal, problem.keys
            nearest = dispatch_table.table().nearest(asked.where.capability, way, *place, count=_NEAREST)
        ways.append(Way(way, choice.backend, rungs[choice.backend], choice.why, choice.cell, nearest))
    words = f"attention of q {tuple(q.shape)}, k {tuple(k.shape)}, v {tuple(v.shape)}"
    return f"{words}, {'causal' if asked.causal else 'full'}, {asked.dtype}, on {asked.where.name}", ways


def _decode(asked: Asked) -> tuple[str, list[Way]]:
    import torch

    from flashpath.kernels.attention.decode.cache import Cache, prepare_step
    from flashpath.kernels.attention.decode.dispatch import RUNGS, choose
    from flashpath.kernels.attention.problem import Options

    batch, keys, heads, dim = _sizes(asked)
    keys, kv_heads, size = asked.keys or keys, asked.kv_heads or heads, asked.page_size
    pages = -(-keys // size) if size else 0
    shape = (batch * pages, size, kv_heads) if size else (batch, keys, kv_heads)
    lengths = torch.empty(batch, dtype=torch.int32, device="meta")
    table = torch.empty(batch, pages, dtype=torch.int32, device="meta") if size else None
    k, v = _empty(asked, *shape, dim), _empty(asked, *shape, asked.v_dim or dim)
    step = prepare_step(
        _empty(asked, batch, 1, heads, dim), Cache(k, v, lengths, table), options=Options(causal=asked.causal)
    )
    choice = choose(step, asked.backend, asked.where)
    layout = f"pages of {size}" if size else "no pages"
    words = f"decode of q {tuple(step.q.shape)} with {keys:,} keys of {kv_heads} heads, {layout}"
    way = Way("decode", choice.backend, RUNGS[choice.backend], choice.why)
    return f"{words}, {asked.dtype}, on {asked.where.name}", [way]


_OPERATORS: Mapping[str, Callable[[Asked], tuple[str, list[Way]]]] = {
    "attention": _attention,
    "decode": _decode,
}


# ---- What is shown -------------------------------------------------------------------------------------


def _show(words: str, ways: Sequence[Way], out: Console) -> None:
    out.print(words, markup=False, style="bold")
    for way in ways:
        out.print(f"{way.name:<8}  {way.backend} ({way.rung}): {way.why}.", markup=False)
    if any(way.nearest for way in ways):
        _show_cells(ways, out)


def _show_cells(ways: Sequence[Way], out: Console) -> None:
    from rich.table import Table

    from flashpath.cli.output import print_table

    out.print("\nThe nearest that were measured", style="bold")
    shown = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    backends = list(dict.fromkeys(name for way in ways for cell in way.nearest for name in cell.microseconds))
    for heading in ("direction", "problem", *(f"{name}, µs" for name in backends), "fastest", ""):
        shown.add_column(heading, justify="right" if heading.endswith("µs") else "left")
    for way in ways:
        for cell in way.nearest:
            times = (
                f"{cell.microseconds[name]:,.1f}" if name in cell.microseconds else "–" for name in backends
            )
            mark = "this one decides" if cell == way.measured else ""
            shown.add_row(way.name, cell.place, *times, cell.fastest, mark)
    print_table(out, shown)
