"""`flashpath explain-dispatch OPERATOR`: which rung an operator takes for a shape on a GPU, and why."""

from __future__ import annotations

import dataclasses
import difflib
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperCommand

from flashpath.cli import options
from flashpath.cli.dispatch_ways import LANGUAGES, OPERATORS, SHAPE, Answer, Asked, Way, answer

if TYPE_CHECKING:
    from rich.console import Console

    from flashpath.kernels.where import Where

_DTYPES = ("float16", "bfloat16")


class ShapeCommand(TyperCommand):
    """A command whose --shape takes its numbers one after the other: --shape 4 4096 16 128."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        return super().parse_args(ctx, joined(args))


def joined(words: Sequence[str]) -> list[str]:
    """`--shape 4 4096 16 128` with one value, "4 4096 16 128", also where some of it is no number."""
    rest, found = list(words), list[str]()
    while rest:
        name, equals, value = (word := rest.pop(0)).partition("=")
        if name != "--shape":
            found.append(word)
            continue
        parts = [value] if equals else []
        while rest and _belongs(rest[0], parts):
            parts.append(rest.pop(0))
        found += [name, " ".join(parts)] if parts else [name]  # without a value typer says that it needs one
    return found


def _belongs(word: str, parts: Sequence[str]) -> bool:
    """Whether it is one more of the numbers that --shape is given."""
    if re.match(r"-?\d", word):
        return True
    is_complete = len(parts) >= 4 or (bool(parts) and re.search(r"\d[x×*,]", parts[0]) is not None)
    return not is_complete and not word.startswith("-") and word not in OPERATORS


def explain_dispatch(
    operator: Annotated[
        str, typer.Argument(help="attention, attention_varlen or attention_decode (decode for short).")
    ] = "attention",
    shape: Annotated[
        str,
        typer.Option(
            metavar=SHAPE,
            help="Of q, and of k and v unless said otherwise; of attention_varlen, so many sequences of this "
            "length; of attention_decode, the sequence is what the cache has.",
        ),
    ] = "1 1024 8 64",
    keys: Annotated[
        int | None, typer.Option(help="Tokens of k and v, if not as many as of q.", min=1)
    ] = None,
    kv_heads: Annotated[int | None, typer.Option(help="Heads of k and v, if fewer.", min=1)] = None,
    v_dim: Annotated[int | None, typer.Option(help="Of a head of v, if another.", min=8)] = None,
    queries: Annotated[
        int | None, typer.Option(help="Of attention_decode: queries of the step, 1 by default.", min=1)
    ] = None,
    page_size: Annotated[
        int | None, typer.Option(help="Of attention_decode: keys of a page of the cache.", min=1)
    ] = None,
    causal: Annotated[bool, typer.Option(help="A query sees no key behind its place.")] = False,
    window: Annotated[
        tuple[int, int] | None, typer.Option(help="Keys to the left and right that are seen; -1: all.")
    ] = None,
    score_mod: Annotated[
        str | None, typer.Option(help="Languages a ScoreMod is given in: triton, or cuda,triton,torch.")
    ] = None,
    dtype: Annotated[str, typer.Option(help="float16 or bfloat16.")] = "bfloat16",
    backend: Annotated[
        str | None, typer.Option(help="As a call would give it: triton, cuda or reference.")
    ] = None,
    device: Annotated[
        str | None, typer.Option(help="sm_90, H200, cuda or cpu; by default the GPU, if there is one.")
    ] = None,
    as_json: options.AsJson = False,
) -> None:
    """Say which rung answers a call, for each direction, and what was measured that makes it the fastest.

    No GPU is needed: name one. The nearest problem that was measured on such a GPU decides: of attention by
    dimension and length, of decoding by the bytes of the cache and the batch; where none was, its
    instructions do. Batch and heads of a measured problem stand beside its times. What the operator refuses
    is refused here in the same words. softcap, ALiBi, sinks and dropout change nothing of the choice.
    `python benchmarks/dispatch_table.py` makes the table of what was measured.

    Examples:

        flashpath explain-dispatch attention --shape 4 4096 16 128 --causal --device H200

        flashpath explain-dispatch attention --shape 1 512 8 256 --device sm_86 --json

        flashpath explain-dispatch decode --shape 8 8192 32 128 --kv-heads 8 --page-size 16 --device H200
    """
    from flashpath.cli.output import console, print_json
    from flashpath.errors import FlashpathError

    if operator not in OPERATORS:
        raise _no_choice(operator)
    if dtype not in _DTYPES:
        raise FlashpathError(f"--dtype is {dtype!r}.", f"It is one of {', '.join(_DTYPES)}.")
    if OPERATORS[operator] is not OPERATORS["decode"]:
        for name, value in (("--page-size", page_size), ("--queries", queries)):
            if value:
                raise FlashpathError(f"{name} is of attention_decode.", "Leave it out.")
    where = _where(device)
    asked = Asked(
        shape=shape,
        keys=keys,
        kv_heads=kv_heads,
        v_dim=v_dim,
        queries=queries,
        page_size=page_size,
        causal=causal,
        window=window,
        score_mod=_languages(score_mod),
        dtype=dtype,
        backend=backend,
        where=where,
    )
    found = answer(operator, asked)
    if as_json:
        told: dict[str, Any] = {"asked": found.words, "device": dataclasses.asdict(where)}
        print_json({**told, "runs": found.runs, **{way.name: dataclasses.asdict(way) for way in found.ways}})
        return
    _show(found, console())
    if where.capability and backend != "reference" and not found.runs:
        console().print("Nothing was measured on such a GPU: python benchmarks/compare_all.py measures one.")


def _no_choice(operator: str) -> Exception:
    from flashpath import kernels
    from flashpath.errors import FlashpathError

    near = difflib.get_close_matches(operator, OPERATORS, n=1)
    more = "flashpath ladder lists all ladders."
    if near:
        more = f"Did you mean {near[0]}?"
    elif operator in kernels.ladders():
        more = f"flashpath ladder {operator} shows the rungs there are."
    return FlashpathError(
        f"There is no choice to explain of {operator!r}.", f"It explains {', '.join(OPERATORS)}. {more}"
    )


def _languages(given: str | None) -> tuple[str, ...]:
    from flashpath.errors import FlashpathError

    found = tuple(each.strip() for each in (given or "").split(",") if each.strip())
    if given is not None and (not found or any(each not in LANGUAGES for each in found)):
        raise FlashpathError(
            f"--score-mod is {given!r}.",
            f"It takes the languages that the ScoreMod has a form for: {', '.join(LANGUAGES)}.",
        )
    return found


def _where(device: str | None) -> Where:
    from flashpath.jit import device as cuda
    from flashpath.kernels.where import named

    return named(device or ("cuda" if cuda.count() else "cpu"))


# ---- What is shown -------------------------------------------------------------------------------------


def _show(found: Answer, out: Console) -> None:
    out.print(found.words, markup=False, style="bold")
    for way in found.ways:
        out.print(f"{way.name:<8}  {way.backend} ({way.rung}): {way.why}.", markup=False)
    if any(way.nearest for way in found.ways):
        _show_cells(found.ways, out)
    for run in found.runs:
        out.print(f"Measured with {run}.", markup=False)


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
