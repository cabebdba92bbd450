"""Every rung of softmax, forward and backward: torch's result for any length, type, alignment and value."""

from __future__ import annotations

import math
from typing import Any

import pytest
import torch

import flashpath as fp
from flashpath import kernels
from flashpath.errors import FlashpathError
from flashpath.kernels.softmax import host
from flashpath.kernels.softmax.reference import formula
from tests.harness.guarded_output import run_guarded

LADDER = kernels.ladder("softmax")
RUNGS = [rung.name for rung in LADDER]
BACKWARD = [name for name in RUNGS if name.startswith("backward")]
FORWARD = [name for name in RUNGS[1:] if name not in BACKWARD]
DTYPES = [torch.float32, torch.float16, torch.bfloat16]

INF, NAN = float("inf"), float("nan")


def sample(shape: tuple[int, ...], dtype: torch.dtype, offset: int = 0, device: str = "cpu") -> Any:
    """Random values with a non-zero mean, `offset` elements into their storage."""
    n = math.prod(shape)
    generator = torch.Generator(device=device).manual_seed(n * 31 + offset)
    full = torch.randn(n + offset, generator=generator, device=device) * 4 + 3
    return full.to(dtype)[offset:].view(shape)


def arguments(name: str, x: Any) -> tuple[Any, ...]:
    """Of a rung: x, or its softmax, as far into its storage as x is, and a gradient that starts elsewhere."""
    if name not in BACKWARD:
        return (x,)
    y = torch.empty_like(torch.empty(x.numel() + x.storage_offset(), dtype=x.dtype, device=x.device))
    y = y[x.storage_offset() :].view(x.shape).copy_(torch.softmax(x, -1))
    return y, sample(tuple(x.shape), x.dtype, device=x.device.type)


def run_poisoned(name: str, args: tuple[Any, ...], offset: int | None = None) -> Any:
    """The rung's result; the output starts `offset` elements in, by default as far as the first argument."""
    start = args[0].storage_offset() % 8 if offset is None else offset
    return run_guarded(LADDER[name], *args, like=args[0], offset=start)


def verify(name: str, x: Any, offset: int | None = None) -> None:
    args = arguments(name, x)
    LADDER.check(run_poisoned(name, args, offset), args)


# ---- On the virtual GPU --------------------------------------------------------------------------------


# (shape, type, offset): a lane, part of a warp, a warp, a block per row; several rows of a block, and a
# block that is not full; rows that start and end with a pack, or each at another alignment.
SHAPES = [
    ((1, 1), torch.float32, 0),
    ((37, 13), torch.bfloat16, 1),
    ((2, 3, 333), torch.bfloat16, 3),
    ((5, 1021), torch.bfloat16, 2),
    ((3, 1024), torch.float32, 0),
]
TRITON_SHAPES = [SHAPES[1], SHAPES[3]]  # each is compiled, for some seconds
LONG = [((3, 5003), torch.float32, 1), ((2, 40_009), torch.bfloat16, 0)]


@pytest.mark.parametrize("name", RUNGS[1:])
def test_rows(name: str) -> None:
    for shape, dtype, offset in TRITON_SHAPES if name == "triton" else SHAPES:
        verify(name, sample(shape, dtype, offset))


@pytest.mark.parametrize("name", ["three_pass", "resident", "backward_resident"])
def test_float16_too(name: str) -> None:
    """Rungs differ in how they load and store; half types are widened and rounded by the same code."""
    verify(name, sample((5, 333), torch.float16, 2))


@pytest.mark.parametrize("name", [name for name in RUNGS[1:] if name != "warp_per_row"])
def test_long_rows(name: str) -> None:
    for shape, dtype, offset in LONG:
        verify(name, sample(shape, dtype, offset))


@pytest.mark.parametrize("name", ["resident", "split_rows", "meeting", "backward_resident"])
def test_an_output_that_starts_elsewhere_in_a_pack(name: str) -> None:
    verify(name, sample((3, 333), torch.float32, 1), offset=3)


def test_a_row_longer_than_registers_waits_in_shared_memory() -> None:
    x = sample((2, 50_001), torch.bfloat16, 1)
    assert host.residence(host.packing(50_001, x)) == host.Residence(1024, 4, 2)
    verify("resident", x)


@pytest.mark.parametrize(
    ("cut", "where"),
    [
        (host.Packing(8, True, 1), host.Residence(1, 1)),
        (host.Packing(8, True, 3), host.Residence(1, 4)),
        (host.Packing(8, True, 128), host.Residence(32, 4)),
        (host.Packing(8, True, 129), host.Residence(64, 4)),
        (host.Packing(8, True, 2048), host.Residence(512, 4)),
        (host.Packing(8, True, 4097), host.Residence(1024, 4, 1)),
        (host.Packing(4, True, 4097), host.Residence(1024, 8)),
        (host.Packing(4, True, 8193), host.Residence(1024, 8, 1)),
    ],
)
def test_where_rows_are_kept(cut: host.Packing, where: host.Residence) -> None:
    assert host.residence(cut) == where
    assert where.lanes * (where.packs + 2 * where.parked_pairs) >= cut.packs


VALUES: list[tuple[list[float], list[float]]] = [
    ([-INF, 0.0, -INF, 0.0], [0.0, 0.5, 0.0, 0.5]),
    ([-INF] * 601, [NAN] * 601),
    ([-INF] * 600 + [2.0], [0.0] * 600 + [1.0]),
    ([2.0] + [-INF] * 600, [1.0] + [0.0] * 600),
    ([1.0, INF, 2.0], [NAN] * 3),
    ([INF] * 3, [NAN] * 3),
    ([1.0, NAN, 2.0], [NAN] * 3),
    ([NAN] * 3, [NAN] * 3),
    ([-INF, NAN, NAN, 0.0], [NAN] * 4),
    ([3e38, -3e38, -INF], [1.0, 0.0, 0.0]),
    ([-3e38, -INF, -3e38], [0.5, 0.0, 0.5]),
    ([1000.0, 1000.0, 900.0, -1000.0], [0.5, 0.5, 0.0, 0.0]),
    ([7.0] * 625, [1 / 625] * 625),
]


@pytest.mark.parametrize("name", ["reference", *FORWARD])
def test_nan_and_infinity_are_torchs(name: str) -> None:
    for values, expected in VALUES:
        out = run_poisoned(name, (torch.tensor([values]),))
        torch.testing.assert_close(out, torch.tensor([expected]), rtol=0, atol=1e-7, equal_nan=True)
        of_torch = torch.softmax(torch.tensor(values), -1)
        torch.testing.assert_close(of_torch, out[0], rtol=0, atol=1e-7, equal_nan=True)


@pytest.mark.parametrize("name", FORWARD)
def test_a_row_that_is_nan_leaves_its_neighbours_alone(name: str) -> None:
    x = sample((6, 40), torch.float32)
    x[1, 7], x[3], x[4, 0] = NAN, -INF, INF
    out = run_poisoned(name, (x,))
    assert out[[1, 3, 4]].isnan().all()
    LADDER.check(out, (x,))


@pytest.mark.parametrize("name", BACKWARD)
def test_gradients_of_nan_and_infinity_are_torchs(name: str) -> None:
    y = torch.softmax(sample((5, 900), torch.float32), -1)  # several elements for each thread
    dy = sample((5, 900), torch.float32, 1)
    dy[0, 3], dy[1, 4], dy[2, 5] = INF, -INF, NAN
    y[3] = NAN
    out = run_poisoned(name, (y, dy))
    expected = formula(y.double(), dy.double())
    assert torch.equal(out.isnan(), expected.isnan())
    assert torch.equal(out.isinf(), expected.isinf())
    LADDER.check(out[4:], (y[4:], dy[4:]))


@pytest.mark.parametrize("name", RUNGS)
def test_nothing_comes_of_nothing(name: str) -> None:
    for shape in ((0,), (3, 0), (0, 5), (2, 0, 4)):
        args = arguments(name, torch.empty(shape))
        assert LADDER[name](*args).shape == shape


@pytest.mark.parametrize("name", RUNGS[1:])
def test_one_number_and_one_row(name: str) -> None:
    for x in (torch.tensor(3.0), sample((9,), torch.float32)):
        args = arguments(name, x)
        LADDER.check(LADDER[name](*args), args)


@pytest.mark.parametrize("name", FORWARD)
def test_float32_is_as_exact_as_float32_can_be(name: str) -> None:
    """Relative to each result: difference, product and log2 e are rounded, and the exponential of that."""
    x = sample((4, 777), torch.float32) * 3
    out, exact = LADDER[name](x).double(), torch.softmax(x.double(), -1)
    allowed = 2**-21 + 2.25 * 2**-24 * (x.double().amax(-1, keepdim=True) - x)
    assert bool(((out - exact).abs() <= allowed * exact)[exact > 1e-30].all())


@pytest.mark.parametrize("name", RUNGS[1:])
def test_nothing_is_wrong_in_any_schedule(name: str, findings: list[Any]) -> None:
    verify(name, sample((5, 333), torch.bfloat16, 3))
    if name != "warp_per_row":
        verify(name, sample((2, 40_009), torch.bfloat16))
    assert findings == []


def test_a_missing_fence_in_meeting_is_found() -> None:
    source = host.MEETING.read_text(encoding="utf-8")
    assert source.count("__threadfence();") == 2
    name = f"softmax<float, 4, true, {host.MEETING_THREADS}, {host.PACKS}, 0>"
    unfenced = source.replace("__threadfence();", "")
    x, out, zeros = torch.ones(2, 20_000), torch.empty(2, 20_000), torch.zeros(3, dtype=torch.int32)
    zeros = zeros.view(torch.uint32)
    for text, is_right in ((source, True), (unfenced, False)):
        kernel = fp.compile(text, arch="sm_80", includes=[host.FOLDER], name_expressions=[name])[name]
        args = (20_000, x, 3, host.scratch(x, 6), zeros[:1], zeros[1:], out)
        found = fp.sanitize(kernel, 6, host.MEETING_THREADS, args, seeds=3)
        assert (found == []) == is_right


def test_what_blocks_share_a_row() -> None:
    x = torch.empty(1, 131_072, dtype=torch.bfloat16)
    cut = host.packing(131_072, x)
    assert host.share(x, 1, cut) == host.Share(packs=4, parked_pairs=4, parts=3)  # an A100's shared memory
    assert host.share(x, 1, host.packing(9000, x)) == host.Share(packs=2, parked_pairs=0, parts=2)


def test_meeting_leaves_its_counters_at_zero(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[Any] = []
    real = host.counters_at_zero

    def counters(*args: Any) -> Any:
        made.append(real(*args))
        return made[-1]

    monkeypatch.setattr(host, "counters_at_zero", counters)
    LADDER["meeting"](sample((3, 20_000), torch.float32))
    assert [each.view(torch.int32).tolist() for each in made] == [[0] * 4]


def test_the_operators_function_takes_every_row() -> None:
    """Rows in registers, rows for several SMs, float64, and nothing."""
    for x in (
        sample((5, 333), torch.bfloat16, 3),
        sample((1, 120_001), torch.float32),
        sample((2, 40_009), torch.float64),
        torch.empty(3, 0),
    ):
        out = torch.full_like(x, NAN)
        assert LADDER.best(x, out).rung(x, out) is out
        LADDER.check(out, (x,))
        if x.dim():
            LADDER.check(LADDER.best(x, direction="backward").rung(out, x), (out, x))


# ---- Gradients -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", BACKWARD)
def test_the_gradient_is_the_derivative(name: str) -> None:
    """gradcheck in float64: the online rung forward, the backward rung for its gradient."""

    class Softmax(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            y = LADDER["online"](x)
            ctx.save_for_backward(y)
            return y

        @staticmethod
        def backward(ctx: Any, *grad_outputs: Any) -> Any:
            return LADDER[name](ctx.saved_tensors[0], grad_outputs[0].contiguous())

    function: Any = Softmax
    assert torch.autograd.gradcheck(function.apply, (sample((3, 7), torch.float64).requires_grad_(),))


# ---- What the headers say ------------------------------------------------------------------------------


def test_each_rung_reads_less_often_than_the_one_before() -> None:
    n = 2048
    x, out = torch.ones(1, n), torch.empty(1, n)
    loads = {
        name: fp.profile(
            host.cuda_kernel(LADDER[name].file, "softmax<float>", x), 1, 256, (n, x, out), shared=shared
        ).instructions_by_class["global load"]
        for name, shared in (("three_pass", 0), ("online", 0), ("shared", 4 * n))
    }
    assert loads == {"three_pass": 3 * n, "online": 2 * n, "shared": n}
    kernel = host.cuda_kernel(host.RESIDENT, "softmax<float, 4, true, 128, 4, 0>", x)
    report = fp.profile(kernel, 1, 128, (1, n, x, out))
    assert report.instructions_by_class["global load"] == n // 4
    assert report.instructions_by_class["global store"] == n // 4


# ---- At the border -------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", RUNGS)
def test_wrong_arguments_are_refused_before_anything_runs(name: str) -> None:
    good = torch.ones(4, 8)
    rest = (good,) if name in BACKWARD else ()
    for args, out, says in [
        ((good.int(), *rest), None, "float32"),
        ((good.t(), *rest), None, "contiguous"),
        ((3.0, *rest), None, "tensor"),
        ((good, *rest), torch.empty(3), "must have shape"),
        ((good, *rest), good, "overlaps"),
        ((good, *rest), torch.empty(4, 8, dtype=torch.float16), "float32"),
    ]:
        with pytest.raises(FlashpathError, match=says):
            LADDER[name](*args, out=out)
    if name in BACKWARD:
        for dy in (torch.ones(4, 7), good.half(), good.t().contiguous().t()):
            with pytest.raises(FlashpathError, match="dy"):
                LADDER[name](good, dy)


def test_rows_that_are_too_long_are_declined_with_the_rungs_that_take_them() -> None:
    for name, n, says in (
        ("warp_per_row", 2049, "resident"),
        ("shared", 60_000, "split_rows"),
        ("resident", 2**18, "meeting"),
        ("meeting", 2**24, "split_rows"),
    ):
        with pytest.raises(FlashpathError, match=says):
            LADDER[name](torch.empty(1, n))


def test_the_ladders_check_can_fail() -> None:
    x = sample((4, 1000), torch.float32)
    right = LADDER.reference(x)
    LADDER.check(right, (x,))
    one_off = right.clone()
    one_off[2, 3] += right.max() / 1000
    for bad in (one_off, right * 1.00001, right[0], right.half()):
        with pytest.raises(AssertionError):
            LADDER.check(bad, (x,))


@pytest.mark.parametrize(
    ("name", "arch"),
    [*((name, "sm_75") for name in RUNGS[1:]), ("resident", "sm_100a"), ("triton", "sm_100a")],
)
def test_rung_compiles_for_the_oldest_and_the_newest(name: str, arch: str) -> None:
    compile_for = LADDER[name].compile_for
    assert compile_for is not None
    assert compile_for(arch) is not None


# ---- On a GPU ------------------------------------------------------------------------------------------


@pytest.mark.gpu
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("name", RUNGS[1:])
def test_rows_on_a_gpu(name: str, dtype: torch.dtype) -> None:
    for shape in ((1, 1), (70_001, 3), (1000, 129), (4099, 1021), (513, 2048), (64, 8000), (7, 100_003)):
        most = {"warp_per_row": 2048, "shared": 50_000, "resident": 2**18 // dtype.itemsize}
        if shape[1] > most.get(name, shape[1]):
            continue
        for offset in (0, 1):
            verify(name, sample(shape, dtype, offset, "cuda"))


@pytest.mark.gpu
@pytest.mark.parametrize("name", ["three_pass", "online", "split_rows", "triton", *BACKWARD])
def test_one_very_long_row_on_a_gpu(name: str) -> None:
    verify(name, sample((2, 5_000_011), torch.float32, 1, "cuda"))


@pytest.mark.gpu
@pytest.mark.parametrize("name", RUNGS[1:])
def test_the_same_call_gives_the_same_bits_a_hundred_times(name: str) -> None:
    n = 2048 if name == "warp_per_row" else 20_001
    args = arguments(name, sample((300, n), torch.float32, device="cuda"))
    first = LADDER[name](*args)
    assert all(torch.equal(LADDER[name](*args), first) for _ in range(100))


@pytest.mark.gpu
@pytest.mark.parametrize("name", RUNGS[1:])
def test_more_elements_than_32_bits_count(name: str) -> None:
    rows, n = 2**20 + 1, 2048
    free, _ = torch.cuda.mem_get_info()
    if free < 8 * rows * n:
        pytest.skip(f"needs {8 * rows * n / 1e9:.0f} GB of GPU memory, {free / 1e9:.0f} are free")
    x = torch.zeros(rows, n, device="cuda", dtype=torch.bfloat16)
    x[-1, 5] = 20
    y = LADDER["reference"](x) if name in BACKWARD else None
    out = LADDER[name](x) if y is None else LADDER[name](y, x)
    args = (x[-1:],) if y is None else (y[-1:], x[-1:])
    LADDER.check(out[-1:], args)
    assert torch.equal(out[0], out[rows // 2])


@pytest.mark.gpu
def test_meeting_on_two_streams_at_once() -> None:
    x = sample((64, 300_000), torch.float32, device="cuda")
    expected = LADDER["meeting"](x)
    streams = [torch.cuda.Stream() for _ in range(2)]
    torch.cuda.synchronize()
    results: list[Any] = []
    for _ in range(20):
        for stream in streams:
            with torch.cuda.stream(stream):
                results.append(LADDER["meeting"](x))
    torch.cuda.synchronize()
    assert all(torch.equal(result, expected) for result in results)


@pytest.mark.gpu
@pytest.mark.parametrize("name", RUNGS[1:])
def test_a_graph_replays_it(name: str) -> None:
    args = arguments(name, sample((64, 2000), torch.float32, device="cuda"))
    LADDER[name](*args)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        out = LADDER[name](*args)
    for scale in (2, 3):
        args[-1].mul_(scale)
        graph.replay()
        LADDER.check(out, args)
