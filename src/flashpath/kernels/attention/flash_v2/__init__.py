"""FlashAttention 2: a tile of queries walks over the keys; what is added to it stays in registers."""
