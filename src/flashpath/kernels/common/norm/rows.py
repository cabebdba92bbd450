"""The host side that layer_norm and rms_norm share: checks, and how rows are shared out over threads."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from flashpath.errors import FlashpathError
from flashpath.kernels.arguments import (
    FLOATS,
    output,
    require_apart,
    require_like,
    require_tensor,
    widest_pack,
)
from flashpath.kernels.building import CPP_TYPES, cuda_kernel, dtype_name, max_shared_per_block, sm_count


class Choice(NamedTuple):
    """A way to share out rows: `lanes` threads for one, with up to `packs` packs each.

    `when` the weights are asked for, one of `When` in row.cuh; `blocks` that an SM shall have room for;
    `rows` that a thread has its packs of where there are many, and that share one load of the weights.
    """

    lanes: int
    packs: int
    when: str
    blocks: int = 1
    rows: int = 1


Choices = Sequence[Choice]

THREADS = 256  # of a block of the simple rungs
LONG_THREADS = 1024
COLUMN_WARPS = {"backward": 16, "add_partials": 32}
# Of a block, without and with a residual: rows of fewer lanes share one.
LEAST_THREADS, LEAST_THREADS_ADDING = 64, 128
# How rows are shared out over lanes, as was fastest on an H200. The first that holds the row is taken.
WITH_ROW, AFTER_SUMS, PACK_BY_PACK = "kWithRow", "kAfterSums", "kPackByPack"
SHARES: dict[str, Choices] = {
    "layer_norm": (
        Choice(8, 1, WITH_ROW),
        Choice(64, 2, WITH_ROW, blocks=20, rows=2),
        Choice(128, 4, WITH_ROW, blocks=6),
        Choice(256, 8, PACK_BY_PACK, blocks=2),
    ),
    "add_layer_norm": (
        Choice(8, 1, WITH_ROW),
        Choice(64, 2, WITH_ROW),
        Choice(128, 4, WITH_ROW),
        Choice(512, 4, PACK_BY_PACK),
    ),
    "rms_norm": (
        Choice(8, 1, WITH_ROW),
        Choice(64, 2, WITH_ROW, blocks=16),
        Choice(256, 2, WITH_ROW, blocks=6),
        Choice(512, 4, AFTER_SUMS, blocks=2),
    ),
    "add_rms_norm": (
        Choice(8, 1, WITH_ROW),
        Choice(64, 2, WITH_ROW),
        Choice(512, 1, WITH_ROW),
        Choice(1024, 2, WITH_ROW),
    ),
}
# Longer rows, and rows of narrower packs, which have more of them.
LONGEST_SHARES: Choices = (Choice(1024, 4, PACK_BY_PACK), Choice(1024, 8, PACK_BY_PACK))
BRAIN_TYPES = "__nv_bfloat16, __nv_bfloat16"  # of x, and of weight and bias
HALF_TYPES = ("__half, __half", BRAIN_TYPES)
# Of blocks that a GPU has room for at once: fewer rows than fill so many are spread over more threads.
WAVES_OF_SEVERAL_ROWS = 4
LANES = (8, 32, 64, 128, 256, 512, 1024)
OTHER_SHARES: Choices = tuple(Choice(lanes, 4, WITH_ROW) for lanes in LANES[1:])  # for who asks for lanes
# Of backward_fused: lanes for a row, the packs each may have, rows of a block at a time, blocks per SM.
BACKWARD_SHARES = (
    (32, 1, 8, 2),
    (64, 2, 4, 2),
    (128, 4, 4, 1),
    (256, 4, 2, 1),
    (256, 8, 1, 1),
    (512, 16, 1, 1),
)
# In bfloat16, rows of up to 2048: fewer threads for a row keep more rows in flight.
BRAIN_BACKWARD_SHARES = (*BACKWARD_SHARES[:2], (64, 4, 2, 2), *BACKWARD_SHARES[2:])
BACKWARD_DTYPES = (*FLOATS, "float64")  # float64 is for gradcheck
# Of weight and bias, beside each type of x.
VECTOR_DTYPES = {
    "float32": FLOATS,
    "float16": ("float16", "float32"),
    "bfloat16": ("bfloat16", "float32"),
    "float64": ("float64",),
}


# ---- Checks --------------------------------------------------------------------------------------------


def check_forward(name: str, x: Any, weight: Any, bias: Any, eps: float, offset: float = 0.0) -> None:
    """A matrix, and for each of its columns a weight and a bias, or neither."""
    check_offset(name, offset)
    require_tensor(name, "x", x, FLOATS, dims=2)
    check_vectors(name, x, weight=weight, bias=bias)
    if not isinstance(eps, (int, float)) or eps < 0:
        raise FlashpathError("kernels.norm-eps", name=name, eps=f"{eps!r:.80}")


def check_vectors(name: str, x: Any, **vectors: Any) -> None:
    """Weight and bias: of x's columns, contiguous, both of x's type or float32; beside float32 of any."""
    given = {key: value for key, value in vectors.items() if value is not None}
    dtypes = {dtype_name(value) for value in given.values() if hasattr(value, "dtype")}
    taken = VECTOR_DTYPES[dtype_name(x)]
    is_taken = len(dtypes) == 1 and dtypes <= {*taken}
    for key, value in given.items():
        wanted = value.dtype if is_taken and hasattr(value, "dtype") else x.dtype
        require_like(name, key, value, x.shape[1:], wanted, x.device, " / ".join(taken))


def check_offset(name: str, offset: Any) -> None:
    """What is added to each weight: nothing, or one."""
    if not isinstance(offset, (int, float)) or offset not in (0, 1):
        raise FlashpathError("kernels.norm-offset", name=name, offset=f"{offset!r:.80}")


def check_backward(
    name: str, dy: Any, x: Any, weight: Any, *statistics: Any, added: Any = None, offset: float = 0.0
) -> None:
    import torch

    require_tensor(name, "x", x, BACKWARD_DTYPES, dims=2)
    require_like(name, "dy", dy, x.shape, x.dtype, x.device)
    if added is not None:
        require_like(name, "added", added, x.shape, x.dtype, x.device)
    check_offset(name, offset)
    check_vectors(name, x, weight=weight)
    saved = torch.float64 if x.dtype == torch.float64 else torch.float32
    for key, value in zip(("rstd", "mean"), statistics, strict=False):
        require_like(name, key, value, x.shape[:1], saved, x.device)


def prepared(name: str, x: Any, out: Any | None, *others: Any) -> Any:
    """The tensor to write x's normalised rows to, apart from everything that is read."""
    result = output(name, out, x.shape, x.dtype, x.device)
    require_apart(name, result, x, *(each for each in others if each is not None))
    return result


def check_statistics(name: str, x: Any, **statistics: Any) -> None:
    """Where a forward pass leaves what the backward pass needs: float32, one for each row; all or none."""
    import torch

    missing = [key for key, value in statistics.items() if value is None]
    if missing and len(missing) < len(statistics):
        raise FlashpathError(
            "kernels.norm-statistics", name=name, missing=missing[0], statistics=list(statistics)
        )
    for key, value in statistics.items():
        if value is not None:
            require_like(name, f"{key}=", value, x.shape[:1], torch.float32, x.device)


# ---- How rows are shared out ---------------------------------------------------------------------------


def type_names(x: Any, weight: Any, bias: Any = None, offset: float = 0.0) -> tuple[str, str]:
    """Returns the types of x, and of weight and bias, as kernels spell them."""
    vector = weight if weight is not None else bias
    kind = CPP_TYPES[dtype_name(x if vector is None else vector)]
    return CPP_TYPES[dtype_name(x)], f"OnePlus<{kind}>" if offset and weight is not None else kind


def as_stored(weight: Any, offset: float) -> Any:
    """Returns the weight as kernels take it: bytes, where its elements count for one more than they are."""
    import torch

    return weight.view(torch.uint8) if offset and weight is not None else weight


def pack_width(n: int, matrices: Sequence[Any], vectors: Sequence[Any]) -> int:
    """Elements of the widest access that rows of n elements take in all matrices, and their columns' vectors.

    Float32 vectors beside half matrices are read in several accesses, which have to be aligned alike.
    """
    width = widest_pack(*matrices, multiple=n)
    for vector in (each for each in vectors if each is not None):
        while vector.data_ptr() % min(16, width * vector.element_size()):
            width //= 2
    return width


class Share(NamedTuple):
    """A choice for rows of one length: exactly `packs` packs of `width` elements, in blocks of `threads`."""

    width: int
    lanes: int
    packs: int
    threads: int
    blocks: int
    when: str
    rows: int

    @property
    def rows_of_block(self) -> int:
        return self.threads // self.lanes * self.rows

    def is_filled(self, rows: int, n: int) -> bool:
        """Whether every lane of every block has all its packs."""
        return n == self.lanes * self.packs * self.width and rows % self.rows_of_block == 0


def share_row(
    n: int, width: int, choices: Choices, least_threads: int = LEAST_THREADS, lanes: int | None = None
) -> Share | None:
    """How threads hold a row in registers, by the first choice that does, or the first of `lanes`."""
    packs = -(-n // width)
    for choice in choices:
        if packs <= choice.lanes * choice.packs and lanes in (None, choice.lanes):
            each = _power_of_two(-(-packs // choice.lanes))
            threads = max(choice.lanes, least_threads)
            return Share(width, choice.lanes, each, threads, choice.blocks, choice.when, choice.rows)
    return None


def takes_several_rows(share: Share, rows: int, n: int, types: str, sms: int) -> bool:
    """Whether the choice's rows are taken at once: in float16 that spills, and few rows want all SMs."""
    many = WAVES_OF_SEVERAL_ROWS * sms * share.blocks * share.rows_of_block
    return types == BRAIN_TYPES and share.is_filled(rows, n) and rows >= many


def spelled(flag: bool) -> str:
    """Spells a bool as C++ does."""
    return "true" if flag else "false"


def _power_of_two(least: int) -> int:
    return 1 << (least - 1).bit_length()


def forward(
    file: Path,
    kernel: str,
    long: str,
    x: Any,
    vectors: tuple[Any, ...],  # weight, and bias where the kernel has one
    eps: float,
    residual: Any | None,
    out: Any,
    total: Any | None,
    statistics: tuple[Any, ...],  # mean, where the kernel has one, and rstd
    lanes: int | None,
    offset: float = 0.0,  # of the weight
) -> None:
    """Normalise rows with the row in registers, or where it is too long with it read twice."""
    rows, n = x.shape
    if not rows or not n:
        return
    types = ", ".join(type_names(x, *vectors))
    names = ", ".join(type_names(x, *vectors, offset=offset))
    added = () if residual is None else (residual,)
    sums = () if residual is None else (total,)
    width = pack_width(n, [x, out, *added, *sums], vectors)
    least_threads = LEAST_THREADS if residual is None else LEAST_THREADS_ADDING
    share = share_row(n, width, (*SHARES[kernel], *LONGEST_SHARES, *OTHER_SHARES), least_threads, lanes)
    if share is None and lanes is not None:
        raise FlashpathError("kernels.norm-lanes", kernel=kernel, lanes=lanes, n=n)
    if share is None:
        long_rows = cuda_kernel(file, f"long_rows<{long}, {names}, {width}>", x)
        weight, bias = (as_stored(vectors[0], offset), *vectors[1:], None)[:2]
        rstd, mean = (*reversed(statistics), None)[:2]
        long_rows[rows, LONG_THREADS](rows, n, x, residual, weight, bias, eps, out, total, mean, rstd)
        return
    if share.rows > 1 and not takes_several_rows(share, rows, n, types, sm_count(x)):
        share = share._replace(rows=1)
    is_whole = share.is_filled(rows, n)
    if types not in HALF_TYPES or not is_whole:
        share = share._replace(blocks=1)  # it takes more registers
    flags = [*(each is not None for each in vectors), is_whole]
    several = [str(share.rows)] if share.rows > 1 else []
    shape = ", ".join([*map(str, share[:-1]), *map(spelled, flags), *several])
    normalize = cuda_kernel(file, f"{kernel}<{names}, {shape}>", x)
    blocks = -(-rows // share.rows_of_block)
    given = (as_stored(vectors[0], offset), *vectors[1:])
    normalize[blocks, share.threads](rows, n, x, *added, *given, eps, out, *sums, *statistics)


# ---- Backward ------------------------------------------------------------------------------------------


class Gradients(NamedTuple):
    """Where a backward pass writes; dweight and dbias are None where nobody wants them."""

    dx: Any
    dweight: Any | None
    dbias: Any | None


def gradients(x: Any, weight: Any | None, has_bias: bool) -> Gradients:
    """New tensors. The gradients of weight and bias are of weight's type."""
    import torch

    n = x.shape[1]
    dtype = x.dtype if weight is None else weight.dtype
    return Gradients(
        torch.empty_like(x),
        None if weight is None else torch.empty(n, dtype=dtype, device=x.device),
        torch.empty(n, dtype=dtype, device=x.device) if has_bias else None,
    )


def backward(
    file: Path,
    centered: str,
    dy: Any,
    x: Any,
    weight: Any,
    mean: Any,
    rstd: Any,
    to: Gradients,
    added: Any = None,
    offset: float = 0.0,
) -> None:
    """One kernel along the rows, one down the columns; `added` is added to dx."""
    rows, n = x.shape
    types = ", ".join(type_names(x, weight))
    if rows and n:
        names = ", ".join(type_names(x, weight, offset=offset))
        along = cuda_kernel(file, f"input_gradient<{centered}, {names}>", x)
        along[rows, THREADS](rows, n, dy, x, as_stored(weight, offset), mean, rstd, added, to.dx)
    if n and (to.dweight is not None or to.dbias is not None):
        down = cuda_kernel(file, f"weight_gradients<{centered}, {types}>", x)
        down[-(-n // 32), 32 * COLUMN_WARPS["backward"]](rows, n, dy, x, mean, rstd, to.dweight, to.dbias)


class Layout(NamedTuple):
    """Blocks of backward_fused: `groups` rows at a time, `lanes` threads each, `stages` in memory."""

    width: int
    lanes: int
    packs: int
    groups: int
    stages: int
    blocks: int  # per SM
    shared: int

    @property
    def threads(self) -> int:
        return self.lanes * self.groups


def share_columns(
    n: int, width: int, size: int, shared_limit: int, types: str, matrices: int = 2
) -> Layout | None:
    """None where a row has more columns than a block's threads have registers to sum, or memory to hold.

    `matrices` are read: dy, x, and what is added to dx.
    """
    packs = -(-n // width)
    for lanes, most, groups, blocks in BRAIN_BACKWARD_SHARES if types == BRAIN_TYPES else BACKWARD_SHARES:
        each = _power_of_two(-(-packs // lanes))
        # A column takes two registers for its sums, of 255 for 256 threads, and of 128 for 512.
        if each <= most and each * width <= 16_384 // (lanes * groups):
            stage = matrices * each * width * size * lanes * groups
            if stage > shared_limit:
                return None
            stages = max(1, min(2 + blocks, shared_limit // blocks // stage))
            return Layout(width, lanes, each, groups, stages, blocks, stages * stage)
    return None


def backward_fused(
    file: Path,
    centered: str,
    dy: Any,
    x: Any,
    weight: Any,
    mean: Any,
    rstd: Any,
    to: Gradients,
    added: Any = None,
    offset: float = 0.0,
) -> bool:
    """All gradients from one read, and the blocks' partial sums by a second kernel; False: rows too long."""
    import torch

    rows, n = x.shape
    if not n:
        return True
    more = [] if added is None else [added]
    width = pack_width(n, [dy, x, to.dx, *more], [weight])
    types = ", ".join(type_names(x, weight))
    layout = share_columns(n, width, x.element_size(), max_shared_per_block(x), types, 2 + len(more))
    if layout is None:
        return False
    blocks = max(1, min(sm_count(x) * layout.blocks, -(-rows // layout.groups)))
    sums = 2 if centered == "true" else 1
    saved = torch.float64 if x.dtype == torch.float64 else torch.float32
    partials = torch.empty(sums * blocks * n, dtype=saved, device=x.device)
    shape = ", ".join(map(str, layout[:-1]))
    has_weight = spelled(weight is not None)
    names = ", ".join(type_names(x, weight, offset=offset))
    adds = f", {spelled(True)}" if more else ""
    kernel = cuda_kernel(file, f"gradients<{centered}, {has_weight}, {names}, {shape}{adds}>", x)
    kernel[blocks, layout.threads, layout.shared](
        rows, n, dy, x, as_stored(weight, offset), mean, rstd, added, to.dx, partials
    )
    wanted = 2 if to.dbias is not None else 1
    if to.dweight is not None or to.dbias is not None:
        add = cuda_kernel(
            file, f"add_partials<{CPP_TYPES[dtype_name(partials)]}, {type_names(x, weight)[1]}>", x
        )
        add[(-(-n // 32), wanted), 32 * COLUMN_WARPS["add_partials"]](
            blocks, n, partials, to.dweight, to.dbias
        )
    return True
