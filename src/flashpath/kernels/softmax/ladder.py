"""The softmax ladder: its rungs, the problems it is timed on, and its peers."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from flashpath.kernels.building import cuda_rung, triton_compiles_for
from flashpath.kernels.declines import backward_only, forward_only
from flashpath.kernels.peers import library, with_compiled
from flashpath.kernels.rung import Case, Declines, Ladder, Peer, Rung
from flashpath.kernels.softmax import host
from flashpath.kernels.softmax.messages import MESSAGES
from flashpath.kernels.softmax.reference import formula, reference, torch_softmax
from flashpath.kernels.tolerance import check_against, check_shape
from flashpath.messages import Message, told

# Elements that are checked at a time: the float64 truth of a whole large case would fill a GPU's memory.
_CHECKED_AT_ONCE = 2**25
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
        peers["Liger"] = Peer(functools.partial(_liger, liger), functools.partial(_longer, limit=65536))
    quack = library("quack.softmax") if device == "cuda" else None
    if quack is not None:
        peers["quack"] = functools.partial(_quack, quack)
    return peers


def _liger(liger: Any, x: Any, dy: Any | None = None) -> Any:
    if dy is None:
        return liger._softmax_forward(x)[0]
    return liger._softmax_backward(dy, x, *liger.calculate_settings(x.shape[-1]), False)


def _longer(case: Case, limit: int) -> Message | None:
    return told("kernels.softmax.longer", limit=limit) if case.parameters["n"] > limit else None


def _quack(quack: Any, x: Any, dy: Any | None = None) -> Any:
    return quack.softmax_fwd(x) if dy is None else quack.softmax_bwd(dy, x)


def _check(output: Any, inputs: tuple[Any, ...]) -> None:
    """Against float64: at most twice the error that torch makes in the same type."""
    x = inputs[0]
    check_shape(output, x.shape)
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


def _short_rows(limit: int) -> Declines:
    return lambda case: _longer(case, limit) or forward_only(case)


def _fits_an_sm(case: Case) -> Message | None:
    import torch

    return _longer(case, _RESIDENT_BYTES // getattr(torch, case.dtype).itemsize) or forward_only(case)


_cuda = functools.partial(cuda_rung, declines=forward_only)


LADDER = Ladder(
    name="softmax",
    texts=MESSAGES,
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
        Rung.reference(host.FOLDER, reference),
        _cuda(host.three_pass, "softmax<float>", improves_on="reference", readability=5, debugging=4),
        _cuda(host.online, "softmax<float>", improves_on="three_pass", readability=4, debugging=4),
        _cuda(
            host.shared,
            "softmax<float>",
            declines=_short_rows(48 * 1024),
            improves_on="online",
            readability=5,
            debugging=4,
        ),
        _cuda(
            host.warp_per_row,
            "softmax<float, 32>",
            declines=_short_rows(32 * host.MOST_PER_LANE),
            improves_on="shared",
            readability=4,
            debugging=4,
        ),
        _cuda(
            host.resident,
            f"softmax<float, 4, false, 1024, {host.PACKS}, 1>",
            declines=_fits_an_sm,
            improves_on="warp_per_row",
            readability=3,
            debugging=3,
        ),
        _cuda(
            host.split_rows,
            "part_states<float, 4, false>",
            improves_on="resident",
            readability=3,
            debugging=4,
        ),
        _cuda(
            host.meeting,
            f"softmax<float, 4, false, {host.MEETING_THREADS}, {host.PACKS}, 1>",
            improves_on="split_rows",
            readability=3,
            debugging=2,
        ),
        _cuda(
            host.backward_simple,
            "backward<float>",
            declines=backward_only,
            improves_on="reference",
            readability=5,
            debugging=4,
        ),
        _cuda(
            host.backward_resident,
            f"backward<float, 4, false, 32, {host.PACKS}>",
            declines=backward_only,
            improves_on="backward_simple",
            readability=3,
            debugging=3,
        ),
        Rung(
            name="triton",
            language="triton",
            declines=forward_only,
            file=host.TRITON,
            function=host.triton,
            improves_on="resident",
            compile_for=triton_compiles_for(
                host.triton_kernel,
                {"x_ptr": "*fp32", "out_ptr": "*fp32", "rows": "i32", "n": "i32"},
                {"ROWS": 4, "BLOCK": 1024},
            ),
            readability=5,
            debugging=3,
        ),
    ),
)
