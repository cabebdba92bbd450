"""FlashAttention 2 in CUDA C++, on tensor cores by mma.sync: forward, backward, and what they are made of."""
