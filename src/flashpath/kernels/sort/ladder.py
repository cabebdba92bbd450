"""The sort ladder: its rungs, the problems it is timed on, and its peers."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from flashpath.kernels.building import cuda_rung, triton_compiles_for
from flashpath.kernels.declines import no_bfloat16
from flashpath.kernels.peers import cupy_stream, library
from flashpath.kernels.rung import Case, Ladder, Peer, Rung, always, short
from flashpath.kernels.sort import host
from flashpath.kernels.sort.messages import MESSAGES
from flashpath.kernels.sort.reference import reference, torch_sort
from flashpath.kernels.tolerance import WrongResult, check_shape, check_type
from flashpath.messages import told


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


def _peers(device: str) -> Mapping[str, Callable[..., Any] | Peer]:
    peers: dict[str, Callable[..., Any] | Peer] = {"torch": torch_sort}
    if device == "cuda" and (cupy := library("cupy")):
        peers["CuPy (CUB)"] = Peer(functools.partial(_cupy, cupy), no_bfloat16)
    return peers


def _bits(tensor: Any) -> Any:
    import torch

    return tensor.view({2: torch.int16, 4: torch.int32, 8: torch.int64}[tensor.element_size()])


def _check(output: Any, inputs: tuple[Any, ...]) -> None:
    """Bit for bit, which also tells -0 from +0 and one NaN from another where they are equal keys."""
    x, return_indices = inputs
    expected = torch_sort(x, return_indices)
    pairs = zip(output, expected, strict=True) if return_indices else [(output, expected)]
    for got, wanted in pairs:
        check_type(got, wanted.dtype)
        check_shape(got, wanted.shape)
        wrong = _bits(got) != _bits(wanted)
        if bool(wrong.any()):
            first = int(wrong.nonzero()[0])
            raise WrongResult(
                "kernels.different-elements",
                count=int(wrong.sum()),
                elements=x.numel(),
                at=str([first]),
                got=got[first].item(),
                expected=wanted[first].item(),
            )


LADDER = Ladder(
    name="sort",
    texts=MESSAGES,
    cases=_cases,
    peers=_peers,
    check=_check,
    truth=_truth,
    sized=_sized,
    sample=(2**16,),
    chooses=always("onesweep", told("kernels.sort-onesweep")),
    rungs=(
        Rung.reference(host.FOLDER, reference),
        cuda_rung(host.bitonic, "sort_tiles<float>", improves_on="reference", readability=4, debugging=4),
        cuda_rung(host.radix, "scatter<float>", improves_on="bitonic", readability=5, debugging=4),
        cuda_rung(host.radix_tiled, "scatter<float>", improves_on="radix", readability=3, debugging=3),
        cuda_rung(
            host.onesweep,
            "sort_digit<float, false, 16>",
            choices={"items": (8, 12, 16, 18, 20)},
            improves_on="radix_tiled",
            readability=2,
            debugging=2,
        ),
        Rung(
            name="triton",
            language="triton",
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
            readability=4,
            debugging=3,
        ),
    ),
)
