<<<<<<< HEAD
"""FlashAttention 2: a tile of queries walks over the keys; what is added to it stays in registers."""
=======
"""FlashAttention 2: queries outside, keys inside, one pass."""
>>>>>>> facuda
