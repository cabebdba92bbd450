"""The rungs that calls of the operators would take, asked of the operators' own ladders."""

from __future__ import annotations

import dataclasses
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from flashpath.errors import FlashpathError
from flashpath.messages import Message

if TYPE_CHECKING:
    from flashpath.kernels.attention.dispatch_table import Cell, DecodeCell
    from flashpath.kernels.attention.problem import Options
    from flashpath.kernels.where import Where

NEAREST = 4  # cells that are shown
LANGUAGES = ("torch", "triton", "cuda")
SHAPE = "BATCH SEQUENCE HEADS DIM"
HALVES = ("float16", "bfloat16")
DTYPES = ("float32", *HALVES, "float64", "int32")
_EXAMPLE = "4 4096 16 128"
_BY_TORCH = Message("kernels.asked-torch")
# What is shown, and what a ladder is asked for.
_DIRECTIONS = {"forward": "forward", "backward": "backward"}
_ADDING = {"forward": "add", "backward": "backward"}
_TOGETHER = {"forward": "forward", "both": "both"}


@dataclass(frozen=True)
class Asked:
    """What a call would be given."""

    shape: str | None
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

    def how(self, *features: Message) -> Message:
        """Says what calls of all operators have: the features, the type and the GPU."""
        gpu = self.where.name
        return Message("cli.explain-dispatch-how", {"features": [*features, self.dtype], "gpu": gpu})

    @property
    def masked(self) -> Message:
        """Says the same of attention, with its mask."""
        features: list[Message] = []
        if self.causal:
            features.append(Message("kernels.causal"))
        elif self.window is None:
            features.append(Message("kernels.full"))
        if self.window is not None:
            left, right = self.window
            features.append(Message("cli.explain-dispatch-windowed", {"left": left, "right": right}))
        if self.score_mod:
            features.append(Message("cli.explain-dispatch-modded", {"languages": list(self.score_mod)}))
        return self.how(*features)

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
    why: Message
    nearest: Sequence[Cell | DecodeCell] = ()

    @property
    def measured(self) -> Cell | DecodeCell | None:
        """Returns the measurement that decided, if one did."""
        decided = self.why.code in ("kernels.measured", "kernels.measured-near")
        return self.nearest[0] if decided and self.nearest else None

    def as_data(self) -> dict[str, Any]:
        """Returns plain data, ready for JSON."""
        data = {"name": self.name, "backend": self.backend, "rung": self.rung, "why": str(self.why)}
        measured = None if self.measured is None else dataclasses.asdict(self.measured)
        return {**data, "measured": measured, "nearest": [dataclasses.asdict(cell) for cell in self.nearest]}


@dataclass(frozen=True)
class Answer:
    """The call in words, a way for each direction, and the runs that the measurements are of."""

    call: Message
    ways: Sequence[Way]
    runs: Sequence[str] = ()


def answer(operator: str, asked: Asked) -> Answer:
    """Returns what the operator would choose, or raises its refusal."""
    return OPERATORS[operator](asked)


def _sizes(given: str | None, words: str, example: str) -> tuple[int, ...]:
    """Returns the numbers of --shape, as many as `words` names."""
    names = words.split()
    parts = re.split(r"\s*[x×*,\s]\s*", (given or example).strip())
    if len(parts) == len(names) and all(re.fullmatch(r"[1-9]\d{0,99}", part) for part in parts):
        sizes = tuple(map(int, parts))
        if math.prod(sizes) > _MOST_ELEMENTS:
            raise FlashpathError("cli.explain-dispatch-too-large", given=given)
        return sizes
    raise FlashpathError(
        "cli.explain-dispatch-wrong-shape",
        given=given,
        count=_COUNTS[len(names)],
        words=words,
        example=example,
    )


_MOST_ELEMENTS = 1 << 44
_COUNTS = {
    1: Message("cli.explain-dispatch-one-number"),
    2: Message("cli.explain-dispatch-two-numbers"),
    3: Message("cli.explain-dispatch-three-numbers"),
    4: Message("cli.explain-dispatch-four-numbers"),
}


def _empty(dtype: str, *shape: int) -> Any:
    """Returns a tensor without memory."""
    import torch

    return torch.empty(shape, dtype=getattr(torch, dtype), device="meta")


def _require_few_products(operator: str, products: int) -> None:
    """Refuses what the operator refuses on the virtual GPU."""
    from flashpath.ops import limits

    try:
        limits.require_few_products(operator, products)
    except FlashpathError as error:
        raise FlashpathError("cli.explain-dispatch-too-many", what=error.said, fix=error.fix) from None


# ---- attention, attention_varlen -----------------------------------------------------------------------


def _attention(asked: Asked) -> Answer:
    from flashpath.kernels.attention.problem import check

    batch, queries, heads, dim = _sizes(asked.shape, SHAPE, _EXAMPLE if asked.shape else "1 1024 8 64")
    of_keys = batch, asked.keys or queries, asked.kv_heads or heads
    q = _empty(asked.dtype, batch, queries, heads, dim)
    k, v = _empty(asked.dtype, *of_keys, dim), _empty(asked.dtype, *of_keys, asked.v_dim or dim)
    return _of_problem(asked, check(q, k, v, asked.options()))


def _attention_varlen(asked: Asked) -> Answer:
    """BATCH sequences, all of SEQUENCE tokens: its choice goes by the longest."""
    from flashpath.kernels.attention.problem import Sequences, check

    batch, queries, heads, dim = _sizes(asked.shape, SHAPE, _EXAMPLE if asked.shape else "1 1024 8 64")
    keys, kv_heads = asked.keys or queries, asked.kv_heads or heads
    q = _empty(asked.dtype, batch * queries, heads, dim)
    k, v = (_empty(asked.dtype, batch * keys, kv_heads, width) for width in (dim, asked.v_dim or dim))
    bounds = Sequences(_empty("int32", batch + 1), _empty("int32", batch + 1), queries, keys)
    return _of_problem(asked, check(q, k, v, asked.options(), bounds))


def _of_problem(asked: Asked, problem: Any) -> Answer:
    from flashpath.kernels.attention import dispatch_table
    from flashpath.kernels.attention.ladder import LADDER
    from flashpath.ops import limits

    call = _call(asked.masked, problem.operator, q=problem.q, k=problem.k, v=problem.v)
    if asked.backend == "reference":
        return Answer(call, _by_torch(asked, problem))
    if asked.is_virtual:
        _require_few_products(problem.operator, limits.attention_products(problem))
    ways: list[Way] = []
    for direction in _DIRECTIONS:
        rung, why = LADDER.best(problem, asked.backend, direction=direction, where=asked.where)
        nearest: Sequence[Cell] = ()
        if asked.where.capability:
            kind = max(problem.dim, problem.v_dim), problem.options.right >= 0, problem.keys
            table = dispatch_table.table()
            nearest = table.nearest(asked.where.capability, direction, *kind, count=NEAREST)
        ways.append(Way(direction, rung.language, rung.name, why, nearest))
    has_runs = any(way.nearest for way in ways)
    return Answer(call, ways, dispatch_table.table().runs if has_runs else ())


def _call(how: Message, operator: str, **tensors: Any) -> Message:
    shapes = [f"{name} {tuple(x.shape)}" for name, x in tensors.items()]
    return Message("cli.explain-dispatch-call", {"operator": operator, "tensors": shapes, "how": how})


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
            told = error.problem.rstrip(".。")
            backward = Message("cli.explain-dispatch-refused", {"problem": told})
    return [
        Way("forward", "reference", "reference", _BY_TORCH),
        Way("backward", "reference", "reference", backward),
    ]


# ---- attention_decode ----------------------------------------------------------------------------------


def _decode(asked: Asked) -> Answer:
    from flashpath.kernels.attention import dispatch_table
    from flashpath.kernels.attention.decode.cache import Cache, prepare_step
    from flashpath.kernels.attention.decode.dispatch import size_of
    from flashpath.kernels.attention.decode.ladder import LADDER
    from flashpath.ops import limits

    batch, keys, heads, dim = _sizes(asked.shape, SHAPE, _EXAMPLE if asked.shape else "1 1024 8 64")
    keys, kv_heads, size = asked.keys or keys, asked.kv_heads or heads, asked.page_size
    pages = -(-keys // size) if size else 0
    shape = (batch * pages, size, kv_heads) if size else (batch, keys, kv_heads)
    k, v = _empty(asked.dtype, *shape, dim), _empty(asked.dtype, *shape, asked.v_dim or dim)
    cache = Cache(k, v, _empty("int32", batch), _empty("int32", batch, pages) if size else None)
    q = _empty(asked.dtype, batch, asked.queries or 1, heads, dim)
    step = prepare_step(q, cache, options=asked.options())
    sizes = {"shape": str(tuple(step.q.shape)), "keys": keys, "heads": kv_heads, "how": asked.masked}
    call = Message("cli.explain-dispatch-steps", {**sizes, "layout": dispatch_table.layout(size)})
    if asked.backend == "reference":
        if step.options.score_mod is not None:
            step.options.score_mod.form("torch")
        return Answer(call, [Way("decode", "reference", "reference", _BY_TORCH)])
    if asked.is_virtual:
        _require_few_products("attention_decode", limits.decode_products(step))
    rung, why = LADDER.best(step, asked.backend, where=asked.where)
    nearest: Sequence[DecodeCell] = ()
    if asked.where.capability:
        nearest = dispatch_table.table().nearest_steps(
            asked.where.capability, bool(size), size_of(step), batch, NEAREST
        )
    way = Way("decode", rung.language, rung.name, why, nearest)
    return Answer(call, [way], dispatch_table.table().decode_runs if nearest else ())


def _merge_states(asked: Asked) -> Answer:
    rows, heads, dim = _sizes(asked.shape, "QUERIES HEADS DIM", "1024 8 64")
    a = _empty(asked.dtype, 1, rows, heads, dim)
    why = Message("cli.explain-dispatch-one-kernel")
    return Answer(_call(asked.how(), "merge_states", a=a, b=a), [Way("forward", "triton", "merge", why)])


# ---- The other operators -------------------------------------------------------------------------------


class _Call(NamedTuple):
    """A call of an operator: its tensors by name, what else it is given, and what its ladder is asked."""

    tensors: Mapping[str, Any]
    more: tuple[Any, ...] = ()
    asked_of_ladder: tuple[Any, ...] | None = None  # where that is not the call's own arguments

    @property
    def arguments(self) -> tuple[Any, ...]:
        return *self.tensors.values(), *self.more


def _by_ladder(
    operator: str,
    ladder: str,
    words: str,
    example: str,
    call_of: Callable[..., _Call],
    directions: Mapping[str, str] | None = None,
) -> Callable[[Asked], Answer]:
    """Explains an operator that its ladder chooses for by the inputs alone."""

    def explained(asked: Asked) -> Answer:
        from flashpath import kernels, ops

        call = call_of(asked.dtype, *_sizes(asked.shape, words, example))
        getattr(ops, operator)(*call.arguments)  # refuses what it refuses: tensors have no memory
        inputs = call.arguments if call.asked_of_ladder is None else call.asked_of_ladder
        ways: list[Way] = []
        for direction in directions or ("forward",):
            turned = {"direction": directions[direction]} if directions else {}
            rung, why = kernels.ladder(ladder).best(*inputs, where=asked.where, **turned)
            ways.append(Way(direction, rung.language, rung.name, why))
        return Answer(_call(asked.how(), operator, **call.tensors), ways)

    return explained


def _rows(dtype: str, rows: int, n: int) -> _Call:
    return _Call({"x": _empty(dtype, rows, n)})


def _vector(dtype: str, n: int) -> _Call:
    return _Call({"x": _empty(dtype, n)})


def _weighted(dtype: str, rows: int, n: int) -> _Call:
    return _Call({"x": _empty(dtype, rows, n), "weight": _empty(dtype, n)})


def _weighted_and_shifted(dtype: str, rows: int, n: int) -> _Call:
    return _Call({**_weighted(dtype, rows, n).tensors, "bias": _empty(dtype, n)})


def _added(call_of: Callable[..., _Call]) -> Callable[..., _Call]:
    """The call with a residual after x; what the ladder is asked has none."""

    def with_residual(dtype: str, rows: int, n: int) -> _Call:
        x, *vectors = call_of(dtype, rows, n).tensors.items()
        return _Call(dict([x, ("residual", x[1]), *vectors]), (), tuple(value for _, value in (x, *vectors)))

    return with_residual


def _labelled(dtype: str, rows: int, classes: int) -> _Call:
    return _Call({"logits": _empty(dtype, rows, classes), "target": _empty("int64", rows)})


def _projected(dtype: str, rows: int, hidden: int, classes: int) -> _Call:
    """The call; its ladder is asked about the logits of the first rows."""
    from flashpath.ops.logits_in_parts import rows_at_once

    weight, target = _empty(dtype, classes, hidden), _empty("int64", rows)
    logits = _empty(dtype, rows_at_once(rows, hidden, classes), classes)
    return _Call({"x": _empty(dtype, rows, hidden), "weight": weight, "target": target}, (), (logits,))


def _product(dtype: str, m: int, k: int, n: int) -> _Call:
    return _Call({"a": _empty(dtype, m, k), "b": _empty(dtype, k, n)})


def _layer(dtype: str, m: int, k: int, n: int) -> _Call:
    x, weight = _empty(dtype, m, k), _empty(dtype, n, k)
    return _Call({"x": x, "weight": weight}, (), (x, weight.t()))


def _reduced(dtype: str, rows: int, n: int) -> _Call:
    x = _empty(dtype, rows, n)
    return _Call({"x": x}, ("sum", -1))


def _binned(dtype: str, n: int) -> _Call:
    return _Call({"x": _empty(dtype, n)}, (256, 0.0, 1.0))


def _sparse(dtype: str, rows: int, entries: int) -> _Call:
    whole = {"row_ptr": _empty("int32", rows + 1), "col": _empty("int32", entries)}
    return _Call({**whole, "val": _empty(dtype, entries), "x": _empty(dtype, rows)})


def _turned(dtype: str, batch: int, sequence: int, heads: int, dim: int) -> _Call:
    q, angles = _empty(dtype, batch, sequence, heads, dim), _empty("float32", sequence, dim // 2)
    return _Call({"q": q, "k": q, "cos": angles, "sin": angles})


def _elementwise(operator: str, *more: Any, has_y: bool = False, chain: str = "") -> Callable[..., _Call]:
    def call_of(dtype: str, n: int) -> _Call:
        x = _empty(dtype, n)
        both = ("x", "y") if operator == "add" else ("gate", "up")
        tensors: dict[str, Any] = {**dict.fromkeys(both, x)} if has_y and not chain else {"x": x}
        given = (more[0], x, more[1]) if chain else more
        return _Call(tensors, given, (x, chain or operator))

    return call_of


def _gate(operator: str) -> Callable[..., _Call]:
    def call_of(dtype: str, rows: int, n: int) -> _Call:
        x = _empty(dtype, rows, n)
        return _Call({"x": x}, (), (x, operator))

    return call_of


_ROWS = "ROWS N", "4096 1024"
_VECTOR = "N", "1048576"
_GATES = ("silu_and_mul", "gelu_and_mul", "gelu_tanh_and_mul")
_MAPS: Mapping[str, Callable[..., _Call]] = {
    **{name: _elementwise(name) for name in ("relu", "gelu", "gelu_tanh", "silu")},
    **{name: _elementwise(name, has_y=True) for name in ("add", "swiglu", "geglu", "geglu_tanh")},
    "scale": _elementwise("scale", 2),
    "clamp": _elementwise("clamp", 0, 1),
    "scale_add_activation": _elementwise("", 2.0, "relu", chain="scale_add_relu"),
}
STEPS = ("attention_decode", "decode")
MEASURED = ("attention", "attention_varlen", "scaled_dot_product_attention", *STEPS)
ATTENTION = (*MEASURED, "merge_states")
OPERATORS: Mapping[str, Callable[[Asked], Answer]] = {
    "attention": _attention,
    "attention_varlen": _attention_varlen,
    "scaled_dot_product_attention": _attention,
    "attention_decode": _decode,
    "decode": _decode,
    "merge_states": _merge_states,
    "softmax": _by_ladder("softmax", "softmax", *_ROWS, _rows, _DIRECTIONS),
    "layer_norm": _by_ladder("layer_norm", "layer_norm", *_ROWS, _weighted_and_shifted, _DIRECTIONS),
    "rms_norm": _by_ladder("rms_norm", "rms_norm", *_ROWS, _weighted, _DIRECTIONS),
    "add_layer_norm": _by_ladder(
        "add_layer_norm", "layer_norm", *_ROWS, _added(_weighted_and_shifted), _ADDING
    ),
    "add_rms_norm": _by_ladder("add_rms_norm", "rms_norm", *_ROWS, _added(_weighted), _ADDING),
    "cross_entropy": _by_ladder(
        "cross_entropy", "cross_entropy", "ROWS CLASSES", "4096 32000", _labelled, _DIRECTIONS
    ),
    "linear_cross_entropy": _by_ladder(
        "linear_cross_entropy",
        "cross_entropy",
        "ROWS HIDDEN CLASSES",
        "8192 4096 32000",
        _projected,
        _TOGETHER,
    ),
    "matmul": _by_ladder("matmul", "matmul", "M K N", "4096 4096 4096", _product),
    "linear": _by_ladder("linear", "matmul", "M K N", "4096 4096 4096", _layer),
    "reduce": _by_ladder("reduce", "reduction", *_ROWS, _reduced),
    "scan": _by_ladder("scan", "scan", *_ROWS, _rows),
    "sort": _by_ladder("sort", "sort", *_VECTOR, _vector),
    "histogram": _by_ladder("histogram", "histogram", *_VECTOR, _binned),
    "rope": _by_ladder("rope", "rope", SHAPE, "8 2048 32 128", _turned),
    "spmv": _by_ladder("spmv", "spmv", "ROWS ENTRIES", "65536 1048576", _sparse),
    **{name: _by_ladder(name, "elementwise", *_VECTOR, call_of) for name, call_of in _MAPS.items()},
    **{name: _by_ladder(name, "elementwise", *_ROWS, _gate(name)) for name in _GATES},
}
