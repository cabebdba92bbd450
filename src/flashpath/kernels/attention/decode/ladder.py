"""The ladder of decoding: its rungs, the steps it is timed on, and its peers."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from flashpath.kernels.attention.decode import host_cuda, host_triton, reference
from flashpath.kernels.attention.decode.cache import Cache, Step, prepare_step
from flashpath.kernels.attention.decode.dispatch import chosen
from flashpath.kernels.attention.decode.messages import MESSAGES
from flashpath.kernels.building import cuda_compiles_for, triton_compiles_by
from flashpath.kernels.declines import takes
from flashpath.kernels.peers import library
from flashpath.kernels.rung import Case, Ladder, Peer, Rung
from flashpath.kernels.tolerance import check_against, check_finite, check_shape
from flashpath.messages import Message, told

if TYPE_CHECKING:
    from torch import Tensor
FOLDER = Path(__file__).parent
BATCHES = (1, 8, 64)
KEYS = (1024, 8192, 65536)
HEADS, KV_HEADS, DIM = 32, 8, 128
PAGE_SIZE = 16
# Keys of all sequences up to which float64 is timed, and is asked about each sequence.
_FEW_KEYS = 2**19


# ---- Steps -----------------------------------------------------------------------------------------------


def _case(batch: int, keys: int, heads: int, kv_heads: int, dim: int, page_size: int = 0) -> Case:
    """One query for each sequence, against a cache that is full. page_size 0: without pages."""
    import torch

    pages = -(-keys // page_size) if page_size else 0

    def inputs(device: str) -> tuple[Any, ...]:
        def random(*shape: int) -> Any:
            return torch.randn(shape, device=device, dtype=torch.bfloat16)

        q = random(batch, 1, heads, dim)
        shape = (batch * pages, page_size, kv_heads, dim) if page_size else (batch, keys, kv_heads, dim)
        k, v = random(*shape), random(*shape)
        lengths = torch.full((batch,), keys, dtype=torch.int32, device=device)
        return q, k, v, lengths, _table(batch, pages).to(device) if page_size else None

    flops = 4 * batch * heads * keys * dim
    rows = 2 * batch * (heads + keys * kv_heads) * dim
    size = 2 * rows + 4 * batch * (heads + 1 + pages)
    layout = f"pages of {page_size}" if page_size else "dense"
    return Case(
        name=f"{batch} × {keys} {layout} bfloat16",
        inputs=inputs,
        flops=flops,
        bytes=size,
        dtype="bfloat16",
        parameters={
            "batch": batch,
            "keys": keys,
            "heads": heads,
            "kv_heads": kv_heads,
            "dim": dim,
            "layout": layout,
        },
    )


def _table(batch: int, pages: int) -> Tensor:
    """Pages in any order, but always the same: what is planned for it once stays right."""
    import torch

    order = torch.randperm(batch * pages, generator=torch.Generator().manual_seed(1))
    return order.view(batch, pages).int()


def _cases() -> Sequence[Case]:
    return [
        _case(batch, keys, HEADS, KV_HEADS, DIM, page_size)
        for page_size in (0, PAGE_SIZE)
        for batch in BATCHES
        for keys in KEYS
    ]


def _sized(size: tuple[int, ...]) -> Case:
    batch, keys, heads, kv_heads, dim = size
    return _case(batch, keys, heads, kv_heads, dim)


def _more_samples() -> Sequence[Case]:
    return [_case(2, 100, 4, 2, 64, PAGE_SIZE)]


# ---- Rungs as functions of a case's inputs ---------------------------------------------------------------


def _step(q: Any, k: Any, v: Any, lengths: Any, table: Any | None) -> Step:
    return prepare_step(q, Cache(k, v, lengths, table))


def _by(decode: Callable[..., tuple[Any, Any]]) -> Callable[..., Any]:
    def run(*inputs: Any) -> Any:
        return decode(_step(*inputs))[0]

    return run


def _reference(*inputs: Any) -> Any:
    step = _step(*inputs)
    return reference.decode(step)[0].to(step.q.dtype)


def _small(case: Case) -> Message | None:
    many = case.parameters["batch"] * case.parameters["keys"] > _FEW_KEYS
    return told("kernels.attention.decode.slow", limit=_FEW_KEYS) if many else None


# ---- Checking --------------------------------------------------------------------------------------------


def _check(output: Any, inputs: tuple[Any, ...]) -> None:
    """Against float64: at most twice the error of torch in the same type. Of many keys three sequences."""
    q, k, v, lengths, table = inputs
    check_shape(output, q.shape)
    check_finite(output)
    batch = q.shape[0]
    keys = k.shape[0] * k.shape[1]
    for b in range(batch) if keys <= _FEW_KEYS else {0, batch // 2, batch - 1}:
        one = slice(b, b + 1)
        cache = (k[one], v[one]) if table is None else (k, v)
        step = _step(q[one], *cache, lengths[one], None if table is None else table[one])
        exact, _ = reference.decode(step)
        low, _ = reference.decode(step, dtype=q.dtype)
        check_against(output[one], exact, low, absolute=1e-5)


def _truth(inputs: tuple[Any, ...]) -> Any:
    return reference.decode(_step(*inputs))[0]


# ---- Peers -----------------------------------------------------------------------------------------------


def _peers(device: str) -> Mapping[str, Callable[..., Any] | Peer]:
    if device != "cuda":
        return {"torch": Peer(functools.partial(_sdpa, None), _dense_only)}
    peers: dict[str, Callable[..., Any] | Peer] = {
        f"torch ({name}{way})": Peer(functools.partial(function, backend), _dense_only)
        for name, backend in (("cuDNN", "CUDNN_ATTENTION"), ("FlashAttention 2", "FLASH_ATTENTION"))
        for way, function in (("", _sdpa), (", heads as queries", _sdpa_of_groups))
    }
    flashinfer = library("flashinfer")
    if flashinfer is not None:
        peers["FlashInfer"] = Peer(functools.partial(_flashinfer, flashinfer), _paged_only)
    return peers


_dense_only = takes("layout", "dense", otherwise=told("kernels.attention.decode.no-pages"))


def _paged_only(case: Case) -> Message | None:
    return told("kernels.attention.decode.pages-only") if case.parameters["layout"] == "dense" else None


def _sdpa(backend: str | None, q: Tensor, k: Tensor, v: Tensor, _lengths: Any, _table: Any) -> Any:
    """All keys are there, so torch needs no mask."""
    return _attend(backend, q.transpose(1, 2), k, v, groups=True).transpose(1, 2)


def _sdpa_of_groups(backend: str | None, q: Tensor, k: Tensor, v: Tensor, _lengths: Any, _table: Any) -> Any:
    """The heads that share keys as queries of one head: as much work, and no mask tells them apart."""
    batch, _, heads, dim = q.shape
    out = _attend(backend, q.view(batch, k.shape[2], -1, dim), k, v, groups=False)
    return out.reshape(batch, 1, heads, dim)


def _attend(backend: str | None, q: Tensor, k: Tensor, v: Tensor, *, groups: bool) -> Tensor:
    import torch
    from torch.nn.attention import SDPBackend, sdpa_kernel

    attend = torch.nn.functional.scaled_dot_product_attention
    k, v = k.transpose(1, 2), v.transpose(1, 2)
    if backend is None:
        return attend(q, k, v, enable_gqa=groups)
    with sdpa_kernel(getattr(SDPBackend, backend)):
        return attend(q, k, v, enable_gqa=groups)


@functools.lru_cache(maxsize=1)
def _planned(
    flashinfer: Any, device: Any, batch: int, keys: int, heads: int, kv_heads: int, dim: int, page_size: int
) -> Any:
    """FlashInfer plans on the host: once for a case, outside of what is timed."""
    import torch

    pages = -(-keys // page_size)
    workspace = torch.empty(2**28, dtype=torch.uint8, device=device)
    wrapper = flashinfer.BatchDecodeWithPagedKVCacheWrapper(workspace, "NHD", use_tensor_cores=True)
    first = torch.arange(batch + 1, dtype=torch.int32, device=device) * pages
    in_last = torch.full((batch,), keys - (pages - 1) * page_size, dtype=torch.int32, device=device)
    indices = _table(batch, pages).flatten().to(device)
    kinds = {"q_data_type": torch.bfloat16, "kv_data_type": torch.bfloat16}
    wrapper.plan(first, indices, in_last, heads, kv_heads, dim, page_size, **kinds)
    return wrapper


def _flashinfer(flashinfer: Any, q: Tensor, k: Tensor, v: Tensor, _lengths: Any, table: Tensor) -> Any:
    batch, _, heads, dim = q.shape
    _, page_size, kv_heads, _ = k.shape
    keys = table.shape[1] * page_size
    wrapper = _planned(flashinfer, q.device, batch, keys, heads, kv_heads, dim, page_size)
    return wrapper.run(q[:, 0], (k, v))[:, None]


# ---- The ladder ------------------------------------------------------------------------------------------


def _small_step() -> Step:
    """For rungs to compile for."""
    import torch

    q, k, v = (torch.zeros(1, n, heads, DIM, dtype=torch.bfloat16) for n, heads in ((1, 4), (64, 1), (64, 1)))
    return _step(q, k, v, torch.zeros(1, dtype=torch.int32), None)


def _cuda_name() -> str:
    step = _small_step()
    plan = host_cuda.plan_of(step)
    assert plan is not None
    return host_cuda.kernel_of(step, plan)[0]


LADDER = Ladder(
    name="attention_decode",
    texts=MESSAGES,
    cases=_cases,
    peers=_peers,
    check=_check,
    truth=_truth,
    dimensions=("batch", "keys", "heads", "kv_heads", "dim"),
    sized=_sized,
    sample=(2, 128, 4, 2, 64),
    more_samples=_more_samples,
    chooses=chosen,
    rungs=(
        Rung.reference(FOLDER, _reference, declines=_small),
        Rung(
            name="split_triton",
            language="triton",
            arch="sm_80",
            file=FOLDER / "triton_split.py",
            function=_by(host_triton.decode),
            improves_on="reference",
            compile_for=triton_compiles_by(lambda: host_triton.decode(_small_step(), 1)),
            readability=4,
            debugging=4,
        ),
        Rung(
            name="split_cuda",
            arch="sm_80",
            file=host_cuda.SPLIT,
            function=_by(host_cuda.decode),
            improves_on="split_triton",
            compile_for=lambda arch: cuda_compiles_for(host_cuda.SPLIT, _cuda_name())(arch),
            readability=3,
            debugging=3,
        ),
    ),
)
