"""Drop-in interfaces of other libraries, on flashpath's kernels."""

import importlib
import sys

from flashpath.compat import distribution
from flashpath.errors import FlashpathError

FLASH_ATTN = (
    "",
    ".bert_padding",
    ".flash_attn_interface",
    ".layers",
    ".layers.rotary",
    ".ops",
    ".ops.triton",
    ".ops.triton.layer_norm",
)
FLASH_ATTN_3 = "flash_attn_interface"


def install_as_flash_attn() -> None:
    """Makes `import flash_attn` and its modules give those of `flashpath.compat.flash_attn`.

    Call it before anything imports flash_attn. Modules of flash-attn that are not there are not found.
    `importlib.metadata.version("flash_attn")` is the version of flash-attn whose interface it is.
    """
    ours = {
        f"flash_attn{name}": importlib.import_module(f"flashpath.compat.flash_attn{name}")
        for name in FLASH_ATTN
    }
    for name, module in sys.modules.items():
        if name.partition(".")[0] == "flash_attn" and ours.get(name) is not module:
            raise FlashpathError("compat.imported-already", module=name)
    sys.modules.update(ours)
    distribution.install(ours["flash_attn"].__version__)


def install_as_flash_attn_3() -> None:
    """Makes `import flash_attn_interface`, FlashAttention 3's module, give `flashpath.compat.flash_attn_3`.

    Call it before anything imports flash_attn_interface.
    """
    ours = importlib.import_module("flashpath.compat.flash_attn_3")
    if sys.modules.get(FLASH_ATTN_3, ours) is not ours:
        raise FlashpathError("compat.imported-already", module=FLASH_ATTN_3)
    sys.modules[FLASH_ATTN_3] = ours
