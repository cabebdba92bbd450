"""Modules of models on the operators, and models of others put on them in one line.

`RMSNorm`, `LayerNorm`, `GatedMLP`, `Attention`, `LinearCrossEntropy` and the rest have the parameter names of
the torch or Hugging Face modules that they stand for. `patch(model)` changes what it knows in a model that
exists, and `register_with_transformers()` makes `attn_implementation="flashpath"`. docs/nn.md explains.
"""

from flashpath.nn.attention import Attention
from flashpath.nn.cache import KVCache
from flashpath.nn.gated import GatedMLP, GeGLU, SwiGLU
from flashpath.nn.interface import register_with_transformers
from flashpath.nn.losses import CrossEntropyLoss, LinearCrossEntropy
from flashpath.nn.norms import LayerNorm, RMSNorm
from flashpath.nn.patching import PatchReport, patch, unpatch
from flashpath.nn.rotary import Rotary

__all__ = [
    "Attention",
    "CrossEntropyLoss",
    "GatedMLP",
    "GeGLU",
    "KVCache",
    "LayerNorm",
    "LinearCrossEntropy",
    "PatchReport",
    "RMSNorm",
    "Rotary",
    "SwiGLU",
    "patch",
    "register_with_transformers",
    "unpatch",
]
