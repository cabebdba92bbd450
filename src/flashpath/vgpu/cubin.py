"""What a cubin says of a kernel's resources: ptxas writes them into its ELF section `.nv.info`."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass

from flashpath.errors import FlashpathError

# Attributes of `.nv.info`: one byte how the value is kept, one byte which attribute, two bytes its size or
# the value itself. These two hold the index of a kernel's symbol and a number.
_SIZED_VALUE = 0x04
_FRAME_SIZE = 0x11
_REGISTER_COUNT = 0x2F

_SECTION_HEADER = struct.Struct("<IIQQQQIIQQ")
_SYMBOL = struct.Struct("<IBBHQQ")
_PAIR = struct.Struct("<II")


@dataclass(frozen=True)
class Resources:
    """The resources that a kernel takes of an SM."""

    registers: int  # of a thread
    static_shared: int  # of a block, in bytes; none of Triton's kernels has any
    local_memory: int  # of a thread, in bytes: arrays indexed at run time, spilled registers, call frames


def read_resources(cubin: bytes, kernel: str, static_shared: int = 0) -> Resources:
    """Returns what one kernel of a cubin takes; its static shared memory is known from elsewhere."""
    if cubin[:5] != b"\x7fELF\x02":
        raise FlashpathError("vgpu.no-elf", kernel=kernel)
    found = dict(sections(cubin))
    info = found.get(".nv.info", b"")
    names = [name for name, _ in symbols(found, ".symtab", ".strtab")]
    registers: int | None = None
    local_memory = 0
    for attribute, symbol, value in _pairs(info):
        if attribute == _REGISTER_COUNT and names[symbol] == kernel:
            registers = value
        elif attribute == _FRAME_SIZE and names[symbol] == kernel:
            local_memory = value
    if registers is None:
        raise FlashpathError("vgpu.no-registers-in-cubin", kernel=kernel)
    return Resources(registers, static_shared, local_memory)


def sections(elf: bytes) -> Iterator[tuple[str, bytes]]:
    """The sections of a 64-bit ELF file, by name."""
    (table,) = struct.unpack_from("<Q", elf, 0x28)
    size, count, names_index = struct.unpack_from("<HHH", elf, 0x3A)
    headers = [_SECTION_HEADER.unpack_from(elf, table + size * index) for index in range(count)]
    names_at = headers[names_index][4]
    for name, _, _, _, offset, length, *_ in headers:
        yield _text(elf, names_at + name), elf[offset : offset + length]


def symbols(found: dict[str, bytes], table: str, names: str) -> Iterator[tuple[str, int]]:
    """The symbols of a table among these sections: names, and the section of each; 0: none of the file's."""
    for name, _, _, section, *_ in _SYMBOL.iter_unpack(found[table]):
        yield _text(found[names], name), section


def _pairs(info: bytes) -> Iterator[tuple[int, int, int]]:
    """Attribute, first and second number of all attributes that hold two."""
    at = 0
    while at + 4 <= len(info):
        form, attribute, size = struct.unpack_from("<BBH", info, at)
        at += 4
        if form != _SIZED_VALUE:
            continue
        if size == _PAIR.size:
            symbol, value = _PAIR.unpack_from(info, at)
            yield attribute, symbol, value
        at += size


def _text(data: bytes, at: int) -> str:
    return data[at : data.index(0, at)].decode()
