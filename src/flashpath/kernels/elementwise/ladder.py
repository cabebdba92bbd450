"""The elementwise ladder: its rungs, the problems it is timed on, and its peers."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from flashpath.kernels.building import cuda_rung, triton_compiles_for
from flashpath.kernels.declines import takes
from flashpath.kernels.elementwise import gradients, host
from flashpath.kernels.elementwise.messages import MESSAGES
from flashpath.kernels.elementwise.operations import GRADIENTS, OPERATIONS, Gradient, Operation
from flashpath.kernels.elementwise.reference import TORCH, reference, results, truth
from flashpath.kernels.peers import Kept, library, with_compiled
from flashpath.kernels.rung import Case, Ladder, Peer, Rung, short
from flashpath.kernels.tolerance import check_against, check_shape, check_type
from flashpath.messages import Message, told

_SCALARS = {"factor": 0.7, "low": -0.5, "high": 1.25}
# Elements that are checked at a time: the float64 truth of a whole large case would fill a GPU's memory.
_CHECKED_AT_ONCE = 2**24


def _described(operation: str) -> Operation | Gradient:
    return OPERATIONS.get(operation) or GRADIENTS[operation]


def _case(operation: str, shape: tuple[int, ...], dtype: str, size: str) -> Case:
    """`shape` is the output's, or that of the gradient that comes in."""
    import torch

    kind, what = getattr(torch, dtype), _described(operation)
    n = functools.reduce(int.__mul__, shape)
    both_halves = (*shape[:-1], 2 * shape[-1]) if what.gated else shape
    first = both_halves if isinstance(what, Operation) else shape

    def inputs(device: str) -> tuple[Any, ...]:
        def drawn(shape: tuple[int, ...]) -> Any:
            return torch.randn(shape, device=device, dtype=kind)

        operands = [_SCALARS[name] if name in _SCALARS else drawn(both_halves) for name in what.operands]
        return (drawn(first), operation, *operands)

    return Case(
        name=f"{operation} {size} {dtype}",
        inputs=inputs,
        bytes=what.streams * n * kind.itemsize,
        flops=what.flops * n,
        dtype=dtype,
        parameters={"operation": operation, "shape": list(shape), "dtype": dtype},
    )


def _flat(operation: str, log2_n: int, dtype: str) -> Case:
    return _case(operation, (2**log2_n,), dtype, f"2^{log2_n}")


def _rows(operation: str, d: int) -> Case:
    return _case(operation, (32768, d), "bfloat16", f"32768×{d}")


def _cases() -> Sequence[Case]:
    simple = ("scale", "add", "relu", "gelu", "gelu_tanh", "silu", "clamp")
    return [
        _flat("gelu", 20, "float32"),
        _flat("gelu", 24, "float32"),
        *(_flat(operation, 28, "bfloat16") for operation in simple),
        _flat("add", 28, "float32"),
        _flat("gelu", 28, "float32"),
        *(_rows("silu_and_mul", d) for d in (1024, 4096, 16384)),
        _rows("gelu_and_mul", 4096),
        _rows("gelu_tanh_and_mul", 4096),
        *(_rows(name, 4096) for name in ("swiglu", "geglu", "geglu_tanh")),
        _flat("scale_add_gelu", 28, "bfloat16"),
        *(_flat(f"{name}_backward", 28, "bfloat16") for name in simple if f"{name}_backward" in OPERATIONS),
        *(_rows("silu_and_mul_backward", d) for d in (1024, 4096, 16384)),
        _rows("gelu_and_mul_backward", 4096),
        _rows("gelu_tanh_and_mul_backward", 4096),
        *(_rows(f"{name}_backward", 4096) for name in ("swiglu", "geglu", "geglu_tanh")),
        _flat("scale_add_gelu_backward", 28, "bfloat16"),
    ]


def _peers(device: str) -> Mapping[str, Callable[..., Any] | Peer]:
    # One function for each operation: a compiled one would be compiled again when the operation changes.
    each = {name: with_compiled(device, function) for name, function in TORCH.items()}

    def peer(name: str, x: Any, operation: str, *operands: Any) -> Any:
        return each[operation][name](x, *operands)

    peers: dict[str, Callable[..., Any] | Peer] = {
        name: functools.partial(peer, name) for name in each["add"]
    }
    swiglu, geglu = (library(f"liger_kernel.ops.{name}") for name in ("swiglu", "geglu"))
    if device == "cuda" and swiglu is not None and geglu is not None:
        peers["Liger"] = Peer(_Liger(swiglu, geglu), _LIGER_DECLINES)
    return peers


class _Liger:
    """Its gates of two tensors. A gradient is written over what the gate was given: over copies here."""

    def __init__(self, swiglu: Any, geglu: Any) -> None:
        self.forward = {"swiglu": swiglu.swiglu_forward, "geglu_tanh": geglu.geglu_forward}
        self.backward = {
            "swiglu_backward": swiglu.swiglu_backward,
            "geglu_tanh_backward": geglu.geglu_backward,
        }
        self.copies = Kept(lambda *tensors: [each.clone() for each in tensors])

    def __call__(self, x: Any, operation: str, *operands: Any) -> Any:
        if operation in self.forward:
            return self.forward[operation](x, *operands)[2]
        return self.backward[operation](*self.copies(*operands), x)


_LIGER_DECLINES = takes(
    "operation",
    *("swiglu", "geglu_tanh", "swiglu_backward", "geglu_tanh_backward"),
    otherwise=told("kernels.elementwise.two-tensors"),
)


def _truth(inputs: tuple[Any, ...]) -> Any:
    x, operation, *operands = inputs
    return truth(x, operation, *operands)


def _sized(size: tuple[int, ...]) -> Case:
    return _case("scale_add_gelu", size, "bfloat16", short(size[0]))


def _more_samples() -> Sequence[Case]:
    return [_case("silu_and_mul_backward", (64, 1024), "bfloat16", "64×1024")]


def _check(output: Any, inputs: tuple[Any, ...]) -> None:
    """Against float64: at most twice the error that torch makes in the same type."""
    x, operation, *operands = inputs
    what = _described(operation)
    expected = tuple(x.shape)
    if what.gated:
        expected = (*x.shape[:-1], 2 * x.shape[-1] if isinstance(what, Gradient) else x.shape[-1] // 2)
    outputs = results(output)
    assert len(outputs) == (2 if operation in GRADIENTS and not what.gated else 1), f"{len(outputs)} outputs"
    for each in outputs:
        check_shape(each, expected)
        check_type(each, x.dtype)
    if not x.numel():
        return
    for part, arguments in _pieces(outputs, (x, *operands), _CHECKED_AT_ONCE, what.gated):
        check_part(part, operation, *arguments)


def _pieces(
    outputs: Sequence[Any], arguments: Sequence[Any], most: int, gated: bool
) -> Iterator[tuple[Any, list[Any]]]:
    """A call in pieces of so many elements: of gated ones so many rows."""
    import torch

    every: list[Any] = [*outputs, *arguments]
    tensors = [each for each in every if isinstance(each, torch.Tensor)]
    rows = max(most // max(each.shape[-1] for each in tensors), 1) if gated else most

    def split(argument: Any) -> Iterable[Any]:
        if not isinstance(argument, torch.Tensor):
            return itertools.repeat(argument)
        tensor: Any = argument
        return tensor.reshape(-1, tensor.shape[-1] if gated else 1).split(rows)

    for piece in zip(*map(split, every), strict=False):
        of_output = piece[: len(outputs)]
        yield of_output if len(outputs) > 1 else piece[0], list(piece[len(outputs) :])


def check_part(output: Any, operation: str, x: Any, *operands: Any) -> None:
    """`_check` of tensors that are small enough for float64."""
    import torch

    exact = results(truth(x, operation, *operands))
    of_torch = results(TORCH[operation](x, *operands))
    for each, right, theirs in zip(results(output), exact, of_torch, strict=True):
        if x.is_floating_point():
            # Of a product of three, a few elements may be large, and torch's right by luck.
            largest = float(right.abs().nan_to_num(0, 0, 0).max()) if operation in GRADIENTS else 1.0
            check_against(each, right, theirs, absolute=1e-6 * max(largest, 1.0))
        else:
            torch.testing.assert_close(each, right, rtol=0, atol=0)


_PACKED = {"threads": (128, 256, 512), "packs": (1, 2, 4)}


def _kernel(file: Path, *sizes: int, operation: str = "gelu") -> str:
    return host.kernel_name(file, OPERATIONS[operation], "bfloat16", *sizes)


_ONE = "vectorized", Message("kernels.elementwise-one")
_CHAIN = "fused_chain", Message("kernels.elementwise-chain")
_TWO = "backward_vectorized", Message("kernels.elementwise-two")


def _chosen(_x: Any, operation: str, *_: Any, where: object = None) -> tuple[str, Message]:
    if operation in GRADIENTS:
        return _TWO
    return _CHAIN if len(OPERATIONS[operation].functors) > 1 else _ONE


_one_result = takes("operation", *OPERATIONS, otherwise=told("kernels.elementwise.one-result"))
_two_results = takes("operation", *GRADIENTS, otherwise=told("kernels.elementwise.two-results"))
_cuda = functools.partial(cuda_rung, declines=_one_result)
_SILU_GATE = GRADIENTS["silu_and_mul_backward"]


LADDER = Ladder(
    name="elementwise",
    texts=MESSAGES,
    cases=_cases,
    peers=_peers,
    check=_check,
    truth=_truth,
    sized=_sized,
    sample=(2**16,),
    more_samples=_more_samples,
    chooses=_chosen,
    rungs=(
        Rung.reference(host.FOLDER, reference),
        _cuda(
            host.scalar,
            _kernel(host.SCALAR),
            improves_on="reference",
            choices={"threads": (64, 128, 256, 512, 1024)},
            readability=5,
            debugging=5,
        ),
        _cuda(
            host.grid_stride,
            _kernel(host.GRID_STRIDE),
            improves_on="scalar",
            choices={"threads": (128, 256, 512), "blocks_per_sm": (4, 8, 16, 32)},
            readability=4,
            debugging=5,
        ),
        _cuda(
            host.vectorized,
            _kernel(host.VECTORIZED, 8, host.PACKS[1]),
            improves_on="grid_stride",
            choices=_PACKED,
            readability=3,
            debugging=3,
        ),
        _cuda(
            host.fused_chain,
            _kernel(host.FUSED_CHAIN, 8, host.PACKS[2], operation="scale_add_gelu"),
            improves_on="vectorized",
            choices=_PACKED,
            readability=4,
            debugging=2,
        ),
        Rung(
            name="triton",
            language="triton",
            file=host.FOLDER / "triton_elementwise.py",
            function=host.triton,
            declines=_one_result,
            improves_on="fused_chain",
            choices={"block_bytes": (2048, 4096, 8192, 16384), "warps": (4, 8)},
            compile_for=triton_compiles_for(
                host.triton_map,
                {"x_ptr": "*bf16", "y_ptr": "*bf16", "out_ptr": "*bf16"}
                | {"first": "fp32", "second": "fp32", "n": "i32"},
                {"STEP0": "Scale", "STEP1": "Add", "STEP2": "Gelu"}
                | {"READS_Y": True, "BLOCK": host.TRITON_BYTES // 2},
            ),
            readability=5,
            debugging=3,
        ),
        cuda_rung(
            gradients.backward,
            gradients.kernel_name(_SILU_GATE, "bfloat16"),
            improves_on="reference",
            declines=_two_results,
            choices={"threads": (64, 128, 256, 512, 1024)},
            readability=5,
            debugging=5,
        ),
        cuda_rung(
            gradients.backward_vectorized,
            gradients.kernel_name(_SILU_GATE, "bfloat16", 8, host.PACKS[3]),
            improves_on="backward",
            declines=_two_results,
            choices=_PACKED,
            readability=3,
            debugging=3,
        ),
        Rung(
            name="triton_backward",
            language="triton",
            file=host.FOLDER / "triton_elementwise.py",
            function=gradients.triton_backward,
            declines=_two_results,
            improves_on="backward_vectorized",
            choices={"block_bytes": (2048, 4096, 8192, 16384), "warps": (4, 8)},
            compile_for=triton_compiles_for(
                lambda: host.triton_module().gate_backward_kernel,
                {"dout_ptr": "*bf16", "x_ptr": "*bf16", "dx_ptr": "*bf16", "d": "i32"},
                {"ACTIVATION": "Silu", "BLOCK": host.TRITON_BYTES // 2},
            ),
            readability=5,
            debugging=3,
        ),
    ),
)
