"""The PyTorch face of the ladders: operators with gradients, for `torch.compile` and CUDA graphs.

Each takes the rung that is best for the device, type and shape; a tensor that is not contiguous is copied
first. Tensors on the CPU run on the virtual GPU; above `registration.SLOW_ON_CPU` elements an operator says
so (`SlowOnCpu`). docs/ops.md has types, NaN, gradients and limits of all of them.
"""

from flashpath.ops.adding_norms import add_layer_norm, add_rms_norm
from flashpath.ops.attention import attention, attention_varlen
from flashpath.ops.counting import histogram
from flashpath.ops.decoding import attention_decode, merge_states
from flashpath.ops.elementwise import (
    add,
    clamp,
    gelu,
    gelu_and_mul,
    gelu_tanh,
    gelu_tanh_and_mul,
    relu,
    scale,
    scale_add_activation,
    silu,
    silu_and_mul,
)
from flashpath.ops.linear_losses import linear_cross_entropy
from flashpath.ops.losses import cross_entropy
from flashpath.ops.matmul import matmul
from flashpath.ops.ordering import scan, sort
from flashpath.ops.reduction import reduce
from flashpath.ops.registration import SlowOnCpu
from flashpath.ops.rows import layer_norm, rms_norm, softmax
from flashpath.ops.sparse import spmv

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
    "gelu",
    "gelu_and_mul",
    "gelu_tanh",
    "gelu_tanh_and_mul",
    "histogram",
    "layer_norm",
    "linear_cross_entropy",
    "matmul",
    "merge_states",
    "reduce",
    "relu",
    "rms_norm",
    "scale",
    "scale_add_activation",
    "scan",
    "silu",
    "silu_and_mul",
    "softmax",
    "sort",
    "spmv",
]
