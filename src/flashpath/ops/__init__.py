"""The PyTorch face of the ladders: operators with gradients, for `torch.compile` and CUDA graphs.

Each takes the rung that is best for the device, type and shape; a tensor that is not contiguous is copied
first. Tensors on the CPU run on the virtual GPU; above `registration.SLOW_ON_CPU` elements an operator says
so (`SlowOnCpu`). docs/ops.md has types, NaN, gradients and limits of all of them.
"""

import importlib

from flashpath.ops.adding_norms import add_layer_norm, add_rms_norm
from flashpath.ops.attention import attention, attention_varlen
from flashpath.ops.counting import histogram
from flashpath.ops.decoding import attention_decode, merge_states
from flashpath.ops.elementwise import (
    add,
    clamp,
    geglu,
    geglu_tanh,
    gelu,
    gelu_and_mul,
    gelu_tanh,
    gelu_tanh_and_mul,
    relu,
    scale,
    scale_add_activation,
    silu,
    silu_and_mul,
    swiglu,
)
from flashpath.ops.linear_losses import linear_cross_entropy
from flashpath.ops.losses import cross_entropy
from flashpath.ops.matmul import linear, matmul
from flashpath.ops.ordering import scan, sort
from flashpath.ops.reduction import reduce
from flashpath.ops.registration import SlowOnCpu
from flashpath.ops.rope import rope
from flashpath.ops.rows import layer_norm, rms_norm, softmax
from flashpath.ops.scaled_dot_product import scaled_dot_product_attention
from flashpath.ops.sparse import spmv

importlib.import_module("flashpath.ops.flops")  # torch's counter is told of the operators

__all__ = [
    "SlowOnCpu",
    "add",
    "add_layer_norm",
    "add_rms_norm",
    "attention",
    "attention_decode",
    "attention_varlen",
    "clamp",
    "cross_entropy",
    "geglu",
    "geglu_tanh",
    "gelu",
    "gelu_and_mul",
    "gelu_tanh",
    "gelu_tanh_and_mul",
    "histogram",
    "layer_norm",
    "linear",
    "linear_cross_entropy",
    "matmul",
    "merge_states",
    "reduce",
    "relu",
    "rms_norm",
    "rope",
    "scale",
    "scale_add_activation",
    "scaled_dot_product_attention",
    "scan",
    "silu",
    "silu_and_mul",
    "softmax",
    "sort",
    "spmv",
    "swiglu",
]
