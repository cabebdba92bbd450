"""What flash-attn calls its CUDA extension: `flash_attn_gpu`, with arguments by their order, and no autograd.

Libraries that cut attention into parts (over a ring of GPUs, over the sequence) call these, or the functions
with an underscore of flash_attn_interface.py, which give them names.
"""

from typing import Any, NamedTuple

import torch
import torch.nn.functional as F

from flashpath import ops
from flashpath.compat.flash_attn.checking import called_as, require_given_tensors, require_layout
from flashpath.compat.flash_attn.functions import decoded, filled_up, in_a_row, require_dim, their_lse
from flashpath.compat.flash_attn.probabilities import signed_probabilities
from flashpath.kernels.attention.problem import Options, Problem, Sequences
from flashpath.ops.attention import attention_gradients, new_seed
from flashpath.ops.checking import refuse

Tensor = torch.Tensor
_ROWS_TOGETHER = 128  # flash-attn rounds the rows of delta up to so many


class _Settings(NamedTuple):
    """The options of a call, in the order in which all four entry points take them."""

    dropout_p: float
    scale: float
    causal: bool
    left: int
    right: int
    softcap: float
    alibi_slopes: Tensor | None

    @property
    def words(self) -> dict[str, Any]:
        """The options by the names that the operators have for them."""
        return {
            "causal": self.causal,
            "window": (max(-1, self.left), max(-1, self.right)),
            "softcap": self.softcap,
            "scale": self.scale,
            "alibi_slopes": self.alibi_slopes,
            "dropout_p": self.dropout_p,
        }


def fwd(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    out: Tensor | None,
    alibi_slopes: Tensor | None,
    dropout_p: float,
    softmax_scale: float,
    causal: bool,
    window_size_left: int,
    window_size_right: int,
    softcap: float,
    return_softmax: bool,
    generator: None,
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """(out, softmax_lse, the probabilities or an empty tensor, the seed of dropout)."""
    _refuse_generator("fwd", generator)
    settings = _Settings(
        dropout_p, softmax_scale, causal, window_size_left, window_size_right, softcap, alibi_slopes
    )
    return _forward("fwd", q, k, v, None, out, settings, return_softmax)


def varlen_fwd(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    out: Tensor | None,
    cu_seqlens_q: Tensor,
    cu_seqlens_k: Tensor,
    seqused_k: Tensor | None,
    leftpad_k: Tensor | None,
    block_table: Tensor | None,
    alibi_slopes: Tensor | None,
    max_seqlen_q: int,
    max_seqlen_k: int,
    dropout_p: float,
    softmax_scale: float,
    zero_tensors: bool,
    causal: bool,
    window_size_left: int,
    window_size_right: int,
    softcap: float,
    return_softmax: bool,
    generator: None,
    num_splits: int = 0,
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """The same of sequences one after the other; `seqused_k` has how many keys of each are used."""
    name = "varlen_fwd"
    del zero_tensors  # every element is written
    _refuse_generator(name, generator)
    if num_splits > 1:
        refuse("compat.splits", name=name, num_splits=num_splits)
    if leftpad_k is not None:
        refuse("compat.left-pad", name=name)
    require_given_tensors(name, seqused_k=seqused_k, block_table=block_table)
    settings = _Settings(
        dropout_p, softmax_scale, causal, window_size_left, window_size_right, softcap, alibi_slopes
    )
    with torch.no_grad():
        if block_table is not None:
            require_layout(name, 3, q=q)
            require_layout(name, 4, "(pages, page_size, kv_heads, dim)", k=k, v=v)
            if max_seqlen_q == 1 and q.shape[0] == block_table.shape[0] and not dropout_p:
                lengths = cu_seqlens_k.diff() if seqused_k is None else seqused_k
                return _step(q, k, v, out, lengths, block_table, settings)
        if seqused_k is not None:
            first, cu_seqlens_k = cu_seqlens_k, F.pad(seqused_k.cumsum(0), (1, 0)).to(torch.int32)
            if block_table is None:
                rows = used_rows(first, cu_seqlens_k)
                k, v = k[rows], v[rows]
        if block_table is not None:
            k, v = (in_a_row(each, block_table, cu_seqlens_k) for each in (k, v))
    sequences = Sequences(cu_seqlens_q, cu_seqlens_k, max_seqlen_q, max_seqlen_k)
    return _forward(name, q, k, v, sequences, out, settings, return_softmax)


def bwd(
    dout: Tensor,
    q: Tensor,
    k: Tensor,
    v: Tensor,
    out: Tensor,
    softmax_lse: Tensor,
    dq: Tensor | None,
    dk: Tensor | None,
    dv: Tensor | None,
    alibi_slopes: Tensor | None,
    dropout_p: float,
    softmax_scale: float,
    causal: bool,
    window_size_left: int,
    window_size_right: int,
    softcap: float,
    deterministic: bool,
    generator: None,
    rng_state: Tensor | None,
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """(dq, dk, dv, delta), in the given tensors where there are any."""
    _refuse_generator("bwd", generator)
    settings = _Settings(
        dropout_p, softmax_scale, causal, window_size_left, window_size_right, softcap, alibi_slopes
    )
    given = (dq, dk, dv)
    return _backward("bwd", dout, q, k, v, None, out, softmax_lse, given, settings, deterministic, rng_state)


def varlen_bwd(
    dout: Tensor,
    q: Tensor,
    k: Tensor,
    v: Tensor,
    out: Tensor,
    softmax_lse: Tensor,
    dq: Tensor | None,
    dk: Tensor | None,
    dv: Tensor | None,
    cu_seqlens_q: Tensor,
    cu_seqlens_k: Tensor,
    alibi_slopes: Tensor | None,
    max_seqlen_q: int,
    max_seqlen_k: int,
    dropout_p: float,
    softmax_scale: float,
    zero_tensors: bool,
    causal: bool,
    window_size_left: int,
    window_size_right: int,
    softcap: float,
    deterministic: bool,
    generator: None,
    rng_state: Tensor | None,
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """The same of sequences one after the other."""
    name = "varlen_bwd"
    del zero_tensors  # every element is written
    _refuse_generator(name, generator)
    settings = _Settings(
        dropout_p, softmax_scale, causal, window_size_left, window_size_right, softcap, alibi_slopes
    )
    sequences = Sequences(cu_seqlens_q, cu_seqlens_k, max_seqlen_q, max_seqlen_k)
    given = (dq, dk, dv)
    return _backward(
        name, dout, q, k, v, sequences, out, softmax_lse, given, settings, deterministic, rng_state
    )


def _refuse_generator(name: str, generator: object) -> None:
    if generator is not None:
        refuse("compat.generator", name=name)


def _forward(
    name: str,
    q: Tensor,
    k: Tensor,
    v: Tensor,
    sequences: Sequences | None,
    given: Tensor | None,
    settings: _Settings,
    return_softmax: bool,
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    require_layout(name, 4 if sequences is None else 3, q=q, k=k, v=v)
    require_dim(name, q)
    with torch.no_grad():
        seed = new_seed(q.device) if settings.dropout_p else q.new_zeros(1, dtype=torch.int64)
        out, lse = called_as(
            name,
            ops.attention if sequences is None else ops.attention_varlen,
            *map(filled_up, (q, k, v)),
            *(() if sequences is None else sequences.bounds),
            dropout_seed=seed,
            return_lse=True,
            **settings.words,
        )
        out = _into(given, out[..., : v.shape[-1]])
        probabilities = q.new_empty(0)
        if return_softmax and settings.dropout_p:
            options = Options(**settings.words, seed=seed)
            probabilities = signed_probabilities(Problem(q, k, v, options, sequences))
    return out, their_lse(lse), probabilities, seed


def _step(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    given: Tensor | None,
    lengths: Tensor,
    block_table: Tensor,
    settings: _Settings,
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """One query for each sequence, whose pages are read where they are."""
    window = settings.words["window"]
    out, lse, probabilities = decoded(
        *(q, k, v, lengths, block_table, settings.scale, settings.causal, window),
        *(settings.softcap, settings.alibi_slopes, True),
    )
    return _into(given, out), lse, probabilities, q.new_zeros(1, dtype=torch.int64)


def _backward(
    name: str,
    dout: Tensor,
    q: Tensor,
    k: Tensor,
    v: Tensor,
    sequences: Sequences | None,
    out: Tensor,
    lse: Tensor,
    given: tuple[Tensor | None, ...],
    settings: _Settings,
    deterministic: bool,
    seed: Tensor | None,
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    dims = 4 if sequences is None else 3
    require_layout(name, dims, dout=dout, q=q, k=k, v=v, out=out)
    require_dim(name, q)
    if settings.dropout_p and seed is None:
        refuse("compat.no-seed", name=name)
    with torch.no_grad():
        got = called_as(
            name,
            attention_gradients,
            *map(filled_up, (dout, q, k, v, out)),
            lse.masked_fill(lse == torch.inf, -torch.inf),  # ours, for a query that sees nothing
            sequences,
            dropout_seed=seed if settings.dropout_p else None,
            deterministic=deterministic,
            **settings.words,
        )
        delta = (dout.float() * out.float()).sum(-1).transpose(-1, -2)
        if sequences is None:
            delta = F.pad(delta, (0, -delta.shape[-1] % _ROWS_TOGETHER))
        results = (
            _into(place, x[..., : like.shape[-1]])
            for place, x, like in zip(given, got, (q, k, v), strict=True)
        )
        dq, dk, dv = results
    return dq, dk, dv, delta.contiguous()


def _into(given: Tensor | None, result: Tensor) -> Tensor:
    return result if given is None else given.copy_(result)


def used_rows(first: Tensor, used: Tensor) -> Tensor:
    """The rows of the keys that are used: those of each sequence begin at `first`. The GPU is waited for."""
    row = torch.arange(int(used[-1]), device=used.device)
    sequence = torch.searchsorted(used[1:].contiguous(), row, right=True)
    return first[sequence] + row - used[sequence]
