"""`flashpath explain-dispatch OPERATOR`: which rung an operator takes for a shape on a GPU, and why."""

from __future__ import annotations

import dataclasses
import difflib
import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperCommand

from flashpath.cli import options
from flashpath.cli.dispatch_ways import (
    ATTENTION,
    DTYPES,
    HALVES,
    LANGUAGES,
    MEASURED,
    OPERATORS,
    SHAPE,
    STEPS,
    Answer,
    Asked,
    Way,
    answer,
)
from flashpath.errors import FlashpathError
from flashpath.messages import Message, say

if TYPE_CHECKING:
    from rich.console import Console

    from flashpath.kernels.where import Where


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
    operator: Annotated[str, typer.Argument(help=say("cli.explain-dispatch-operator"))] = "attention",
    shape: Annotated[str | None, typer.Option(metavar=SHAPE, help=say("cli.explain-dispatch-shape"))] = None,
    keys: Annotated[int | None, typer.Option(help=say("cli.explain-dispatch-keys"), min=1)] = None,
    kv_heads: Annotated[int | None, typer.Option(help=say("cli.explain-dispatch-kv-heads"), min=1)] = None,
    v_dim: Annotated[int | None, typer.Option(help=say("cli.explain-dispatch-v-dim"), min=8)] = None,
    queries: Annotated[int | None, typer.Option(help=say("cli.explain-dispatch-queries"), min=1)] = None,
    page_size: Annotated[int | None, typer.Option(help=say("cli.explain-dispatch-page-size"), min=1)] = None,
    causal: Annotated[bool, typer.Option(help=say("cli.explain-dispatch-causal"))] = False,
    window: Annotated[tuple[int, int] | None, typer.Option(help=say("cli.explain-dispatch-window"))] = None,
    score_mod: Annotated[str | None, typer.Option(help=say("cli.explain-dispatch-score-mod"))] = None,
    dtype: Annotated[str | None, typer.Option(help=say("cli.explain-dispatch-dtype"))] = None,
    backend: Annotated[str | None, typer.Option(help=say("cli.explain-dispatch-backend"))] = None,
    device: Annotated[str | None, typer.Option(help=say("cli.explain-dispatch-device"))] = None,
    as_json: options.AsJson = False,
) -> None:
    from flashpath.cli.output import console, print_json

    if operator not in OPERATORS:
        raise _no_choice(operator)
    given = {"--page-size": page_size, "--queries": queries}
    if operator not in STEPS:
        _refuse_given(given, "attention_decode")
    if operator not in ATTENTION:
        given = {"--keys": keys, "--kv-heads": kv_heads, "--v-dim": v_dim, "--causal": causal}
        given |= {"--window": window, "--score-mod": score_mod, "--backend": backend}
        _refuse_given(given, "attention")
    known = HALVES if operator in ATTENTION else DTYPES
    dtype = dtype or ("bfloat16" if operator in ATTENTION else "float32")
    if dtype not in known:
        raise FlashpathError("cli.explain-dispatch-wrong-dtype", given=dtype, known=known)
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
        told: dict[str, Any] = {"asked": str(found.call), "device": dataclasses.asdict(where)}
        print_json({**told, "runs": found.runs, **{way.name: way.as_data() for way in found.ways}})
        return
    _show(found, console())
    is_measured = operator in MEASURED and backend != "reference"
    if where.capability and is_measured and not found.runs:
        console().print(say("cli.explain-dispatch-unmeasured"))


explain_dispatch.__doc__ = say("cli.explain-dispatch-help")


def _refuse_given(given: Mapping[str, Any], operator: str) -> None:
    """Refuses options that only another operator has."""
    for option, value in given.items():
        if value:
            raise FlashpathError("cli.explain-dispatch-foreign", option=option, operator=operator)


def _no_choice(operator: str) -> FlashpathError:
    from flashpath import kernels

    near = difflib.get_close_matches(operator, OPERATORS, n=1)
    more = Message("cli.explain-dispatch-all-ladders")
    if near:
        more = Message("cli.explain-dispatch-did-you-mean", {"name": near[0]})
    elif operator in kernels.ladders():
        more = Message("cli.explain-dispatch-rungs-of", {"name": operator})
    return FlashpathError("cli.explain-dispatch-no-operator", name=operator, known=list(OPERATORS), more=more)


def _languages(given: str | None) -> tuple[str, ...]:
    found = tuple(word.strip() for word in (given or "").split(",") if word.strip())
    if given is not None and (not found or any(word not in LANGUAGES for word in found)):
        raise FlashpathError("cli.explain-dispatch-wrong-languages", given=given, known=LANGUAGES)
    return found


def _where(device: str | None) -> Where:
    from flashpath.jit import device as cuda
    from flashpath.kernels.where import named

    return named(device or ("cuda" if cuda.count() else "cpu"))


# ---- What is shown -------------------------------------------------------------------------------------


def _show(found: Answer, out: Console) -> None:
    out.print(str(found.call), markup=False, style="bold")
    for way in found.ways:
        text = say("cli.explain-dispatch-way", name=way.name, backend=way.backend, rung=way.rung, why=way.why)
        out.print(text, markup=False)
    if any(way.nearest for way in found.ways):
        _show_cells(found.ways, out)
    for run in found.runs:
        out.print(say("cli.explain-dispatch-run", run=run), markup=False)


def _show_cells(ways: Sequence[Way], out: Console) -> None:
    from rich.table import Table

    from flashpath.cli.output import print_table

    out.print("\n" + say("cli.explain-dispatch-nearest"), style="bold")
    shown = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    backends = list(dict.fromkeys(name for way in ways for cell in way.nearest for name in cell.microseconds))
    shown.add_column(say("cli.explain-dispatch-direction"))
    shown.add_column(say("cli.explain-dispatch-problem"))
    for name in backends:
        shown.add_column(f"{name}, µs", justify="right")
    shown.add_column(say("cli.explain-dispatch-fastest"))
    shown.add_column("")
    for way in ways:
        for cell in way.nearest:
            times = (
                f"{cell.microseconds[name]:,.1f}" if name in cell.microseconds else "–" for name in backends
            )
            mark = say("cli.explain-dispatch-decides") if cell == way.measured else ""
            shown.add_row(way.name, str(cell.problem), *times, cell.fastest, mark)
    print_table(out, shown)
