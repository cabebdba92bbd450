"""What a cross entropy is told beside its tensors, and what of it is refused."""

from __future__ import annotations

import math
import struct
from typing import Any, NamedTuple

from flashpath.errors import FlashpathError


class Options(NamedTuple):
    """`every_lse`: rows that are ignored have an lse too; without it they are not read, and theirs is 0."""

    ignore_index: int = -100
    label_smoothing: float = 0.0
    z_loss: float = 0.0
    softcap: float = 0.0
    every_lse: bool = False

    def packed(self) -> bytes:
        """Returns the struct Terms, as kernels take it."""
        return struct.pack(
            "<qfffi",
            self.ignore_index,
            self.label_smoothing,
            self.z_loss,
            self.softcap,
            self.every_lse,
        )

    @property
    def flags(self) -> str:
        """Whether there is a cap, and whether labels are smoothed, as C++ spells it."""
        return f"{str(self.softcap > 0).lower()}, {str(self.label_smoothing > 0).lower()}"


DEFAULT = Options()


def check_options(operation: str, options: Options) -> None:
    """Refuses numbers for which there is no loss."""
    index, smoothing, z_loss, softcap = options[:4]
    given: dict[str, Any] = {"operation": operation}
    if not -(2**63) <= index < 2**63:
        raise FlashpathError("kernels.cross-entropy-index", value=str(index), **given)
    if not 0 <= smoothing <= 1:
        raise FlashpathError("kernels.cross-entropy-smoothing", value=str(smoothing), **given)
    if not 0 <= z_loss < math.inf:
        raise FlashpathError("kernels.cross-entropy-z-loss", value=str(z_loss), **given)
    if not 0 <= softcap < math.inf:
        raise FlashpathError("kernels.cross-entropy-softcap", value=str(softcap), **given)
