"""The tiles, warps and stages of the Triton rungs: what they take by themselves, and what can be tried."""

from __future__ import annotations

from dataclasses import dataclass

ROW_BYTES = 128  # of a tile of a: its step along k


@dataclass(frozen=True)
class Config:
    """The tile of a program, and how many tiles down it goes before it goes right."""

    m: int
    n: int
    group: int
    warps: int
    stages: int
    split: int = 1  # the parts that a result is stored in

    def __str__(self) -> str:
        parts = f", stored in {self.split} parts" if self.split > 1 else ""
        shape = f"{self.m}×{self.n}, {self.group} tiles down"
        return f"{shape}, {self.warps} warps, {self.stages} stages{parts}"

    def programs(self, m: int, n: int) -> int:
        return -(-m // self.m) * -(-n // self.n)

    def constants(self, element_size: int) -> dict[str, int]:
        return {
            "BLOCK_M": self.m,
            "BLOCK_N": self.n,
            "BLOCK_K": ROW_BYTES // element_size,
            "GROUP": self.group,
            "num_warps": self.warps,
            "num_stages": self.stages,
        }


SMALL = Config(64, 64, group=8, warps=4, stages=3)
LARGE = Config(128, 256, group=8, warps=8, stages=3)
# Beside the stages, a result goes through shared memory on its way out, and a mask on its way in: twice the
# bytes, or both, leave no room for tiles of 128 × 256.
MEDIUM = Config(128, 128, group=8, warps=8, stages=4)
# What else `flashpath tune` tries; triton_autotuned has a list of its own.
MORE_CONFIGS = (
    Config(256, 128, group=8, warps=8, stages=3),
    Config(128, 128, group=8, warps=4, stages=4),
    Config(128, 64, group=8, warps=4, stages=4),
)
# Beside four stages of the largest tiles an SM of Hopper has no room for the result. Programs that have one
# tile put it in the place of the stages, which they need no more; programs that stay store it in parts.
OF_ONE_TILE = (Config(128, 256, group=8, warps=8, stages=4),)
IN_PARTS = (
    Config(128, 256, group=8, warps=8, stages=4, split=2),
    Config(256, 128, group=8, warps=8, stages=4, split=2),
)
