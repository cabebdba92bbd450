"""cross_entropy as an operator: torch's losses and gradients, of any order; targets, shapes and words."""

# pyright: basic, reportCallIssue=false, reportArgumentType=false

from __future__ import annotations

import functools
from typing import Any

import pytest
import torch

from flashpath import ops
from flashpath.errors import FlashpathError
from flashpath.kernels.cross_entropy.ladder import LADDER
from tests.harness.operator_contract import (
    DEVICES,
    check_compiled,
    check_gradients,
    check_graph,
    check_operator,
)

F: Any = torch.nn.functional
REDUCTIONS = ("mean", "sum", "none")
SETTINGS: list[dict[str, Any]] = [
    {},
    {"label_smoothing": 0.1},
    {"z_loss": 1e-2},
    {"softcap": 3.0},
    {"ignore_index": 2, "label_smoothing": 0.2, "z_loss": 1e-3, "softcap": 5.0},
]


def drawn(*shape: int, device: str = "cpu", dtype: torch.dtype = torch.float32) -> tuple[Any, Any]:
    """Logits, and targets of which one is ignored."""
    generator = torch.Generator().manual_seed(sum(shape))
    logits = torch.randn(shape, generator=generator) * 2
    target = torch.randint(shape[-1], shape[:-1], generator=generator)
    target.view(-1)[1] = -100
    return logits.to(device, dtype), target.to(device)


def torchs(logits: Any, target: Any, reduction: str = "mean", **settings: Any) -> Any:
    """The same by torch's functions, in the type of the logits."""
    cap, z_loss = settings.pop("softcap", 0.0), settings.pop("z_loss", 0.0)
    z = cap * torch.tanh(logits / cap) if cap else logits
    flat, labels = z.reshape(-1, z.shape[-1]), target.reshape(-1)
    losses = F.cross_entropy(flat, labels, reduction="none", **settings)
    counts = labels != settings.get("ignore_index", -100)
    losses = losses + torch.where(counts, z_loss * torch.logsumexp(flat, -1).square(), 0)
    if reduction == "none":
        return losses.reshape(target.shape)
    return losses.sum() / counts.sum() if reduction == "mean" else losses.sum()


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("reduction", REDUCTIONS)
def test_losses_and_gradients_are_torchs(reduction: Any, device: str) -> None:
    for settings in SETTINGS:
        logits, target = drawn(2, 5, 40, device=device)
        target = torch.where(target == -100, settings.get("ignore_index", -100), target)
        found: list[list[Any]] = []
        for function in (ops.cross_entropy, torchs):
            leaf = logits.clone().requires_grad_()
            loss = function(leaf, target, reduction=reduction, **settings)
            above = torch.linspace(0.5, 2, loss.numel(), device=device).reshape(loss.shape)
            found.append([loss.detach(), *torch.autograd.grad(loss, leaf, above)])
        torch.testing.assert_close(*found, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("reduction", REDUCTIONS)
def test_it_is_a_torch_operator(reduction: str, device: str) -> None:
    logits, target = drawn(6, 33, device=device)
    rows = logits.clone().requires_grad_()
    numbers = -100, 0.1, 0.01, 3.0
    check_operator("cross_entropy", rows, target, *numbers, reduction, reduction == "sum")
    lse, grad = torch.logsumexp(logits, -1), torch.rand(6 if reduction == "none" else (), device=device)
    check_operator("cross_entropy_backward", grad, logits, target, lse, *numbers)
    function = functools.partial(
        ops.cross_entropy, target=target, reduction=reduction, z_loss=0.1, label_smoothing=0.1
    )
    check_gradients(function, logits)
    check_compiled(function, logits)


def test_the_lse_too() -> None:
    for settings in SETTINGS:
        logits, target = drawn(3, 4, 40)
        leaf = logits.clone().requires_grad_()
        loss, lse = ops.cross_entropy(leaf, target.clamp(min=0), return_lse=True, **settings)
        cap = settings.get("softcap", 0.0)
        z = cap * torch.tanh(logits / cap) if cap else logits
        torch.testing.assert_close(lse, torch.logsumexp(z, -1))
        assert loss.requires_grad
        assert not lse.requires_grad
    _, lse = ops.cross_entropy(logits, torch.full((3, 4), -100), return_lse=True)
    torch.testing.assert_close(lse, torch.logsumexp(logits, -1))  # of rows that are ignored too


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_half_logits_have_float32_losses(dtype: torch.dtype) -> None:
    logits, target = drawn(7, 101, dtype=dtype)
    leaf = logits.clone().requires_grad_()
    loss = ops.cross_entropy(leaf, target)
    assert loss.dtype == torch.float32
    wide = logits.float().requires_grad_()
    expected = F.cross_entropy(wide, target)
    torch.testing.assert_close(loss, expected, rtol=1e-6, atol=1e-6)
    (got,), (right,) = torch.autograd.grad(loss, leaf), torch.autograd.grad(expected, wide)
    assert got.dtype == dtype
    torch.testing.assert_close(got, right.to(dtype), rtol=2**-7, atol=2**-24)


def test_logits_stay_as_they_are_and_views_are_taken() -> None:
    logits, target = drawn(4, 6, 40)
    before = logits.clone()
    channels_first = logits.movedim(-1, 1)
    got = ops.cross_entropy(channels_first.movedim(1, -1), target)
    torch.testing.assert_close(got, F.cross_entropy(channels_first, target))
    torch.testing.assert_close(ops.cross_entropy(logits.mT.contiguous().mT, target.mT.contiguous().mT), got)
    assert torch.equal(logits, before)


@pytest.mark.parametrize("reduction", REDUCTIONS)
def test_gradients_of_gradients_are_torchs(reduction: Any) -> None:
    for settings in SETTINGS[:4]:
        logits, target = drawn(5, 12)
        found: list[list[Any]] = []
        for function in (ops.cross_entropy, torchs):
            leaf, above = logits.clone().requires_grad_(), torch.tensor(1.5, requires_grad=True)
            loss = function(leaf, target, reduction=reduction, **settings)
            (first,) = torch.autograd.grad((loss * above).sum(), leaf, create_graph=True)
            found.append([first.detach(), *torch.autograd.grad(first.square().sum(), (leaf, above))])
        torch.testing.assert_close(*found, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("reduction", REDUCTIONS)
def test_rows_that_are_all_ignored_and_no_rows_are_torchs(reduction: Any) -> None:
    for rows in (0, 3):
        logits, target = torch.randn(rows, 5), torch.full((rows,), -100)
        found: list[list[Any]] = []
        for function in (ops.cross_entropy, F.cross_entropy):
            leaf = logits.clone().requires_grad_()
            loss = function(leaf, target, reduction=reduction)
            found.append([loss.detach(), *torch.autograd.grad(loss.sum(), leaf)])
        torch.testing.assert_close(*found, equal_nan=True, rtol=0, atol=0)


def test_one_vector_and_one_class() -> None:
    logits = torch.randn(9)
    target = torch.tensor(4)
    torch.testing.assert_close(ops.cross_entropy(logits, target), F.cross_entropy(logits, target))
    none = ops.cross_entropy(logits, target, reduction="none")
    assert none.shape == ()
    assert ops.cross_entropy(torch.randn(3, 1), torch.zeros(3, dtype=torch.int64)).item() == 0


def test_memory_is_the_gradient_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing of the logits' size is made but the gradient: every allocation of the call is counted."""
    made: list[int] = []
    for name in ("empty", "empty_like", "zeros", "full"):
        make = getattr(torch, name)

        def counted(*args: Any, make: Any = make, **options: Any) -> Any:
            x = make(*args, **options)
            made.append(x.numel() * x.element_size())
            return x

        monkeypatch.setattr(torch, name, counted)
    logits, target = drawn(64, 4000)
    leaf = logits.requires_grad_()
    loss = ops.cross_entropy(leaf, target)
    assert max(made) <= 64 * 16
    made.clear()
    torch.autograd.grad(loss, leaf)
    assert sorted(made)[-1] == 64 * 4000 * 4
    assert sum(made) < 64 * 4000 * 4 + 4096


def test_wrong_arguments_are_told() -> None:
    logits, target = drawn(4, 8)
    target = target.clamp(min=0)
    cases: list[tuple[Any, str]] = [
        (lambda: ops.cross_entropy(logits, target[:3]), r"target of shape \(3,\)"),
        (lambda: ops.cross_entropy(logits, logits), "movedim"),
        (lambda: ops.cross_entropy(torch.ones(()), target), "target of shape"),
        (lambda: ops.cross_entropy(logits, target.int()), "int64"),
        (lambda: ops.cross_entropy(logits.int(), target), "float32"),
        (lambda: ops.cross_entropy(logits, target + 8), r"target\[0\] = \d+ for 8 classes"),
        (lambda: ops.cross_entropy(logits, target, reduction="max"), "reduction 'max'"),
        (lambda: ops.cross_entropy(logits, target, label_smoothing=2.0), "label_smoothing = 2.0"),
        (lambda: ops.cross_entropy(logits, target, z_loss=-1), "z_loss = -1"),
        (lambda: ops.cross_entropy(logits, target, softcap=-1.0), "softcap = -1.0"),
        (lambda: ops.cross_entropy(logits, target, softcap=None), "softcap = None"),
        (lambda: ops.cross_entropy(logits, target, ignore_index=1.5), "ignore_index = 1.5"),
        (lambda: ops.cross_entropy(logits, target, return_lse=1), "return_lse = 1"),
        (lambda: ops.cross_entropy(logits, 3), "target = 3"),
    ]
    for call, says in cases:
        with pytest.raises(FlashpathError, match=says):
            call()
    compiler: Any = torch.compile
    meta = logits.to("meta")
    with pytest.raises(FlashpathError, match="int64"):
        ops.cross_entropy(meta, target.int().to("meta"))
    assert ops.cross_entropy(meta, target.to("meta"), reduction="none").shape == (4,)
    with pytest.raises(Exception, match="label_smoothing = 3"):
        compiler(ops.cross_entropy, fullgraph=True, backend="aot_eager")(logits, target, label_smoothing=3.0)


def test_every_target_is_looked_at_on_the_cpu_in_both_directions() -> None:
    logits, target = drawn(4, 8)
    lse = torch.logsumexp(logits, -1)
    rung = LADDER.best(logits, target, direction="backward").rung
    with pytest.raises(FlashpathError, match=r"target\[2\] = -7"):
        rung(torch.ones(()), logits, torch.tensor([0, 1, -7, 9]), lse)


@pytest.mark.gpu
def test_targets_that_are_no_class_make_nan_on_a_gpu() -> None:
    logits, target = drawn(300, 5000, device="cuda", dtype=torch.bfloat16)
    target[3], target[7] = 5000, -5
    leaf = logits.requires_grad_()
    losses = ops.cross_entropy(leaf, target, reduction="none")
    (dx,) = torch.autograd.grad(losses.sum(), leaf)
    expected = torch.zeros(300, dtype=torch.bool, device="cuda")
    expected[[3, 7]] = True
    assert torch.equal(losses.isnan(), expected)
    assert torch.equal(dx.isnan().all(1), expected)
    assert torch.equal(dx.isnan().any(1), expected)


@pytest.mark.gpu
def test_in_a_cuda_graph() -> None:
    for rows in (8, 512):
        logits, target = drawn(rows, 50_257, device="cuda", dtype=torch.bfloat16)
        check_graph(functools.partial(ops.cross_entropy, target=target), logits)


# ---- Weights of classes ----------------------------------------------------------------------------------


def _of_all_logits(x: Any, head: Any, **settings: Any) -> Any:
    return F.cross_entropy(x @ head.t(), **settings)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("reduction", REDUCTIONS)
def test_weights_of_classes_are_torchs(reduction: Any, device: str) -> None:
    logits, target = drawn(6, 11, device=device)
    weight = torch.rand(11, device=device) * 3
    weight[4] = 0
    settings = {"target": target, "reduction": reduction}
    x, head = torch.randn(6, 8, device=device), torch.randn(11, 8, device=device)
    pairs: list[Any] = [
        (ops.cross_entropy, F.cross_entropy, {"weight": weight}, [logits]),
        (ops.linear_cross_entropy, _of_all_logits, {"class_weight": weight}, [x, head]),
    ]
    for ours, theirs, weights, tensors in pairs:
        found: list[Any] = []
        for function in (ours, functools.partial(theirs, weight=weight)):
            leaves = [each.clone().requires_grad_() for each in tensors]
            loss = function(*leaves, **settings, **(weights if function is ours else {}))
            given = torch.ones_like(loss) if reduction != "none" else torch.arange(6.0, device=device)
            found.append((loss, *torch.autograd.grad(loss, leaves, given)))
        for got, exact in zip(*found, strict=True):
            torch.testing.assert_close(got, exact, rtol=1e-4, atol=1e-5)
    check_compiled(functools.partial(ops.cross_entropy, target=target, weight=weight), logits)
    both = ops.cross_entropy(logits, target, weight=weight, return_lse=True)
    torch.testing.assert_close(both[1], logits.logsumexp(-1))


def test_wrong_weights_of_classes_are_told() -> None:
    logits, target = drawn(3, 5)
    weight = torch.ones(5)
    calls: list[tuple[Any, str]] = [
        (lambda: ops.cross_entropy(logits, target, weight=torch.ones(4)), r"classes of shape \(4,\)"),
        (lambda: ops.cross_entropy(logits, target, weight=weight.long()), "int64"),
        (lambda: ops.cross_entropy(logits, target, weight=[1.0] * 5), "weight"),
        (lambda: ops.cross_entropy(logits, target, weight=weight, label_smoothing=0.1), "label_smoothing"),
        (lambda: ops.cross_entropy(logits, target, weight=weight.requires_grad_()), "gradient"),
        (
            lambda: ops.linear_cross_entropy(logits, logits, target, class_weight=torch.ones(2)),
            r"linear_cross_entropy got weights of classes of shape \(2,\)",
        ),
    ]
    for call, words in calls:
        with pytest.raises(FlashpathError, match=words):
            call()
