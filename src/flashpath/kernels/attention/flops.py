"""What an attention costs at least: FLOPs of the pairs that are seen, bytes of every tensor once."""

from __future__ import annotations

from flashpath.kernels.attention.problem import Problem, visible_pairs


def forward_flops(problem: Problem) -> int:
    """2 · pairs · (dim + v_dim): a multiply-add for each element of a key, and of a value."""
    options = problem.options
    pairs = visible_pairs(problem.queries, problem.keys, options.left, options.right)
    return 2 * problem.batch * problem.heads * pairs * (problem.dim + problem.v_dim)


def backward_flops(problem: Problem) -> int:
    """Five products in the place of two: scores and weights again, dv, dp, dk, dq."""
    return forward_flops(problem) * 5 // 2


def forward_bytes(problem: Problem) -> int:
    """q, k, v and out once, lse once."""
    tokens = problem.batch * problem.queries * problem.heads
    rows = tokens * (problem.dim + problem.v_dim)
    rows += problem.batch * problem.keys * problem.kv_heads * (problem.dim + problem.v_dim)
    return rows * problem.q.element_size() + 4 * tokens


def backward_bytes(problem: Problem) -> int:
    """All of that, and dout, dq, dk and dv."""
    return 2 * forward_bytes(problem)
