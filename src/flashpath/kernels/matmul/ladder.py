"""The matmul ladder: the families of its rungs put together, the problems it is timed on, and its peers."""

from __future__ import annotations

import dataclasses
import functools
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from flashpath.kernels.building import dtype_name, sm_count
from flashpath.kernels.matmul import batched, float32, tensor_core, triton_rungs
from flashpath.kernels.matmul.epilogue import Epilogue
from flashpath.kernels.matmul.messages import MESSAGES
from flashpath.kernels.matmul.problem import FOLDER, PRECISIONS, is_transposed
from flashpath.kernels.matmul.reference import (
    float32_precision,
    reference,
    to_tf32,
    torch_matmul,
    truth,
)
from flashpath.kernels.peers import with_compiled
from flashpath.kernels.rung import Case, Ladder, Rung
from flashpath.kernels.tolerance import WrongResult, check_against, check_shape, check_type
from flashpath.kernels.where import Where, where_is
from flashpath.messages import Message


def _case(m: int, n: int, k: int, dtype: str, precision: str = "ieee") -> Case:
    import torch

    kind = getattr(torch, dtype)

    def inputs(device: str) -> tuple[Any, ...]:
        a, b = (torch.randn(shape, device=device, dtype=kind) for shape in ((m, k), (k, n)))
        return a, b, precision

    size = f"{m}³" if m == n == k else f"{m}×{n}×{k}"
    arithmetic = "tfloat32" if precision == "tf32" else dtype
    return Case(
        name=f"{size} {arithmetic}",
        inputs=inputs,
        bytes=(m * k + k * n + m * n) * kind.itemsize,
        flops=2 * m * n * k,
        dtype=arithmetic,
        parameters={"m": m, "n": n, "k": k, "dtype": dtype, "precision": precision},
    )


def _epilogue_case(m: int, n: int, k: int, dtype: str) -> Case:
    """A linear layer with its activation."""
    import torch

    product = _case(m, n, k, dtype)

    def inputs(device: str) -> tuple[Any, ...]:
        a, b, precision = product.inputs(device)
        bias = torch.randn(n, device=device, dtype=a.dtype)
        return a, b, precision, None, Epilogue(scale=k**-0.5, bias=bias, activation="gelu")

    return dataclasses.replace(
        product,
        name=f"{product.name}, bias and gelu",
        inputs=inputs,
        bytes=product.bytes + n * getattr(torch, dtype).itemsize,
        parameters={**product.parameters, "epilogue": "scale, bias, gelu"},
    )


def _batched_case(batch: int, m: int, n: int, k: int, dtype: str) -> Case:
    """Many products at once, as attention by its formula has them."""
    import torch

    kind, product = getattr(torch, dtype), _case(m, n, k, dtype)

    def inputs(device: str) -> tuple[Any, ...]:
        a, b = (torch.randn(batch, *shape, device=device, dtype=kind) for shape in ((m, k), (k, n)))
        return a, b, "ieee"

    return dataclasses.replace(
        product,
        name=f"{batch} × {product.name}",
        inputs=inputs,
        bytes=batch * product.bytes,
        flops=batch * product.flops,
        parameters={**product.parameters, "batch": batch},
    )


def _cases() -> Sequence[Case]:
    return [
        _case(1024, 1024, 1024, "float32"),
        _case(4096, 4096, 4096, "float32"),
        _case(8192, 512, 2048, "float32"),
        _case(4096, 4096, 4096, "float32", "tf32"),
        _case(4096, 4096, 4096, "bfloat16"),
        _case(8192, 8192, 8192, "bfloat16"),
        _case(4096, 4096, 4096, "float16"),
        _epilogue_case(4096, 4096, 4096, "bfloat16"),
        _batched_case(256, 256, 256, 256, "bfloat16"),
        _batched_case(64, 1024, 1024, 128, "bfloat16"),
        _batched_case(256, 256, 256, 256, "float32"),
    ]


def _sized(size: tuple[int, ...]) -> Case:
    m, n, k = size
    return _case(m, n, k, "float32")


def _more_samples() -> Sequence[Case]:
    return [
        _case(128, 128, 128, "bfloat16"),
        _epilogue_case(128, 128, 128, "bfloat16"),
        _batched_case(3, 64, 64, 64, "bfloat16"),
    ]


def _truth(inputs: tuple[Any, ...]) -> Any:
    product = truth(*inputs[:2])
    return inputs[4](product) if len(inputs) > 4 else product


def _product(a: Any, b: Any, epilogue: Epilogue | None) -> Any:
    return a @ b if epilogue is None else epilogue(a @ b)


def _peers(device: str) -> Mapping[str, Callable[..., Any]]:
    # One function for each precision: a compiled one would be compiled again when the switch is turned.
    each = {precision: with_compiled(device, _product) for precision in PRECISIONS}

    def peer(
        library: str,
        a: Any,
        b: Any,
        precision: str = "ieee",
        _: None = None,
        epilogue: Epilogue | None = None,
    ) -> Any:
        with float32_precision(precision):
            return each[precision][library](a, b, epilogue)

    return {library: functools.partial(peer, library) for library in each["ieee"]}


def allowed_error(a: Any, b: Any, precision: str = "ieee") -> Any:
    """How far each element of a product may be from the truth.

    Twice the largest error of the same maths in the low precision (torch's product; for tf32, the exact
    product of rounded inputs), one rounding to the output's type, and four times what the roundings of a
    chain of k float32 additions come to if their signs are random: each is of the size of the sum so far.
    """
    import torch

    exact = truth(a, b)
    low = truth(to_tf32(a), to_tf32(b)) if precision == "tf32" else torch_matmul(a, b).double()
    of_low = (low - exact).abs()
    of_low = of_low[of_low.isfinite()]
    norm = truth(a.double().square(), b.double().square()).sqrt()
    unit = 2**-53 if a.dtype == torch.float64 else 2**-24
    of_chain = unit * math.sqrt(a.shape[-1]) * (norm + exact.abs())
    largest = of_low.max() if of_low.numel() else 0.0
    return 2 * largest + torch.finfo(a.dtype).eps * exact.abs() + 4 * of_chain + torch.finfo(a.dtype).tiny


def _check(output: Any, inputs: tuple[Any, ...]) -> None:
    """Against float64; what overflows the output's type, is infinite or is NaN has to be the same."""
    import torch

    a, b, *precision = inputs[:3]
    check_shape(output, (*a.shape[:-1], b.shape[-1]))
    check_type(output, a.dtype)
    if not output.numel():
        return
    if len(inputs) > 3:
        _, epilogue = inputs[3:]
        low = tuple(map(to_tf32, (a, b))) if precision == ["tf32"] else (a, b)
        check_against(output, epilogue(truth(a, b)), epilogue(truth(*low).to(a.dtype)))
        return
    exact, allowed = truth(a, b), allowed_error(a, b, *precision)
    overflows = exact.abs() > torch.finfo(a.dtype).max
    exact = torch.where(overflows, exact.to(a.dtype).double(), exact)
    got = output.double()
    is_right = torch.where(exact.isfinite(), (got - exact).abs() <= allowed, got == exact)
    is_right |= got.isnan() & exact.isnan()
    if not bool(is_right.all()):
        at = tuple(int(each) for each in (~is_right).nonzero()[0])
        raise WrongResult(
            "kernels.wrong-elements",
            count=int((~is_right).sum()),
            elements=output.numel(),
            at=str([*at]),
            got=got[at].item(),
            expected=exact[at].item(),
            allowed=allowed[at].item(),
        )


# ---- The choice ----------------------------------------------------------------------------------------

_HOPPER = (9, 0)
_TILE = 128 * 128
_FLOAT64 = "shared_tile", Message("kernels.matmul-float64")
_LARGE = "warp_tiled", Message("kernels.matmul-large")
_SMALL = "double_buffered", Message("kernels.matmul-small")
_WGMMA = "triton_persistent", Message("kernels.matmul-wgmma")
_MMA = "mma_pipelined", Message("kernels.matmul-mma")
_TURNED = "triton_persistent", Message("kernels.matmul-turned")
_BATCHED = "triton_batched", Message("kernels.matmul-batched")
_ONE_BY_ONE = "one_by_one", Message("kernels.matmul-one-by-one")
# The rung with an epilogue for each without one.
_FUSED = {"mma_pipelined": "fused", "triton_persistent": "triton_fused"}


def _chosen(
    a: Any,
    b: Any,
    _precision: str = "ieee",
    _out: None = None,
    epilogue: Epilogue | None = None,
    *,
    where: Where | None = None,
) -> tuple[str, Message]:
    rung, why = _of_product(a, b, where)
    return rung if epilogue is None else _FUSED[rung], why


def _of_product(a: Any, b: Any, where: Where | None) -> tuple[str, Message]:
    dtype = dtype_name(a)
    if a.dim() == 3:
        tiles = a.shape[1] * b.shape[2] / _TILE
        is_alone = dtype == "float64" or (dtype == "float32" and tiles >= sm_count(a, where))
        return _ONE_BY_ONE if is_alone else _BATCHED
    if dtype == "float64":
        return _FLOAT64
    if dtype == "float32":
        return _LARGE if a.shape[0] * b.shape[1] >= _TILE * sm_count(a, where) else _SMALL
    if is_transposed(a) or is_transposed(b):
        return _TURNED
    if where is None and not a.is_cuda:
        return _MMA
    return _WGMMA if (where or where_is(a)).capability == _HOPPER else _MMA


LADDER = Ladder(
    name="matmul",
    texts=MESSAGES,
    cases=_cases,
    peers=_peers,
    check=_check,
    truth=_truth,
    dimensions=("m", "n", "k"),
    sized=_sized,
    sample=(128, 128, 128),
    more_samples=_more_samples,
    chooses=_chosen,
    rungs=(
        Rung.reference(FOLDER, reference),
        *float32.RUNGS,
        *tensor_core.RUNGS,
        *triton_rungs.RUNGS,
        *batched.RUNGS,
    ),
)
