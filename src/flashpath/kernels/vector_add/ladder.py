"""The vector_add ladder: its rungs, the problems it is timed on, and its peers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from flashpath.kernels.building import cuda_rung, triton_compiles_for
from flashpath.kernels.peers import with_compiled
from flashpath.kernels.rung import Case, Ladder, Rung, short
from flashpath.kernels.vector_add import host
from flashpath.kernels.vector_add.messages import MESSAGES
from flashpath.kernels.vector_add.reference import reference


def _case(n: int, dtype: str) -> Case:
    import torch

    kind = getattr(torch, dtype)

    def inputs(device: str) -> tuple[Any, ...]:
        return tuple(torch.randn(n, device=device, dtype=kind) for _ in "ab")

    return Case(
        name=f"{short(n)} {dtype}",
        inputs=inputs,
        bytes=3 * n * kind.itemsize,
        flops=n,
        dtype=dtype,
        parameters={"n": n, "dtype": dtype},
    )


def _cases() -> Sequence[Case]:
    return [
        _case(2**20, "float32"),
        _case(2**24, "float32"),
        _case(2**28, "float32"),
        _case(2**28, "bfloat16"),
    ]


def _sized(size: tuple[int, ...]) -> Case:
    return _case(size[0], "float32")


def _truth(inputs: tuple[Any, ...]) -> Any:
    a, b = inputs
    return a.double() + b.double()


def _plus(a: Any, b: Any) -> Any:
    return a + b


def _peers(device: str) -> Mapping[str, Callable[..., Any]]:
    return with_compiled(device, _plus)


def _check(output: Any, inputs: tuple[Any, ...]) -> None:
    import torch

    torch.testing.assert_close(output, torch.add(*inputs), rtol=0, atol=0, equal_nan=True)


LADDER = Ladder(
    name="vector_add",
    texts=MESSAGES,
    cases=_cases,
    peers=_peers,
    check=_check,
    truth=_truth,
    sized=_sized,
    sample=(2**16,),
    rungs=(
        Rung.reference(host.FOLDER, reference),
        cuda_rung(
            host.one_per_thread,
            "vector_add<float>",
            improves_on="reference",
            choices={"threads": (64, 128, 256, 512, 1024)},
            readability=5,
            debugging=4,
        ),
        cuda_rung(
            host.grid_stride,
            "vector_add<float>",
            improves_on="one_per_thread",
            choices={"threads": (128, 256, 512), "blocks_per_sm": (4, 8, 16)},
            readability=5,
            debugging=5,
        ),
        cuda_rung(
            host.vectorized,
            "vector_add<float, 4>",
            improves_on="one_per_thread",
            choices={"threads": (128, 256, 512), "width_bytes": (4, 8, 16)},
            readability=3,
            debugging=3,
        ),
        Rung(
            name="triton",
            language="triton",
            file=host.FOLDER / "triton_vector_add.py",
            function=host.triton,
            improves_on="vectorized",
            choices={"block": (512, 1024, 2048, 4096), "warps": (4, 8)},
            compile_for=triton_compiles_for(
                host.triton_kernel,
                {"a_ptr": "*fp32", "b_ptr": "*fp32", "c_ptr": "*fp32", "n": "i32"},
                {"BLOCK": host.TRITON_BLOCK},
            ),
            readability=5,
            debugging=3,
        ),
    ),
)
