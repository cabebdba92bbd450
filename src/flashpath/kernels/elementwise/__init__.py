"""Operations on one element at a time: scale, add, clamp, activations, gated ones, a fused chain."""
