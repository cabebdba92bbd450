"""Few samples of many choices, in which every two values of two choices meet."""

# pyright: basic

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

Choices = Mapping[str, Sequence[Any]]


def pairs_of(choices: Choices, sample: Any) -> set[Any]:
    return set(itertools.combinations([(name, getattr(sample, name)) for name in choices], 2))


def all_pairs(choices: Choices) -> list[Any]:
    return [
        ((a, x), (b, y))
        for a, b in itertools.combinations(choices, 2)
        for x in choices[a]
        for y in choices[b]
    ]


def covering(choices: Choices, make: Callable[..., Any]) -> list[Any]:
    """Greedily, the same ones every time; what a sample leaves open is the first value of its list."""
    missing = dict.fromkeys(all_pairs(choices))
    samples: list[Any] = []
    while missing:
        chosen: dict[str, Any] = dict(next(iter(missing)))
        for name, values in choices.items():
            if name not in chosen:
                chosen[name] = max(values, key=lambda value: _new(name, value, chosen, choices, missing))
        samples.append(make(**chosen))
        for pair in pairs_of(choices, samples[-1]):
            missing.pop(pair, None)
    return samples


def _new(
    name: str, value: Any, chosen: Mapping[str, Any], choices: Choices, missing: Mapping[Any, None]
) -> int:
    """How many pairs, that were in no sample yet, this value makes with those that are chosen."""
    order = list(choices)
    return sum(
        tuple(sorted(((name, value), (other, got)), key=lambda each: order.index(each[0]))) in missing
        for other, got in chosen.items()
    )
