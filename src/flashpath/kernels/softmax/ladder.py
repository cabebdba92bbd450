"""The softmax ladder: its rungs, the problems it is timed on, and its peers."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from flashpath.kernels.building import cuda_compiles_for, triton_compiles_for
from flashpath.kernels.peers import library, with_compiled
from flashpath.kernels.rung import Case, Ladder, Peer, Rung, Score
from flashpath.kernels.softmax import host
from flashpath.kernels.softmax.reference import formula, reference, torch_softmax
from flashpath.kernels.tolerance import check_against
from flashpath.messages import Text

# Elements that are checked at a time: the float64 truth of a whole large case would fill a GPU's memory.
_CHECKED_AT_ONCE = 2**25
# What quack, which may not be importable, reached on an H200 beside a copy: GB/s.
_QUACK = {
    "forward 32768 × 1024 bfloat16": 3579 / 4296,
    "forward 32768 × 4096 bfloat16": 3985 / 4296,
    "forward 32768 × 16384 bfloat16": 4127 / 4296,
}
# The longest rows that an SM of an H200 holds in registers and shared memory; GPUs with less raise an error.
_RESIDENT_BYTES = 288 * 1024


def _case(direction: str, rows: int, n: int, dtype: str) -> Case:
    import torch

    kind = getattr(torch, dtype)
    is_forward = direction == "forward"
    name = f"{direction} {rows} × {n} {dtype}"

    def inputs(device: str) -> tuple[Any, ...]:
        x = torch.randn(rows, n, device=device, dtype=kind)
        return (x,) if is_forward else (torch.softmax(x, -1), torch.randn_like(x))

    return Case(
        name=name,
        inputs=inputs,
        bytes=(2 if is_forward else 3) * rows * n * kind.itemsize,
        flops=(5 if is_forward else 4) * rows * n,
        dtype=dtype,
        known_peers={"quack": _QUACK[name]} if name in _QUACK else {},
        parameters={"direction": direction, "rows": rows, "n": n, "dtype": dtype},
    )


def _sized(size: tuple[int, ...]) -> Case:
    rows, n = size
    return _case("forward", rows, n, "bfloat16")


def _more_samples() -> Sequence[Case]:
    return [_case("backward", 64, 1024, "bfloat16")]


def _truth(inputs: tuple[Any, ...]) -> Any:
    return formula(*(each.double() for each in inputs))


def _cases() -> Sequence[Case]:
    return [
        _case("forward", 16, 131072, "float32"),
        _case("forward", 32768, 1024, "bfloat16"),
        _case("forward", 32768, 4096, "bfloat16"),
        _case("forward", 32768, 16384, "bfloat16"),
        _case("forward", 4096, 131072, "bfloat16"),
        _case("forward", 32768, 1021, "float32"),
        _case("backward", 32768, 4096, "bfloat16"),
        _case("backward", 32768, 16384, "bfloat16"),
    ]


def _peers(device: str) -> Mapping[str, Callable[..., Any] | Peer]:
    peers: dict[str, Callable[..., Any] | Peer] = {**with_compiled(device, formula), "torch": torch_softmax}
    liger = library("liger_kernel.ops.softmax") if device == "cuda" else None
    if liger is not None:
        peers["Liger"] = Peer(functools.partial(_liger, liger), _liger_declines)
    quack = library("quack.softmax") if device == "cuda" else None
    if quack is not None:
        peers["quack"] = functools.partial(_quack, quack)
    return peers


def _liger(liger: Any, x: Any, dy: Any | None = None) -> Any:
    if dy is None:
        return liger._softmax_forward(x)[0]
    return liger._softmax_backward(dy, x, *liger.calculate_settings(x.shape[-1]), False)


def _liger_declines(case: Case) -> str | None:
    return "takes rows of up to 65536 elements" if case.parameters["n"] > 65536 else None


def _quack(quack: Any, x: Any, dy: Any | None = None) -> Any:
    return quack.softmax_fwd(x) if dy is None else quack.softmax_bwd(dy, x)


def _check(output: Any, inputs: tuple[Any, ...]) -> None:
    """Against float64: at most twice the error that torch makes in the same type."""
    x = inputs[0]
    assert output.shape == x.shape, f"the shape is {tuple(output.shape)}, not {tuple(x.shape)}"
    n = x.shape[-1] if x.dim() else 1
    if not x.numel():
        return
    rows = max(1, _CHECKED_AT_ONCE // n)
    parts = [each.reshape(-1, n).split(rows) for each in (output, *inputs)]
    for part, *arguments in zip(*parts, strict=True):
        exact = formula(*(each.double() for each in arguments))
        # The small absolute term, beside results as small as 1 / n.
        largest = float(exact.abs().nan_to_num(0, 0, 0).max())
        check_against(part, exact, torch_softmax(*arguments), absolute=1e-6 * largest)


def _forward_only(case: Case) -> str | None:
    return None if case.parameters["direction"] == "forward" else "is the forward direction"


def _backward_only(case: Case) -> str | None:
    return None if case.parameters["direction"] == "backward" else "is the backward direction"


def _short_rows(limit: int) -> Callable[[Case], str | None]:
    def declines(case: Case) -> str | None:
        longer = case.parameters["n"] > limit
        return f"takes rows of up to {limit} elements" if longer else _forward_only(case)

    return declines


def _fits_an_sm(case: Case) -> str | None:
    import torch

    row_bytes = case.parameters["n"] * getattr(torch, case.dtype).itemsize
    longer = row_bytes > _RESIDENT_BYTES
    return f"takes rows of up to {_RESIDENT_BYTES} bytes" if longer else _forward_only(case)


_entry = functools.partial(Rung, arch="sm_75", language="cuda", declines=_forward_only)


def _compiles(file: Any, name: str = "softmax<float>") -> Callable[[str], object]:
    return cuda_compiles_for(file, name)


LADDER = Ladder(
    name="softmax",
    title=Text("Softmax", "Softmax（归一化指数）"),
    maths=Text(
        "out[r, i] = e^(x[r, i] - m) / Σ_j e^(x[r, j] - m), m = max x[r, :]; backward: dx[r, i] = "
        "y[r, i] (dy[r, i] - Σ_j y[r, j] dy[r, j])",
        "out[r, i] = e^(x[r, i] - m) / Σ_j e^(x[r, j] - m)，m = max x[r, :]；反向：dx[r, i] = y[r, i] "
        "(dy[r, i] - Σ_j y[r, j] dy[r, j])",
    ),
    cases=_cases,
    peers=_peers,
    check=_check,
    truth=_truth,
    dimensions=("rows", "n"),
    sized=_sized,
    sample=(64, 1024),
    more_samples=_more_samples,
    chooses=host.chosen,
    rungs=(
        Rung(
            name="reference",
            language="pytorch",
            arch="any",
            idea=Text(
                "PyTorch's own softmax and its gradient, whose rules for NaN and infinity the others follow",
                "PyTorch 自己的 softmax 及其梯度；NaN 和无穷的规则以它们为准",
            ),
            file=host.FOLDER / "reference.py",
            function=reference,
            readability=Score(5, "one call"),
            debugging=Score(5, "runs on the CPU, under any Python debugger"),
        ),
        _entry(
            name="three_pass",
            idea=Text(
                "the definition: a pass for the maximum, one for the sum, one to write",
                "照定义：一遍求最大值，一遍求和，一遍写结果",
            ),
            file=host.THREE_PASS,
            function=host.three_pass,
            improves_on="reference",
            compile_for=_compiles(host.THREE_PASS),
            readability=Score(5, "three loops, as the formula has them"),
            debugging=Score(4, "m and l can be printed between the passes"),
        ),
        _entry(
            name="online",
            idea=Text(
                "maximum and sum in one pass: a larger element scales down what was summed",
                "一遍求出最大值与和：出现更大的元素时缩小已有的和",
            ),
            file=host.ONLINE,
            function=host.online,
            improves_on="three_pass",
            compile_for=_compiles(host.ONLINE),
            readability=Score(4, "the recurrence has to be believed once"),
            debugging=Score(4, "-inf is the case to think of; the rest is three_pass"),
        ),
        _entry(
            name="shared",
            idea=Text(
                "the row waits in shared memory: one read from global memory",
                "整行放在共享内存里：全局内存只读一次",
            ),
            file=host.SHARED,
            function=host.shared,
            declines=_short_rows(48 * 1024),
            improves_on="online",
            compile_for=_compiles(host.SHARED),
            readability=Score(5, "three loops again, the last two over shared memory"),
            debugging=Score(4, "each thread meets its own elements only"),
        ),
        _entry(
            name="warp_per_row",
            idea=Text(
                "a warp per row, its elements in registers, reduced by shuffles: no barrier",
                "每行一个 warp，元素在寄存器里，用 shuffle 归约：不需要屏障",
            ),
            file=host.WARP_PER_ROW,
            function=host.warp_per_row,
            declines=_short_rows(32 * host.MOST_PER_LANE),
            improves_on="shared",
            compile_for=_compiles(host.WARP_PER_ROW, "softmax<float, 32>"),
            readability=Score(4, "register arrays need lengths that the compiler knows"),
            debugging=Score(4, "one warp can be followed alone"),
        ),
        _entry(
            name="resident",
            idea=Text(
                "the whole row on one SM: 16-byte packs in registers, then in shared memory",
                "整行放在一个 SM 上：16 字节一组，先放寄存器，再放共享内存",
            ),
            file=host.RESIDENT,
            function=host.resident,
            declines=_fits_an_sm,
            improves_on="warp_per_row",
            compile_for=_compiles(host.RESIDENT, f"softmax<float, 4, false, 1024, {host.PACKS}, 1>"),
            readability=Score(3, "packs, lanes, parked packs: the softmax is the smaller part"),
            debugging=Score(3, "many instances; alignment and ends of rows are cases of their own"),
        ),
        _entry(
            name="split_rows",
            idea=Text(
                "long rows cut into parts: one launch for the parts' {m, l}, one to write",
                "长行切成几段：一次启动求各段的 {m, l}，一次写结果",
            ),
            file=host.SPLIT_ROWS,
            function=host.split_rows,
            improves_on="resident",
            compile_for=_compiles(host.SPLIT_ROWS, "part_states<float, 4, false>"),
            readability=Score(3, "two kernels, and parts that are cut where packs begin"),
            debugging=Score(4, "the parts' states lie in memory between the launches"),
        ),
        _entry(
            name="meeting",
            idea=Text(
                "the blocks of a row wait for each other, their parts in registers: one launch, one read",
                "同一行的线程块互相等待，各段留在寄存器里：启动一次，读一次",
            ),
            file=host.MEETING,
            function=host.meeting,
            improves_on="split_rows",
            compile_for=_compiles(
                host.MEETING, f"softmax<float, 4, false, {host.MEETING_THREADS}, {host.PACKS}, 1>"
            ),
            readability=Score(3, "why it ends at all takes a paragraph"),
            debugging=Score(2, "a mistake hangs or shows once in a million runs; fp.sanitize sees it"),
        ),
        _entry(
            name="backward_simple",
            idea=Text(
                "the gradient from y and dy alone: a pass for the sum, one to write",
                "只用 y 和 dy 求梯度：一遍求和，一遍写结果",
            ),
            file=host.BACKWARD_SIMPLE,
            function=host.backward_simple,
            declines=_backward_only,
            improves_on="reference",
            compile_for=_compiles(host.BACKWARD_SIMPLE, "backward<float>"),
            readability=Score(5, "two loops"),
            debugging=Score(4, "one sum to look at"),
        ),
        _entry(
            name="backward_resident",
            idea=Text(
                "y and dy in registers, in 16-byte packs: each is read once",
                "y 和 dy 以 16 字节为单位放在寄存器里：各读一次",
            ),
            file=host.BACKWARD_RESIDENT,
            function=host.backward_resident,
            declines=_backward_only,
            improves_on="backward_simple",
            compile_for=_compiles(host.BACKWARD_RESIDENT, f"backward<float, 4, false, 32, {host.PACKS}>"),
            readability=Score(3, "as resident, with a rest that is read twice"),
            debugging=Score(3, "many instances; alignment and ends of rows are cases of their own"),
        ),
        _entry(
            name="triton",
            language="triton",
            idea=Text(
                "a tile of rows per program; the compiler makes the shuffles, barriers and wide accesses",
                "每个程序处理几行；shuffle、屏障和宽访问由编译器生成",
            ),
            file=host.TRITON,
            function=host.triton,
            improves_on="resident",
            compile_for=triton_compiles_for(
                host.triton_kernel,
                {"x_ptr": "*fp32", "out_ptr": "*fp32", "rows": "i32", "n": "i32"},
                {"ROWS": 4, "BLOCK": 1024},
            ),
            readability=Score(5, "the definition in array code; a mask is all there is of the ends"),
            debugging=Score(3, "prints and asserts work; what threads do is the compiler's secret"),
        ),
    ),
)
