"""What `patch` changes and what not, that it says so, and that nothing else of a model is touched."""

# pyright: basic, reportArgumentType=false, reportCallIssue=false, reportIncompatibleMethodOverride=false

from __future__ import annotations

import copy
import pickle
import threading
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import nn

import flashpath as fp
from flashpath.errors import FlashpathError
from flashpath.messages import speaking
from flashpath.nn.patching.losses import causal_lm_loss
from tests.harness.tiny_models import FAMILIES, OTHERS, modeling, tiny, tokens

N = 24


def logits(model: Any, ids: torch.Tensor | None = None) -> torch.Tensor:
    with torch.no_grad():
        return model(input_ids=tokens(1, 5) if ids is None else ids).logits


def kept(report: Any) -> dict[str, str]:
    return {each.name: str(each.why) for each in report.kept}


def by(report: Any) -> dict[str, str]:
    return {each.name: each.by for each in report.replaced}


# ---- The report ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("family", FAMILIES)
def test_everything_of_a_known_model_is_replaced(family: str) -> None:
    model = tiny(family)
    report = fp.patch(model)
    assert not report.kept
    layer = model.model.layers[0]
    norms = sum("norm" in name for name, _ in model.named_modules())
    operators = [each.by for each in report.replaced]
    offset = ", weight_offset=1" if family.startswith("Gemma") else ""
    assert operators.count(f"ops.rms_norm{offset}") == norms
    assert operators.count("ops.geglu_tanh" if family.startswith("Gemma") else "ops.swiglu") == 2
    assert operators.count("ops.rope") == 2
    assert operators.count("ops.attention") == operators.count("ops.cross_entropy") == 1
    assert isinstance(layer.mlp, getattr(modeling(family), f"{family}MLP"))
    assert type(model).__name__ == f"{family}ForCausalLM"
    assert "virtual GPU" in str(report)
    assert f"2 × {family}MLP" in str(report)
    with speaking("zh"):
        assert "改由 flashpath 计算" in str(report)


@pytest.mark.parametrize("family", OTHERS)
def test_models_that_nobody_listed(family: str) -> None:
    model = tiny(family)
    plain = logits(model)
    report = fp.patch(model)
    operators = {each.by for each in report.replaced}
    norms = {"Cohere": "layer_norm", "GPTNeoX": "layer_norm", "Nemotron": "layer_norm, weight_offset=1"}
    assert f"ops.{norms.get(family, 'rms_norm')}" in operators
    if family == "GptOss":  # takes two implementations of attention alone, and turns by halves of angles
        assert {each.was.partition(",")[0] for each in report.kept} == {
            "GptOssForCausalLM",
            "GptOssAttention",
        }
    else:
        assert not report.kept
        assert {"ops.rope", "ops.attention"} <= operators
    torch.testing.assert_close(logits(model), plain, rtol=2e-2, atol=2e-2 * plain.abs().max().item())
    fp.unpatch(model)
    assert torch.equal(logits(model), plain)


def test_again_changes_nothing_and_unpatch_gives_back_every_bit() -> None:
    model = tiny("Gemma2")
    plain, types = logits(model), [type(each) for each in model.modules()]
    state, attributes = dict(model.state_dict()), {name: set(m.__dict__) for name, m in model.named_modules()}
    first = fp.patch(model)
    changed = [type(each) for each in model.modules()]
    again = fp.patch(model)
    assert by(again) == by(first)
    assert [type(each) for each in model.modules()] == changed != types
    assert model.state_dict().keys() == state.keys()
    assert not torch.equal(logits(model), plain)
    for _ in range(2):
        fp.unpatch(model)
        assert [type(each) for each in model.modules()] == types
        assert {name: set(m.__dict__) for name, m in model.named_modules()} == attributes
        assert model.config._attn_implementation == "eager"
        assert model.loss_function is not causal_lm_loss
        assert all(
            state[name] is not None and torch.equal(x, state[name]) for name, x in model.state_dict().items()
        )
        assert torch.equal(logits(model), plain)


def test_what_was_chosen_since_then_stays() -> None:
    model = tiny("Llama")
    fp.patch(model)
    model.set_attn_implementation("eager")
    model.loss_function = own = lambda **_: None
    fp.unpatch(model)
    assert model.config._attn_implementation == "eager"
    assert model.loss_function is own


def test_no_random_number_is_drawn_and_no_hook_called() -> None:
    model = tiny("Llama")
    called: list[str] = []
    for name, module in model.named_modules():
        module.register_forward_hook(lambda *_, name=name: called.append(name))
    torch.manual_seed(3)
    before = torch.get_rng_state()
    fp.patch(model)
    assert torch.equal(before, torch.get_rng_state())
    assert not called
    logits(model)
    names = {name for name, _ in model.named_modules() if not name.endswith(("layers", "act_fn"))}
    assert set(called) == names


# ---- What is no norm, or no MLP, whatever its name says --------------------------------------------------


class Norm(nn.Module):
    """A norm as people write it, told apart by its formula."""

    def __init__(self, formula: str) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.randn(N))
        self.bias = nn.Parameter(torch.randn(N)) if "layer" in formula else None
        self.formula, self.eps = formula, 1e-5
        if formula == "layer_eps":
            del self.eps

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if self.formula == "layer":
            return F.layer_norm(x, (N,), self.weight, self.bias, self.eps)
        if self.formula == "layer_eps":
            return F.layer_norm(x, (N,), self.weight, self.bias, 1e-12)
        y = x * torch.rsqrt(x.square().mean(-1, keepdim=True) + self.eps)
        if self.formula == "outside":
            y = x / (x.square().mean(-1, keepdim=True).sqrt() + 10 * self.eps)
        if self.formula == "sum":
            y = F.normalize(x, dim=-1)
        return y * (1 + self.weight if self.formula == "plus" else self.weight)


def test_norms_are_told_by_what_they_compute() -> None:
    formulas = ("rms", "plus", "layer", "layer_eps", "outside", "sum")
    model = nn.ModuleDict({name: Norm(name) for name in formulas})
    model["torch"] = nn.LayerNorm(N)
    model["torch_rms"] = nn.RMSNorm(N, elementwise_affine=False)
    model["two"] = nn.LayerNorm((2, N))
    model["batch"] = nn.BatchNorm1d(N)
    x = torch.randn(3, N, requires_grad=True)
    given = torch.randn(3, N)
    names = [*formulas, "torch", "torch_rms"]
    before = {name: model[name](x) for name in names}
    gradients = {name: torch.autograd.grad(y, x, given, retain_graph=True)[0] for name, y in before.items()}
    report = fp.patch(model)
    assert by(report) == {
        "rms": "ops.rms_norm",
        "plus": "ops.rms_norm, weight_offset=1",
        "layer": "ops.layer_norm",
        "layer_eps": "ops.layer_norm",
        "torch": "ops.layer_norm",
        "torch_rms": "ops.rms_norm",
    }
    assert set(kept(report)) == {"outside", "sum", "two", "batch"}
    for name in names:
        y = model[name](x)
        torch.testing.assert_close(y, before[name], rtol=1e-5, atol=1e-5)
        torch.testing.assert_close(torch.autograd.grad(y, x, given)[0], gradients[name], rtol=1e-4, atol=1e-4)


class MLP(nn.Module):
    def __init__(self, activation: Any, dropout: float = 0.0, packed: bool = False) -> None:
        super().__init__()
        if packed:
            self.gate_up_proj = nn.Linear(N, 2 * N)
        else:
            self.gate_proj, self.up_proj = nn.Linear(N, N), nn.Linear(N, N)
        self.down_proj = nn.Linear(N, N)
        self.act_fn, self.dropout = activation, dropout

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if hasattr(self, "gate_up_proj"):
            gate, up = self.gate_up_proj(x).chunk(2, dim=-1)
        else:
            gate, up = self.gate_proj(x), self.up_proj(x)
        return F.dropout(self.down_proj(up * self.act_fn(gate)), self.dropout, self.training)


def test_mlps_are_told_by_what_they_compute() -> None:
    model = nn.ModuleDict(
        {
            "silu": MLP(nn.SiLU()),
            "gelu": MLP(F.gelu),
            "tanh": MLP(nn.GELU("tanh")),
            "packed": MLP(nn.SiLU(), packed=True),
            "relu": MLP(nn.ReLU()),
            "dropout": MLP(nn.SiLU(), 0.5),
        }
    ).eval()
    x = torch.randn(2, N)
    before = {name: each(x) for name, each in model.items()}
    report = fp.patch(model)
    names = {"silu": "swiglu", "gelu": "geglu", "tanh": "geglu_tanh", "packed": "silu_and_mul"}
    assert by(report) == {name: f"ops.{operator}" for name, operator in names.items()}
    assert set(kept(report)) == {"relu", "dropout"}
    for name in names:
        torch.testing.assert_close(model[name](x), before[name], rtol=1e-5, atol=1e-5)


def test_what_stays_says_why() -> None:
    norm = nn.LayerNorm(N)
    norm.__dict__["forward"] = lambda x: 2 * x
    weighed = nn.CrossEntropyLoss(torch.ones(3), label_smoothing=0.1)
    model = nn.ModuleDict({"norm": norm, "heads": nn.MultiheadAttention(N, 2), "loss": weighed})
    why = kept(fp.patch(model))
    assert "instance already" in why["norm"]
    assert "masks as tensors" in why["heads"]
    assert "label smoothing" in why["loss"]
    with pytest.raises(FlashpathError, match=r"torch\.nn\.Module"):
        fp.patch(lambda x: x)
    assert fp.patch(nn.Linear(2, 2)).notes == ()  # nothing of it is computed by flashpath
    with pytest.raises(FlashpathError, match="not one of TorchScript"):
        fp.patch(torch.jit.script(nn.LayerNorm(8)))


@pytest.mark.parametrize("weight", [None, torch.tensor([0.5, 2.0, 1.0, 3.0])])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_torchs_cross_entropy(dtype: Any, weight: Any) -> None:
    loss = nn.CrossEntropyLoss(weight=None if weight is None else weight.to(dtype))
    x, target = torch.randn(5, 4, dtype=dtype), torch.tensor([0, 3, -100, 1, 1])
    image, classes = torch.randn(1, 4, 3), torch.tensor([[0, 1, 2]])
    before = loss(x, target), loss(image.to(dtype), classes), loss(x, x.float().softmax(-1).to(dtype))
    assert by(fp.patch(loss)) == {"": "ops.cross_entropy"}
    after = loss(x, target), loss(image.to(dtype), classes), loss(x, x.float().softmax(-1).to(dtype))
    for one, other in zip(after, before, strict=True):
        assert one.dtype == dtype
        torch.testing.assert_close(one, other, rtol=2e-2 if dtype == torch.bfloat16 else 1e-5, atol=1e-5)
    assert torch.equal(after[1], before[1])  # other layouts, and probabilities, are torch's


# ---- Copies, threads, compilers --------------------------------------------------------------------------


@pytest.mark.parametrize("how", ["deepcopy", "pickle"])
def test_copies_are_patched_and_can_be_restored(how: str) -> None:
    model = tiny("Llama")
    plain = logits(model)
    fp.patch(model, keep_logits=False)
    ours = logits(model)
    made = copy.deepcopy(model) if how == "deepcopy" else pickle.loads(pickle.dumps(model))
    assert torch.equal(logits(made), ours)
    assert [type(each) for each in made.modules()] == [type(each) for each in model.modules()]
    fp.unpatch(made)
    assert torch.equal(logits(made), plain)
    assert torch.equal(logits(model), ours)
    other = tiny("Llama", seed=1)
    other.load_state_dict(model.state_dict())
    assert torch.equal(logits(other), plain)


def test_a_head_without_logits_in_training_alone() -> None:
    model, ids = tiny("Gemma2"), tokens(1, 6)
    report = fp.patch(model, keep_logits=False)
    assert by(report)[""] == "ops.linear_cross_entropy"
    with torch.no_grad():
        exact = model(input_ids=ids, labels=ids)
    assert exact.logits is not None
    model.train()
    learned = model(input_ids=ids, labels=ids, num_items_in_batch=5)
    assert learned.logits is None
    torch.testing.assert_close(learned.loss, exact.loss, rtol=1e-2, atol=0)
    assert model(input_ids=ids).logits is not None
    fp.patch(model)
    assert model(input_ids=ids, labels=ids).logits is not None


def test_threads() -> None:
    """Eight threads patch and run models of one class: one subclass is made, and all say the same."""
    models = [tiny("Qwen3") for _ in range(8)]
    said: list[Any] = [None] * 8

    def work(i: int) -> None:
        fp.patch(models[i])
        said[i] = logits(models[i])

    threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert all(torch.equal(each, said[0]) for each in said)
    assert len({type(each.model.norm) for each in models}) == 1


def test_torch_compile_traces_all_of_it() -> None:
    """In one graph, in which the operators stand, whose globals are not mixed up with those of the file."""
    model, ids = tiny("Qwen3", num_hidden_layers=1), tokens(1, 8)
    fp.patch(model)
    exact = logits(model, ids)
    graphs: list[Any] = []

    def backend(graph: Any, _inputs: Any) -> Any:
        graphs.append(graph)
        return graph

    torch._dynamo.reset()
    with torch.no_grad():
        got = torch.compile(model, backend=backend, fullgraph=True)(input_ids=ids).logits
    torch._dynamo.reset()
    torch.testing.assert_close(got, exact, rtol=0, atol=2e-2)
    (graph,) = graphs
    code = graph.code
    for operator in ("rope", "rms_norm", "swiglu", "attention"):
        assert f"flashpath.{operator}" in code


def test_gradient_checkpointing_gives_the_same_gradients() -> None:
    model, ids = tiny("Qwen2").train(), tokens(1, 6)
    fp.patch(model)

    def gradients() -> list[torch.Tensor]:
        model.zero_grad()
        model(input_ids=ids, labels=ids, use_cache=False).loss.backward()
        return [each.grad.clone() for each in model.parameters()]

    plain = gradients()
    model.gradient_checkpointing_enable()
    assert all(torch.equal(one, other) for one, other in zip(gradients(), plain, strict=True))


@pytest.mark.parametrize("family", ["Llama", "Gemma2"])
def test_autocast(family: str) -> None:
    """float32 weights under autocast to bfloat16: as near to float32 as the model itself is."""
    model, ids = tiny(family, dtype=torch.float32), tokens(1, 8)
    exact = logits(model, ids)
    with torch.autocast("cpu", torch.bfloat16):
        theirs = logits(model, ids)
    report = fp.patch(model)
    assert "float32" in str(report.notes[-1])
    torch.testing.assert_close(logits(model, ids), exact, rtol=1e-4, atol=1e-4)
    with torch.autocast("cpu", torch.bfloat16):
        ours = logits(model, ids)
        norm = model.model.norm
        x = torch.randn(2, 32)
        assert norm(x).dtype == type(norm).flashpath_original.forward(norm, x).dtype
    assert ours.dtype == theirs.dtype
    assert (ours - exact).abs().max() <= 2 * (theirs - exact).abs().max() + 1e-3


def test_torchs_layer_norm_under_autocast_stays_torchs() -> None:
    norm, x = nn.LayerNorm(N), torch.randn(2, N).bfloat16()
    with torch.autocast("cpu", torch.bfloat16):
        before = norm(x)
        fp.patch(norm)
        assert torch.equal(norm(x), before)
        assert norm(x).dtype == before.dtype


def test_functorch_and_tangents_go_the_old_way() -> None:
    norm = nn.RMSNorm(N)
    x = torch.randn(N)
    plain = torch.func.jacrev(norm)(x)
    fp.patch(norm)
    torch.testing.assert_close(torch.func.jacrev(norm)(x), plain)
    torch.testing.assert_close(torch.func.vmap(norm)(x.expand(2, N)), norm(x).expand(2, N))
