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


def covering(
    choices: Choices, make: Callable[..., Any], kinds: Mapping[str, Callable[[Any], Any]] | None = None
) -> list[Any]:
    """Greedily, the same ones every time; what a sample leaves open is the first value of its list.

    `kinds`: what kernels are compiled with, and what of a value it is. As many kernels as it takes for every
    two of these to meet are enough.
    """
    kinds = kinds or {}
    kernels: list[Mapping[str, Any]] = [{}]
    if kinds:
        different = {name: list(dict.fromkeys(map(kind, choices[name]))) for name, kind in kinds.items()}
        kernels = covering(different, dict)
    options = [
        {
            name: [value for value in values if name not in kernel or kinds[name](value) == kernel[name]]
            for name, values in choices.items()
        }
        for kernel in kernels
    ]
    missing = dict.fromkeys(all_pairs(choices))
    samples: list[Any] = []
    while missing:
        first = next(iter(missing))
        possible = [each for each in options if all(value in each[name] for name, value in first)]
        rows = [_filled(dict(first), each, missing) for each in possible]
        best = max(rows, key=lambda row: len(_pairs(row) & missing.keys()))
        samples.append(make(**best))
        for pair in _pairs(best):
            missing.pop(pair, None)
    return samples


def _filled(chosen: dict[str, Any], options: Choices, missing: Mapping[Any, None]) -> dict[str, Any]:
    """Each value makes as many pairs as it can with those before it that were in no sample yet."""
    for name, values in options.items():
        if name not in chosen:
            chosen[name] = max(values, key=lambda value: _new(name, value, chosen, options, missing))
    return {name: chosen[name] for name in options}


def _pairs(row: Mapping[str, Any]) -> set[Any]:
    return set(itertools.combinations(row.items(), 2))


def _new(
    name: str, value: Any, chosen: Mapping[str, Any], choices: Choices, missing: Mapping[Any, None]
) -> int:
    """How many pairs, that were in no sample yet, this value makes with those that are chosen."""
    count, is_before = 0, True
    for other in choices:
        if other == name:
            is_before = False
        elif other in chosen:
            pair = (other, chosen[other]), (name, value)
            count += (pair if is_before else pair[::-1]) in missing
    return count
