"""Other libraries' attention: the layout and arguments that each gets, and gradients without the forward."""

# pyright: basic

from __future__ import annotations

import sys
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
import torch

from flashpath.kernels import peers as keeping
from flashpath.kernels.attention import peers
from flashpath.kernels.attention.cases import case, check, gradients, truth
from flashpath.kernels.attention.problem import Options

FORWARD = case("forward", 2, 48, 3, 16, causal=True)
BACKWARD = case("backward", 2, 48, 3, 16, causal=True)


def attend(q: Any, k: Any, v: Any, causal: bool) -> Any:
    """With tokens before heads, as most libraries have it."""
    heads_first = [each.transpose(1, 2) for each in (q, k, v)]
    return torch.nn.functional.scaled_dot_product_attention(*heads_first, is_causal=causal).transpose(1, 2)


def functions(found: Any) -> dict[str, Any]:
    return {name: getattr(peer, "function", peer) for name, peer in found.items()}


@pytest.fixture
def everywhere(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """All libraries, played by torch; returns what they are called with."""
    seen: list[str] = []

    def flash_attn_func(q: Any, k: Any, v: Any, causal: bool) -> Any:
        seen.append(f"flash_attn {tuple(q.shape)} {causal}")
        return attend(q, k, v, causal)

    class Wrapper:
        def __init__(self, workspace: Any, layout: str) -> None:
            assert layout == "NHD"

        def plan(self, rows: Any, keys: Any, heads: int, kv_heads: int, dim: int, **more: Any) -> None:
            seen.append(f"plan {rows.tolist()} {keys.tolist()} {heads} {kv_heads} {dim} {more['causal']}")
            self.shape, self.causal = (len(rows) - 1, -1, heads, dim), more["causal"]

        def run(self, *ragged: Any) -> Any:
            seen.append("run")
            q, k, v = (each.view(self.shape) for each in ragged)
            return attend(q, k, v, self.causal).flatten(0, 1)

    def efficient(q: Any, k: Any, v: Any, attn_bias: Any) -> Any:
        seen.append(f"xformers {attn_bias}")
        return attend(q, k, v, attn_bias is not None)

    def plain(q: Any, k: Any, v: Any, causal: bool) -> Any:
        assert q.is_contiguous()
        tokens_first = [each.transpose(1, 2) for each in (q, k, v)]
        return attend(tokens_first[0], tokens_first[1], tokens_first[2], causal).transpose(1, 2)

    modules: dict[str, dict[str, Any]] = {
        "flash_attn": {"flash_attn_func": flash_attn_func},
        "flash_attn_interface": {"flash_attn_func": lambda *x, **y: (flash_attn_func(*x, **y), None)},
        "flash_attn.cute": {"flash_attn_func": flash_attn_func},
        "flashinfer": {"BatchPrefillWithRaggedKVCacheWrapper": Wrapper},
        "xformers.ops": {"memory_efficient_attention": efficient, "LowerTriangularMask": lambda: "triangle"},
        "triton_fa2": {"fwd": plain},
    }
    monkeypatch.setattr(peers, "library", lambda name: SimpleNamespace(**modules[name]))
    return seen


def test_every_library_gets_its_layout_and_gives_the_case_its_own(everywhere: list[str]) -> None:
    inputs, found = FORWARD.inputs("cpu"), functions(peers.peers("cuda"))
    for library in peers.LIBRARIES:
        check(found[library.name](*inputs), inputs)
    assert everywhere == [
        *["flash_attn (2, 48, 3, 16) True"] * 3,
        "plan [0, 48, 96] [0, 48, 96] 3 3 16 True",
        "run",
        "xformers triangle",
    ]
    assert found["FlashInfer"](*inputs[:3], inputs[3]).shape == inputs[0].shape
    assert everywhere[6:] == ["run"]  # the plan is kept


def test_gradients_are_of_a_forward_that_is_kept_until_the_inputs_change(everywhere: list[str]) -> None:
    inputs, run = BACKWARD.inputs("cpu"), functions(peers.peers("cuda"))["flash-attn 2"]
    for _ in range(3):
        check(run(*inputs), inputs)
    assert len(everywhere) == 1
    inputs[1].mul_(0.5)
    check(run(*inputs), inputs)
    assert len(everywhere) == 2


@pytest.mark.parametrize("backend", ["torch (math)", None])
def test_sdpa_on_a_cpu(backend: str | None) -> None:
    inputs = FORWARD.inputs("cpu")
    run = functions(peers.peers("cpu" if backend is None else "cuda"))[backend or "torch"]
    check(run(*inputs), inputs)


def test_what_is_kept_is_of_its_arguments_and_of_what_is_written_there() -> None:
    made: list[float] = []
    kept = keeping.Kept(lambda x, factor: made.append(float(x[0]) * factor) or made[-1])
    x, same = torch.ones(2), torch.ones(2)
    assert [kept(x, 2), kept(x, 2), kept(x, 3), kept(same, 3)] == [2, 2, 3, 3]
    assert len(made) == 3
    x.add_(1)
    assert kept(x, 3) == 6
    x[1:].zero_()  # a view of it
    kept(x, 3)
    assert len(made) == 5


def test_flex_declines_most_lengths() -> None:
    flex: Any = peers.peers("cuda")["torch (flex_attention)"]
    assert "4096, 16384" in str(flex.declines(FORWARD))
    assert flex.declines(case("backward", 1, 4096, 1, 64, causal=False)) is None


def test_what_is_not_importable_is_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    names = {each.name: each.module for each in peers.LIBRARIES}
    monkeypatch.setattr(peers, "library", lambda name: None)
    assert peers.not_importable() == names
    assert not set(names) & set(peers.peers("cuda"))
    monkeypatch.setitem(sys.modules, "flash_attn", ModuleType("flash_attn"))
    monkeypatch.setattr(peers, "library", lambda name: sys.modules.get(name))
    assert "flash-attn 2" not in peers.not_importable()
    # What install_as_flash_attn puts there is no peer: it is what is compared.
    monkeypatch.setitem(sys.modules, "flash_attn", ModuleType("flashpath.compat.flash_attn"))
    assert "flash-attn 2" in peers.not_importable()


def test_of_a_large_problem_one_head_is_judged(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("flashpath.kernels.attention.cases._CHECKED_AT_ONCE", 48 * 48)
    for each in (FORWARD, BACKWARD):
        inputs = each.inputs("cpu")
        results = truth(inputs)
        for result in results if isinstance(results, tuple) else [results]:
            known = ~result.isnan()
            assert known[1, :, 1].all()
            assert known.sum() == 48 * 16
    dout, q, k, v = BACKWARD.inputs("cpu")[:4]
    right = gradients(dout, q, k, v, Options(causal=True), None)
    inputs = (dout, q, k, v, q, q[0], Options(causal=True))
    check(right, inputs)
    with pytest.raises(AssertionError, match="the error is"):
        check((right[0] + 0.5, *right[1:]), inputs)
