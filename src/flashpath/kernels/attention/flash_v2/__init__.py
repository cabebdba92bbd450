"""FlashAttention 2: queries outside, keys inside, one pass."""
