"""flash_attn.ops.triton: its layer_norm alone."""
