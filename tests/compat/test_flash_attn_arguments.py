"""What flash-attn's functions say to arguments that they do not take."""

# pyright: basic, reportCallIssue=false, reportArgumentType=false

from __future__ import annotations

from typing import Any

import pytest
import torch

from flashpath.compat import flash_attn
from flashpath.compat.flash_attn.bert_padding import (
    index_first_axis,
    index_put_first_axis,
    pad_input,
    unpad_input,
)
from flashpath.compat.flash_attn.layers.rotary import apply_rotary_emb
from flashpath.errors import FlashpathError

X = torch.zeros(1, 8, 2, 16, dtype=torch.float16)
FLAT = X[0]
COS = torch.zeros(8, 8, dtype=torch.float16)
CU = torch.tensor([0, 8], dtype=torch.int32)
TABLE = torch.zeros(1, 1, dtype=torch.int32)
func, varlen, cache = (
    flash_attn.flash_attn_func,
    flash_attn.flash_attn_varlen_func,
    flash_attn.flash_attn_with_kvcache,
)


def zeros(*shape: int) -> Any:
    return torch.zeros(shape, dtype=torch.float16)


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: func(None, X, X), "flash_attn_func got q = None.*torch tensor"),
        (lambda: func(X, [1.0], X), "flash_attn_func got k.*torch tensor"),
        (lambda: func(X, X, X[0]), r"flash_attn_func got v of shape \(8, 2, 16\).*batch, sequence"),
        (lambda: func(zeros(), X, X), r"q of shape \(\)"),
        (lambda: func(X, X, X, "much"), "dropout_p.*number"),
        (lambda: func(X, X, X, softmax_scale="much"), "scale.*number"),
        *(
            (lambda window=window: func(X, X, X, window_size=window), "window_size.*two whole numbers")
            for window in (4, None, (1, 2, 3), "ab", (1.5, 0), ("a", 0), torch.tensor(3))
        ),
        (lambda: flash_attn.flash_attn_qkvpacked_func(None), "flash_attn_qkvpacked_func got qkv = None"),
        (lambda: flash_attn.flash_attn_qkvpacked_func(X), r"qkv of shape.*\(batch, sequence, 3, heads"),
        (lambda: flash_attn.flash_attn_qkvpacked_func(zeros(1, 8, 2, 2, 16)), "qkv of shape.*, 3, heads"),
        (lambda: flash_attn.flash_attn_kvpacked_func(X, zeros(1, 8, 3, 2, 16)), "kv of shape.*, 2, kv_heads"),
        (lambda: flash_attn.flash_attn_kvpacked_func(X, X), "flash_attn_kvpacked_func got kv of shape"),
        (lambda: flash_attn.flash_attn_varlen_qkvpacked_func(FLAT, CU, 8), r"\(tokens, 3, heads, dim\)"),
        (lambda: flash_attn.flash_attn_varlen_qkvpacked_func(zeros(8, 2, 2, 16), CU, 8), "tokens, 3, heads"),
        (
            lambda: flash_attn.flash_attn_varlen_kvpacked_func(FLAT, zeros(8, 3, 2, 16), CU, CU, 8, 8),
            r"flash_attn_varlen_kvpacked_func got kv.*\(tokens, 2, kv_heads, dim\)",
        ),
        (lambda: varlen(FLAT, FLAT, FLAT, [0, 8], CU, 8, 8), "cu_seqlens_q.*torch tensor"),
        (lambda: varlen(FLAT, FLAT, FLAT, CU, None, 8, 8), "cu_seqlens_k.*torch tensor"),
        (lambda: varlen(FLAT, FLAT, FLAT, CU, CU, None, 8), "max_seqlen_q.*whole number"),
        (lambda: varlen(FLAT, FLAT, FLAT, CU, CU, 8, 8.5), "max_seqlen_k.*whole number"),
        (lambda: varlen(X, X, X, CU, CU, 8, 8), r"flash_attn_varlen_func got q of.*\(tokens, heads, dim\)"),
        (lambda: varlen(FLAT, FLAT, FLAT, CU, CU, 8, 8, block_table=TABLE), "k of shape.*page_size"),
        (lambda: varlen(FLAT, X, X, CU, CU, 8, 8, block_table=[[0]]), "block_table.*torch tensor"),
        (lambda: varlen(FLAT, X, X, CU, CU, 8, 8, block_table=TABLE[0]), "block_table of shape.*int32"),
        (lambda: varlen(FLAT, X, X, CU, CU, 8, 8, block_table=TABLE + 1), r"pages \[1\].*from 0 to 0"),
        (lambda: varlen(FLAT, X, X, CU, CU * 2, 8, 16, block_table=TABLE), "sequence of 16 keys"),
        (lambda: varlen(FLAT, X, X, CU, CU[:1], 8, 8, block_table=TABLE), "one bound for each sequence"),
        (lambda: cache(None, X, X), "flash_attn_with_kvcache got q = None"),
        (lambda: cache(X, None, X), "k_cache = None.*torch tensor"),
        (lambda: cache(X, FLAT, FLAT), r"k_cache of shape.*\(batch, capacity, kv_heads, dim\)"),
        (lambda: cache(X, X, zeros(1, 9, 2, 16)), "k_cache and v_cache must agree"),
        (lambda: cache(X, zeros(2, 8, 2, 16), zeros(2, 8, 2, 16)), "a cache of 2 sequences and 1 of q"),
        (lambda: cache(X, FLAT, FLAT, block_table=TABLE), r"k_cache of.*\(pages, page_size, kv_heads, dim\)"),
        (lambda: cache(X, X, X, block_table=TABLE[0]), "block_table of shape.*pages"),
        (lambda: cache(X, X, X, k=3, v=X, cache_seqlens=0), "got k = 3.*torch tensor"),
        (lambda: cache(X, X, X, k=X, v=X), "no cache_seqlens"),
        (lambda: cache(X, X, X, k=X, cache_seqlens=0), "only one of k and v"),
        (lambda: cache(X, X, X, cache_seqlens=[8]), "cache_seqlens.*torch tensor"),
        (lambda: cache(X, X, X, window_size=3), "window_size.*two whole numbers"),
        (lambda: cache(X, X, X, num_splits=None), "num_splits.*whole number"),
    ],
)
def test_it_is_said_what_is_wrong(call: Any, says: str) -> None:
    with pytest.raises(FlashpathError, match=f"(?s){says}"):
        call()


def test_numbers_may_be_in_tensors() -> None:
    longest = torch.tensor(8)
    out = varlen(FLAT, FLAT, FLAT, CU, CU, longest, longest, window_size=[torch.tensor(2), 0.0])
    assert out.shape == FLAT.shape


@pytest.mark.parametrize(
    ("mask", "unused", "says"),
    [
        ((2, 5), None, r"attention_mask of shape \(2, 5\).*must be \(3, 5\)"),
        ((3, 4), None, r"attention_mask of shape \(3, 4\).*must be \(3, 5\)"),
        ((3, 5), (3, 1), "unused_mask of shape"),
        ((15,), None, "attention_mask of shape"),
    ],
)
def test_masks_of_another_shape(mask: tuple[int, ...], unused: tuple[int, ...] | None, says: str) -> None:
    unused_mask = None if unused is None else torch.zeros(unused, dtype=torch.int32)
    with pytest.raises(FlashpathError, match=f"(?s)unpad_input got {says}"):
        unpad_input(zeros(3, 5, 2), torch.ones(mask, dtype=torch.int32), unused_mask)


def test_padding_of_what_is_no_tensor_or_has_no_place() -> None:
    with pytest.raises(FlashpathError, match="attention_mask = None"):
        unpad_input(zeros(3, 5, 2), None)
    with pytest.raises(FlashpathError, match="hidden_states of shape"):
        unpad_input(zeros(3), torch.ones(3))
    with pytest.raises(FlashpathError, match="one index for each token"):
        pad_input(zeros(4, 2), torch.arange(3), 2, 5)
    with pytest.raises(FlashpathError, match="from 7 to 10 for 2 sequences of 5"):
        pad_input(zeros(4, 2), torch.arange(7, 11), 2, 5)


def whole(*numbers: int) -> Any:
    return torch.tensor(numbers, dtype=torch.int32)


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"cu_seqlens_q": whole(7, 1, 9)}, "cu_seqlens_q = .7, 1, 9."),
        ({"cu_seqlens_q": torch.rand(5)}, r"cu_seqlens_q of shape \(5,\)"),
        ({"max_seqlen_k": 3}, "(?s)max_seqlen_k = 3, and a sequence of 6.*longest"),
        ({"deterministic": "x"}, "deterministic.*"),
        ({"return_attn_probs": "x"}, "return_attn_probs.*"),
        ({"dropout_p": "x"}, "dropout_p.*"),
    ],
)
def test_pages_with_one_query_each(changes: dict[str, Any], says: str) -> None:
    pages = zeros(2, 8, 2, 16)
    given = {
        "q": zeros(2, 2, 16),
        "k": pages,
        "v": pages,
        "cu_seqlens_q": whole(0, 1, 2),
        "cu_seqlens_k": whole(0, 6, 9),
        "max_seqlen_q": 1,
        "max_seqlen_k": 6,
        "block_table": torch.tensor([[0], [1]], dtype=torch.int32),
    }
    assert varlen(**given).shape == (2, 2, 16)
    with pytest.raises(FlashpathError, match=says):
        varlen(**{**given, **changes})


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: apply_rotary_emb(None, COS, COS), "x = None"),
        (lambda: apply_rotary_emb(X, COS, None), "sin = None"),
        (lambda: apply_rotary_emb(X, COS[None], COS), r"(?s)cos of shape.*\(positions, pairs\)"),
        (lambda: apply_rotary_emb(X, COS, COS[:2]), "(?s)cos of shape.*at most 8 pairs"),
        (lambda: apply_rotary_emb(X, zeros(8, 16), zeros(8, 16)), "(?s)cos of shape.*at most 8 pairs"),
        (lambda: apply_rotary_emb(X, COS, COS, seqlen_offsets=-2), "seqlen_offsets of -2"),
        (lambda: apply_rotary_emb(X, COS, COS, seqlen_offsets=whole(-2)), "seqlen_offsets of -2"),
        (lambda: apply_rotary_emb(X, COS, COS, seqlen_offsets=1.5), "seqlen_offsets = 1.5"),
        (lambda: apply_rotary_emb(X, COS, COS, seqlen_offsets=whole(1, 2)), "each of the 1 sequences"),
        (lambda: apply_rotary_emb(FLAT, COS, COS, cu_seqlens=whole(0, 9)), "(?s)cu_seqlens.*8 tokens"),
        (lambda: apply_rotary_emb(FLAT, COS, COS, cu_seqlens=whole(0, 6)), "(?s)cu_seqlens.*8 tokens"),
        (lambda: func(*[zeros(1, 8, 2, 0)] * 3), "head dimension of 1 or more"),
        (lambda: cache(*[zeros(1, 8, 2, 0)] * 3), "head dimension of 1 or more"),
        (lambda: func(X, X, X, return_attn_probs="x"), "return_attn_probs"),
        (lambda: index_first_axis(FLAT, torch.tensor([9])), "(?s)from 9 to 9 for 8 rows"),
        (lambda: index_first_axis(FLAT, torch.tensor([-1])), "(?s)from -1 to -1 for 8 rows"),
        (lambda: index_first_axis(FLAT, torch.rand(2)), "indices of torch.float32"),
        (lambda: index_put_first_axis(FLAT[:1], torch.tensor([9]), 8), "(?s)from 9 to 9 for 8 rows"),
    ],
)
def test_rotary_and_padding(call: Any, says: str) -> None:
    with pytest.raises(FlashpathError, match=says):
        call()
