"""Attention before FlashAttention: the formula, its steps as kernels, one kernel, the online softmax."""
