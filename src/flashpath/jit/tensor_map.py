"""`fp.TensorMap`: a tensor and a box of it, for kernels that take `const __grid_constant__ CUtensorMap`."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import Any

from flashpath.errors import FlashpathError
from flashpath.jit.arguments import HOST, ArgumentError, view_of
from flashpath.vgpu.tensor_maps import FILLS, SWIZZLES, TYPES, encoded

BYTES = 128
_PROMOTES_128_BYTES = 2  # what a GPU's L2 cache loads at once


class TensorMap:
    """What a bulk tensor copy is told of an array: its extents, its strides, and the box copied at once.

    `box` has the array's dimensions in the array's order, the innermost last. With `swizzle` (32, 64 or 128
    bytes) the rows of the box lie in shared memory as `wgmma` reads them without bank conflicts. What is
    outside of the array is filled with zeros, or with NaN (`fill="nan"`). `steps` takes every so-manyth
    element of a dimension. The array may be strided, but for its last dimension; bf16 and fp8 arrays, or
    integers that stand for them, are copied as they are.
    """

    def __init__(
        self,
        array: Any,
        box: Sequence[int],
        *,
        swizzle: int = 0,
        fill: str = "zeros",
        steps: Sequence[int] | None = None,
    ) -> None:
        view = view_of(array)
        if view is None:
            raise ArgumentError("jit.map-of-no-array", value=f"{array!r:.80}")
        if view.dtype not in TYPES:
            raise ArgumentError("jit.map-type", dtype=view.dtype, known=sorted(TYPES))
        if swizzle not in SWIZZLES:
            raise ArgumentError("jit.map-swizzle", value=repr(swizzle), known=list(SWIZZLES))
        if fill not in FILLS:
            raise ArgumentError("jit.map-fill", value=repr(fill), known=list(FILLS))
        self.array, self.box, self.swizzle, self.fill = array, tuple(box), swizzle, fill
        self.steps = tuple(steps) if steps is not None else (1,) * len(self.box)
        self.address, self.device, self.shape, self.dtype = view.address, view.device, view.shape, view.dtype
        if len(self.box) != len(self.shape) or len(self.steps) != len(self.shape):
            raise ArgumentError(
                "jit.map-rank", box=str(self.box), steps=str(self.steps), shape=str(self.shape)
            )
        self._bytes: bytes | None = None

    def __repr__(self) -> str:
        return f"TensorMap({self.dtype} {self.shape}, box={self.box}, swizzle={self.swizzle})"

    def packed(self) -> bytes:
        """The map's bytes: those of CUDA's driver for an array on a GPU, else those of the virtual GPU."""
        if self._bytes is None:
            self._bytes = self._on_gpu() if self.device > HOST else self._virtual()
        return self._bytes

    def _virtual(self) -> bytes:
        return encoded(
            TYPES[self.dtype],
            self.address,
            self.shape,
            self._strides(),
            self.box,
            self.steps,
            swizzle=self.swizzle,
            fill=self.fill,
        )

    def _strides(self) -> list[int]:
        """Returns the distances of neighbours in bytes, by dimension."""
        array, size = self.array, self._itemsize()
        strides = array.stride() if hasattr(array, "stride") else None
        found = [stride * size for stride in strides] if strides is not None else list(array.strides)
        if found and found[-1] != size and self.shape[-1] > 1:
            raise ArgumentError("jit.map-inner-stride", stride=found[-1], size=size)
        return found

    def _itemsize(self) -> int:
        array = self.array
        return array.element_size() if hasattr(array, "element_size") else array.itemsize

    def _on_gpu(self) -> bytes:
        driver: Any = importlib.import_module("cuda.bindings.driver")
        wide, narrow = driver.cuuint64_t, driver.cuuint32_t
        status, made = driver.cuTensorMapEncodeTiled(
            driver.CUtensorMapDataType(TYPES[self.dtype]),
            len(self.shape),
            self.address,
            [wide(extent) for extent in reversed(self.shape)],
            [wide(stride) for stride in self._strides()[-2::-1]],
            [narrow(extent) for extent in reversed(self.box)],
            [narrow(step) for step in reversed(self.steps)],
            driver.CUtensorMapInterleave(0),
            driver.CUtensorMapSwizzle(SWIZZLES.index(self.swizzle)),
            driver.CUtensorMapL2promotion(_PROMOTES_128_BYTES),
            driver.CUtensorMapFloatOOBfill(FILLS.index(self.fill)),
        )
        if int(status) != 0:
            raise FlashpathError("jit.map-refused", status=str(status), map=repr(self))
        return b"".join(int(word).to_bytes(8, "little") for word in made.opaque)
