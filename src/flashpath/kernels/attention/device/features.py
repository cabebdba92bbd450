"""What the Triton kernels of attention are compiled for: features of a call, and the width of tiles."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Features:
    """What a kernel is compiled for: code for what is not asked for is not there."""

    folded: bool  # a positive scale is all that lies between products and scores
    softcap: bool
    alibi: bool
    left: bool
    right: bool
    begins_masked: bool  # the first tiles that a program walks over need a mask, the last ones
    ends_masked: bool
    dropout: bool
    sinks: bool
    varlen: bool

    @property
    def masked(self) -> bool:
        return self.begins_masked or self.ends_masked


def block_of(dim: int) -> int:
    """Returns the columns of a tile for a head dimension: a power of two that the tensor cores take."""
    return max(16, 1 << (dim - 1).bit_length())
