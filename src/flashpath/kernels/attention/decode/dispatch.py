"""Which rung answers a call of `fp.attention_decode`, and why: by what was measured."""

from __future__ import annotations

import functools
import importlib
from typing import Any

from flashpath.kernels.attention.choice import VIRTUAL, decided, unmeasured
from flashpath.kernels.attention.decode import host_cuda
from flashpath.kernels.attention.decode.cache import Step
from flashpath.kernels.attention.dispatch_table import DECODE_RUNGS, table
from flashpath.kernels.rung import Rung
from flashpath.kernels.where import Where, where_is
from flashpath.messages import Message

# Where each rung's decode(step, num_splits) is.
BACKENDS = {
    "triton": "flashpath.kernels.attention.decode.host_triton",
    "cuda": "flashpath.kernels.attention.decode.host_cuda",
}


def host_of(rung: Rung) -> Any:
    """Returns the module that has a chosen rung's decode."""
    return importlib.import_module(BACKENDS[rung.language])


def chosen(step: Step, backend: str | None = None, *, where: Where | None = None) -> tuple[str, Message]:
    """Returns the rung that was asked for, or the fastest that can do it, and why."""
    language, why = _language(step, backend, where is None, where or where_is(step.q))
    return DECODE_RUNGS[language], why


def _language(step: Step, backend: str | None, is_here: bool, where: Where) -> tuple[str, Message]:
    asked = decided("attention_decode", backend, step.options.score_mod, where)
    if asked is not None:
        if asked[0] == "cuda" and not is_here:  # here the rung itself looks at it
            host_cuda.require_possible(step, where.shared)
        return asked
    obstacle = host_cuda.obstacle_to(step, where.shared)
    if obstacle is not None:
        return "triton", Message("kernels.decode-not-cuda", {"obstacle": obstacle})
    if where.capability is None:
        return "cuda", VIRTUAL
    return fastest(where.capability, step.cache.page_table is not None, size_of(step), step.batch)


def size_of(step: Step) -> int:
    """Returns the bytes of the keys and values there is room for: only the GPU knows how many there are."""
    return 2 * step.batch * step.cache.capacity * step.kv_heads * (step.dim + step.v_dim)


@functools.lru_cache(maxsize=1024)
def fastest(capability: tuple[int, int], is_paged: bool, size: int, batch: int) -> tuple[str, Message]:
    """Chooses by the nearest step that was measured on such a GPU; where none was, by the cache's layout."""
    cells = table().nearest_steps(capability, is_paged, size, batch)
    if not cells:
        return _by_layout(is_paged)
    cell = cells[0]
    return cell.fastest, cell.why((cell.size, cell.batch) == (size, batch))


def _by_layout(is_paged: bool) -> tuple[str, Message]:
    if is_paged:
        return "cuda", unmeasured(Message("kernels.cuda-pages"))
    return "triton", unmeasured(Message("kernels.triton-no-pages"))
