"""A model of transformers beside itself patched: time of a forward pass, a training step, and a token.

    python benchmarks/patched_model.py [--family Llama] [--batch 8] [--length 2048] [--compile] [--json FILE]

Four layers with a hidden size of 2048, in bfloat16; --tiny for a look without a GPU. Both are timed in turn,
each with all of its host time; the ratio is what `fp.patch` does to a model that somebody has.
"""

from __future__ import annotations

import argparse
import copy
import importlib
import json
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

import flashpath as fp

SIZES = {
    "vocab_size": 32_000,
    "hidden_size": 2048,
    "intermediate_size": 5632,
    "num_hidden_layers": 4,
    "num_attention_heads": 16,
    "num_key_value_heads": 4,
    "head_dim": 128,
    "max_position_embeddings": 16_384,
}
TINY = {
    "vocab_size": 64,
    "hidden_size": 32,
    "intermediate_size": 48,
    "num_hidden_layers": 1,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "head_dim": 8,
    "max_position_embeddings": 256,
}
WARM_UP = 5


def model_of(family: str, sizes: dict[str, int], device: str) -> Any:
    """A model with random weights."""
    transformers: Any = importlib.import_module("transformers")
    config = getattr(transformers, f"{family}Config")(**sizes)
    return getattr(transformers, f"{family}ForCausalLM")(config).to(device, torch.bfloat16)


def works(model: Any, tokens: Any) -> dict[str, Callable[[], Any]]:
    """What is timed. A token is one step of decoding behind all others."""

    @torch.no_grad()
    def forward() -> Any:
        return model(input_ids=tokens, use_cache=False).logits

    def step() -> None:
        model.zero_grad(set_to_none=True)
        model(input_ids=tokens, labels=tokens, use_cache=False).loss.backward()

    with torch.no_grad():
        cache = model(input_ids=tokens).past_key_values

    @torch.no_grad()
    def token() -> Any:
        result = model(input_ids=tokens[:, :1], past_key_values=cache)
        cache.crop(-1)
        return result.logits

    return {"forward": forward, "training step": step, "token": token}


def seconds(work: Callable[[], Any], device: str) -> float:
    """One run, the host's time included."""
    if device == "cuda":
        torch.cuda.synchronize()
    start = time.perf_counter()
    work()
    if device == "cuda":
        torch.cuda.synchronize()
    return time.perf_counter() - start


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--family", default="Llama")
    parser.add_argument("--batch", type=int, default=8)
    parser.add_argument("--length", type=int, default=2048)
    parser.add_argument("--runs", type=int, default=30)
    parser.add_argument("--compile", action="store_true")
    parser.add_argument("--tiny", action="store_true")
    parser.add_argument("--keep-logits", action=argparse.BooleanOptionalAction, default=True)
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    device = "cuda" if torch.cuda.is_available() else "cpu"
    library: Any = torch
    library.manual_seed(0)
    plain = model_of(given.family, TINY if given.tiny else SIZES, device)
    patched = copy.deepcopy(plain)
    print(fp.patch(patched, keep_logits=given.keep_logits))
    tokens = torch.randint(plain.config.vocab_size, (given.batch, given.length), device=device)
    models = [plain, patched]
    if given.compile:
        models = [library.compile(each) for each in models]
    both = [works(each, tokens) for each in models]
    rows: list[dict[str, Any]] = []
    for name in both[0]:
        times: list[list[float]] = [[], []]
        for run in range(WARM_UP + given.runs):
            for kept, work in zip(times, both, strict=True):
                taken = seconds(work[name], device)
                if run >= WARM_UP:
                    kept.append(taken)
        before, after = (statistics.median(each) * 1e3 for each in times)
        rows.append({"work": name, "plain_ms": before, "patched_ms": after, "ratio": after / before})
        print(f"{name:14} {before:9.3f} ms, patched {after:9.3f} ms: {after / before:.2f} of it")
    if given.json is not None:
        given.json.write_text(json.dumps(rows, indent=2) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
