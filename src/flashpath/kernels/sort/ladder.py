"""The sort ladder: its rungs, the problems it is timed on, and its peers."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from flashpath.kernels.building import cuda_compiles_for, triton_compiles_for
from flashpath.kernels.peers import cupy_stream, library
from flashpath.kernels.rung import Case, Ladder, Peer, Rung, Score, short
from flashpath.kernels.sort import host
from flashpath.kernels.sort.reference import reference, torch_sort
from flashpath.messages import Message, Text

# Of CuPy's sort on an H200, as a share of the copy bandwidth.
_KNOWN_PEERS = {"CuPy (CUB)": 261 / 4296}


def _case(n: int, dtype: str, with_indices: bool = False) -> Case:
    import torch

    kind = getattr(torch, dtype)

    def inputs(device: str) -> tuple[Any, ...]:
        if kind == torch.int32:
            x = torch.randint(-(2**31), 2**31, (n,), device=device, dtype=torch.int64).to(kind)
        else:
            x = torch.randn(n, device=device, dtype=kind)
        return x, with_indices

    return Case(
        name=f"{'key and index' if with_indices else 'keys'} {short(n)} {dtype}",
        inputs=inputs,
        bytes=n * (2 * kind.itemsize + (8 if with_indices else 0)),
        dtype=dtype,
        parameters={"n": n, "dtype": dtype, "return_indices": with_indices},
        known_peers={} if with_indices or kind.itemsize != 4 else _KNOWN_PEERS,
    )


def _cases() -> Sequence[Case]:
    return [
        _case(2**20, "float32"),
        _case(2**24, "int32"),
        _case(2**24, "float32"),
        _case(2**24, "float32", with_indices=True),
        _case(2**24, "bfloat16"),
        _case(2**28, "float32"),
    ]


def _truth(inputs: tuple[Any, ...]) -> Any:
    return reference(*inputs)


def _sized(size: tuple[int, ...]) -> Case:
    return _case(size[0], "float32")


def _cupy(cupy: Any, x: Any, return_indices: bool) -> Any:
    """CuPy's sort, which is thrust's, on torch's stream and memory."""
    import torch

    with cupy_stream(cupy, x):
        keys = cupy.from_dlpack(x)
        if return_indices:
            order = cupy.argsort(keys, kind="stable")
            return torch.from_dlpack(keys[order]), torch.from_dlpack(order)
        return torch.from_dlpack(cupy.sort(keys))


def _cupy_declines(case: Case) -> str | None:
    return "has no bfloat16" if case.dtype == "bfloat16" else None


def _peers(device: str) -> Mapping[str, Callable[..., Any] | Peer]:
    peers: dict[str, Callable[..., Any] | Peer] = {"torch": torch_sort}
    if device == "cuda" and (cupy := library("cupy")):
        peers["CuPy (CUB)"] = Peer(functools.partial(_cupy, cupy), _cupy_declines)
    return peers


def _bits(tensor: Any) -> Any:
    import torch

    return tensor.view({2: torch.int16, 4: torch.int32, 8: torch.int64}[tensor.element_size()])


def _check(output: Any, inputs: tuple[Any, ...]) -> None:
    """Bit for bit, which also tells -0 from +0 and one NaN from another where they are equal keys."""
    x, return_indices = inputs
    expected = torch_sort(x, return_indices)
    pairs = zip(output, expected, strict=True) if return_indices else [(output, expected)]
    for name, (got, wanted) in zip(("values", "indices"), pairs, strict=False):
        assert got.dtype == wanted.dtype, f"{name} are {got.dtype}, not {wanted.dtype}"
        assert got.shape == wanted.shape, f"{name} have shape {tuple(got.shape)}, not {tuple(wanted.shape)}"
        wrong = _bits(got) != _bits(wanted)
        if bool(wrong.any()):
            first = int(wrong.nonzero()[0])
            raise AssertionError(
                f"{int(wrong.sum())} of {x.numel()} {name} are wrong; the first at {first}: "
                f"{got[first].item()}, not {wanted[first].item()}"
            )


_entry = functools.partial(Rung, arch="sm_75", language="cuda")

_CHOICE = "onesweep", Message("kernels.sort-onesweep")


def _chosen(*_: Any, where: object = None) -> tuple[str, Message]:
    return _CHOICE


LADDER = Ladder(
    name="sort",
    title=Text("Sort", "排序"),
    maths=Text(
        "out = x in rising order; equal keys stay in the order they came in; NaN comes last",
        "out = x 的升序排列；相等的键保持原来的次序；NaN 排在最后",
    ),
    cases=_cases,
    peers=_peers,
    check=_check,
    truth=_truth,
    sized=_sized,
    sample=(2**16,),
    chooses=_chosen,
    rungs=(
        Rung(
            name="reference",
            language="pytorch",
            arch="any",
            idea=Text(
                "PyTorch's stable sort, whose rules for NaN, -0 and equal keys the others follow",
                "PyTorch 的稳定排序；NaN、-0 和相等键的规则以它为准",
            ),
            file=host.FOLDER / "reference.py",
            function=reference,
            readability=Score(5, "one call"),
            debugging=Score(5, "runs on the CPU, under any Python debugger"),
        ),
        _entry(
            name="bitonic",
            idea=Text(
                "comparisons fixed beforehand, a network: in shared memory within a tile, in global beyond",
                "比较次序预先固定的排序网络：分块内在共享内存，跨分块在全局内存",
            ),
            file=host.BITONIC,
            function=host.bitonic,
            improves_on="reference",
            compile_for=cuda_compiles_for(host.BITONIC, "sort_tiles<float>"),
            readability=Score(4, "three short loops; why they sort takes a drawing"),
            debugging=Score(4, "every step leaves sorted runs that can be looked at"),
        ),
        _entry(
            name="radix",
            idea=Text(
                "no comparison: count the keys of each digit, scan the counts, scatter; 4 bits at a time",
                "不做比较：统计每个数位的键数，扫描计数，再分散写出；每次 4 位",
            ),
            file=host.RADIX,
            function=host.radix,
            improves_on="bitonic",
            compile_for=cuda_compiles_for(host.RADIX, "scatter<float>"),
            readability=Score(5, "counting sort as in a textbook, each thread with counters of its own"),
            debugging=Score(4, "three kernels, and tables between them that can be printed"),
        ),
        _entry(
            name="radix_tiled",
            idea=Text(
                "8 bits at a time; a tile is put in order in shared memory first, so that stores coalesce",
                "每次 8 位；先在共享内存里把分块排好，使写出能合并",
            ),
            file=host.RADIX_TILED,
            function=host.radix_tiled,
            improves_on="radix",
            compile_for=cuda_compiles_for(host.RADIX_TILED, "scatter<float>"),
            readability=Score(3, "ranks by votes have to be understood first"),
            debugging=Score(3, "a wrong rank shows as a key lost far away"),
        ),
        _entry(
            name="onesweep",
            idea=Text(
                "one read and one write per digit: all digits are counted at once, and tiles look "
                "back at each other's counts",
                "每个数位只读写各一遍：所有数位一次统计完，分块之间回看彼此的计数",
            ),
            file=host.ONESWEEP,
            function=host.onesweep,
            choices={"items": (8, 12, 16, 18, 20)},
            improves_on="radix_tiled",
            compile_for=cuda_compiles_for(host.ONESWEEP, "sort_digit<float, false, 16>"),
            readability=Score(2, "blocks that talk to each other while they run"),
            debugging=Score(2, "a mistake in the look-back hangs or loses keys; fp.sanitize sees it"),
        ),
        Rung(
            name="triton",
            language="triton",
            arch="sm_75",
            idea=Text(
                "radix in array code: ranks are sums down the columns of a table of keys and digits",
                "用数组代码写的基数排序：名次是“键 × 数位”表各列的前缀和",
            ),
            file=host.TRITON,
            function=host.triton,
            improves_on="radix",
            compile_for=triton_compiles_for(
                functools.partial(host.triton_kernel, "scatter"),
                {
                    "x_ptr": "*fp32",
                    "counts_ptr": "*i32",
                    "totals_ptr": "*i32",
                    "out_ptr": "*fp32",
                    "n": "i32",
                    "tiles": "i32",
                    "shift": "i32",
                },
                {
                    "index_ptr": None,
                    "out_index_ptr": None,
                    "DIGITS": 1 << host.TRITON_BITS,
                    "TILE": host.TRITON_TILE,
                },
            ),
            readability=Score(4, "a table and its sums; no thread in sight"),
            debugging=Score(3, "prints and asserts work; what threads do is the compiler's secret"),
        ),
    ),
)
