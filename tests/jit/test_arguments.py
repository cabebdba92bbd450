"""Arguments are packed to the byte as C++ lays them out; wrong ones are refused before anything runs."""

from __future__ import annotations

import ctypes
import math
import struct
import threading
from fractions import Fraction
from typing import Any

import ml_dtypes
import numpy as np
import pytest
import torch
from hypothesis import example, given, settings
from hypothesis import strategies as st

import flashpath as fp
from flashpath.jit import ArgumentError, KernelCache, arguments
from flashpath.jit.arguments import HOST, NOWHERE, ArrayView, describe
from flashpath.jit.mangling import CType, demangle
from flashpath.jit.packing import ArgumentPacker
from flashpath.jit.ptx import PtxParameter
from flashpath.jit.signature import make_signature

# C++ type → (mangled, PTX type, bytes, alignment, dtype of an array of it)
_TYPES: dict[str, tuple[str, str, int, int, str]] = {
    "bool": ("b", "u8", 1, 1, "?"),
    "char": ("c", "u8", 1, 1, "i1"),
    "signed char": ("a", "u8", 1, 1, "i1"),
    "unsigned char": ("h", "u8", 1, 1, "u1"),
    "short": ("s", "u16", 2, 2, "i2"),
    "unsigned short": ("t", "u16", 2, 2, "u2"),
    "int": ("i", "u32", 4, 4, "i4"),
    "unsigned int": ("j", "u32", 4, 4, "u4"),
    "long": ("l", "u64", 8, 8, "i8"),
    "unsigned long": ("m", "u64", 8, 8, "u8"),
    "long long": ("x", "u64", 8, 8, "i8"),
    "unsigned long long": ("y", "u64", 8, 8, "u8"),
    "float": ("f", "f32", 4, 4, "f4"),
    "double": ("d", "f64", 8, 8, "f8"),
    "__half": ("6__half", "b8", 2, 2, "f2"),
    "__nv_bfloat16": ("13__nv_bfloat16", "b8", 2, 2, "u2"),
    "Struct12": ("8Struct12", "b8", 12, 4, "V12"),
    "Struct32": ("8Struct32", "b8", 32, 16, "V32"),
    "float*": ("Pf", "u64", 8, 8, "u8"),
}


def _type(name: str) -> CType:
    return demangle(f"_Z1k{_TYPES[name][0]}").parameters[0]


def _packer(*names: str) -> ArgumentPacker:
    ptx = [PtxParameter(_TYPES[name][1], *_TYPES[name][2:4]) for name in names]
    return ArgumentPacker("k", make_signature(ptx, [_type(name) for name in names]))


def _packed(packer: ArgumentPacker, arguments: list[Any]) -> list[bytes]:
    """The bytes behind each pointer of the array that the driver gets."""
    pointers, _ = packer.pack(arguments)
    array = pointers._obj[: len(arguments)]
    sizes = [parameter.size for parameter in packer.signature.parameters]
    return [ctypes.string_at(int(place or 0), size) for place, size in zip(array, sizes, strict=True)]


def _values(name: str) -> st.SearchStrategy[Any]:
    dtype = np.dtype(_TYPES[name][4])
    if name == "float*":
        return st.none()
    if name in ("__half", "__nv_bfloat16", "float"):
        return st.floats(width=32)
    if dtype.kind == "V":
        return st.binary(min_size=dtype.itemsize, max_size=dtype.itemsize)
    if dtype.kind == "b":
        return st.booleans()
    if dtype.kind in "iu":
        return st.integers(int(np.iinfo(dtype).min), int(np.iinfo(dtype).max))
    return st.floats()


@st.composite
def _calls(draw: st.DrawFn) -> tuple[list[str], list[Any]]:
    names = draw(st.lists(st.sampled_from(sorted(_TYPES)), max_size=12))
    return names, [draw(_values(name)) for name in names]


def _expected(name: str, value: Any) -> bytes:
    """The bytes of the value, made by NumPy."""
    if value is None:
        return bytes(8)
    if isinstance(value, bytes):
        return value
    dtype: Any = ml_dtypes.bfloat16 if name == "__nv_bfloat16" else np.dtype(_TYPES[name][4])
    with np.errstate(over="ignore"):
        return np.asarray(value).astype(dtype).tobytes()


@settings(max_examples=300, deadline=None)
@given(_calls())
def test_bytes_and_offsets_are_those_of_c(call: tuple[list[str], list[Any]]) -> None:
    names, values = call
    packer = _packer(*names)
    got = _packed(packer, values)
    for name, value, data in zip(names, values, got, strict=True):
        if isinstance(value, float) and math.isnan(value):
            size = _TYPES[name][2]
            code = {2: "H", 4: "f", 8: "d"}[size]
            kind: Any = {"__half": np.float16, "__nv_bfloat16": ml_dtypes.bfloat16}.get(name)
            read = np.frombuffer(data, kind)[0] if kind else struct.unpack(code, data)[0]
            assert np.isnan(read)
        else:
            assert data == _expected(name, value), name
    at = 0
    for name, parameter in zip(names, packer.signature.parameters, strict=True):
        _, _, size, align, _ = _TYPES[name]
        while at % align:
            at += 1
        assert parameter.offset == at
        at += size
    assert packer.signature.size == at


@pytest.mark.parametrize(
    "name", [name for name, row in _TYPES.items() if row[1][0] == "u" and "*" not in name]
)
def test_integers_are_refused_where_they_do_not_fit(name: str) -> None:
    packer = _packer(name)
    kind = np.dtype(_TYPES[name][4])
    low, high = (0, 1) if kind.kind == "b" else (int(np.iinfo(kind).min), int(np.iinfo(kind).max))
    for value in (low, high, np.int64(0), np.bool_(True), False):
        _packed(packer, [value])
    for value in (low - 1, high + 1, 10**30):
        with pytest.raises(ArgumentError) as caught:
            packer.pack([value])
        assert str(caught.value) == (
            f"k: argument 0 is {name}, got {value}.\n  → Its values run from {low} to {high}."
        )


@pytest.mark.parametrize(
    ("value", "shown", "fix"),
    [
        (2.0, "float 2.0", "Pass an integer: int(x)."),
        (None, "NoneType None", "Pass an integer: int(x)."),
        ("3", "str '3'", "Pass an integer: int(x)."),
        (
            np.zeros(3, np.int32),
            "an array of int32, shape (3,), on the CPU",
            "Pass a number; for one element, x.item().",
        ),
        (
            torch.zeros((), dtype=torch.int64),
            "an array of int64, shape (), on the CPU",
            "Pass a number; for one element, x.item().",
        ),
    ],
    ids=str,
)
def test_no_integer(value: Any, shown: str, fix: str) -> None:
    with pytest.raises(ArgumentError) as caught:
        _packer("float", "int").pack([1.0, value])
    assert str(caught.value) == f"k: argument 1 is int, got {shown}.\n  → {fix}"


# ---- Floating point ------------------------------------------------------------------------------------

_LARGEST = float(np.finfo(np.float32).max)
_FIRST_TOO_LARGE = 2.0**128 - 2.0**103  # halfway to the next step: rounds to infinity


@pytest.mark.parametrize(
    "value",
    [
        *(0.0, -0.0, 1, True, np.float16(0.1), np.float64(0.1), np.int8(-3), ml_dtypes.bfloat16(1.5), 1e-60),
        *(_LARGEST, -_LARGEST, 3.4028235e38, math.nextafter(_FIRST_TOO_LARGE, 0), math.inf, -math.inf),
    ],
    ids=repr,
)
def test_floats_are_rounded_as_c_rounds(value: Any) -> None:
    assert _packed(_packer("float"), [value]) == [np.float32(float(value)).tobytes()]
    assert _packed(_packer("double"), [value]) == [np.float64(float(value)).tobytes()]


@pytest.mark.parametrize("value", [_FIRST_TOO_LARGE, -_FIRST_TOO_LARGE, 1e39, 10**300])
def test_a_float_that_would_become_infinite_is_refused(value: Any) -> None:
    with pytest.raises(ArgumentError) as caught:
        _packer("float").pack([value])
    assert str(caught.value) == (
        f"k: argument 0 is float, got {float(value)!r}.\n"
        "  → It is too large for a float; pass a double, or scale it."
    )
    _packer("double").pack([value])


@pytest.mark.parametrize("name", ["float", "double", "__half", "__nv_bfloat16"])
def test_what_is_no_number(name: str) -> None:
    for value in (None, "1.0", 1j, np.zeros(1, np.float32), torch.zeros(1), Fraction(1, 3)):
        with pytest.raises(ArgumentError, match=rf"argument 0 is {name}, got [^\n]*\n  → Pass a number"):
            _packer(name).pack([value])
    with pytest.raises(ArgumentError, match="too large for any float"):
        _packer(name).pack([10**400])


def _nearest_bits(value: float, kind: Any) -> set[int]:
    """The bit patterns of the nearest values of a 16-bit float type, by exact arithmetic."""
    patterns = np.arange(2**16, dtype=np.uint16)
    with np.errstate(invalid="ignore"):
        numbers = patterns.view(kind).astype(np.float64)
    numbers = np.where(np.isfinite(numbers), numbers, 1e300)
    exact = Fraction(value)
    close = np.argsort(np.abs(numbers - value), kind="stable")[:6]
    distances = {int(i): abs(Fraction(float(numbers[i])) - exact) for i in close}
    least = min(distances.values())
    nearest = {i for i, distance in distances.items() if distance == least}
    distinct = {float(numbers[i]) for i in nearest}
    return {i for i in nearest if i % 2 == 0} if len(distinct) > 1 else nearest  # ties go to even


@settings(max_examples=80, deadline=None)
@given(st.floats(-60000, 60000) | st.floats(-1e-4, 1e-4))
@example(1.0 + 2.0**-8 + 2.0**-40)  # rounded to float first, it would be a tie
@example(1.0 + 2.0**-9 + 2.0**-9)
@example(2.0**-25)
@example(-0.0)
def test_half_and_bfloat16_are_rounded_once(value: float) -> None:
    for name, kind in (("__half", np.float16), ("__nv_bfloat16", ml_dtypes.bfloat16)):
        (data,) = _packed(_packer(name), [value])
        bits = int.from_bytes(data, "little")
        assert bits in _nearest_bits(value, kind), name
        assert bool(bits >> 15) == (math.copysign(1.0, value) < 0)


def test_half_and_bfloat16_beyond_their_range() -> None:
    assert _packed(_packer("__half", "__half"), [1e6, -1e6]) == [b"\x00\x7c", b"\x00\xfc"]
    assert _packed(_packer("__nv_bfloat16", "__nv_bfloat16"), [1e39, -math.inf]) == [b"\x80\x7f", b"\x80\xff"]
    assert _packed(_packer("__half"), [np.float16(1.5)]) == [np.float16(1.5).tobytes()]
    assert _packed(_packer("__nv_bfloat16"), [ml_dtypes.bfloat16(1.5)]) == [b"\xc0\x3f"]


# ---- Structs -------------------------------------------------------------------------------------------


class _Struct12(ctypes.Structure):
    _fields_ = (("a", ctypes.c_int), ("b", ctypes.c_float), ("c", ctypes.c_byte))


def test_structs_by_bytes_record_or_ctypes() -> None:
    record_type = np.dtype([("a", "i4"), ("b", "f4"), ("c", "i1")], align=True)
    records = np.zeros(2, record_type)
    records[1] = (7, 0.5, -1)
    data = records[1].tobytes()
    assert len(data) == 12
    packer = _packer("char", "Struct12")
    ways: list[Any] = [data, bytearray(data), memoryview(data), records[1], records[1:2]]
    for way in ways:
        assert _packed(packer, [0, way])[1] == data
    assert _packed(packer, [0, _Struct12(7, 0.5, -1)])[1][:9] == data[:9]
    assert packer.signature.parameters[1].offset == 4


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (b"short", "got 5 bytes.\n  → The struct has 12 bytes with its padding;"),
        (np.zeros(9, "u1"), "got 9 bytes.\n  → The struct has 12 bytes with its padding;"),
        ((7, 0.5), "got tuple (7, 0.5).\n  → Pass the struct's 12 bytes: bytes, a NumPy record,"),
        (None, "got NoneType None.\n  → Pass the struct's 12 bytes"),
    ],
    ids=str,
)
def test_no_struct(value: Any, message: str) -> None:
    with pytest.raises(ArgumentError) as caught:
        _packer("Struct12").pack([value])
    assert str(caught.value).startswith(f"k: argument 0 is Struct12, {message}")


# ---- Arrays --------------------------------------------------------------------------------------------


def _address(packer: ArgumentPacker, array: Any) -> tuple[int, int]:
    """The address packed for the only argument, and the device."""
    pointers, device = packer.pack([array])
    (place,) = pointers._obj
    return int.from_bytes(ctypes.string_at(place, 8), "little"), device


def _pointer(mangled: str) -> ArgumentPacker:
    return ArgumentPacker(
        "k", make_signature([PtxParameter("u64", 8, 8)], demangle(f"_Z1k{mangled}").parameters)
    )


@pytest.mark.parametrize(
    ("mangled", "accepted"),
    [
        ("Pb", {"bool"}),
        ("Pc", {"int8", "uint8"}),
        ("Ph", {"uint8"}),
        ("Ps", {"int16"}),
        ("Pt", {"uint16"}),
        ("PKi", {"int32"}),
        ("Pj", {"uint32"}),
        ("Pl", {"int64"}),
        ("Px", {"int64"}),
        ("Py", {"uint64"}),
        ("PKf", {"float32"}),
        ("Pd", {"float64"}),
        ("PA3_f", {"float32"}),
        ("PA3_A4_Kf", {"float32"}),
        ("P6float2", {"float32", "complex64"}),
        ("PK6float4", {"float32"}),
        ("P7double2", {"float64", "complex128"}),
        ("P4int4", {"int32"}),
        ("P6uchar4", {"uint8"}),
        ("P6__half", {"float16"}),
        ("P7__half2", {"float16"}),
        ("P13__nv_bfloat16", {"bfloat16", "uint16", "int16"}),
        ("PK14__nv_bfloat162", {"bfloat16", "uint16", "int16"}),
        ("P13__nv_fp8_e4m3", {"float8_e4m3fn", "uint8", "int8"}),
        ("P13__nv_fp8_e5m2", {"float8_e5m2", "uint8", "int8"}),
        ("PPf", {"int64", "uint64"}),
        ("P6Struct", {"uint8", "int8", "bytes"}),
    ],
)
def test_which_arrays_a_pointer_takes(mangled: str, accepted: set[str]) -> None:
    packer = _pointer(mangled)
    numpy_types: list[Any] = [np.dtype(code) for code in "?bBhHiIlLefdFD"]
    numpy_types += [
        np.dtype(each) for each in (ml_dtypes.bfloat16, ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e5m2)
    ]
    numpy_types.append(np.dtype([("a", "i4"), ("b", "f4")]))
    for dtype in numpy_types:
        array = np.zeros(4, dtype)
        name = "bytes" if dtype.names else dtype.name
        if name in accepted:
            (data,) = _packed(packer, [array])
            assert int.from_bytes(data, "little") == array.ctypes.data
            continue
        with pytest.raises(ArgumentError) as caught:
            packer.pack([array])
        assert str(caught.value).endswith(
            f"got an array of {name}.\n  → Pass an array of {' or '.join(sorted(accepted))}."
        )
    for name in sorted(accepted - {"bytes"}):
        tensor = torch.zeros(4, dtype=getattr(torch, name))
        for _ in range(2):
            assert _address(packer, tensor) == (tensor.data_ptr(), HOST)
        parameter = torch.nn.Parameter(tensor, requires_grad=False)
        assert _address(packer, parameter) == (tensor.data_ptr(), HOST)
    wrong = torch.zeros(4, dtype=torch.int16 if "float32" in accepted else torch.float32)
    if str(wrong.dtype).removeprefix("torch.") not in accepted:
        with pytest.raises(ArgumentError, match=f"got an array of {str(wrong.dtype).removeprefix('torch.')}"):
            packer.pack([wrong])


def test_void_pointers_take_any_array() -> None:
    for array in (
        np.zeros(2, np.float64),
        torch.zeros(2, dtype=torch.bfloat16),
        np.zeros(2, ml_dtypes.bfloat16),
    ):
        value, where = _address(_pointer("Pv"), array)
        assert value == (array.data_ptr() if isinstance(array, torch.Tensor) else array.ctypes.data)
        assert where == HOST


def test_none_is_the_null_pointer_and_other_things_are_no_arrays() -> None:
    assert _address(_pointer("Pf"), None) == (0, NOWHERE)
    for value in (0, 3.0, [1.0], "x", b"1234"):
        with pytest.raises(ArgumentError) as caught:
            _pointer("Pf").pack([value])
        assert str(caught.value) == (
            f"k: argument 0 is float*, got {describe(value)}.\n  → Pass an array of float32: torch, NumPy, "
            "CuPy, anything with DLPack; or None for a null pointer."
        )


def test_byte_swapped_arrays_are_refused() -> None:
    with pytest.raises(ArgumentError, match=r"got an array of byte-swapped float32\."):
        _pointer("Pf").pack([np.zeros(3, ">f4")])


@pytest.mark.parametrize("make", [lambda: np.zeros((4, 6), np.float32), lambda: torch.zeros(4, 6)])
def test_non_contiguous_arrays_need_a_word(make: Any) -> None:
    view = make()[:, ::2]
    address = view.data_ptr() if isinstance(view, torch.Tensor) else view.ctypes.data
    for _ in range(2):
        with pytest.raises(ArgumentError) as caught:
            _pointer("Pf").pack([view])
        assert str(caught.value) == (
            "k: argument 0 is float*, got a non-contiguous array of shape (4, 3).\n"
            "  → Pass x.contiguous(); or fp.jit.strided(x), if the kernel takes the strides itself."
        )
    assert _address(_pointer("Pf"), fp.jit.strided(view)) == (address, HOST)
    with pytest.raises(ArgumentError, match="got an array of float32"):
        _pointer("Pi").pack([fp.jit.strided(view)])


class _OnlyDlpack:
    """An array of a library that flashpath has never heard of."""

    def __init__(self, array: Any) -> None:
        self.array = array

    def __dlpack__(self, **given: Any) -> Any:
        return self.array.__dlpack__(**given)

    def __dlpack_device__(self) -> Any:
        return self.array.__dlpack_device__()


def test_arrays_of_other_libraries_come_by_dlpack() -> None:
    array = np.zeros((3, 4), np.float32)
    assert _address(_pointer("Pf"), _OnlyDlpack(array)) == (array.ctypes.data, HOST)
    with pytest.raises(ArgumentError, match="an array of float32"):
        _pointer("Pi").pack([_OnlyDlpack(array)])
    with pytest.raises(ArgumentError, match=r"non-contiguous array of shape \(4, 3\)"):
        _pointer("Pf").pack([_OnlyDlpack(array.T)])


# ---- Signatures that only PTX tells --------------------------------------------------------------------


def test_untyped_parameters() -> None:
    ptx = [
        PtxParameter("u64", 8, 8),
        PtxParameter("u32", 4, 4),
        PtxParameter("f32", 4, 4),
        PtxParameter("b8", 6, 2),
    ]
    packer = ArgumentPacker("k", make_signature(ptx, None))
    assert str(packer.signature) == "(.u64, .u32, .f32, .b8[6])"
    array = np.zeros(3, np.float64)
    got = _packed(packer, [array, 2**32 - 1, 0.5, b"abcdef"])
    assert got == [array.ctypes.data.to_bytes(8, "little"), b"\xff" * 4, struct.pack("<f", 0.5), b"abcdef"]
    for address in (2**64 - 1, np.uint64(2**64 - 1)):
        assert _packed(packer, [address, 0, 0, b"abcdef"])[0] == b"\xff" * 8
    for wrong in (-1, 2**64):
        with pytest.raises(ArgumentError, match=r"Its values run from 0 to 2\*\*64 - 1"):
            packer.pack([wrong, 0, 0, b"abcdef"])


def test_types_that_do_not_match_the_ptx_are_not_believed() -> None:
    signature = make_signature([PtxParameter("u32", 4, 4)], demangle("_Z1kif").parameters)
    assert str(signature) == "(.u32)"


# ---- Calls ---------------------------------------------------------------------------------------------


def test_the_number_of_arguments() -> None:
    packer = _packer("int", "float*")
    for passed in ([], [1], [1, None, 2]):
        with pytest.raises(ArgumentError) as caught:
            packer.pack(passed)
        assert str(caught.value) == (
            f"k takes 2 arguments (int, float*), got {len(passed)}.\n"
            "  → Pass one argument per parameter, in order."
        )
    assert _packer().pack([])[1] == NOWHERE


def test_arrays_on_two_devices(monkeypatch: pytest.MonkeyPatch) -> None:
    real = arguments.view_of
    on_second_gpu = object()

    def view_of(array: Any) -> ArrayView | None:
        return ArrayView(4096, "float32", 1, (1,), True) if array is on_second_gpu else real(array)

    monkeypatch.setattr(arguments, "view_of", view_of)
    packer = _packer("float*", "int", "float*")
    with pytest.raises(ArgumentError) as caught:
        packer.pack([np.zeros(1, np.float32), 1, on_second_gpu])
    assert str(caught.value) == (
        "k: argument 2 is on cuda:1, an earlier one on the CPU.\n"
        "  → Bring all arrays to one device, with tensor.to(device)."
    )
    assert packer.pack([None, 1, on_second_gpu])[1] == 1


def test_a_failed_call_leaves_the_next_one_alone() -> None:
    packer = _packer("int", "int")
    packer.pack([1, 2])
    with pytest.raises(ArgumentError):
        packer.pack([3, "x"])
    assert _packed(packer, [5, 6]) == [b"\5\0\0\0", b"\6\0\0\0"]


def test_threads_do_not_share_memory() -> None:
    packer = _packer("unsigned long long", "Struct32")
    barrier = threading.Barrier(8)
    judged: list[int] = []
    wrong: list[Any] = []

    def work(number: int) -> None:
        data = bytes([number]) * 32
        expected = [number.to_bytes(8, "little"), data]
        pointers, _ = packer.pack([number, data])
        barrier.wait()  # by now every thread has packed
        for _ in range(200):
            behind = pointers._obj
            got = [ctypes.string_at(int(behind[0]), 8), ctypes.string_at(int(behind[1]), 32)]
            if got != expected:
                wrong.append((number, got))
            pointers, _ = packer.pack([number, data])
        judged.append(number)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(judged) == list(range(8))
    assert wrong == []


def test_the_layout_is_the_compilers(cache: KernelCache) -> None:
    source = (
        "struct S { double d; char c; };\nstruct alignas(16) A { float f[4]; };\n"
        "#include <cuda_fp16.h>\n#include <cuda_bf16.h>\n"
        'extern "C" __global__ void k(char c, S s, bool b, A a, short h, float* p, __half x, __nv_bfloat16 y,'
        " float3 f, double d) {}\n"
    )
    parameters = fp.compile(source, "sm_80", cache=cache)["k"].signature.parameters
    assert [each.kind for each in parameters] == (
        [
            "integer",
            "bytes",
            "integer",
            "bytes",
            "integer",
            "pointer",
            "float16",
            "bfloat16",
            "bytes",
            "float",
        ]
    )
    assert [each.offset for each in parameters] == [0, 8, 24, 32, 48, 56, 64, 66, 68, 80]
    assert [each.size for each in parameters] == [1, 16, 1, 16, 2, 8, 2, 2, 12, 8]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (3, "int 3"),
        ("x" * 100, "str '" + "x" * 36 + "…"),
        (np.zeros((2, 3), np.float16), "an array of float16, shape (2, 3), on the CPU"),
    ],
)
def test_describe(value: Any, text: str) -> None:
    assert str(describe(value)) == text
