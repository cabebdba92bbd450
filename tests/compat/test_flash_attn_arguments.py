"""What flash-attn's functions say to arguments that they do not take."""

# pyright: basic, reportCallIssue=false, reportArgumentType=false

from __future__ import annotations

from typing import Any

import pytest
import torch

from flashpath.compat import flash_attn
from flashpath.compat.flash_attn.bert_padding import pad_input, unpad_input
from flashpath.errors import FlashpathError

X = torch.zeros(1, 8, 2, 16, dtype=torch.float16)
FLAT = X[0]
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
