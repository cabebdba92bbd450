"""Messages between the grader and its children: a JSON header, and arrays as raw bytes behind it.

No pickle in either direction: what is read can make numbers, texts, lists and arrays, and nothing else.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Sequence
from typing import Any, BinaryIO, cast

import numpy as np

Header = dict[str, Any]
Array = np.ndarray[Any, Any]

_PREFIX = struct.Struct("<4sIQ")  # a mark, the bytes of the header, the bytes of all arrays
_MARK = b"fp1\n"
MOST_HEADER_BYTES = 4 << 20
MOST_PAYLOAD_BYTES = 2 << 30
_MOST_ARRAYS = 256
_MOST_AXES = 32

_OWN = (
    "bool", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64",
    "float16", "float32", "float64",
)  # fmt: skip
_OF_ML_DTYPES = ("bfloat16", "float8_e4m3fn", "float8_e5m2")
DTYPES = (*_OWN, *_OF_ML_DTYPES)


class BadFrame(Exception):
    """What was read is no message of ours."""


class Closed(Exception):
    """The other side has ended."""


def dtype_named(name: str) -> np.dtype[Any]:
    """The dtype of one of the names that messages may hold."""
    if name in _OF_ML_DTYPES:
        import ml_dtypes

        return np.dtype(getattr(ml_dtypes, name))
    if name not in _OWN:
        raise BadFrame(f"an array of {name!r:.40}")
    return np.dtype(name)


def write_frame(stream: BinaryIO, header: Header, arrays: Sequence[Array] = ()) -> None:
    """Send one message."""
    plain = [np.ascontiguousarray(array) for array in arrays]
    described = [
        {"dtype": array.dtype.name, "shape": list(given.shape)}
        for array, given in zip(plain, arrays, strict=True)
    ]
    text = json.dumps({**header, "arrays": described}).encode()
    stream.write(_PREFIX.pack(_MARK, len(text), sum(array.nbytes for array in plain)))
    stream.write(text)
    for array in plain:
        if array.nbytes:
            stream.write(array.reshape(-1).view(np.uint8).data)
    stream.flush()


def read_frame(
    stream: BinaryIO, most_payload: int = MOST_PAYLOAD_BYTES, most_header: int = MOST_HEADER_BYTES
) -> tuple[Header, list[Array]]:
    """Read one message. Its arrays are writable, aligned to 64 bytes, each in memory of its own."""
    mark, header_bytes, payload_bytes = _PREFIX.unpack(_exactly(stream, _PREFIX.size))
    if mark != _MARK or header_bytes > most_header or payload_bytes > most_payload:
        raise BadFrame("a mark or a size that no message has")
    try:
        header: Any = json.loads(_exactly(stream, header_bytes))
    except (ValueError, RecursionError):
        raise BadFrame("a header that is no JSON") from None
    if not isinstance(header, dict):
        raise BadFrame("a header that is no object")
    found = cast("Header", header)
    arrays: list[Array] = []
    left = payload_bytes
    for array in _empty_arrays(found.pop("arrays", None), payload_bytes):
        if array.nbytes:
            _read_into(stream, array.reshape(-1).view(np.uint8).data)
        left -= array.nbytes
        arrays.append(array)
    if left:
        raise BadFrame("bytes that belong to no array")
    return found, arrays


def _empty_arrays(described: Any, payload_bytes: int) -> list[Array]:
    if not isinstance(described, list):
        raise BadFrame("no list of arrays")
    rows = cast("list[Any]", described)
    if len(rows) > _MOST_ARRAYS:
        raise BadFrame("too many arrays")
    made: list[Array] = []
    left = payload_bytes
    for row in rows:
        dtype, shape = _described(row)
        size = dtype.itemsize
        for extent in shape:
            size *= extent
        if size > left:
            raise BadFrame("arrays that are larger than the message")
        left -= size
        made.append(aligned_empty(shape, dtype))
    return made


def _described(row: Any) -> tuple[np.dtype[Any], tuple[int, ...]]:
    if not isinstance(row, dict):
        raise BadFrame("an array without a description")
    fields = cast("dict[str, Any]", row)
    name, shape = fields.get("dtype"), fields.get("shape")
    if not isinstance(name, str) or not isinstance(shape, list):
        raise BadFrame("an array without dtype and shape")
    extents = cast("list[Any]", shape)
    if len(extents) > _MOST_AXES or not all(type(each) is int and 0 <= each < 1 << 40 for each in extents):
        raise BadFrame("an array of an impossible shape")
    return dtype_named(name), tuple(extents)


def aligned_empty(shape: tuple[int, ...], dtype: np.dtype[Any], alignment: int = 64) -> Array:
    """Memory whose address is a multiple of `alignment`, as a GPU's allocations are."""
    count = 1
    for extent in shape:
        count *= extent
    if count == 0:
        return np.empty(shape, dtype)
    room = np.empty(count * dtype.itemsize + alignment, np.uint8)
    skipped = -room.ctypes.data % alignment
    # Through its buffer: nobody is to take the bytes before and after for the array's own.
    exact = np.frombuffer(room.data[skipped : skipped + count * dtype.itemsize], np.uint8)
    return exact.view(dtype).reshape(shape)


def _exactly(stream: BinaryIO, count: int) -> bytes:
    data = bytearray(count)
    _read_into(stream, memoryview(data))
    return bytes(data)


def _read_into(stream: Any, room: memoryview) -> None:
    at = 0
    while at < len(room):
        got: int | None = stream.readinto(room[at:])
        if not got:
            raise Closed
        at += got
