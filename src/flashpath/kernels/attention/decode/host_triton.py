"""Decoding in Triton: how many splits there are, and the launches."""

from __future__ import annotations

import functools
import importlib
from dataclasses import replace
from typing import Any, NamedTuple

from flashpath.errors import FlashpathError
from flashpath.jit.device import device
from flashpath.kernels.attention.decode.cache import Step
from flashpath.kernels.attention.decode.splits import splits_for
from flashpath.kernels.attention.device.features import Features, block_of
from flashpath.kernels.attention.score_mod import compiles_with
from flashpath.kernels.building import sm_count, triton_device

MOST_SPLITS = 128


class Config(NamedTuple):
    """Keys in a tile, and how a program works on them."""

    n: int
    warps: int
    stages: int
    blocks: int  # that an SM holds at a time: for the number of splits


# Largest of dim and v_dim → tiles. One large program on an SM has the most bytes under way.
LARGE = {64: Config(128, 4, 3, 2), 128: Config(128, 8, 3, 1), 256: Config(64, 8, 3, 1)}
# A program that is short has little under way while it begins and ends: a neighbour fills that up.
SHORT = {64: Config(128, 4, 2, 2), 128: Config(64, 4, 2, 2), 256: Config(32, 4, 2, 2)}
# Of pages addresses are computed key by key: small programs, of which others read meanwhile.
PAGED = {64: Config(128, 4, 3, 2), 128: Config(64, 4, 3, 2), 256: Config(32, 4, 3, 2)}
PAGED_MANY = {64: Config(64, 2, 4, 4), 128: Config(32, 2, 4, 4), 256: Config(32, 4, 2, 2)}
_SHORT_KEYS = 2048


def config_of(step: Step) -> Config:
    """Chooses by what there is to read, and by whether there are programs for all SMs without a split."""
    size = max(64, block_of(step.dim), block_of(step.v_dim))
    capacity, sms = step.cache.capacity, sm_count(step.q)
    heads = step.batch * step.kv_heads
    is_many = heads >= 2 * sms
    if step.cache.page_table is None:
        return SHORT[size] if is_many and capacity <= _SHORT_KEYS else LARGE[size]
    if heads * -(-capacity // LARGE[size].n) <= sms:  # a program has one tile: the larger, the fewer parts
        return LARGE[size]
    return PAGED_MANY[size] if is_many else PAGED[size]


def rows_of(step: Step) -> int:
    """Returns the rows of a tile: the queries of a group, padded to what an mma takes."""
    return min(64, block_of(step.queries * step.group))


def splits_of(step: Step, config: Config) -> int:
    """Parts of the keys: as many as leave no SM idle, and no more than there are tiles."""
    tiles = -(-step.queries * step.group // rows_of(step))
    programs = tiles * step.kv_heads * step.batch
    at_once = sm_count(step.q) * config.blocks
    most = max(1, min(MOST_SPLITS, -(-step.cache.capacity // config.n)))
    return splits_for(programs, at_once, most)


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
    with triton_device(step.q):
        _kernel("append")[(rows, step.batch)](
            step.q,
            turned,
            k,
            v,
            cache.k,
            cache.v,
            cache.lengths,
            cache.page_table,
            cache.batch_index,
            None if rotary is None else rotary.cos,
            None if rotary is None else rotary.sin,
            step.q.stride()[:3],
            turned.stride()[:3],
            k.stride()[:3],
            v.stride()[:3],
            cache.k.stride()[:3],
            cache.v.stride()[:3],
            0 if cache.page_table is None else cache.page_table.stride(0),
            step.queries,
            step.new,
            step.heads,
            step.kv_heads,
            step.dim,
            step.v_dim,
            cache.page_size,
            0 if rotary is None else rotary.pairs,
            HAS_ROTARY=rotary is not None,
            INTERLEAVED=rotary is not None and rotary.interleaved,
            QUERIES_MOVE=step.queries_move,
            BLOCK=max(block_of(step.dim), block_of(step.v_dim)),
            num_warps=1,
        )
    return turned


def decode(step: Step, num_splits: int | None = None, out: Any = None, lse: Any = None) -> tuple[Any, Any]:
    """Append what is new, then attend: (out, lse), or into those that are given."""
    out = step.new_out() if out is None else out
    lse = step.new_lse() if lse is None else lse
    if num_splits is not None and not 1 <= num_splits <= MOST_SPLITS:
        raise FlashpathError("kernels.splits", given=num_splits, most=MOST_SPLITS)
    step = replace(step, q=append(step))
    if not out.numel():
        return out, lse
    config = config_of(step)
    splits = num_splits or splits_of(step, config)
    if splits == 1:
        _attend(step, config, 1, out, lse, step.options.sinks)
        return out, lse
    shape = (splits, step.batch, step.heads, step.queries)
    parts = out.new_empty((*shape, step.v_dim), dtype=lse.dtype)
    parts_lse = lse.new_empty(shape)
    _attend(step, config, splits, parts.transpose(2, 3), parts_lse, None)
    rows = step.batch * step.heads * step.queries
    with triton_device(step.q):
        _kernel("combine")[(rows,)](
            parts,
            parts_lse,
            out,
            lse,
            step.options.sinks,
            splits,
            rows,
            step.queries,
            step.heads,
            step.v_dim,
            SPLITS=1 << (splits - 1).bit_length(),
            BLOCK_V=block_of(step.v_dim),
            OVERLAPS=overlaps(step),
            num_warps=4 if splits > 8 else 1,
            launch_pdl=overlaps(step),
        )
    return out, lse


def overlaps(step: Step) -> bool:
    """Whether a launch can begin while the one before it ends: from Hopper on."""
    return step.q.is_cuda and device(step.q.get_device()).capability >= (9, 0)


def _attend(step: Step, config: Config, splits: int, out: Any, lse: Any, sinks: Any | None) -> None:
    """out: ([splits,] batch, queries, heads, v_dim)."""
    cache, options = step.cache, step.options
    block_m = rows_of(step)
    tiles = -(-step.queries * step.group // block_m)
    slopes = options.alibi_slopes
    between = bool(options.softcap) or slopes is not None or options.score_mod is not None
    features = Features(
        folded=not between and step.scale > 0,
        softcap=bool(options.softcap),
        alibi=slopes is not None,
        left=options.left >= 0,
        right=options.right >= 0,
        begins_masked=True,
        ends_masked=True,
        dropout=False,
        sinks=sinks is not None,
        varlen=False,
    )
    with triton_device(step.q), compiles_with(options.score_mod):
        _kernel("split")[(tiles * splits, step.kv_heads, step.batch)](
            step.q,
            cache.k,
            cache.v,
            out,
            lse,
            cache.lengths,
            cache.left_pad,
            cache.page_table,
            cache.batch_index,
            slopes,
            sinks,
            step.q.stride()[:3],
            cache.k.stride()[:3],
            cache.v.stride()[:3],
            out.stride()[:4] if out.dim() == 5 else (0, *out.stride()[:3]),
            lse.stride()[:3] if lse.dim() == 4 else (0, *lse.stride()[:2]),
            (0, 0) if slopes is None else (0, slopes.stride(0)) if slopes.dim() == 1 else slopes.stride(),
            0 if cache.page_table is None else cache.page_table.stride(0),
            0 if cache.page_table is None else cache.page_table.shape[1],
            step.queries,
            step.new,
            step.group,
            step.dim,
            step.v_dim,
            float(step.scale),
            float(options.softcap),
            options.left,
            options.right,
            splits,
            FEATURES=features,
            MOD=None if options.score_mod is None else options.score_mod.form("triton"),
            PAGE_SIZE=None if cache.page_table is None else cache.page_size,
            BLOCK_M=block_m,
            BLOCK_N=config.n,
            BLOCK_D=block_of(step.dim),
            BLOCK_V=block_of(step.v_dim),
            OVERLAPS=splits > 1 and overlaps(step),
            num_warps=config.warps,
            num_stages=config.stages,
        )


def merge_states(a: Any, a_lse: Any, b: Any, b_lse: Any) -> tuple[Any, Any]:
    """Two attentions of the same queries over different keys, as one over all of them."""
    out, lse = a.new_empty(a.shape), a_lse.new_empty(a_lse.shape)
    if not out.numel():
        return out, lse
    _, queries, heads, v_dim = a.shape
    with triton_device(a):
        _kernel("merge")[(lse.numel(),)](
            a, a_lse, b, b_lse, out, lse, queries, heads, v_dim, BLOCK_V=block_of(v_dim), num_warps=1
        )
    return out, lse


@functools.cache
def _kernel(name: str) -> Any:
    file = "combine" if name == "merge" else name
    module = importlib.import_module(f"flashpath.kernels.attention.decode.triton_{file}")
    return getattr(module, f"{name}_kernel")
