"""Other libraries' attention, as functions of a case's inputs.

A gradient is timed without the forward direction: that is done before, and kept until the inputs change.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from flashpath.kernels.attention.problem import Options
from flashpath.kernels.declines import forward_only, takes
from flashpath.kernels.peers import Kept, library
from flashpath.kernels.rung import Peer
from flashpath.messages import told

if TYPE_CHECKING:
    from torch import Tensor

    # q, k, v, causal → out, in the layout of a case.
    Attend = Callable[[Tensor, Tensor, Tensor, bool], Tensor]

FLEX_LENGTHS = (4096, 16384)


def peers(device: str) -> Mapping[str, Callable[..., Any] | Peer]:
    """All that can be imported; without a GPU torch alone, with whatever it has for CPUs."""
    if device != "cuda":
        return {"torch": Peer(_forward(_sdpa(None)), forward_only)}
    found: dict[str, Callable[..., Any] | Peer] = {
        "torch (FlashAttention 2)": _both(_sdpa("FLASH_ATTENTION"), _GradientsOfFlash()),
        "torch (cuDNN)": _both(_sdpa("CUDNN_ATTENTION")),
        "torch (efficient)": _both(_sdpa("EFFICIENT_ATTENTION")),
        # Its gradient keeps all scores.
        "torch (math)": Peer(_forward(_sdpa("MATH")), forward_only),
        "torch (flex_attention)": Peer(_Flex(), _FLEX_DECLINES),
    }
    for each in LIBRARIES:
        module = _imported(each)
        if module is None:
            continue
        attend = each.attend(module)
        found[each.name] = _both(attend) if each.has_gradient else Peer(_forward(attend), forward_only)
    return found


# ---- Either direction ------------------------------------------------------------------------------------


def _forward(attend: Attend) -> Callable[..., Any]:
    def run(q: Tensor, k: Tensor, v: Tensor, options: Options) -> Tensor:
        return attend(q, k, v, options.causal)

    return run


def _both(attend: Attend, gradients: Callable[..., Any] | None = None) -> Callable[..., Any]:
    """By the kind of the inputs. Gradients are autograd's unless a function for them is given."""
    forward, backward = _forward(attend), gradients or _GradientsOfAutograd(attend)

    def run(*inputs: Any) -> Any:
        return forward(*inputs) if len(inputs) == 4 else backward(*inputs)

    return run


def _heads_first(*tensors: Tensor) -> list[Tensor]:
    """(batch, heads, sequence, dim), dense."""
    return [each.transpose(1, 2).contiguous() for each in tensors]


class _GradientsOfAutograd:
    """dq, dk and dv from a graph that is kept."""

    def __init__(self, attend: Attend) -> None:
        self.attend = attend
        self.graph = Kept(self._graph)

    def _graph(self, q: Tensor, k: Tensor, v: Tensor, causal: bool) -> tuple[Tensor, list[Tensor]]:
        import torch

        leaves = [each.detach().requires_grad_() for each in (q, k, v)]
        with torch.enable_grad():
            return self.attend(leaves[0], leaves[1], leaves[2], causal), leaves

    def __call__(
        self, dout: Tensor, q: Tensor, k: Tensor, v: Tensor, _out: Any, _lse: Any, options: Options
    ) -> Any:
        import torch

        out, leaves = self.graph(q, k, v, options.causal)
        autograd: Any = torch.autograd
        return autograd.grad(out, leaves, dout, retain_graph=True)


# ---- torch -----------------------------------------------------------------------------------------------


def _sdpa(backend: str | None) -> Attend:
    """scaled_dot_product_attention by one of its backends; None: whichever torch takes."""
    import torch
    from torch.nn.attention import SDPBackend, sdpa_kernel

    def attend(q: Tensor, k: Tensor, v: Tensor, causal: bool) -> Tensor:
        heads_first = [each.transpose(1, 2) for each in (q, k, v)]
        call: Any = torch.nn.functional.scaled_dot_product_attention
        if backend is None:
            return call(*heads_first, is_causal=causal).transpose(1, 2)
        with sdpa_kernel(getattr(SDPBackend, backend)):
            return call(*heads_first, is_causal=causal).transpose(1, 2)

    return attend


class _GradientsOfFlash:
    """The gradients of torch's FlashAttention 2, by its operator: what autograd does beside is not timed."""

    def __init__(self) -> None:
        self.saved = Kept(self._saved)

    @staticmethod
    def _saved(q: Tensor, k: Tensor, v: Tensor, causal: bool) -> tuple[Any, ...]:
        import torch

        operators: Any = torch.ops.aten
        heads_first = [each.transpose(1, 2) for each in (q, k, v)]
        return operators._scaled_dot_product_flash_attention(*heads_first, 0.0, causal)

    def __call__(
        self, dout: Tensor, q: Tensor, k: Tensor, v: Tensor, _out: Any, _lse: Any, options: Options
    ) -> Any:
        import torch

        operators: Any = torch.ops.aten
        out, lse, cu_q, cu_k, max_q, max_k, seed, offset, _ = self.saved(q, k, v, options.causal)
        tensors = [each.transpose(1, 2) for each in (dout, q, k, v)]
        grads = operators._scaled_dot_product_flash_attention_backward(
            *tensors, out, lse, cu_q, cu_k, max_q, max_k, 0.0, options.causal, seed, offset
        )
        return tuple(each.transpose(1, 2) for each in grads)


_FLEX_DECLINES = takes(
    "sequence", *FLEX_LENGTHS, otherwise=told("kernels.attention.flex-lengths", lengths=FLEX_LENGTHS)
)


class _Flex:
    """flex_attention as torch.compile has it, of dense tensors with heads before tokens."""

    def __init__(self) -> None:
        self.ready, self.douts = Kept(_heads_first), Kept(_heads_first)
        self.gradients = _GradientsOfAutograd(self.attend)

    def attend(self, q: Tensor, k: Tensor, v: Tensor, causal: bool) -> Tensor:
        import torch

        inductor: Any = torch
        # A shape is compiled anew, however many there were; and gradients may be asked for again.
        with (
            inductor._dynamo.config.patch(recompile_limit=1000),
            inductor._functorch.config.patch(donated_buffer=False),
        ):
            return compiled_flex()(q, k, v, block_mask=causal_mask(q.shape[2], q.device) if causal else None)

    def __call__(self, *inputs: Any) -> Any:
        options = inputs[-1]
        if len(inputs) == 4:
            q, k, v = self.ready(*inputs[:3])
            return self.attend(q, k, v, options.causal).transpose(1, 2)
        dout, q, k, v = inputs[:4]
        (dout,), (q, k, v) = self.douts(dout), self.ready(q, k, v)
        grads: Any = self.gradients(dout, q, k, v, None, None, options)
        return tuple(each.transpose(1, 2) for each in grads)


@functools.cache
def compiled_flex() -> Any:
    """Compiles for static shapes: code for any shape would be slower, and not its best."""
    import torch
    from torch.nn.attention import flex_attention

    compiler: Any = torch
    return compiler.compile(flex_attention.flex_attention, dynamic=False)


@functools.cache
def causal_mask(length: int, device: Any) -> Any:
    from torch.nn.attention.flex_attention import create_block_mask

    def is_seen(_batch: Tensor, _head: Tensor, query: Tensor, key: Tensor) -> Tensor:
        return query >= key

    return create_block_mask(is_seen, None, None, length, length, device=str(device))


# ---- Libraries that may be there -------------------------------------------------------------------------


@dataclass(frozen=True)
class Library:
    """A module, and what its attention is as a function."""

    name: str
    module: str
    attend: Callable[[Any], Attend]
    has_gradient: bool = True


def not_importable() -> dict[str, str]:
    """The peers that cannot be had here, and the module that each would come from."""
    return {each.name: each.module for each in LIBRARIES if _imported(each) is None}


def _imported(each: Library) -> Any | None:
    """The module, unless it is ours: flashpath.compat may stand in flash-attn's place."""
    module = library(each.module)
    return None if getattr(module, "__name__", "").startswith("flashpath.") else module


def _flash_attn(module: Any) -> Attend:
    def attend(q: Tensor, k: Tensor, v: Tensor, causal: bool) -> Tensor:
        result: Any = module.flash_attn_func(q, k, v, causal=causal)
        return result[0] if isinstance(result, tuple) else result  # some versions add the LSE  # pyright: ignore

    return attend


def _xformers(module: Any) -> Attend:
    def attend(q: Tensor, k: Tensor, v: Tensor, causal: bool) -> Tensor:
        bias = module.LowerTriangularMask() if causal else None
        return module.memory_efficient_attention(q, k, v, attn_bias=bias)

    return attend


def _flashinfer(module: Any) -> Attend:
    """Its prefill of ragged batches; what it plans for a shape is kept."""
    import torch

    def planned(q: Tensor, k: Tensor, causal: bool) -> Any:
        workspace = torch.empty(128 * 2**20, dtype=torch.uint8, device=q.device)
        wrapper = module.BatchPrefillWithRaggedKVCacheWrapper(workspace, "NHD")
        bounds = [
            torch.arange(0, (each.shape[0] + 1) * each.shape[1], each.shape[1], device=q.device).int()
            for each in (q, k)
        ]
        heads = q.shape[2], k.shape[2]
        wrapper.plan(*bounds, *heads, q.shape[3], causal=causal, q_data_type=q.dtype)
        return wrapper

    plans = Kept(planned)

    def attend(q: Tensor, k: Tensor, v: Tensor, causal: bool) -> Tensor:
        return plans(q, k, causal).run(*(each.flatten(0, 1) for each in (q, k, v))).view(q.shape)

    return attend


def _plain_triton(module: Any) -> Attend:
    """30 lines of Triton that a comparison brings with it."""
    ready = Kept(_heads_first)

    def attend(q: Tensor, k: Tensor, v: Tensor, causal: bool) -> Tensor:
        return module.fwd(*ready(q, k, v), causal).transpose(1, 2)

    return attend


LIBRARIES = (
    Library("flash-attn 2", "flash_attn", _flash_attn),
    Library("flash-attn 3", "flash_attn_interface", _flash_attn),
    Library("flash-attn 4", "flash_attn.cute", _flash_attn),
    Library("FlashInfer", "flashinfer", _flashinfer, has_gradient=False),
    Library("xFormers", "xformers.ops", _xformers),
    Library("Triton (plain)", "triton_fa2", _plain_triton, has_gradient=False),
)
