"""Problems for the tests of attention: what can be asked for, and rows in which every pair of it occurs."""

# pyright: basic

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

import torch
import triton
import triton.language as tl

from flashpath.kernels.attention.problem import Options, Problem, prepare
from flashpath.kernels.attention.problem import Sequences as Varlen
from flashpath.kernels.attention.score_mod import ScoreMod
from tests.harness import covering_array


@triton.jit
def _tilt(score, batch, head, query, key):
    return score + (key - query) * 0.01 * (head + 1)


@triton.jit
def _dotted(score, batch, head, query, key):
    return tl.where((key + query + batch) % 3 == 0, float("-inf"), score)


@triton.jit
def _bent(score, batch, head, query, key):
    return score * 0.5 + score * score * 0.125


@triton.jit
def _bent_derivative(score, batch, head, query, key):
    return 0.5 + score * 0.25


MODS: Mapping[str, ScoreMod | None] = {
    "none": None,
    "adds": ScoreMod(
        "tilt",
        lambda score, batch, head, query, key: score + (key - query) * 0.01 * (head + 1),
        _tilt,
        "score + (key - query) * 0.01f * (head + 1)",
    ),
    "hides": ScoreMod(
        "dotted",
        lambda score, batch, head, query, key: torch.where(
            (key + query + batch) % 3 == 0, torch.full_like(score, -torch.inf), score
        ),
        _dotted,
        "(key + query + batch) % 3 == 0 ? -INFINITY : score",
    ),
    "bends": ScoreMod(
        "bent",
        lambda score, batch, head, query, key: score * 0.5 + score * score * 0.125,
        _bent,
        "score * 0.5f + score * score * 0.125f",
        _bent_derivative,
        "0.5f + score * 0.25f",
        lambda score, batch, head, query, key: 0.5 + score * 0.25,
    ),
}


@dataclass(frozen=True)
class Sample:
    """What is asked for, in words. The first value of each list in CHOICES is the plain one."""

    dtype: str = "bfloat16"
    mask: str = "full"
    lengths: tuple[int, int] = (70, 70)
    dims: tuple[int, int] = (32, 32)
    heads: tuple[int, int] = (2, 2)
    layout: str = "dense"
    softcap: float = 0.0
    alibi: str = "none"
    dropout: float = 0.0
    sinks: bool = False
    mod: str = "none"
    deterministic: bool = False

    def __str__(self) -> str:
        return "-".join(
            "x".join(map(str, value)) if isinstance(value, tuple) else f"{field.name}={value}"
            for field in fields(self)
            if (value := getattr(self, field.name)) != field.default
        )


CHOICES: Mapping[str, Sequence[Any]] = {
    "dtype": ["bfloat16", "float16"],
    "mask": ["full", "causal", "window", "causal window", "left only", "far"],
    "lengths": [(70, 70), (17, 90), (90, 33), (1, 65), (5, 0)],
    "dims": [(32, 32), (64, 64), (40, 24), (16, 72)],
    "heads": [(2, 2), (4, 2), (3, 1)],
    "layout": ["dense", "strided", "varlen"],
    "softcap": [0.0, 3.0],
    "alibi": ["none", "heads", "batch and heads"],
    "dropout": [0.0, 0.25],
    "sinks": [False, True],
    "mod": ["none", "adds", "hides", "bends"],
    "deterministic": [False, True],
}

MASKS: Mapping[str, Mapping[str, Any]] = {
    "full": {},
    "causal": {"causal": True},
    "window": {"window": (20, 9)},
    "causal window": {"causal": True, "window": (12, 5)},
    "left only": {"window": (7, -1)},
    "far": {"window": (0, 0)},  # every query sees one key, or none
}


def covering() -> list[Sample]:
    """Every two features meet in one of them."""
    return covering_array.covering(CHOICES, Sample)


# What of a sample CUDA kernels are compiled with; all else comes to them as numbers.
_COMPILED_WITH: Mapping[str, Callable[[Any], Any]] = {
    "dtype": str,
    "mask": lambda mask: mask != "full",
    "dims": tuple,
    "softcap": bool,
    "alibi": lambda alibi: alibi != "none",
    "dropout": bool,
    "mod": str,
    "deterministic": bool,
}


def covering_with_few_kernels(**instead: Sequence[Any]) -> list[Sample]:
    """A few samples more, and half the kernels in CUDA C++, which take longer to compile than to run.

    `instead`: other values to choose from.
    """
    return covering_array.covering({**CHOICES, **instead}, Sample, _COMPILED_WITH)


def made(sample: Sample, device: str = "cpu", batch: int = 2, seed: int = 0) -> Problem:
    """The tensors of it, random; for several sequences the lengths differ, and one has no query."""
    generator = torch.Generator(device=device).manual_seed(seed)
    dtype = getattr(torch, sample.dtype)
    (queries, keys), (dim, v_dim), (heads, kv_heads) = sample.lengths, sample.dims, sample.heads
    sequences = None
    shapes: list[tuple[int, ...]] = [(batch, queries), (batch, keys), (batch, keys)]
    if sample.layout == "varlen":
        of_q, of_k = [queries, 0, queries // 2 + 1], [keys, 3, keys // 3]
        cu_q, cu_k = (
            torch.tensor([0, *itertools.accumulate(each)], dtype=torch.int32, device=device)
            for each in (of_q, of_k)
        )
        batch = len(of_q)
        sequences = Varlen(cu_q, cu_k, max(of_q), max(of_k))
        shapes = [(sum(of_q),), (sum(of_k),), (sum(of_k),)]

    def tensor(rows: tuple[int, ...], many: int, width: int) -> Any:
        stored = width + 8 if sample.layout == "strided" else width
        x = torch.randn(*rows, many, stored, generator=generator, device=device) * 1.2 + 0.1
        x = x.to(dtype)
        return x[..., 8:].flip(0) if sample.layout == "strided" and len(rows) == 2 else x[..., :width]

    def slopes() -> Any:
        if sample.alibi == "none":
            return None
        shape = (heads,) if sample.alibi == "heads" else (batch, heads)
        return torch.rand(*shape, generator=generator, device=device) * 0.1

    options = Options(
        **MASKS[sample.mask],
        softcap=sample.softcap,
        alibi_slopes=slopes(),
        sinks=torch.randn(heads, generator=generator, device=device) if sample.sinks else None,
        dropout_p=sample.dropout,
        seed=torch.tensor([0x1234_5678_9ABC], device=device) if sample.dropout else None,
        score_mod=MODS[sample.mod],
    )
    q, k, v = (
        tensor(rows, many, width)
        for rows, many, width in zip(shapes, (heads, kv_heads, kv_heads), (dim, dim, v_dim), strict=True)
    )
    if sample.layout == "strided":  # (batch, heads, rows, dim) in memory
        q, k, v = (each.transpose(1, 2).contiguous().transpose(1, 2) for each in (q, k, v))
    return prepare(q, k, v, options, sequences)
