"""The virtual GPU: PTX made ready to run, and the device addresses of the host's memory."""

from __future__ import annotations

import functools
import importlib
import json
from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, cast

from flashpath.errors import FlashpathError
from flashpath.messages import Message
from flashpath.vgpu.findings import Finding, Kind, Party
from flashpath.vgpu.host import EngineNotBuilt, vector_extensions
from flashpath.vgpu.ptx import PtxError
from flashpath.vgpu.report.listing import Listing

if TYPE_CHECKING:
    from flashpath.vgpu import _engine
    from flashpath.vgpu._engine import LaunchResult, Program

# What the faster build of the engine needs of the processor.
_FAST_NEEDS = ("avx2", "fma", "f16c")
# Arrays start here in the device's address space, far enough apart that no index runs from one to the next.
_FIRST_ADDRESS = 0x10_0000_0000
_ALIGNMENT = 512  # as cudaMalloc aligns
_WIDEST_ACCESS = 16  # hosts choose wide accesses by the addresses that they see, up to so many bytes
_GAP = 1 << 32


class UnsupportedInstruction(FlashpathError):
    """A kernel has an instruction that this version of the virtual GPU does not know."""


@dataclass(frozen=True)
class HostArray:
    """Memory of the host that a launch may touch, and the parameter that points to it.

    `first` and `last` bound the bytes of the view itself, `owner_first` and `owner_last` the allocation that
    it was cut from: a view keeps its offset in it, and so its alignment.
    """

    parameter: int  # the pointer's offset in the kernel's parameters
    address: int
    first: int
    last: int
    owner_first: int
    owner_last: int
    writable: bool
    initialised: bool = True  # what is in it when a launch begins has a meaning


@functools.cache
def engine() -> Any:
    """The build of the engine that suits this processor best."""
    extensions = vector_extensions()  # raises EngineNotBuilt where there is none
    if all(extensions.get(name) for name in _FAST_NEEDS):
        try:
            return importlib.import_module("flashpath.vgpu._engine_v3")
        except ImportError:
            pass  # built for another processor only: slower, never wrong
    try:
        return importlib.import_module("flashpath.vgpu._engine")
    except ImportError as error:
        raise EngineNotBuilt(error) from error


# The name of a library's file for people ("cuda/pipeline"), by its path; None for the user's own.
LibraryName = Callable[[str], str | None]


def _all_the_users(path: str) -> None:
    del path


class VirtualModule:
    """A PTX module on the virtual GPU. Its kernels share its variables, which live as long as it does.

    Code from files that `library_name` knows is placed where the user's source calls it, not where it stands.
    """

    def __init__(self, ptx: str, library_name: LibraryName = _all_the_users) -> None:
        self._engine, self._ptx = engine(), ptx
        try:
            self._module = self._engine.Module.load(ptx)
        except self._engine.ParseError as error:
            raise PtxError(*error.args) from None
        except self._engine.LowerError as error:
            raise _refusal(error, "") from None
        except MemoryError:
            raise FlashpathError("vgpu.no-memory-for-variables") from None
        named = ((number, library_name(path)) for number, path in self._module.files)
        self._libraries = {number: name for number, name in named if name is not None}

    def kernel(self, lowered: str, name: str | None = None) -> VirtualKernel:
        """The kernel that the PTX calls `lowered`, ready to run; `name` is what people call it."""
        name = name or lowered
        try:
            program = self._module.kernel(lowered, list(self._libraries))
            return VirtualKernel(name, program, self._libraries)
        except self._engine.LowerError as error:
            raise _refusal(error, name) from None


def _refusal(error: _engine.LowerError, kernel: str) -> FlashpathError:
    """Returns what the engine's refusal of a module or a kernel is raised as."""
    code, problem, ptx_line, place = error.args
    said = Message.from_data(json.loads(problem))
    if not ptx_line:  # no instruction is to blame
        return FlashpathError(code, kernel=kernel, problem=said)
    return UnsupportedInstruction(code, kernel=kernel, ptx_line=ptx_line, place=place, problem=said)


class VirtualKernel:
    """One kernel of a PTX module, ready to run."""

    def __init__(
        self, name: str, program: Program, library_names: Mapping[int, str] = MappingProxyType({})
    ) -> None:
        self.name = name
        self.program = program
        self._library_names = library_names  # by the numbers of files
        self.runs_to_end = False  # the source is known to have no way out before the kernel's last line

    @functools.cached_property
    def listing(self) -> Listing:
        """Its instructions beside their places in the source."""
        return Listing(self.program, self._library_names)

    def findings(self, result: LaunchResult) -> list[Finding]:
        """Returns what a sanitised launch found; the fault that ended it, if one did, is the last."""
        found = [self._finding(*row) for row in result.findings]
        return [*found, self._fault(result)] if result.fault_kind else found

    def _fault(self, result: LaunchResult) -> Finding:
        at = ("", result.fault_instruction, result.fault_block, result.fault_thread)
        return self._finding(result.fault_kind, result.fault_message, at, None, 1)

    def _finding(
        self, kind: str, message: str, at: _engine.PartyRow, other: _engine.PartyRow | None, count: int
    ) -> Finding:
        here = self._party(at)
        there = None if other is None else self._party(other)
        place = here.file, here.line, here.block, here.thread
        said = Message.from_data(json.loads(message))
        return Finding(cast("Kind", kind), said, *place, other=there, count=count, library=here.library)

    def _party(self, row: _engine.PartyRow) -> Party:
        action, instruction, (x, y, z), (i, j, k) = row
        place = self.listing[instruction]
        return Party(action, place.file, place.line, (x, y, z), (i, j, k), place.library)


Segment = tuple[int, int, int, bool, bool]  # device address, size, host address, writable, initialised
_Range = tuple[int, int, bool, bool]  # of the host: first byte, last, writable, initialised


def place(
    arrays: Sequence[HostArray], pointed_to: Sequence[HostArray] = ()
) -> tuple[list[Segment], list[int]]:
    """Give arrays device addresses: the pieces of memory to map, and the address of each array."""
    # Allocations that overlap are one: a torch tensor may share the memory of a NumPy array.
    owners = _merged([(array.owner_first, array.owner_last, True, True) for array in arrays])
    firsts = [first for first, *_ in owners]
    # In the order of the arguments, wherever the host has put them: addresses are the same in every run.
    order = dict.fromkeys(bisect_right(firsts, array.owner_first) - 1 for array in arrays)
    bases = [0] * len(owners)
    at = _FIRST_ADDRESS
    for k in order:
        first, last, *_ = owners[k]
        bases[k] = at + first % _WIDEST_ACCESS
        at += -(-(last - first) // _ALIGNMENT) * _ALIGNMENT + _GAP

    def device_address(host: int) -> int:
        k = bisect_right(firsts, host) - 1
        return bases[k] + host - owners[k][0]

    segments: list[Segment] = [
        (device_address(first), last - first, first, writable, initialised)
        for first, last, writable, initialised in _merged(_views(arrays))
    ]
    # Addresses of the host are far from those that are given here: the heap below, all else above.
    segments += [
        (first, last - first, first, writable, initialised)
        for first, last, writable, initialised in _merged(_views(pointed_to))
    ]
    return segments, [device_address(array.address) for array in arrays]


def _views(arrays: Sequence[HostArray]) -> list[_Range]:
    return [
        (array.first, array.last, array.writable, array.initialised)
        for array in arrays
        if array.last > array.first
    ]


def _merged(ranges: list[_Range]) -> list[_Range]:
    """Ranges without overlaps; those that only touch stay apart."""
    merged: list[_Range] = []
    for first, last, writable, initialised in sorted(ranges):
        if merged and (first < merged[-1][1] or first == merged[-1][0]):
            begin, end, was_writable, was_initialised = merged[-1]
            merged[-1] = (begin, max(end, last), was_writable or writable, was_initialised or initialised)
        else:
            merged.append((first, last, writable, initialised))
    return merged
