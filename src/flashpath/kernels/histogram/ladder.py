"""The histogram ladder: its rungs, the problems it is timed on, and its peers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from flashpath.kernels.building import cuda_rung, triton_compiles_for
from flashpath.kernels.histogram import host
from flashpath.kernels.histogram.messages import MESSAGES
from flashpath.kernels.histogram.reference import reference
from flashpath.kernels.rung import Case, Ladder, Rung, always, short
from flashpath.messages import told


def _case(data: str, bins: int, dtype: str = "float32", n: int = 2**26) -> Case:
    import torch

    kind = getattr(torch, dtype)
    # No power of two apart: the reciprocal of 1,000 is of those that need most corrections.
    lo, hi = (-500, 500) if kind.is_floating_point else (-500_000, 500_000)

    def inputs(device: str) -> tuple[Any, ...]:
        if data == "equal":
            x = torch.full((n,), lo / 3 if kind.is_floating_point else lo // 3, device=device, dtype=kind)
        elif data == "normal":
            x = torch.randn(n, device=device, dtype=torch.float32).mul_(hi / 4).to(kind)
        elif kind.is_floating_point:
            x = torch.rand(n, device=device, dtype=torch.float32).mul_(hi - lo).add_(lo).to(kind)
        else:
            x = torch.randint(lo, hi, (n,), device=device, dtype=kind)
        return x, bins, lo, hi

    return Case(
        name=f"{data} {short(n)} {dtype}, {bins} bins",
        inputs=inputs,
        bytes=n * kind.itemsize + 8 * bins,
        dtype=dtype,
        parameters={"data": data, "n": n, "bins": bins, "dtype": dtype},
    )


def _cases() -> Sequence[Case]:
    return [
        _case("uniform", 256, n=2**20),
        _case("uniform", 256),
        _case("equal", 256),
        _case("normal", 256),
        _case("uniform", 256, "int32"),
        _case("uniform", 256, "bfloat16", 2**27),
        _case("uniform", 4096),
        _case("uniform", 32768),
        _case("uniform", 65536),
    ]


def _sized(size: tuple[int, ...]) -> Case:
    return _case("uniform", 256, n=size[0])


def _truth(inputs: tuple[Any, ...]) -> Any:
    return reference(*inputs)


def _histc(x: Any, bins: int, lo: float, hi: float) -> Any:
    """torch.histc, whose counts are of the input's type; of half types it counts the float32 numbers."""
    import torch

    return torch.histc(x if x.element_size() == 4 else x.float(), bins, lo, hi)


def _peers(device: str) -> Mapping[str, Callable[..., Any]]:
    # torch.compile has no histogram of its own: it calls the same torch.histc. CuPy's has its edges in
    # float64, so that a few values fall into other bins.
    return {"torch.histc": _histc}


def _check(output: Any, inputs: tuple[Any, ...]) -> None:
    """Counts are exact and int64; those of torch.histc are of the type it counts in, which may round them."""
    import torch

    x, expected = inputs[0], reference(*inputs)
    if x.is_floating_point() and output.dtype == torch.float32:
        torch.testing.assert_close(output.double(), expected.double(), rtol=1e-4, atol=0)
    else:
        expected = expected if output.dtype == torch.int64 else expected.to(x.dtype)
        torch.testing.assert_close(output, expected, rtol=0, atol=0)


LADDER = Ladder(
    name="histogram",
    texts=MESSAGES,
    cases=_cases,
    peers=_peers,
    check=_check,
    truth=_truth,
    sized=_sized,
    sample=(2**16,),
    chooses=always("vectorized", told("kernels.histogram-packs")),
    rungs=(
        Rung.reference(host.FOLDER, reference),
        cuda_rung(
            host.global_atomics, "histogram<float>", improves_on="reference", readability=5, debugging=5
        ),
        cuda_rung(host.shared, "histogram<float>", improves_on="global_atomics", readability=4, debugging=4),
        cuda_rung(host.per_warp, "histogram<float>", improves_on="shared", readability=4, debugging=4),
        cuda_rung(host.aggregated, "histogram<float>", improves_on="shared", readability=3, debugging=3),
        cuda_rung(host.vectorized, "histogram<float, 2>", improves_on="shared", readability=3, debugging=3),
        cuda_rung(host.per_lane, "histogram<float, 2>", improves_on="vectorized", readability=3, debugging=3),
        Rung(
            name="triton",
            language="triton",
            file=host.TRITON,
            function=host.triton,
            improves_on="shared",
            compile_for=triton_compiles_for(
                host.triton_kernel,
                {
                    "x_ptr": "*fp32",
                    "counts_ptr": "*i64",
                    "n": "i32",
                    "bins": "i32",
                    "lo": "fp32",
                    "hi": "fp32",
                },
                {"BINS": 256, "BLOCK": host.TRITON_BLOCK},
            ),
            readability=5,
            debugging=3,
        ),
    ),
)
