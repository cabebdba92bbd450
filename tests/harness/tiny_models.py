"""Tiny models of transformers, with weights of their own: a Llama, Qwens and Gemmas of two layers."""

# pyright: basic

from __future__ import annotations

import importlib
from typing import Any

import pytest
import torch

SIZES: dict[str, Any] = {
    "vocab_size": 48,
    "hidden_size": 32,
    "intermediate_size": 40,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "head_dim": 8,
    "max_position_embeddings": 64,
    "pad_token_id": None,
    "bos_token_id": None,
    "eos_token_id": None,
}
# Every second layer of Qwen 2 and Gemma 2 sees a window; Gemma 2 has softcaps in attention and logits.
WINDOW = 6
FAMILIES: dict[str, dict[str, Any]] = {
    "Llama": {"attention_bias": True},
    "Qwen2": {"sliding_window": WINDOW, "use_sliding_window": True, "max_window_layers": 1},
    "Qwen3": {"tie_word_embeddings": True},
    "Gemma": {},
    "Gemma2": {"sliding_window": WINDOW, "query_pre_attn_scalar": 8},
}

# Of other makes: norms without a bias, interleaved and partial rotation, packed MLPs, 1 + weight and a mean.
OTHERS: dict[str, dict[str, Any]] = {
    "Cohere": {},
    "Glm": {"partial_rotary_factor": 0.5, "head_dim": 16},
    "GPTNeoX": {"rotary_pct": 0.5},
    "Nemotron": {},
    "Phi3": {},
    "GptOss": {"num_local_experts": 4, "sliding_window": WINDOW},
}


def transformers() -> Any:
    return pytest.importorskip(
        "transformers", reason="transformers is not installed: pip install transformers"
    )


def tiny(family: str, seed: int = 0, dtype: Any = torch.bfloat16, **more: Any) -> Any:
    """A model with weights of its own seed, which no other test's random numbers change."""
    module = transformers()
    config = getattr(module, f"{family}Config")(**{**SIZES, **{**FAMILIES, **OTHERS}[family], **more})
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        model = getattr(module, f"{family}ForCausalLM")(config)
        for name, weight in model.named_parameters():
            if "norm" in name:  # else they are all 1, or 0
                weight.data += 0.2 * torch.randn(weight.shape)
    return model.to(dtype).eval()


def modeling(family: str) -> Any:
    """The file of a family's classes."""
    transformers()
    name = family.lower()
    return importlib.import_module(f"transformers.models.{name}.modeling_{name}")


def tokens(batch: int, length: int, seed: int = 0) -> torch.Tensor:
    generator = torch.Generator().manual_seed(100 + seed)
    return torch.randint(0, SIZES["vocab_size"], (batch, length), generator=generator)
