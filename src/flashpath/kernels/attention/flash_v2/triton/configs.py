"""FlashAttention 2 in Triton: the sizes of tiles, by dimension, mask and length, as they were measured."""

from __future__ import annotations

from typing import NamedTuple

from flashpath.kernels.attention.device.features import block_of
from flashpath.kernels.attention.problem import Problem


class Config(NamedTuple):
    """Tiles of queries and keys, and how a program works on them."""

    m: int
    n: int
    warps: int
    stages: int
    ahead: bool = False  # forward: the next tile's products before this one's softmax (forward.py)
    # Forward: programs of all heads at the same rows start together, which lie side by side in memory. Their
    # keys and values have to stay in L2 meanwhile, so it is for short sequences.
    heads_abreast: bool = False


SHORT = 128  # queries and keys at most: few programs, and no tile is full
SMALL = Config(64, 32, 4, 2)
LONG = 2048  # keys: beyond, what a program does before and after its loop is little
# (largest of dim and v_dim, right bound) → tiles for keys up to LONG, for more
FORWARD = {
    (64, False): (Config(64, 128, 4, 2, heads_abreast=True), Config(64, 128, 4, 2)),
    (64, True): (Config(64, 64, 4, 3, heads_abreast=True), Config(64, 128, 4, 2)),
    (128, False): (Config(64, 64, 4, 3, ahead=True), Config(64, 64, 4, 3, ahead=True)),
    (128, True): (Config(64, 64, 4, 3), Config(64, 64, 4, 3, ahead=True)),
    (256, False): (Config(128, 64, 8, 2), Config(128, 64, 8, 2)),
    (256, True): (Config(128, 64, 8, 2), Config(128, 64, 8, 2)),
}

SMALL_BACKWARD = Config(32, 32, 4, 2)
PREPARED = 128  # queries of a program that prepares backward: whole tiles of any config
BACKWARD = {64: Config(64, 64, 4, 3), 128: Config(64, 64, 4, 2), 256: Config(32, 64, 8, 1)}
# (largest of dim and v_dim, right bound) → tiles
BACKWARD_QUERIES = {
    (64, False): Config(64, 64, 4, 3),
    (64, True): Config(64, 64, 4, 3),
    (128, False): Config(128, 32, 4, 3),
    (128, True): Config(64, 32, 4, 3),
    (256, False): Config(64, 32, 8, 1),
    (256, True): Config(64, 32, 8, 1),
}


def is_short(problem: Problem) -> bool:
    return max(problem.queries, problem.keys) <= SHORT


def largest_block(problem: Problem) -> int:
    return max(64, block_of(problem.dim), block_of(problem.v_dim))


def forward_config(problem: Problem) -> Config:
    if is_short(problem):
        return SMALL
    return FORWARD[largest_block(problem), problem.options.right >= 0][problem.keys > LONG]


def backward_config(problem: Problem) -> Config:
    return SMALL_BACKWARD if is_short(problem) else BACKWARD[largest_block(problem)]


def backward_queries_config(problem: Problem) -> Config:
    if is_short(problem):
        return SMALL_BACKWARD
    return BACKWARD_QUERIES[largest_block(problem), problem.options.right >= 0]
