"""The rungs that calls of the attention operators would take, asked of the operators' own dispatch."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from flashpath.errors import FlashpathError

if TYPE_CHECKING:
    from flashpath.kernels.attention.dispatch_table import Cell, DecodeCell
    from flashpath.kernels.attention.problem import Options
    from flashpath.kernels.where import Where

NEAREST = 4  # cells that are shown
LANGUAGES = ("torch", "triton", "cuda")
SHAPE = "BATCH SEQUENCE HEADS DIM"
_BY_TORCH = "it was asked for: torch computes the formula"


@dataclass(frozen=True)
class Asked:
    """What a call would be given."""

    shape: str
    keys: int | None
    kv_heads: int | None
    v_dim: int | None
    queries: int | None
    page_size: int | None
    causal: bool
    window: tuple[int, int] | None
    score_mod: Sequence[str]
    dtype: str
    backend: str | None
    where: Where

    @property
    def is_virtual(self) -> bool:
        return self.where.capability is None

    @property
    def words(self) -> str:
        """Of what all operators have."""
        mask = "causal" if self.causal else "full" if self.window is None else ""
        window = "" if self.window is None else "window ({}, {})".format(*self.window)
        mod = f"a score_mod in {' and '.join(self.score_mod)}" if self.score_mod else ""
        return ", ".join(filter(None, (mask, window, mod, f"{self.dtype}, on {self.where.name}")))

    def options(self) -> Options:
        from flashpath.kernels.attention.problem import Options
        from flashpath.kernels.attention.score_mod import ScoreMod

        forms: dict[str, Any] = {"torch": print, "triton": object(), "cuda": "score"}  # never run
        given = {language: forms[language] for language in self.score_mod}
        mod = ScoreMod("score_mod", **given) if given else None
        return Options(causal=self.causal, window=self.window, score_mod=mod)


@dataclass(frozen=True)
class Way:
    """A direction, the rung that it takes, and what was measured near by."""

    name: str
    backend: str
    rung: str
    why: str
    measured: Cell | DecodeCell | None = None
    nearest: Sequence[Cell | DecodeCell] = ()


@dataclass(frozen=True)
class Answer:
    """The call in words, a way for each direction, and the runs that the measurements are of."""

    words: str
    ways: Sequence[Way]
    runs: Sequence[str]


def answer(operator: str, asked: Asked) -> Answer:
    """As the operator would choose, or its refusal."""
    return OPERATORS[operator](asked)


def sizes(text: str) -> tuple[int, ...]:
    """The four numbers of --shape."""
    from flashpath.cli.sizes import parse_size
    from flashpath.kernels import ladder

    parts = re.split(r"\s*[x×*,\s]\s*", text.strip())
    try:
        if len(parts) == 4:
            return parse_size(ladder("attention"), "x".join(parts))
    except FlashpathError:
        pass
    raise FlashpathError(
        f"--shape is {text!r}.",
        f"It takes four whole numbers of 1 or more, {SHAPE}, such as --shape 4 4096 16 128.",
    )


def _empty(asked: Asked, *shape: int) -> Any:
    """A tensor without memory."""
    import torch

    return torch.empty(shape, dtype=getattr(torch, asked.dtype), device="meta")


def _whole(*shape: int) -> Any:
    import torch

    return torch.empty(shape, dtype=torch.int32, device="meta")


def _require_few_products(operator: str, products: int) -> None:
    """As the operator has it on the virtual GPU."""
    from flashpath.ops import limits

    try:
        limits.require_few_products(operator, products)
    except FlashpathError as error:
        more = "Here --device names the GPU: --device H200."
        raise FlashpathError(error.problem, f"{error.fix} {more}") from None


# ---- attention, attention_varlen -----------------------------------------------------------------------


def _attention(asked: Asked) -> Answer:
    from flashpath.kernels.attention.problem import check

    batch, queries, heads, dim = sizes(asked.shape)
    of_keys = batch, asked.keys or queries, asked.kv_heads or heads
    q = _empty(asked, batch, queries, heads, dim)
    k, v = _empty(asked, *of_keys, dim), _empty(asked, *of_keys, asked.v_dim or dim)
    return _of_problem(asked, check(q, k, v, asked.options()))


def _attention_varlen(asked: Asked) -> Answer:
    """BATCH sequences, all of SEQUENCE tokens: its choice goes by the longest."""
    from flashpath.kernels.attention.problem import Sequences, check

    batch, queries, heads, dim = sizes(asked.shape)
    keys, kv_heads = asked.keys or queries, asked.kv_heads or heads
    q = _empty(asked, batch * queries, heads, dim)
    k, v = (_empty(asked, batch * keys, kv_heads, each) for each in (dim, asked.v_dim or dim))
    bounds = Sequences(_whole(batch + 1), _whole(batch + 1), queries, keys)
    return _of_problem(asked, check(q, k, v, asked.options(), bounds))


def _of_problem(asked: Asked, problem: Any) -> Answer:
    from flashpath.kernels.attention import dispatch_table
    from flashpath.kernels.attention.dispatch import choose
    from flashpath.ops import limits

    q, k, v = (tuple(x.shape) for x in (problem.q, problem.k, problem.v))
    words = f"{problem.operator} of q {q}, k {k}, v {v}, {asked.words}"
    if asked.backend == "reference":
        return Answer(words, _by_torch(asked, problem), ())
    if asked.is_virtual:
        _require_few_products(problem.operator, limits.attention_products(problem))
    ways: list[Way] = []
    for way, rungs in dispatch_table.RUNGS.items():
        choice = choose(problem, asked.backend, way, asked.where)
        nearest: Sequence[Cell] = ()
        if asked.where.capability:
            place = max(problem.dim, problem.v_dim), problem.options.right >= 0, problem.keys
            nearest = dispatch_table.table().nearest(asked.where.capability, way, *place, count=NEAREST)
        ways.append(Way(way, choice.backend, rungs[choice.backend], choice.why, choice.cell, nearest))
    has_runs = any(way.nearest for way in ways)
    return Answer(words, ways, dispatch_table.table().runs if has_runs else ())


def _by_torch(asked: Asked, problem: Any) -> list[Way]:
    import torch

    from flashpath.ops import limits

    backward = _BY_TORCH
    if problem.options.score_mod is not None:
        problem.options.score_mod.form("torch")  # refuses, where it has none
    if asked.is_virtual:
        try:
            limits.require_memory_for_gradients(problem, torch.float32)
        except FlashpathError as error:
            backward = f"refused: {error.problem.removesuffix('.')}"
    return [
        Way("forward", "reference", "reference", _BY_TORCH),
        Way("backward", "reference", "reference", backward),
    ]


# ---- attention_decode ----------------------------------------------------------------------------------


def _decode(asked: Asked) -> Answer:
    from flashpath.kernels.attention import dispatch_table
    from flashpath.kernels.attention.decode.cache import Cache, prepare_step
    from flashpath.kernels.attention.decode.dispatch import choose, size_of
    from flashpath.ops import limits

    batch, keys, heads, dim = sizes(asked.shape)
    keys, kv_heads, size = asked.keys or keys, asked.kv_heads or heads, asked.page_size
    pages = -(-keys // size) if size else 0
    shape = (batch * pages, size, kv_heads) if size else (batch, keys, kv_heads)
    k, v = _empty(asked, *shape, dim), _empty(asked, *shape, asked.v_dim or dim)
    cache = Cache(k, v, _whole(batch), _whole(batch, pages) if size else None)
    step = prepare_step(_empty(asked, batch, asked.queries or 1, heads, dim), cache, options=asked.options())
    layout = f"pages of {size}" if size else "no pages"
    words = f"attention_decode of q {tuple(step.q.shape)} with {keys:,} keys of {kv_heads} heads, {layout}"
    words += f", {asked.words}"
    if asked.backend == "reference":
        if step.options.score_mod is not None:
            step.options.score_mod.form("torch")
        return Answer(words, [Way("decode", "reference", "reference", _BY_TORCH)], ())
    if asked.is_virtual:
        _require_few_products("attention_decode", limits.decode_products(step))
    choice = choose(step, asked.backend, asked.where)
    nearest: Sequence[DecodeCell] = ()
    if asked.where.capability:
        nearest = dispatch_table.table().nearest_steps(
            asked.where.capability, bool(size), size_of(step), batch, NEAREST
        )
    rung = dispatch_table.DECODE_RUNGS[choice.backend]
    way = Way("decode", choice.backend, rung, choice.why, choice.cell, nearest)
    return Answer(words, [way], dispatch_table.table().decode_runs if nearest else ())


OPERATORS: Mapping[str, Callable[[Asked], Answer]] = {
    "attention": _attention,
    "attention_varlen": _attention_varlen,
    "attention_decode": _decode,
    "decode": _decode,
}
