"""FlashAttention 1, as its paper has it: tiles of keys outside, tiles of queries inside."""
