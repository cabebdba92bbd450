"""flash_attn.ops."""
