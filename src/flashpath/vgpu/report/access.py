"""One access of one warp, with the address of every lane: what coalescing and bank conflicts look like."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass, replace

from flashpath.errors import FlashpathError
from flashpath.messages import say
from flashpath.vgpu.findings import Dim3
from flashpath.vgpu.report import classes
from flashpath.vgpu.report.listing import Place
from flashpath.vgpu.whole import whole

SECTOR_BYTES = 32
BANKS = 32
BANK_BYTES = 4
_LANES = 32


@dataclass(frozen=True)
class Trace:
    """Whose addresses `fp.profile` keeps: the first accesses of every instruction, by any warp or by one."""

    block: int | Dim3 | None = None
    """Its place in the grid, as blockIdx or counted with x first; None: whichever comes first."""
    warp: int | None = None
    """Its place in the block; None: whichever comes first."""
    requests: int = 1
    """How many accesses of each instruction are kept."""

    def __post_init__(self) -> None:
        counts = [self.requests, *([self.warp] if self.warp is not None else [])]
        if not all(_is_count(count) for count in counts):
            raise FlashpathError("vgpu.trace-counts", trace=self)
        block = self.block if isinstance(self.block, tuple) else (self.block or 0,) * 3
        if len(block) != 3 or not all(_is_count(count) for count in block):
            raise FlashpathError("vgpu.trace-block", trace=self)
        own: dict[str, object] = {  # Python's own numbers, where others were given
            "block": tuple(map(int, self.block)) if isinstance(self.block, tuple) else _own(self.block),
            "warp": _own(self.warp),
            "requests": int(self.requests),
        }
        for name, value in own.items():
            object.__setattr__(self, name, value)

    def block_number(self, grid: Dim3) -> int | None:
        """The block's place in the grid, counted with x first."""
        if self.block is None:
            return None
        x, y, z = self.block if isinstance(self.block, tuple) else (self.block, 0, 0)
        blocks = grid[0] * grid[1] * grid[2]
        number = x + grid[0] * (y + grid[1] * z)
        inside = (
            x < grid[0] and y < grid[1] and z < grid[2] if isinstance(self.block, tuple) else number < blocks
        )
        if not inside:
            raise FlashpathError(
                "vgpu.trace-block-outside", block=str(self.block), grid=str(grid), last=blocks - 1
            )
        return number

    def warp_number(self, block: Dim3) -> int | None:
        """The warp's place in the block."""
        warps = -(-block[0] * block[1] * block[2] // _LANES)
        if self.warp is not None and self.warp >= warps:
            raise FlashpathError("vgpu.trace-warp-outside", warp=self.warp, block=str(block), last=warps - 1)
        return self.warp


def _is_count(value: object) -> bool:
    number = whole(value)
    return number is not None and 0 <= number < 1 << 31


def _own(value: int | None) -> int | None:
    return None if value is None else int(value)


FIRST_ACCESSES = Trace()
"""The first access of every instruction, whoever makes it."""


@dataclass(frozen=True)
class PlacedArray:
    """An array of a launch, where the kernel sees it."""

    type: str
    """As people write it, such as "float*"; empty where it is not known."""
    argument: int
    """Its place among the arguments."""
    address: int
    size: int


@dataclass(frozen=True)
class Sector:
    """32 bytes of global memory, and who wants them."""

    address: int
    lanes: tuple[int, ...]
    used: int
    """A bit for each byte that some lane asked for."""

    @property
    def bytes_used(self) -> int:
        return self.used.bit_count()


@dataclass(frozen=True)
class Pass:
    """One pass over the banks of shared memory."""

    banks: tuple[tuple[int, ...], ...]
    """The lanes that each of the 32 banks serves: several where they ask for the same word."""
    is_conflict: bool
    """Whether it is there only because another word of one of its banks was asked for as well."""

    @property
    def lanes(self) -> tuple[int, ...]:
        return tuple(sorted({lane for served in self.banks for lane in served}))


@dataclass(frozen=True)
class Access:
    """One access of one warp to global or shared memory."""

    opcode: str
    kind: classes.Access
    space: classes.Space
    file: str
    line: int
    block: Dim3
    warp: int
    size: int
    """Bytes that each lane asks for."""
    addresses: tuple[int | None, ...]
    """The address of each lane; None where it took no part. Shared memory starts at 0 in each block."""
    base: int = 0
    """The address at which the array of the first lane's address starts; 0 where there is none."""
    argument: int | None = None
    """The place of that array among the arguments of the launch; None for what is not one of them."""
    type: str = ""
    """The type of that argument, such as "float*"; empty where it is not known."""

    name: str = ""
    """What that argument is called, where its caller has said so."""

    @property
    def array(self) -> str:
        """Its name, or "argument 1 (float*)" in the language that is spoken; empty for none."""
        if self.name:
            return self.name
        if self.argument is None:
            return ""
        return say(
            "vgpu.argument" if self.type else "vgpu.argument-untyped", index=self.argument, type=self.type
        )

    @property
    def lanes(self) -> tuple[int, ...]:
        """Those that take part."""
        return tuple(lane for lane, address in enumerate(self.addresses) if address is not None)

    @functools.cached_property
    def sectors(self) -> tuple[Sector, ...]:
        """The sectors of global memory that are moved, in the order of their addresses; none in shared."""
        if self.space != "global":
            return ()
        lanes: dict[int, list[int]] = {}
        used: dict[int, int] = {}
        for lane, address in self._asked():
            start = address // SECTOR_BYTES * SECTOR_BYTES
            lanes.setdefault(start, []).append(lane)
            bytes_of_lane = ((1 << self.size) - 1) << (address - start)
            used[start] = used.get(start, 0) | bytes_of_lane
        return tuple(Sector(start, tuple(lanes[start]), used[start]) for start in sorted(lanes))

    @property
    def ideal_sectors(self) -> int:
        """The fewest sectors that hold the bytes asked for."""
        return -(-sum(sector.bytes_used for sector in self.sectors) // SECTOR_BYTES)

    @functools.cached_property
    def passes(self) -> tuple[Pass, ...]:
        """The passes over the banks of shared memory, in order; none in global.

        A bank gives one word of 4 bytes a pass, to all lanes that want it, but lets only one lane change it.
        Accesses of 8 and 16 bytes are served half and quarter a warp at a time, or twice as many lanes where
        a load's come in pairs.
        """
        if self.space != "shared":
            return ()
        width = _LANES * BANK_BYTES // max(self.size, BANK_BYTES)
        if width < _LANES and self.kind == "load" and (self._in_pairs(1) or self._in_pairs(2)):
            width *= 2
        passes: list[Pass] = []
        for first in range(0, _LANES, width):
            members = [(lane, address) for lane, address in self._asked() if first <= lane < first + width]
            banks = self._served(members)
            for depth in range(max(map(len, banks))):
                served = tuple(bank[depth] if depth < len(bank) else () for bank in banks)
                passes.append(Pass(served, is_conflict=depth > 0))
        return tuple(passes)

    def _served(self, members: list[tuple[int, int]]) -> list[list[tuple[int, ...]]]:
        """Returns, for each bank, the groups of lanes that it serves together, one group after the other."""
        banks: list[dict[tuple[int, int], list[int]]] = [{} for _ in range(BANKS)]
        for lane, address in members:
            last = (address + self.size - 1) // BANK_BYTES
            for word in range(address // BANK_BYTES, last + 1):
                alone = lane if self.kind == "atomic" else -1
                banks[word % BANKS].setdefault((word, alone), []).append(lane)
        return [[tuple(lanes) for lanes in bank.values()] for bank in banks]

    def _in_pairs(self, bit: int) -> bool:
        """Whether every lane asks for the same as the one whose number differs in this bit."""
        asked = dict(self._asked())
        return all(asked.get(lane ^ bit, address) == address for lane, address in asked.items())

    @property
    def wavefronts(self) -> int:
        return len(self.passes)

    @property
    def bank_conflicts(self) -> int:
        return sum(one_pass.is_conflict for one_pass in self.passes)

    @property
    def turns(self) -> int:
        """Returns how many turns an atomic takes: the most lanes that meet at one address go one by one."""
        if self.kind != "atomic":
            return 1
        met = [address for _, address in self._asked()]
        return max(map(met.count, met))

    def _asked(self) -> list[tuple[int, int]]:
        return [(lane, address) for lane, address in enumerate(self.addresses) if address is not None]


AccessRow = tuple[int, str, Sequence[int], int, int, int, Sequence[int]]
"""An access as the engine gives it: instruction, space, block, warp, lanes, bytes, addresses."""


def make_access(row: AccessRow, place: Place, arrays: Sequence[PlacedArray]) -> Access:
    """An access that the engine kept; its array is found by its first address."""
    _, name, (x, y, z), warp, lanes, size, addresses = row
    space: classes.Space = "global" if name == "global" else "shared"
    kept = tuple(address if lanes >> lane & 1 else None for lane, address in enumerate(addresses))
    first = next(address for address in kept if address is not None)
    kind = classes.access_kind(place.opcode, space)
    access = Access(place.opcode, kind, space, place.file, place.line, (x, y, z), warp, size, kept)
    for array in arrays:
        if space == "global" and array.address <= first < array.address + array.size:
            return replace(access, base=array.address, argument=array.argument, type=array.type)
    return access
