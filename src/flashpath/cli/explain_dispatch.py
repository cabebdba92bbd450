"""`flashpath explain-dispatch OPERATOR`: which rung an operator takes for a shape on a GPU, and why."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperCommand

from flashpath.cli import options

if TYPE_CHECKING:
    from rich.console import Console

    from flashpath.kernels.attention.dispatch import Choice
    from flashpath.kernels.attention.dispatch_table import Cell
    from flashpath.kernels.where import Where

_OPERATORS = ("attention",)
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


def explain_dispatch(
    operator: Annotated[str, typer.Argument(help="attention.")] = "attention",
    shape: Annotated[
        str,
        typer.Option(metavar="BATCH SEQUENCE HEADS DIM", help="Of q, and of k and v unless said otherwise."),
    ] = "4x4096x16x128",
    keys: Annotated[
        int | None, typer.Option(help="Tokens of k and v, if not as many as of q.", min=1)
    ] = None,
    kv_heads: Annotated[int | None, typer.Option(help="Heads of k and v, if fewer.", min=1)] = None,
    v_dim: Annotated[int | None, typer.Option(help="Of a head of v, if another.", min=8)] = None,
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
    """
    from flashpath.cli.output import console, print_json
    from flashpath.errors import FlashpathError
    from flashpath.kernels.attention.dispatch import choose
    from flashpath.kernels.attention.dispatch_table import RUNGS, table

    if operator not in _OPERATORS:
        raise FlashpathError(
            f"There is no choice to explain of {operator!r}.",
            f"It explains {', '.join(_OPERATORS)}; flashpath ladder {operator} shows the rungs there are.",
        )
    where = _where(device)
    problem = _problem(shape, keys, kv_heads, v_dim, causal, dtype)
    choices = {way: choose(problem, backend, way, where) for way in RUNGS}
    dim, length = max(problem.dim, problem.v_dim), problem.keys
    nearest = {
        way: table().nearest(where.capability, way, dim, causal, length, _NEAREST) if where.capability else []
        for way in RUNGS
    }
    asked = (
        f"{operator} of q {tuple(problem.q.shape)}, k {tuple(problem.k.shape)}, v {tuple(problem.v.shape)}"
    )
    asked += f", {'causal' if causal else 'full'}, {dtype}, on {where.name}"
    if as_json:
        ways = {
            way: {
                "backend": choice.backend,
                "rung": RUNGS[way][choice.backend],
                "why": choice.why,
                "measured": choice.cell and dataclasses.asdict(choice.cell),
                "nearest": [dataclasses.asdict(cell) for cell in nearest[way]],
            }
            for way, choice in choices.items()
        }
        print_json({"asked": asked, "device": dataclasses.asdict(where), **ways, "runs": table().runs})
        return
    _show(asked, choices, nearest, console())
    if any(nearest.values()):
        for run in table().runs:
            console().print(f"Measured with {run}.", markup=False)
    elif where.capability:
        console().print("Nothing was measured on such a GPU: python benchmarks/compare_all.py measures one.")


def _where(device: str | None) -> Where:
    from flashpath.jit import device as cuda
    from flashpath.kernels.where import named

    return named(device or ("cuda" if cuda.count() else "cpu"))


def _problem(
    shape: str, keys: int | None, kv_heads: int | None, v_dim: int | None, causal: bool, dtype: str
) -> Any:
    """Of tensors without memory, checked as those of a call are."""
    import torch

    from flashpath.cli.sizes import parse_size
    from flashpath.errors import FlashpathError
    from flashpath.kernels import ladder
    from flashpath.kernels.attention.problem import Options, check

    if dtype not in _DTYPES:
        raise FlashpathError(f"--dtype is {dtype!r}.", f"It is one of {', '.join(_DTYPES)}.")
    batch, queries, heads, dim = parse_size(ladder("attention"), shape)

    def empty(*sizes: int) -> Any:
        return torch.empty(sizes, dtype=getattr(torch, dtype), device="meta")

    of_keys = batch, keys or queries, kv_heads or heads
    return check(
        empty(batch, queries, heads, dim),
        empty(*of_keys, dim),
        empty(*of_keys, v_dim or dim),
        Options(causal=causal),
    )


def _show(
    asked: str,
    choices: Mapping[str, Choice],
    nearest: Mapping[str, Sequence[Cell]],
    out: Console,
) -> None:
    from flashpath.kernels.attention.dispatch_table import RUNGS

    out.print(asked, markup=False, style="bold")
    for way, choice in choices.items():
        rung = RUNGS[way][choice.backend]
        out.print(f"{way:<8}  {choice.backend} ({rung}): {choice.why}.", markup=False)
    if any(nearest.values()):
        _show_cells(nearest, choices, out)


def _show_cells(nearest: Mapping[str, Sequence[Cell]], choices: Mapping[str, Choice], out: Console) -> None:
    from rich.table import Table

    from flashpath.cli.output import print_table

    out.print("\nThe nearest that were measured", style="bold")
    shown = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    backends = list(
        dict.fromkeys(name for cells in nearest.values() for c in cells for name in c.microseconds)
    )
    for heading in ("direction", "problem", *(f"{name}, µs" for name in backends), "fastest", ""):
        shown.add_column(heading, justify="right" if heading.endswith("µs") else "left")
    for way, cells in nearest.items():
        for cell in cells:
            times = (
                f"{cell.microseconds[name]:,.1f}" if name in cell.microseconds else "–" for name in backends
            )
            mark = "this one decides" if cell == choices[way].cell else ""
            shown.add_row(way, cell.place, *times, cell.fastest, mark)
    print_table(out, shown)
