"""`matmul` of matrices and batches of them, and `linear`: products by the rung that is fastest for them."""

import math
from collections.abc import Sequence
from typing import Any, Literal

import torch

from flashpath.errors import FlashpathError
from flashpath.kernels.arguments import FLOATS
from flashpath.kernels.building import dtype_name
from flashpath.kernels.matmul.epilogue import ACTIVATIONS, Epilogue
from flashpath.kernels.matmul.ladder import LADDER
from flashpath.kernels.matmul.problem import is_transposed
from flashpath.ops import elementwise
from flashpath.ops.checking import refuse, require_choice, require_tensors
from flashpath.ops.plans import planned
from flashpath.ops.plans.recording import wants_gradient
from flashpath.ops.registration import define, tell_if_slow

Tensor = torch.Tensor
Activation = Literal["relu", "gelu", "silu"]
DTYPES = (*FLOATS, "float64")


def _check(a: Tensor, b: Tensor) -> None:
    """Refuses what no rung takes; a rung alone may take less."""
    if a.dim() != 2 or b.dim() != 2 or a.shape[1] != b.shape[0]:
        raise FlashpathError("ops.matmul-shapes", shape=str(tuple(a.shape)), shape2=str(tuple(b.shape)))
    _check_types(a, b)


def _check_types(a: Tensor, b: Tensor, name: str = "matmul", first: str = "a", second: str = "b") -> None:
    if a.dtype != b.dtype or a.device != b.device:
        raise FlashpathError(
            "ops.matmul-unlike",
            name=name,
            first=first,
            second=second,
            dtype=dtype_name(a),
            device=str(a.device),
            dtype2=dtype_name(b),
            device2=str(b.device),
        )
    if dtype_name(a) not in DTYPES:
        raise FlashpathError("ops.matmul-dtype", name=name, dtype=dtype_name(a), dtypes=list(DTYPES))


def _dense(x: Tensor) -> Tensor:
    """Returns the matrix as it lies where a rung reads it so: transposed ones of half types stay."""
    return x if x.element_size() == 2 and is_transposed(x) else x.contiguous()


def _product(a: Tensor, b: Tensor) -> Tensor:
    a, b = _dense(a), _dense(b)
    return LADDER.best(a, b).rung(a, b)


# ---- Two matrices ----------------------------------------------------------------------------------------


def _forward(a: Tensor, b: Tensor) -> Tensor:
    _check(a, b)
    tell_if_slow("matmul", a, products=a.numel() * b.shape[1])
    return _product(a, b)


def _fake(a: Tensor, b: Tensor) -> Tensor:
    _check(a, b)
    return a.new_empty((a.shape[0], b.shape[1]))


def _save(ctx: Any, inputs: Sequence[Any], _output: Any) -> None:
    ctx.save_for_backward(*inputs)


def _backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, Tensor | None]:
    """da = dc bᵀ, db = aᵀ dc: two products by the same operator."""
    a, b = ctx.saved_tensors
    wants_a, wants_b = ctx.needs_input_grad[:2]
    return _matmul(grad, b.t()) if wants_a else None, _matmul(a.t(), grad) if wants_b else None


_matmul = define("matmul", "(Tensor a, Tensor b) -> Tensor", _forward, _fake, _backward, _save)


# ---- Many pairs ------------------------------------------------------------------------------------------


def _check_batch(a: Tensor, b: Tensor) -> None:
    if a.dim() != 3 or b.dim() != 3 or a.shape[0] != b.shape[0] or a.shape[2] != b.shape[1]:
        raise FlashpathError("ops.matmul-shapes", shape=str(tuple(a.shape)), shape2=str(tuple(b.shape)))
    _check_types(a, b)


def _batch_forward(a: Tensor, b: Tensor) -> Tensor:
    _check_batch(a, b)
    tell_if_slow("matmul", a, products=a.numel() * b.shape[2])
    return LADDER.best(a, b).rung(a, b)


def _batch_fake(a: Tensor, b: Tensor) -> Tensor:
    _check_batch(a, b)
    return a.new_empty((*a.shape[:2], b.shape[2]))


def _batch_backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, Tensor | None]:
    a, b = ctx.saved_tensors
    wants_a, wants_b = ctx.needs_input_grad[:2]
    return _bmm(grad, b.mT) if wants_a else None, _bmm(a.mT, grad) if wants_b else None


_bmm = define("bmm", "(Tensor a, Tensor b) -> Tensor", _batch_forward, _batch_fake, _batch_backward, _save)


@planned
def matmul(a: Tensor, b: Tensor) -> Tensor:
    """The product of matrices, vectors and batches of matrices, which broadcast as for torch.matmul.

    a: (…, m, k) or (k), b: (…, k, n) or (k), both of one type: float32, float16, bfloat16 or float64. Sums
    are in float32, or in float64 of float64, and rounded once. float32 is not rounded to tf32. Autocast
    changes nothing. Gradients: of both, by the same operators.
    """
    require_tensors("matmul", a=a, b=b)
    if a.dim() == 2 and b.dim() == 2:
        return _matmul(a, b)
    if not a.dim() or not b.dim():
        refuse("ops.matmul-shapes", shape=str(tuple(a.shape)), shape2=str(tuple(b.shape)))
    rows, columns = a.dim() > 1, b.dim() > 1
    product = _of_matrices(a if rows else a.unsqueeze(0), b if columns else b.unsqueeze(1))
    product = product if rows else product.squeeze(-2)
    return product if columns else product.squeeze(-1)


def _of_matrices(a: Tensor, b: Tensor) -> Tensor:
    if b.dim() == 2:  # one matrix for all rows: one product
        return _matmul(_as_rows(a), b).reshape(*a.shape[:-1], b.shape[1])
    batch = _batch(a, b)
    count = math.prod(batch)
    a, b = (
        (x if x.shape[:-2] == batch else x.expand(*batch, *x.shape[-2:])).reshape(count, *x.shape[-2:])
        for x in (a, b)
    )
    return _bmm(a, b).reshape(*batch, a.shape[-2], b.shape[-1])


def _as_rows(x: Tensor) -> Tensor:
    return x if x.dim() == 2 else x.reshape(math.prod(x.shape[:-1]), x.shape[-1])


def _batch(a: Tensor, b: Tensor) -> tuple[int, ...]:
    """Returns what the dimensions before the matrices broadcast to."""
    longer, shorter = sorted((tuple(a.shape[:-2]), tuple(b.shape[:-2])), key=len, reverse=True)
    shorter = (*(1,) * (len(longer) - len(shorter)), *shorter)
    if any(one != other and 1 not in (one, other) for one, other in zip(longer, shorter, strict=True)):
        refuse("ops.matmul-shapes", shape=str(tuple(a.shape)), shape2=str(tuple(b.shape)))
    return tuple(other if one == 1 else one for one, other in zip(longer, shorter, strict=True))


# ---- A linear layer --------------------------------------------------------------------------------------


def _check_linear(x: Tensor, weight: Tensor, bias: Tensor | None, residual: Tensor | None) -> None:
    if x.dim() != 2 or weight.dim() != 2 or x.shape[1] != weight.shape[1]:
        raise FlashpathError("ops.linear-shapes", shape=str(tuple(x.shape)), shape2=str(tuple(weight.shape)))
    _check_types(x, weight, "linear", "x", "weight")
    for name, given, shape in (("bias", bias, weight.shape[:1]), ("residual", residual, None)):
        wanted = (x.shape[0], weight.shape[0]) if shape is None else tuple(shape)
        if given is None:
            continue
        if tuple(given.shape) != wanted or given.dtype != x.dtype or given.device != x.device:
            raise FlashpathError(
                "ops.linear-unlike",
                name=name,
                shape=str(tuple(given.shape)),
                dtype=dtype_name(given),
                device=str(given.device),
                wanted=str(wanted),
                wanted_dtype=dtype_name(x),
                wanted_device=str(x.device),
            )


def _linear_forward(
    x: Tensor, weight: Tensor, bias: Tensor | None, activation: str, residual: Tensor | None
) -> Tensor:
    _check_linear(x, weight, bias, residual)
    tell_if_slow("linear", x, products=x.numel() * weight.shape[0])
    if bias is None and residual is None and activation == "none":
        return _product(x, weight.t())
    after = Epilogue(
        bias=None if bias is None else bias.contiguous(),
        activation=activation,
        residual=None if residual is None else residual.contiguous(),
    )
    if x.element_size() > 2:  # the rungs with an epilogue are for half types
        return after(_product(x, weight.t()))
    a, b = _dense(x), _dense(weight.t())
    return LADDER.best(a, b, "ieee", None, after).rung(a, b, "ieee", None, after)


def _linear_fake(
    x: Tensor, weight: Tensor, bias: Tensor | None, activation: str, residual: Tensor | None
) -> Tensor:
    _check_linear(x, weight, bias, residual)
    return x.new_empty((x.shape[0], weight.shape[0]))


def _save_linear(ctx: Any, inputs: Sequence[Any], _output: Any) -> None:
    x, weight, bias, ctx.activation, residual = inputs
    ctx.has_bias, ctx.has_residual = bias is not None, residual is not None
    ctx.save_for_backward(x, weight, None if ctx.activation == "none" else bias)


def _linear_backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
    """dx = dz w, dw = dzᵀ x; before an activation, z is computed again."""
    x, weight, bias = ctx.saved_tensors
    wants_x, wants_weight, wants_bias = ctx.needs_input_grad[:3]
    dz = grad
    if ctx.activation != "none":
        z = _linear(x, weight, bias, "none", None)
        dz = elementwise.activation_gradient(ctx.activation, grad, z)
    return (
        _matmul(dz, weight) if wants_x else None,
        _matmul(dz.t(), x) if wants_weight else None,
        dz.sum(0) if ctx.has_bias and wants_bias else None,
        None,
        grad if ctx.has_residual else None,
    )


_linear = define(
    "linear",
    "(Tensor x, Tensor weight, Tensor? bias, str activation, Tensor? residual) -> Tensor",
    _linear_forward,
    _linear_fake,
    _linear_backward,
    _save_linear,
)


@planned
def linear(
    x: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    activation: Activation | None = None,
    residual: Tensor | None = None,
) -> Tensor:
    """`activation(x weightᵀ + bias) + residual`: of half types in one kernel, rounded once.

    x: (…, k), weight: (n, k), read as it lies, bias: (n), residual: (…, n); all of one type: float32,
    float16, bfloat16 or float64. activation: None, relu, gelu or silu. Gradients: of x, weight, bias and
    residual; where one is wanted, the activation is a kernel of its own, which keeps what its gradient needs.
    """
    given = {"bias": bias, "residual": residual}
    require_tensors("linear", x=x, weight=weight, **{key: y for key, y in given.items() if y is not None})
    known = tuple(name for name in ACTIVATIONS if name != "none")
    if activation is not None:
        require_choice("linear", "activation", activation, known)
    if not x.dim() or weight.dim() != 2:
        refuse("ops.linear-shapes", shape=str(tuple(x.shape)), shape2=str(tuple(weight.shape)))
    shape = (*x.shape[:-1], weight.shape[0])
    if residual is not None and tuple(residual.shape) != shape:
        refuse(
            "ops.linear-unlike",
            name="residual",
            shape=str(tuple(residual.shape)),
            dtype=dtype_name(residual),
            device=str(residual.device),
            wanted=str(shape),
            wanted_dtype=dtype_name(x),
            wanted_device=str(x.device),
        )
    rows = None if residual is None else _as_rows(residual.unsqueeze(0) if x.dim() == 1 else residual)
    flat = x.unsqueeze(0) if x.dim() == 1 else _as_rows(x)
    if activation is None or x.dtype == torch.float64 or not wants_gradient(x, weight, bias, residual):
        return _linear(flat, weight, bias, activation or "none", rows).reshape(shape)
    z = elementwise.activated(activation, _linear(flat, weight, bias, "none", None))
    return (z if rows is None else elementwise.add(z, rows)).reshape(shape)
