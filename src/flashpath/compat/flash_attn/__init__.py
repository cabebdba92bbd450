"""The interface of flash-attn 2.x: `from flashpath.compat.flash_attn import flash_attn_func`.

Signatures, layouts and meanings are flash-attn's; docs/flash_attn.md has what differs. On CPU tensors the
virtual GPU runs. `flashpath.compat.install_as_flash_attn` puts it where `import flash_attn` finds it.
"""

from flashpath.compat.flash_attn.functions import (
    flash_attn_func,
    flash_attn_kvpacked_func,
    flash_attn_qkvpacked_func,
    flash_attn_varlen_func,
    flash_attn_varlen_kvpacked_func,
    flash_attn_varlen_qkvpacked_func,
    flash_attn_with_kvcache,
)

__version__ = "2.8.3"  # of flash-attn, whose interface this is

__all__ = [
    "flash_attn_func",
    "flash_attn_kvpacked_func",
    "flash_attn_qkvpacked_func",
    "flash_attn_varlen_func",
    "flash_attn_varlen_kvpacked_func",
    "flash_attn_varlen_qkvpacked_func",
    "flash_attn_with_kvcache",
]
