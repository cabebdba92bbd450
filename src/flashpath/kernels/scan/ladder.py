"""The scan ladder: its rungs, the problems it is timed on, and its peers."""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping, Sequence
from typing import Any

from flashpath.kernels.building import cuda_compiles_for, cuda_rung, triton_compiles_for
from flashpath.kernels.declines import no_bfloat16, takes
from flashpath.kernels.peers import cupy_stream, library, with_compiled
from flashpath.kernels.rung import Case, Ladder, Peer, Rung, short
from flashpath.kernels.scan import host, problem, single_pass
from flashpath.kernels.scan.checking import check, exact_scan
from flashpath.kernels.scan.messages import MESSAGES
from flashpath.kernels.scan.reference import reference, torch_scan
from flashpath.messages import Message, told


def _case(
    op: str,
    dtype: str,
    shape: tuple[int, ...],
    name: str,
    exclusive: bool = False,
    heads: float | None = None,
) -> Case:
    import torch

    kind = getattr(torch, dtype)
    n = math.prod(shape)
    output_bytes = 8 if dtype == "int32" and op == "sum" else kind.itemsize

    def inputs(device: str) -> tuple[Any, ...]:
        if dtype == "int32":
            x = torch.randint(-1000, 1000, shape, device=device, dtype=kind)
        else:
            x = torch.randn(shape, device=device, dtype=kind)
        flags = None if heads is None else torch.rand(shape, device=device) < heads
        return x, op, exclusive, flags

    variant = "exclusive " if exclusive else "" if heads is None else "segmented "
    return Case(
        name=f"{variant}{op} {name} {dtype}",
        inputs=inputs,
        bytes=n * (kind.itemsize + output_bytes + (heads is not None)),
        flops=n if op == "sum" else 0,
        dtype=dtype,
        parameters={
            "op": op,
            "shape": list(shape),
            "dtype": dtype,
            "exclusive": exclusive,
            "segmented": heads is not None,
        },
    )


def _sized(size: tuple[int, ...]) -> Case:
    return _case("sum", "float32", size, short(size[0]))


def _more_samples() -> Sequence[Case]:
    return [_case("sum", "float32", (64, 1024), "64 × 1024")]


def _truth(inputs: tuple[Any, ...]) -> Any:
    return exact_scan(*inputs)


def _cases() -> Sequence[Case]:
    return [
        _case("sum", "float32", (2**20,), "2^20"),
        _case("sum", "float32", (2**26,), "2^26"),
        _case("sum", "float32", (2**28,), "2^28"),
        _case("sum", "bfloat16", (2**26,), "2^26"),
        _case("sum", "int32", (2**26,), "2^26"),
        _case("max", "float32", (2**26,), "2^26"),
        _case("sum", "float32", (2**26,), "2^26", exclusive=True),
        _case("sum", "float32", (2**26,), "2^26", heads=2**-21),
        _case("sum", "float32", (32768, 4096), "32768 × 4096"),
    ]


def _cupy(cupy: Any, x: Any, op: str, exclusive: bool, flags: Any | None) -> Any:
    """CuPy's running sum on torch's stream and memory."""
    import torch

    del op, exclusive, flags
    with cupy_stream(cupy, x):
        # Only without an axis does CuPy call CUB; along one it takes a kernel of its own.
        return torch.from_dlpack(cupy.cumsum(cupy.from_dlpack(x), axis=None if x.dim() == 1 else 1))


_whole_only = takes("segmented", False, otherwise=told("kernels.scan.no-segments"))


def _cupy_declines(case: Case) -> Message | None:
    is_plain = case.parameters["op"] == "sum" and not case.parameters["exclusive"]
    return no_bfloat16(case) or (_whole_only(case) if is_plain else told("kernels.scan.inclusive-sums-only"))


def _peers(device: str) -> Mapping[str, Peer]:
    compiled = with_compiled(device, torch_scan)
    peers = {name: Peer(function, _whole_only) for name, function in compiled.items()}
    if device == "cuda" and (cupy := library("cupy")):
        peers["CuPy (CUB)"] = Peer(functools.partial(_cupy, cupy), _cupy_declines)
    return peers


def _rows_only(case: Case) -> Message | None:
    return told("kernels.scan.rows-only") if len(case.parameters["shape"]) == 1 else None


def _plain_vectors_only(case: Case) -> Message | None:
    is_plain = not case.parameters["segmented"] and len(case.parameters["shape"]) == 1
    return None if is_plain else told("kernels.scan.plain-vectors-only")


_KERNEL = "scan<Whole<Sum<float>>, float, float>"


LADDER = Ladder(
    name="scan",
    texts=MESSAGES,
    cases=_cases,
    peers=_peers,
    check=check,
    truth=_truth,
    sized=_sized,
    sample=(2**16,),
    more_samples=_more_samples,
    chooses=host.chosen,
    rungs=(
        Rung.reference(problem.FOLDER, reference),
        cuda_rung(host.hillis_steele, _KERNEL, improves_on="reference", readability=5, debugging=4),
        cuda_rung(host.blelloch, _KERNEL, improves_on="hillis_steele", readability=4, debugging=4),
        cuda_rung(host.blelloch_padded, _KERNEL, improves_on="blelloch", readability=3, debugging=4),
        cuda_rung(host.warp, _KERNEL, improves_on="blelloch_padded", readability=4, debugging=3),
        cuda_rung(
            single_pass.decoupled_lookback,
            "scan<Whole<Sum<float>>, 4, float>",
            improves_on="warp",
            readability=2,
            debugging=2,
        ),
        Rung(
            name="lookahead",
            arch="sm_80",  # cp.async
            file=single_pass.LOOKAHEAD,
            function=single_pass.lookahead,
            improves_on="decoupled_lookback",
            choices={"ring": ((3, 1), (3, 2), (4, 1), (4, 2), (4, 3))},
            compile_for=cuda_compiles_for(single_pass.LOOKAHEAD, "scan<Whole<Sum<float>>, 4, 2, float>"),
            declines=_plain_vectors_only,
            readability=2,
            debugging=2,
        ),
        cuda_rung(
            host.by_row,
            "scan<Whole<Sum<float>>, 8, 4, float>",
            improves_on="decoupled_lookback",
            declines=_rows_only,
            readability=4,
            debugging=4,
        ),
        Rung(
            name="triton",
            language="triton",
            file=host.TRITON,
            function=host.triton,
            improves_on="warp",
            compile_for=triton_compiles_for(
                host.triton_kernel,
                {
                    "x_ptr": "*fp32",
                    "totals_ptr": "*fp32",
                    "out_ptr": "*fp32",
                    "n": "i64",
                    "part_length": "i64",
                },
                {
                    "heads_ptr": None,
                    "cuts_ptr": None,
                    "OP": "sum",
                    "EXCLUSIVE": False,
                    "TOTALS_ONLY": False,
                    "PARTS": 1024,
                    "BLOCK": host.TRITON_BLOCKS[-1],
                },
            ),
            readability=3,
            debugging=3,
        ),
        cuda_rung(host.cub_block, _KERNEL, improves_on="warp", readability=4, debugging=3),
    ),
)
