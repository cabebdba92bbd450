"""The interface of flash-attn 2.x: `from flashpath.compat.flash_attn import flash_attn_func`.

Signatures, layouts and meanings are flash-attn's. What is not there raises NotImplementedError and says so:
`block_table` of `flash_attn_varlen_func`, and the probabilities of `return_attn_probs` under dropout. On CPU
tensors the virtual GPU runs.
"""

from flashpath.compat.flash_attn.flash_attn_interface import (
    flash_attn_func,
    flash_attn_kvpacked_func,
    flash_attn_qkvpacked_func,
    flash_attn_varlen_func,
    flash_attn_varlen_kvpacked_func,
    flash_attn_varlen_qkvpacked_func,
    flash_attn_with_kvcache,
)

__all__ = [
    "flash_attn_func",
    "flash_attn_kvpacked_func",
    "flash_attn_qkvpacked_func",
    "flash_attn_varlen_func",
    "flash_attn_varlen_kvpacked_func",
    "flash_attn_varlen_qkvpacked_func",
    "flash_attn_with_kvcache",
]
