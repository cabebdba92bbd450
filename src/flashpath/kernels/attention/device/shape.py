"""The numbers of a call as CUDA kernels of attention get them: `AttentionShape` of block_info.cuh."""

from __future__ import annotations

import ctypes

UNBOUNDED = 2**29  # a side of the window that has no bound: kUnbounded


class AttentionShape(ctypes.Structure):
    """Packs what the struct of the same name has."""

    _fields_ = (
        *((name, ctypes.c_longlong * 3) for name in ("q", "k", "v", "out", "dout", "dq", "dk", "dv")),
        *((name, ctypes.c_longlong * 2) for name in ("lse", "slopes")),
        ("padded_rows", ctypes.c_longlong),
        *((name, ctypes.c_int) for name in ("batch", "heads", "group", "queries", "keys", "dim", "v_dim")),
        *((name, ctypes.c_int) for name in ("left", "right", "together")),
        *((name, ctypes.c_float) for name in ("scale", "softcap")),
        ("drop_below", ctypes.c_uint),
        ("kept_factor", ctypes.c_float),
    )
