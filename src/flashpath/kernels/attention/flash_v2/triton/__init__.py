"""FlashAttention 2 in Triton: forward, backward, and what lies between scores and weights."""
