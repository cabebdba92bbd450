"""Names of kernels as people write them, from the compiler's."""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Callable


@functools.cache
def kernel_name(mangled: str) -> str:
    """`_ZN2ns5scaleIfEEviT_PS1_` → `ns::scale<float>`: the name that the virtual GPU's runtime tells, too.

    The C++ library's own reader, as there: ours knows only what signatures need.
    """
    told = _demangled(mangled)
    depth = begin = 0
    for at, letter in enumerate(told):
        depth += {"<": 1, ">": -1}.get(letter, 0)
        if letter == "(" and depth == 0:
            return told[begin:at]  # without its parameters
        if letter == " " and depth == 0:
            begin = at + 1  # without what it returns, which instances of templates have
    return told


def _demangled(mangled: str) -> str:
    if (demangle := _reader()) is None:
        return mangled
    status = ctypes.c_int()
    text = demangle(mangled.encode(), None, None, ctypes.byref(status))
    if status.value != 0 or not text:
        return mangled
    told = ctypes.cast(text, ctypes.c_char_p).value or b""
    ctypes.CDLL(None).free(ctypes.c_void_p(text))
    return told.decode(errors="replace")


@functools.cache
def _reader() -> Callable[..., int | None] | None:
    """Returns the demangler of the C++ library, which comes with a host compiler; None without it."""
    try:
        demangle = ctypes.CDLL("libstdc++.so.6")["__cxa_demangle"]
    except (OSError, AttributeError):
        return None
    demangle.restype = ctypes.c_void_p  # kept as a number, to be freed
    demangle.argtypes = [ctypes.c_char_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p]
    return demangle
