"""What flash-attn keeps in `flash_attn.layers`."""
