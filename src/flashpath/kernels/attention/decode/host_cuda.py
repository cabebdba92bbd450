"""Decoding in CUDA C++: which plan a step gets, how many splits, and the launches."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from flashpath.errors import FlashpathError
from flashpath.jit import strided
from flashpath.kernels.attention.decode.cache import Step
from flashpath.kernels.attention.decode.splits import splits_for
from flashpath.kernels.attention.device.shape import UNBOUNDED, AttentionShape
from flashpath.kernels.attention.problem import with_whole_rows
from flashpath.kernels.building import (
    CPP_TYPES,
    Defines,
    cuda_kernel,
    dtype_name,
    max_shared_per_block,
    sm_count,
)
from flashpath.kernels.counters import counters_at_zero
from flashpath.messages import Message

FOLDER = Path(__file__).parent
SPLIT, APPEND = FOLDER / "split.cu", FOLDER / "append.cu"
MOST_SPLITS = 128
_SHORT_KEYS = 16384
_APPEND_WARPS = 4


@dataclass(frozen=True)
class Plan:
    """The template DecodePlan, without what the tensors say: type and dimensions."""

    rows: int  # mma tiles of 16
    keys: int  # of a warp's tile
    warps: int
    stages: int
    blocks_per_sm: int

    @property
    def threads(self) -> int:
        return 32 * self.warps

    @property
    def m(self) -> int:
        """Rows of a block."""
        return 16 * self.rows

    def shared(self, dim: int, v_dim: int, splits: int) -> int:
        """Returns the bytes of q, the warps' rings, after them the warps' parts, then the splits' weights."""
        of_dim, of_v_dim = (-(-each // 64) * 128 for each in (dim, v_dim))
        ring = self.m * of_dim + self.warps * self.stages * self.keys * (of_dim + of_v_dim)
        parts = self.warps * self.m * (v_dim + 9) * 4
        return max(ring, parts, splits * self.m * 4)

    def name(self, dtype: str, dim: int, v_dim: int) -> str:
        sizes = dim, v_dim, self.rows, self.keys, self.warps, self.stages, self.blocks_per_sm
        return f"DecodePlan<{CPP_TYPES[dtype]}, {', '.join(map(str, sizes))}>"


class Pages(ctypes.Structure):
    """`Pages` of pages.cuh."""

    _fields_ = (
        ("table_stride", ctypes.c_longlong),
        ("table_width", ctypes.c_int),
        ("size", ctypes.c_int),
        ("new_keys", ctypes.c_int),
    )


class Numbers(ctypes.Structure):
    """`Step` of plan.cuh."""

    _fields_ = (("shape", AttentionShape), ("pages", Pages), ("splits", ctypes.c_int), ("rows", ctypes.c_int))


class Rows(ctypes.Structure):
    """`Rows` of append.cu."""

    _fields_ = (
        *((name, ctypes.c_longlong * 3) for name in ("q", "turned", "k", "v", "k_cache", "v_cache")),
        ("pages", Pages),
        *((name, ctypes.c_int) for name in ("queries", "heads", "kv_heads", "dim", "v_dim", "pairs")),
        ("queries_apart", ctypes.c_int),
    )


def padded(dim: int) -> int:
    """Returns the dimension as tiles have it: 16 columns at a time, which is a step of mma."""
    return -(-dim // 16) * 16


def plan_of(step: Step, room: int | None = None) -> Plan | None:
    """By rows, dimensions and how much there is to read; None where shared memory does not reach for any.

    `room` is that memory in bytes, if not what the GPU of the tensors has.
    """
    dim, v_dim = padded(step.dim), padded(step.v_dim)
    rows = step.queries * step.group
    most = 1 if v_dim > 128 else 2 if v_dim > 64 else 4
    tiles = next(each for each in (1, 2, 4) if each == most or 16 * each >= rows)
    is_small = tiles == 1 and max(dim, v_dim) <= 64
    plans = [
        # One block on an SM, whose warps' parts are put together before they count as one of a split.
        Plan(tiles, 16, 8, 2, 2 if is_small else 1),
        Plan(tiles, 16, 4, 3, 2 if max(dim, v_dim) <= 128 else 1),
        Plan(tiles, 16, 4, 2, 1),
        Plan(tiles, 16, 2, 2, 1),
    ]
    blocks = -(-rows // (16 * tiles)) * step.kv_heads * step.batch
    is_many = blocks >= 2 * sm_count(step.q)
    if is_many and step.cache.capacity <= _SHORT_KEYS and max(dim, v_dim) <= 128:
        # Blocks for all SMs without a split, and short ones: while one begins or ends, others read.
        plans.insert(0, Plan(tiles, 16, 2, 3, 4))
    room = max_shared_per_block(step.q) if room is None else room
    return next((plan for plan in plans if plan.shared(dim, v_dim, MOST_SPLITS) <= room), None)


def obstacle_to(step: Step, room: int | None = None) -> Message | None:
    """Says why a step cannot be done here; None where it can."""
    for name, x in (("k", step.cache.k), ("v", step.cache.v)):
        if x.data_ptr() % 16 or any(stride % 8 for stride in x.stride()[:-1]):
            # It is read 16 bytes at a time, and it cannot be copied.
            return Message("kernels.cache-unaligned", {"name": name, "strides": str(x.stride())})
    room = max_shared_per_block(step.q) if room is None else room
    if plan_of(step, room) is None:
        return Message("kernels.decode-no-room", {"dim": step.dim, "v_dim": step.v_dim, "room": room})
    return None


def require_possible(step: Step, room: int | None = None) -> None:
    """Refuse what cannot be done here."""
    obstacle = obstacle_to(step, room)
    if obstacle is not None:
        raise FlashpathError("kernels.decode-not-here", obstacle=obstacle)


def splits_of(step: Step, plan: Plan) -> int:
    """Parts of the keys: as many as leave no SM idle, and no more than there are tiles."""
    blocks = -(-step.queries * step.group // plan.m) * step.kv_heads * step.batch
    at_once = sm_count(step.q) * plan.blocks_per_sm
    most = max(1, min(MOST_SPLITS, -(-step.cache.capacity // (plan.keys * plan.warps))))
    return splits_for(blocks, at_once, most)


def append(step: Step) -> Any:
    """Write the step's keys and values into the cache; gives q, rotated where the step rotates."""
    rows = step.queries * step.heads if step.rotary is not None else 0
    rows += 2 * step.new * step.kv_heads
    if not rows or not step.batch:
        return step.q
    cache, rotary = step.cache, step.rotary
    turned = step.q if rotary is None else step.q.new_empty(step.q.shape)
    k: Any = cache.k if step.new_k is None else step.new_k
    v: Any = cache.v if step.new_v is None else step.new_v
    interleaved = rotary is not None and rotary.interleaved
    flags = f"{_boolean(interleaved)}, {_boolean(cache.page_table is not None)}"
    kernel = cuda_kernel(APPEND, f"decode_append<{CPP_TYPES[dtype_name(step.q)]}, {flags}>", step.q)
    tensors = (step.q, turned, k, v, cache.k, cache.v)
    kernel[(-(-rows // _APPEND_WARPS), step.batch), (32, _APPEND_WARPS)](
        *map(strided, tensors),
        *map(_strided, (cache.lengths, cache.page_table, cache.batch_index)),
        None if rotary is None else rotary.cos,
        None if rotary is None else rotary.sin,
        Rows(
            *(each.stride()[:3] for each in tensors),
            _pages(step),
            step.queries,
            step.heads,
            step.kv_heads,
            step.dim,
            step.v_dim,
            0 if rotary is None else rotary.pairs,
            int(step.queries_move),
        ),
    )
    return turned


def decode(
    step: Step,
    num_splits: int | None = None,
    out: Any = None,
    lse: Any = None,
    *,
    plan: Plan | None = None,
) -> tuple[Any, Any]:
    """Append what is new, then attend: (out, lse)."""
    out = step.new_out() if out is None else out
    lse = step.new_lse() if lse is None else lse
    if num_splits is not None and not 1 <= num_splits <= MOST_SPLITS:
        raise FlashpathError("kernels.splits", given=num_splits, most=MOST_SPLITS)
    require_possible(step)
    plan = plan or plan_of(step)
    assert plan is not None
    step = replace(step, q=with_whole_rows(append(step)))
    if not out.numel():
        return out, lse
    splits = num_splits or splits_of(step, plan)
    dims = padded(step.dim), padded(step.v_dim)
    name, defines = kernel_of(step, plan)
    kernel = cuda_kernel(SPLIT, name, step.q, defines)

    rows = min(plan.m, step.queries * step.group)
    tiles = -(-step.queries * step.group // plan.m)
    parts = parts_lse = counters = None
    if splits > 1:
        places = step.batch * step.kv_heads * tiles
        parts = lse.new_empty((places, splits, rows, step.v_dim))
        parts_lse = lse.new_empty((places, splits, rows))
        counters = counters_at_zero(step.q, places)
    options, cache = step.options, step.cache
    kernel[(step.kv_heads, tiles * splits, step.batch), plan.threads, plan.shared(*dims, splits)](
        step.q,
        strided(cache.k),
        strided(cache.v),
        strided(out),
        lse,
        parts,
        parts_lse,
        counters,
        *map(_strided, (cache.lengths, cache.left_pad, cache.page_table, cache.batch_index)),
        _strided(options.alibi_slopes),
        options.sinks,
        Numbers(_shape_of(step, out), _pages(step), splits, rows),
    )
    return out, lse


def _strided(x: Any | None) -> Any:
    return None if x is None else strided(x)


def _pages(step: Step) -> Pages:
    table = step.cache.page_table
    stride, width = (0, 1) if table is None else (table.stride(0), table.shape[1])
    return Pages(stride, width, step.cache.page_size, step.new)


def _shape_of(step: Step, out: Any) -> AttentionShape:
    options, slopes, cache = step.options, step.options.alibi_slopes, step.cache
    left, right = (UNBOUNDED if side < 0 else min(side, UNBOUNDED) for side in (options.left, options.right))
    return AttentionShape(
        q=step.q.stride()[:3],
        k=cache.k.stride()[:3],
        v=cache.v.stride()[:3],
        out=out.stride()[:3],
        lse=(step.heads * step.queries, step.queries),
        slopes=(0, 0) if slopes is None else (0, slopes.stride(0)) if slopes.dim() == 1 else slopes.stride(),
        batch=step.batch,
        heads=step.heads,
        group=step.group,
        queries=step.queries,
        dim=step.dim,
        v_dim=step.v_dim,
        left=left,
        right=right,
        scale=step.scale,
        softcap=options.softcap,
    )


def kernel_of(step: Step, plan: Plan) -> tuple[str, Defines]:
    """The instance of the kernel for the step, and the macro of a score_mod."""
    options = step.options
    flags = (
        step.scale <= 0,  # the plain softmax takes maxima before it scales
        options.softcap > 0,
        options.alibi_slopes is not None,
        options.score_mod is not None,
        False,
    )
    mod = options.score_mod
    defines = () if mod is None else (("SCORE_MOD", f"({mod.form('cuda')})"),)
    features = f"Features<{', '.join(map(_boolean, flags))}>"
    of_plan = plan.name(dtype_name(step.q), padded(step.dim), padded(step.v_dim))
    return f"decode_split<{of_plan}, {features}, {_boolean(step.cache.page_table is not None)}>", defines


def _boolean(value: bool) -> str:
    return "true" if value else "false"
