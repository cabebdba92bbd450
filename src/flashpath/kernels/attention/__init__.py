"""Attention, softmax(q kᵀ) v: from the formula to FlashAttention 1 and 2, which never write the scores."""
