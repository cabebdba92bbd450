"""CuTe's layout algebra, in plain Python: layouts, swizzles, thread–value layouts, MMA atoms, and pictures.

    from flashpath.layout import parse_layout, zipped_divide

    layout = parse_layout("(8,8):(8,1)")
    layout(1, 2)                            # 10
    print(zipped_divide(layout, (4, 2)))    # ((4,2),(2,4)):((8,1),(32,2))

It stands alone: nothing here needs the rest of flashpath, a GPU or CUTLASS.
"""

from flashpath.layout.algebra import (
    Tiler,
    coalesce,
    complement,
    composition,
    filter_zeros,
    left_inverse,
    right_inverse,
)
from flashpath.layout.banks import BankAccess, bank, bank_accesses
from flashpath.layout.int_tuple import IntTuple
from flashpath.layout.layout import Layout, LayoutError, make_layout, row_major
from flashpath.layout.mma_atoms import MmaAtom, mma_atom, mma_names
from flashpath.layout.notation import parse_layout, parse_swizzle, parse_tile, parse_tiler
from flashpath.layout.swizzle import AnyLayout, ComposedLayout, Swizzle
from flashpath.layout.thread_value import ThreadValue, thread_value
from flashpath.layout.tiling import (
    blocked_product,
    logical_divide,
    logical_product,
    raked_product,
    tiled_divide,
    zipped_divide,
    zipped_product,
)

__all__ = [
    "AnyLayout",
    "BankAccess",
    "ComposedLayout",
    "IntTuple",
    "Layout",
    "LayoutError",
    "MmaAtom",
    "Swizzle",
    "ThreadValue",
    "Tiler",
    "bank",
    "bank_accesses",
    "blocked_product",
    "coalesce",
    "complement",
    "composition",
    "filter_zeros",
    "left_inverse",
    "logical_divide",
    "logical_product",
    "make_layout",
    "mma_atom",
    "mma_names",
    "parse_layout",
    "parse_swizzle",
    "parse_tile",
    "parse_tiler",
    "raked_product",
    "right_inverse",
    "row_major",
    "thread_value",
    "tiled_divide",
    "zipped_divide",
    "zipped_product",
]
