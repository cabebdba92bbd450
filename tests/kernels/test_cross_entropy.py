"""Every rung of cross entropy: torch's losses and gradients, for any vocabulary, type, alignment, value."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
import torch

import flashpath as fp
from flashpath import kernels
from flashpath.errors import FlashpathError
from flashpath.kernels.cross_entropy import host
from flashpath.kernels.cross_entropy import reference as formulas
from flashpath.kernels.cross_entropy.options import Options
from tests.harness.guarded_output import Guarded, poison_new_memory, unchanged

LADDER = kernels.ladder("cross_entropy")
RUNGS = [rung.name for rung in LADDER]
FORWARD = ["two_pass", "online", "vectorized", "split_rows", "triton"]
BACKWARD = ["backward_simple", "backward_vectorized", "triton_backward"]
BOTH = ["loss_and_gradient"]
DTYPES = [torch.float32, torch.float16, torch.bfloat16]
F: Any = torch.nn.functional
INF, NAN = float("inf"), float("nan")
PLAIN = Options()
OPTIONS = [
    Options(label_smoothing=0.1),
    Options(z_loss=1e-2),
    Options(softcap=6.0),
    Options(ignore_index=3, label_smoothing=0.3, z_loss=1e-3, softcap=4.0, every_lse=True),
]
IGNORED = -100


@pytest.fixture(autouse=True)
def nothing_is_zero_by_luck(monkeypatch: pytest.MonkeyPatch) -> None:
    """Memory that rungs ask for themselves is full of NaN, or of large numbers."""
    poison_new_memory(monkeypatch)


def test_all_rungs_are_tested() -> None:
    assert sorted(RUNGS) == sorted(["reference", *FORWARD, *BACKWARD, *BOTH])


def listed(result: Any) -> list[Any]:
    """The tensors of a result."""
    return list(result) if isinstance(result, tuple) else [result]  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]


def sample(
    rows: int, n: int, dtype: torch.dtype, offset: int = 0, device: str = "cpu"
) -> tuple[torch.Tensor, torch.Tensor]:
    """Logits with a mean that is not 0, `offset` elements into their storage, and targets; one is ignored."""
    generator = torch.Generator(device=device).manual_seed(rows * 31 + n + offset)
    full = torch.randn(rows * n + offset, generator=generator, device=device) * 3 + 5
    target = torch.randint(max(1, n), (rows,), generator=generator, device=device)
    if rows > 2:
        target[1] = IGNORED
    return full.to(dtype)[offset:].view(rows, n), target


def arguments(name: str, logits: Any, target: Any, options: Options = PLAIN) -> tuple[Any, ...]:
    """Of a rung: a gradient for each row, and where it takes one the lse of the forward direction."""
    if name in FORWARD:
        return logits, target, options
    generator = torch.Generator(device=logits.device).manual_seed(3)
    grad = torch.randn(len(target), generator=generator, device=logits.device)
    if name in BOTH:
        return logits, target, options, grad
    every = options._replace(every_lse=True)
    lse = formulas.losses(logits.double(), target, every)[1].float()
    return grad, logits, target, lse, options


def run_poisoned(name: str, args: tuple[Any, ...]) -> Any:
    """Its results, written between guards: all of them, and nothing beside; the inputs stay as they are."""
    logits = args[1 if name in BACKWARD else 0]
    of_rows = torch.empty(len(logits), device=logits.device)
    guards = {"out": Guarded(logits if name in BACKWARD else of_rows)}
    if name in FORWARD:
        guards["lse"] = Guarded(of_rows)
    elif name in BOTH:
        # At the same place within a pack as the logits, or at another: both have to do.
        guards["gradient"] = Guarded(logits)
    with unchanged(*args):
        result = LADDER[name](*args, **{key: each.output for key, each in guards.items()})
    for each in guards.values():
        each.check()
    return result


def verify(name: str, logits: Any, target: Any, options: Options = PLAIN) -> Any:
    args = arguments(name, logits, target, options)
    result = run_poisoned(name, args)
    LADDER.check(result, args)
    return result


# ---- Losses and gradients --------------------------------------------------------------------------------

# (rows, classes, type, offset): one class, primes, whole packs and others, at any alignment; more rows than
# combine in a block, and more classes than a round of all threads takes.
SHAPES = [
    (1, 1, torch.float32, 0),
    (5, 2, torch.bfloat16, 1),
    (7, 37, torch.float16, 3),
    (5, 1021, torch.bfloat16, 2),
    (3, 1024, torch.float32, 0),
    (2, 20_011, torch.bfloat16, 1),
]
TRITON_SHAPES = [SHAPES[0], SHAPES[3], SHAPES[5]]  # each is compiled, for some seconds


@pytest.mark.parametrize("name", RUNGS[1:])
def test_rows(name: str) -> None:
    for rows, n, dtype, offset in TRITON_SHAPES if name.startswith("triton") else SHAPES:
        verify(name, *sample(rows, n, dtype, offset))


@pytest.mark.parametrize("name", RUNGS[1:])
def test_options(name: str) -> None:
    for i, options in enumerate(OPTIONS):
        logits, target = sample(5, 333, DTYPES[i % 3], i)
        target[3] = options.ignore_index
        verify(name, logits, torch.where(target == IGNORED, options.ignore_index, target), options)


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_the_formula_is_torchs(options: Options) -> None:
    """The truth that rungs are checked against, and its gradient, by torch's own functions and autograd."""
    logits, target = sample(6, 11, torch.float64)
    logits = logits.requires_grad_()
    target[1] = options.ignore_index
    z = options.softcap * torch.tanh(logits / options.softcap) if options.softcap else logits
    lse = torch.logsumexp(z, -1)
    settings = {"ignore_index": options.ignore_index, "label_smoothing": options.label_smoothing}
    loss = F.cross_entropy(z, target, reduction="none", **settings)
    loss = loss + torch.where(target == options.ignore_index, 0, options.z_loss * lse.square())
    grad = torch.randn(6, dtype=torch.float64)
    (dx,) = torch.autograd.grad(loss, logits, grad)
    ours, of_rows = formulas.losses(logits.detach(), target, options._replace(every_lse=True))
    torch.testing.assert_close(ours, loss.detach())
    torch.testing.assert_close(of_rows, lse.detach())
    got = formulas.gradient(grad, logits.detach(), target, of_rows, options)
    torch.testing.assert_close(got, dx)


@pytest.mark.parametrize("options", [PLAIN, *OPTIONS], ids=str)
def test_gradcheck_of_the_formula_in_float64(options: Options) -> None:
    logits, target = sample(4, 7, torch.float64)
    target = torch.where(target == IGNORED, options.ignore_index, target)

    class Losses(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            loss, ctx.lse = formulas.losses(x, target, options)
            ctx.save_for_backward(x)
            return loss

        @staticmethod
        def backward(ctx: Any, *grad: Any) -> Any:
            return formulas.gradient(grad[0], ctx.saved_tensors[0], target, ctx.lse, options)

    function: Any = Losses
    assert torch.autograd.gradcheck(function.apply, (logits.clone().requires_grad_(),))


@pytest.mark.parametrize("name", [*BACKWARD, *BOTH])
def test_one_gradient_for_all_rows(name: str) -> None:
    logits, target = sample(5, 333, torch.bfloat16, 1)
    args = arguments(name, logits, target)
    one = torch.tensor(0.25)
    args = tuple(one if each is args[0 if name in BACKWARD else 3] else each for each in args)
    LADDER.check(run_poisoned(name, args), args)


@pytest.mark.parametrize("name", [*BACKWARD, *BOTH])
def test_the_gradient_may_be_written_over_the_logits(name: str) -> None:
    for options in (PLAIN, OPTIONS[3]):
        logits, target = sample(5, 2500, torch.bfloat16, 3)
        target[1] = options.ignore_index
        args = arguments(name, logits, target, options)
        apart = run_poisoned(name, args)
        key = "out" if name in BACKWARD else "gradient"
        in_place = LADDER[name](*args, **{key: logits})
        expected, got = (apart, in_place) if name in BACKWARD else (apart[1], in_place[1])
        assert got.data_ptr() == logits.data_ptr()
        assert torch.equal(got, expected)


@pytest.mark.parametrize("name", ["vectorized", "split_rows", *BACKWARD, *BOTH])
def test_the_lse_of_ignored_rows_is_there_if_asked_for(name: str) -> None:
    logits, target = sample(4, 1000, torch.float32)
    target[:] = IGNORED
    if name in BACKWARD:
        assert torch.equal(verify(name, logits, target), torch.zeros(4, 1000))
        return
    for every in (False, True):
        lse = torch.full((4,), NAN)
        args = arguments(name, logits, target, Options(every_lse=every))
        losses = LADDER[name](*args, lse=lse)[0]
        assert torch.equal(losses, torch.zeros(4))
        expected = torch.logsumexp(logits, -1) if every else torch.zeros(4)
        torch.testing.assert_close(lse, expected, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("name", RUNGS[1:])
def test_nothing_comes_of_nothing(name: str) -> None:
    logits, target = torch.empty(0, 5), torch.empty(0, dtype=torch.int64)
    result = LADDER[name](*arguments(name, logits, target))
    shapes = [tuple(each.shape) for each in (listed(result))]
    assert shapes == ([(0, 5)] if name in BACKWARD else [(0,), (0, 5)] if name in BOTH else [(0,), (0,)])
    result = LADDER[name](*arguments(name, torch.empty(2, 0), torch.full((2,), IGNORED)))
    if name in BACKWARD:
        assert result.shape == (2, 0)
    else:
        assert torch.equal(result[0], torch.zeros(2))


# ---- Values ----------------------------------------------------------------------------------------------

VALUES: list[tuple[list[float], int]] = [
    ([-INF, 0.0, -INF, 0.0], 1),
    ([-INF, 0.0, -INF, 0.0], 0),  # a target that cannot be: an infinite loss
    ([-INF] * 601, 5),
    ([-INF] * 600 + [2.0], 600),
    ([2.0] + [-INF] * 600, 7),
    ([1.0, INF, 2.0], 0),
    ([1.0, INF, 2.0], 1),
    ([1.0, NAN, 2.0], 0),
    ([NAN] * 3, 1),
    ([3e38, -3e38, 0.0], 0),
    ([1e4, 1e4 + 1, 1e4 - 1, 1e4], 2),
    ([-1000.0, 1000.0], 0),
    ([7.0] * 625, 624),
    ([0.0], 0),
]


def torchs_losses(values: list[float], label: int, smoothing: float) -> tuple[Any, Any]:
    """The loss and the gradient by torch in float64, and where float32 overflows what torch has there."""
    found: list[tuple[Any, Any]] = []
    for dtype in (torch.float64, torch.float32):
        leaf = torch.tensor([values], dtype=dtype, requires_grad=True)
        loss = F.cross_entropy(leaf, torch.tensor([label]), reduction="none", label_smoothing=smoothing)
        found.append((loss.detach().double(), torch.autograd.grad(loss.sum(), leaf)[0].double()))
    exact, single = found
    both = [torch.where(near.isfinite(), right, near) for right, near in zip(exact, single, strict=True)]
    return both[0], both[1]


@pytest.mark.parametrize("name", [*FORWARD, *BOTH])
def test_nan_infinity_and_extremes_are_torchs(name: str) -> None:
    for (values, label), smoothing in itertools.product(VALUES, (0.0, 0.1)):
        if name == "triton" and len(values) > 4 and smoothing:
            continue  # as without; each length is compiled
        logits, target = torch.tensor([values]), torch.tensor([label])
        expected, gradient = torchs_losses(values, label, smoothing)
        args = arguments(name, logits, target, Options(label_smoothing=smoothing))
        result = run_poisoned(name, args)
        torch.testing.assert_close(result[0].double(), expected, rtol=2e-6, atol=1e-6, equal_nan=True)
        if name in BOTH:
            wide = args[3].double()[:, None] * gradient
            torch.testing.assert_close(result[1].double(), wide, rtol=1e-5, atol=1e-6, equal_nan=True)
        else:
            lse = torch.logsumexp(logits.double(), -1)
            lse = torch.where(lse == INF, NAN, lse)
            torch.testing.assert_close(result[1].double(), lse, rtol=2e-7, atol=1e-6, equal_nan=True)


@pytest.mark.parametrize("name", BACKWARD)
def test_gradients_of_nan_and_infinity_are_torchs(name: str) -> None:
    for values, label in VALUES:
        logits, target = torch.tensor([values]), torch.tensor([label])
        if name == "triton_backward" and len(values) > 4:
            continue
        grad, lse = torch.tensor([2.0]), host.online(logits, target)[1]
        expected = 2 * torchs_losses(values, label, 0.0)[1]
        got = run_poisoned(name, (grad, logits, target, lse, PLAIN)).double()
        if lse.isfinite():
            # A probability is as exact as the lse, which is a float32.
            close = 1e-5 + float(lse.abs()) * 2**-23
            torch.testing.assert_close(got, expected, rtol=close, atol=close, equal_nan=True)
        else:  # torch has NaN here in all of the row
            assert expected.isnan().all()
            assert got.isnan().all()


@pytest.mark.parametrize("name", FORWARD)
def test_a_row_that_is_nan_leaves_its_neighbours_alone(name: str) -> None:
    logits, target = sample(6, 40, torch.float32)
    logits[2, 7], logits[3], logits[4, 0] = NAN, -INF, INF
    losses, _ = run_poisoned(name, (logits, target, Options(label_smoothing=0.1)))
    assert losses.isnan().tolist() == [False, False, True, True, True, False]


@pytest.mark.parametrize("name", FORWARD)
def test_large_logits_that_are_alike_lose_nothing(name: str) -> None:
    """Around 10,000, where float32 has steps of 1/1024: the loss is right to 1e-6, and not to 1e-3."""
    logits, target = sample(4, 2000, torch.float32)
    logits = (logits * 64).round() / 64 + 10_000
    for options in (PLAIN, Options(label_smoothing=0.5)):
        losses, _ = run_poisoned(name, (logits, target, options))
        exact, _ = formulas.losses(logits.double(), target, options)
        torch.testing.assert_close(losses.double(), exact, rtol=1e-6, atol=1e-6)


def nobody_looks(target: Any, classes: int, ignore_index: int) -> None:
    """Stands for the check of targets, which a GPU's are spared."""


def test_targets_that_are_no_class_are_told_of_and_make_nan_on_a_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is read or written beside the tensors: the sanitizer looks on."""
    logits, target = sample(6, 37, torch.float32)
    target[3], target[4], target[5] = 37, -1, 2**40
    for name in RUNGS[1:]:
        with pytest.raises(FlashpathError, match=r"target\[3\] = 37 for 37 classes"):
            LADDER[name](*arguments(name, logits, target))
    monkeypatch.setattr(host, "require_classes", nobody_looks)  # as on a GPU, where nobody looks
    for name in RUNGS[1:]:
        args = arguments(name, logits, target)
        if name in BACKWARD:
            args = (*args[:3], torch.logsumexp(logits, -1), args[4])
        with fp.watch(sanitize=True) as reports:
            result = LADDER[name](*args)
        assert [finding for report in reports for finding in report.findings] == []
        of_rows = [result] if name in BACKWARD else [result[0], *([result[1]] if name in BOTH else [])]
        for each in of_rows:
            assert each.isnan().reshape(6, -1).all(1).tolist() == [False] * 3 + [True] * 3
            assert not each[:3].isnan().any()


@pytest.mark.parametrize("name", RUNGS[1:])
def test_nothing_is_wrong_in_any_schedule(name: str, findings: list[Any]) -> None:
    verify(name, *sample(5, 333, torch.bfloat16, 3), OPTIONS[3]._replace(ignore_index=IGNORED))
    if name not in ("two_pass", "backward_simple"):
        verify(name, *sample(2, 9001, torch.bfloat16))
    assert findings == []


# ---- One loss of all rows --------------------------------------------------------------------------------


@pytest.mark.parametrize("rows", [0, 1, 5, 3000])
def test_the_mean_and_the_sum_of_losses(rows: int, findings: list[Any]) -> None:
    generator = torch.Generator().manual_seed(rows)
    losses, target = torch.rand(rows, generator=generator) * 10, torch.arange(rows) % 3
    for index, is_mean in itertools.product((0, -100), (True, False)):
        loss, scale = host.batch_loss(losses, target, index, is_mean)
        counted = losses.double()[target != index]
        torch.testing.assert_close(
            loss.double(), counted.mean() if is_mean else counted.sum(), rtol=1e-6, atol=0, equal_nan=True
        )
        assert float(scale) == pytest.approx(
            1.0 if not is_mean else 1 / len(counted) if len(counted) else INF
        )
    assert findings == []


# ---- What the headers say --------------------------------------------------------------------------------


def test_each_rung_reads_less_often_than_the_one_before() -> None:
    n = 2048
    logits, target = torch.ones(1, n), torch.zeros(1, dtype=torch.int64)
    loads: dict[str, int] = {}
    for name in ("two_pass", "online", "vectorized"):
        with fp.watch() as reports:
            LADDER[name](logits, target)
        loads[name] = reports[0].instructions_by_class["global load"]
    beside = {"two_pass": 2 * 256, "online": 2 * 256, "vectorized": 2 * 512}  # the target and its logit
    assert {name: loads[name] - beside[name] for name in loads} == {
        "two_pass": 2 * n,
        "online": n,
        "vectorized": n // 4,
    }


def test_rows_that_are_ignored_are_not_read() -> None:
    logits, target = torch.ones(3, 4096), torch.full((3,), IGNORED)
    for name in [*FORWARD, *BACKWARD, *BOTH]:
        with fp.watch() as reports:
            LADDER[name](*arguments(name, logits, target))
        # targets, gradients and lse alone
        assert sum(report.global_load.bytes for report in reports) < 64 * 1024, name
        if name not in ("triton_backward",):
            assert sum(report.global_load.sectors for report in reports) < 3 * 4096 * 4 // 32 // 4, name


# ---- At the border ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", RUNGS[1:])
def test_wrong_arguments_are_refused_before_anything_runs(name: str) -> None:
    logits, target = sample(4, 8, torch.float32)
    good = arguments(name, logits, target)
    at = 1 if name in BACKWARD else 0

    def given(index: int, value: Any) -> tuple[Any, ...]:
        return (*good[:index], value, *good[index + 1 :])

    options = 4 if name in BACKWARD else 2
    cases: list[tuple[tuple[Any, ...], str]] = [
        (given(at, logits.int()), "float32"),
        (given(at, logits.t().contiguous().t()), "contiguous"),
        (given(at, logits[0]), "2 dimensions"),
        (given(at + 1, target.int()), "int64"),
        (given(at + 1, target[:3]), "target"),
        (given(at + 1, 3), "target"),
        (given(options, Options(label_smoothing=1.5)), "label_smoothing = 1.5"),
        (given(options, Options(label_smoothing=NAN)), "label_smoothing = nan"),
        (given(options, Options(z_loss=-1.0)), "z_loss = -1.0"),
        (given(options, Options(softcap=INF)), "softcap = inf"),
        (given(options, Options(ignore_index=2**70)), "ignore_index"),
    ]
    if name not in FORWARD:
        cases += [
            (given(0 if name in BACKWARD else 3, torch.ones(3)), "grad"),
            (given(0 if name in BACKWARD else 3, torch.ones(4).double()), "grad"),
        ]
    for args, says in cases:
        with pytest.raises(FlashpathError, match=says):
            LADDER[name](*args)
    for out in (torch.empty(3), torch.empty(4, 8, dtype=torch.float16)):
        with pytest.raises(FlashpathError, match="out="):
            LADDER[name](*good, out=out)


def test_outputs_that_overlap_inputs_are_refused() -> None:
    logits, target = sample(4, 9, torch.float32)
    shared = torch.empty(40)
    for name in BACKWARD:
        args = arguments(name, shared[:36].view(4, 9).copy_(logits), target)
        with pytest.raises(FlashpathError, match="overlaps"):
            LADDER[name](*args, out=shared[4:].view(4, 9))
    with pytest.raises(FlashpathError, match="overlaps"):
        host.vectorized(logits, target, PLAIN, out=logits.view(-1)[:4])


def test_the_ladders_check_can_fail() -> None:
    logits, target = sample(4, 100, torch.float32)
    for name in ("vectorized", "backward_vectorized", "loss_and_gradient"):
        args = arguments(name, logits, target)
        right = LADDER.reference(*args)
        LADDER.check(right, args)
        parts = listed(right)
        for i, part in enumerate(parts):
            one_off = part.clone()
            one_off.view(-1)[-1] += float(part.abs().max()) / 1000
            for wrong in (one_off, part.half(), part[:3]):
                bad = [wrong if i == j else each for j, each in enumerate(parts)]
                with pytest.raises(AssertionError):
                    LADDER.check(bad[0] if len(bad) == 1 else tuple(bad), args)


@pytest.mark.parametrize("flags", ["false, false", "true, true"])
def test_no_register_spills_in_a_block_of_1024_threads(flags: str) -> None:
    """Smoothing and a cap take registers; then a thread has fewer packs at a time."""
    for kind, width in (("__nv_bfloat16", 8), ("float", 4)):
        name = f"loss_and_gradient<{kind}, {width}, false, {flags}>"
        kernel = fp.compile(host.LOSS_AND_GRADIENT, arch="sm_90", name_expressions=[name])[name]
        resources = fp.explain(kernel).resources
        assert resources is not None
        assert (resources.spill_stores, resources.spill_loads) == (0, 0)


@pytest.mark.parametrize("arch", ["sm_75", "sm_100a"])
@pytest.mark.parametrize("name", RUNGS[1:])
def test_rung_compiles_for_the_oldest_and_the_newest(name: str, arch: str) -> None:
    compile_for = LADDER[name].compile_for
    assert compile_for is not None
    assert compile_for(arch) is not None


# ---- On a GPU --------------------------------------------------------------------------------------------


@pytest.mark.gpu
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("name", RUNGS[1:])
def test_rows_on_a_gpu(name: str, dtype: torch.dtype) -> None:
    for rows, n in (
        (1, 1),
        (70_001, 3),
        (1000, 129),
        (4099, 1021),
        (200, 50_257),
        (130, 128_256),
        (3, 151_936),
    ):
        for offset, options in ((0, PLAIN), (1, OPTIONS[0])):
            verify(name, *sample(rows, n, dtype, offset, "cuda"), options)


@pytest.mark.gpu
@pytest.mark.parametrize("name", RUNGS[1:])
def test_the_same_call_gives_the_same_bits_a_hundred_times(name: str) -> None:
    args = arguments(name, *sample(300, 20_001, torch.bfloat16, device="cuda"))
    first = LADDER[name](*args)
    for _ in range(100):
        again = LADDER[name](*args)
        assert all(map(torch.equal, listed(first), listed(again)))


@pytest.mark.gpu
@pytest.mark.parametrize("name", RUNGS[1:])
def test_more_elements_than_32_bits_count(name: str) -> None:
    rows, n = 2**15 + 1, 2**16
    logits = torch.zeros(rows, n, device="cuda", dtype=torch.bfloat16)
    logits[-1, 5] = 20
    target = torch.full((rows,), 5, device="cuda")
    grad = torch.ones((), device="cuda")
    lse = torch.logsumexp(logits[-1:].float(), -1).expand(rows).contiguous()
    args = (grad, logits, target, lse, PLAIN) if name in BACKWARD else (logits, target, PLAIN)
    result = LADDER[name](*args, *((grad,) if name in BOTH else ()))
    last: tuple[Any, ...] = (
        (grad, logits[-1:], target[-1:], lse[-1:], PLAIN)
        if name in BACKWARD
        else (logits[-1:], target[-1:], PLAIN, *((grad,) if name in BOTH else ()))
    )
    LADDER.check(result[-1:] if name in BACKWARD else tuple(each[-1:] for each in result), last)


@pytest.mark.gpu
@pytest.mark.parametrize("name", RUNGS[1:])
def test_a_graph_replays_it(name: str) -> None:
    args = arguments(name, *sample(64, 2000, torch.float32, device="cuda"))
    LADDER[name](*args)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        out = LADDER[name](*args)
    args[1 if name in BACKWARD else 0].mul_(0.5)
    graph.replay()
    LADDER.check(out, args)
