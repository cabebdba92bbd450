"""FlashAttention 2 in Triton: what its kernels are told at compile time of what is asked for."""

from __future__ import annotations

from flashpath.kernels.attention.device.features import Features
from flashpath.kernels.attention.flash_v2.triton.configs import Config
from flashpath.kernels.attention.problem import Problem


def along_keys(problem: Problem, config: Config) -> Features:
    """Of a kernel that walks over keys."""
    ends = problem.options.right >= 0 or problem.sequences is not None or problem.keys % config.n != 0
    return features_of(problem, problem.options.left >= 0, ends)


def along_queries(problem: Problem, config: Config) -> Features:
    """Of one that walks over queries."""
    varlen = problem.sequences is not None
    begins = problem.options.right >= 0 or varlen or problem.keys % config.n != 0
    ends = problem.options.left >= 0 or varlen or problem.queries % config.m != 0
    return features_of(problem, begins, ends)


def features_of(problem: Problem, begins_masked: bool, ends_masked: bool) -> Features:
    options = problem.options
    between = bool(options.softcap) or options.alibi_slopes is not None or options.score_mod is not None
    return Features(
        folded=not between and problem.scale > 0,
        softcap=bool(options.softcap),
        alibi=options.alibi_slopes is not None,
        left=options.left >= 0,
        right=options.right >= 0,
        begins_masked=begins_masked,
        ends_masked=ends_masked,
        dropout=bool(options.dropout_p),
        sinks=options.sinks is not None,
        varlen=problem.sequences is not None,
    )
