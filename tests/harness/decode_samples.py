"""Steps of decoding for the tests: what can be asked for, and whether a result is right."""

# pyright: basic, reportCallIssue=false

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import torch

from flashpath.kernels.attention.decode import reference
from flashpath.kernels.attention.decode.cache import Cache, Rotary, Step, prepare_step
from flashpath.kernels.attention.problem import Options
from flashpath.kernels.tolerance import check_against
from tests.harness import covering_array
from tests.harness.attention_checks import NAN, check_lse
from tests.harness.attention_samples import MASKS, MODS


@dataclass(frozen=True)
class Sample:
    """What is asked for. Lengths are those of two sequences before the step."""

    dtype: str = "bfloat16"
    lengths: tuple[int, int] = (70, 33)
    queries: int = 1
    new: int = 0
    pages: int = 0  # keys in one; 0: a cache without pages
    rotary: str = "none"
    mask: str = "full"
    heads: tuple[int, int] = (4, 2)
    dims: tuple[int, int] = (32, 32)
    softcap: float = 0.0
    alibi: str = "none"
    sinks: bool = False
    mod: str = "none"
    place: str = "plain"
    splits: int | None = None

    def __str__(self) -> str:
        return "-".join(
            f"{field.name}={value}"
            for field in fields(self)
            if (value := getattr(self, field.name)) != field.default
        )


CHOICES: Mapping[str, Sequence[Any]] = {
    "dtype": ["bfloat16", "float16"],
    "lengths": [(70, 33), (200, 0), (1, 129)],
    "queries": [1, 3, 20],
    "new": [0, 1, 5],
    "pages": [0, 16, 7],
    "rotary": ["none", "interleaved", "halves"],
    "mask": ["full", "causal", "causal window", "window"],
    "heads": [(4, 2), (2, 2), (6, 1)],
    "dims": [(32, 32), (64, 40), (128, 128)],
    "softcap": [0.0, 3.0],
    "alibi": ["none", "heads", "batch and heads"],
    "sinks": [False, True],
    "mod": ["none", "adds", "hides"],
    "place": ["plain", "padded", "indexed"],
    "splits": [None, 1, 3],
}


def covering() -> list[Sample]:
    """Every two features meet in one of them. Only a cache without pages has an index."""
    chosen: list[Sample] = covering_array.covering(CHOICES, Sample)
    return [
        replace(each, place="plain") if each.pages and each.place == "indexed" else each for each in chosen
    ]


def made(sample: Sample, device: str = "cpu", seed: int = 0) -> Step:
    """The tensors of it, random; keys and values that nobody has written are NaN."""
    generator = torch.Generator(device=device).manual_seed(seed)
    dtype = getattr(torch, sample.dtype)
    (heads, kv_heads), (dim, v_dim) = sample.heads, sample.dims
    batch, capacity = 2, max(sample.lengths) + sample.new + 3

    def random(*shape: int) -> Any:
        return (torch.randn(*shape, generator=generator, device=device) * 1.2 + 0.1).to(dtype)

    def integers(*values: int) -> Any:
        return torch.tensor(values, dtype=torch.int32, device=device)

    table = index = None
    entries, rows = batch, capacity
    if sample.pages:
        entries, rows = batch * -(-capacity // sample.pages) + 2, sample.pages
        order = torch.randperm(entries, generator=torch.Generator().manual_seed(seed))[: entries - 2]
        table = order.view(batch, -1).to(device=device, dtype=torch.int32)
    elif sample.place == "indexed":
        entries, index = batch + 2, integers(3, 1)
    cache_k, cache_v = (random(entries, rows, kv_heads, width).fill_(NAN) for width in (dim, v_dim))
    padding = integers(min(2, sample.lengths[0]), 0) if sample.place == "padded" else None
    cache = Cache(cache_k, cache_v, integers(*sample.lengths), table, index, padding)
    for b in range(batch):
        at = reference.rows_of(cache, b, torch.arange(sample.lengths[b], device=device))
        cache_k[at], cache_v[at] = (random(sample.lengths[b], kv_heads, width) for width in (dim, v_dim))
    slopes = None
    if sample.alibi != "none":
        shape = (heads,) if sample.alibi == "heads" else (batch, heads)
        slopes = torch.rand(*shape, generator=generator, device=device) * 0.1
    options = Options(
        **MASKS[sample.mask],
        softcap=sample.softcap,
        alibi_slopes=slopes,
        sinks=torch.randn(heads, generator=generator, device=device) if sample.sinks else None,
        score_mod=MODS[sample.mod],
    )
    rotary = None
    if sample.rotary != "none":
        angle = torch.rand(capacity + 20, 8, generator=generator, device=device) * 6
        rotary = Rotary(angle.cos().to(dtype), angle.sin().to(dtype), sample.rotary == "interleaved")
    new = (
        [random(batch, sample.new, kv_heads, width) for width in (dim, v_dim)] if sample.new else [None, None]
    )
    return prepare_step(random(batch, sample.queries, heads, dim), cache, *new, rotary, options)


def copied(step: Step) -> Step:
    """With a cache of its own."""
    return replace(step, cache=replace(step.cache, k=step.cache.k.clone(), v=step.cache.v.clone()))


def check_decode(decode: Callable[..., tuple[Any, Any]], step: Step, splits: int | None) -> None:
    """The result, and what the cache holds after it, against the reference in float64."""
    exactly, roughly = copied(step), copied(step)
    q = step.q.clone()
    given = step.new_out().fill_(NAN), step.new_lse().fill_(NAN)
    out, lse = decode(step, splits, *given)
    assert out is given[0]
    assert lse is given[1]
    assert torch.equal(q, step.q), "q was changed"
    exact, exact_lse = reference.decode(exactly)
    low, _ = reference.decode(roughly, dtype=q.dtype)
    check_against(out, exact, low, absolute=1e-5)
    # Rotated keys are rounded once, by the cache's type: an angle's product may fall on either side.
    check_lse(lse, exact_lse, digits=5e-6 if step.rotary is None else 5e-3)
    torch.testing.assert_close(step.cache.v, exactly.cache.v, rtol=0, atol=0, equal_nan=True)
    last = 2 * torch.finfo(q.dtype).eps
    torch.testing.assert_close(step.cache.k, exactly.cache.k, rtol=last, atol=last, equal_nan=True)
