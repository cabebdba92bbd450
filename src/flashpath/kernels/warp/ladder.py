"""The ladder of warp primitives: its rungs, the problems it is timed on, and its peers."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from flashpath.kernels.building import cuda_rung, triton_compiles_for
from flashpath.kernels.declines import no_bfloat16, takes
from flashpath.kernels.peers import cupy_stream, library
from flashpath.kernels.rung import Case, Declines, Ladder, Peer, Rung, short
from flashpath.kernels.tolerance import WrongResult, check_against
from flashpath.kernels.warp import host
from flashpath.kernels.warp.messages import MESSAGES
from flashpath.kernels.warp.reference import reference, torch_groups, torch_select
from flashpath.messages import Message, told


def _case(op: str, n: int, dtype: str) -> Case:
    import torch

    kind = getattr(torch, dtype)

    def inputs(device: str) -> tuple[Any, ...]:
        if kind == torch.int32:
            return torch.randint(-4, 5, (n,), device=device, dtype=kind), op
        return torch.randn(n, device=device, dtype=kind), op

    if op in host.COMPACTIONS:
        written = n // 2 * kind.itemsize  # about half of them are positive
    else:
        result = (host.OF_EACH | host.OF_GROUP)[op]
        width = kind.itemsize if result is None else getattr(torch, result).itemsize
        written = (n if op in host.OF_EACH else n // 32) * width
    return Case(
        name=f"{op} {short(n)} {dtype}",
        inputs=inputs,
        bytes=n * kind.itemsize + written,
        dtype=dtype,
        parameters={"op": op, "n": n, "dtype": dtype},
    )


def _cases() -> Sequence[Case]:
    return [
        _case("compact", 2**24, "float32"),
        _case("compact_unordered", 2**24, "float32"),
        _case("compact", 2**28, "float32"),
        _case("compact", 2**28, "bfloat16"),
        _case("broadcast", 2**26, "float32"),
        _case("sum", 2**26, "float32"),
        _case("sum", 2**26, "int32"),
        _case("ballot", 2**26, "float32"),
        _case("match", 2**26, "int32"),
    ]


def _sized(size: tuple[int, ...]) -> Case:
    return _case("compact_unordered", size[0], "float32")


def _more_samples() -> Sequence[Case]:
    of_floats = [_case(op, 2**16, "float32") for op in ("sum", "broadcast", "ballot", "match")]
    return [*of_floats, _case("sum", 2**16, "int32")]


def _torch(x: Any, op: str) -> Any:
    return torch_select(x, op) if op in host.COMPACTIONS else torch_groups(x, op)


def _cupy(cupy: Any, x: Any, op: str) -> Any:
    """CuPy's selection by a mask, on torch's stream and memory."""
    import torch

    del op
    with cupy_stream(cupy, x):
        elements = cupy.from_dlpack(x)
        return torch.from_dlpack(elements[elements > 0])


_compactions_only = takes("op", *host.COMPACTIONS, otherwise=told("kernels.warp.selects-only"))


def _cupy_declines(case: Case) -> Message | None:
    return _compactions_only(case) or no_bfloat16(case)


def _peers(device: str) -> Mapping[str, Callable[..., Any] | Peer]:
    peers: dict[str, Callable[..., Any] | Peer] = {"torch": _torch}
    if device == "cuda" and (cupy := library("cupy")):
        peers["CuPy"] = Peer(functools.partial(_cupy, cupy), _cupy_declines)
    return peers


def _check(output: Any, inputs: tuple[Any, ...]) -> None:
    """Bit for bit, but for sums of float32. A compaction is room and a count, or the kept elements alone."""
    import torch

    x, op, *rest = inputs
    if op == "sum" and x.dtype == torch.float32:
        check_against(output, torch_groups(x.double(), op), torch_groups(x, op))
        return
    if op in host.OF_GROUPS:
        torch.testing.assert_close(_bits(output), _bits(torch_groups(x, op)), rtol=0, atol=0)
        return
    expected, wanted = reference(x, op, *rest)
    kept, is_expected = output, expected[: int(wanted)]
    if not isinstance(output, torch.Tensor):
        kept, count = output[0], int(output[1])
        if count != int(wanted):
            raise WrongResult("kernels.warp.wrong-count-kept", count=count, expected=int(wanted))
        kept = kept[:count]
    if op == "compact_unordered":
        kept, is_expected = _bits(kept).sort().values, _bits(is_expected).sort().values
    torch.testing.assert_close(_bits(kept), _bits(is_expected), rtol=0, atol=0)


def _bits(tensor: Any) -> Any:
    import torch

    if not tensor.dtype.is_floating_point:
        return tensor
    return tensor.view(torch.int16 if tensor.element_size() == 2 else torch.int32)


def _only(*operations: str) -> Declines:
    return takes("op", *operations, otherwise=told("kernels.warp.operations", operations=operations))


def _int32_sums(case: Case) -> Message | None:
    is_taken = (case.parameters["op"], case.dtype) == ("sum", "int32")
    return None if is_taken else told("kernels.warp.int32-sums")


LADDER = Ladder(
    name="warp",
    texts=MESSAGES,
    cases=_cases,
    peers=_peers,
    check=_check,
    sized=_sized,
    sample=(2**16,),
    more_samples=_more_samples,
    rungs=(
        Rung.reference(host.FOLDER, reference),
        cuda_rung(
            host.shared_memory,
            "match<float>",
            declines=_only(*host.OF_GROUPS),
            improves_on="reference",
            readability=4,
            debugging=4,
        ),
        cuda_rung(
            host.broadcast,
            "broadcast<float>",
            declines=_only("broadcast"),
            improves_on="shared_memory",
            readability=5,
            debugging=4,
        ),
        cuda_rung(
            host.reduce_shuffle,
            "sum<float>",
            declines=_only("sum"),
            improves_on="shared_memory",
            readability=5,
            debugging=4,
        ),
        cuda_rung(
            host.reduce_instruction,
            "sum",
            arch="sm_80",
            declines=_int32_sums,
            improves_on="reduce_shuffle",
            readability=5,
            debugging=5,
        ),
        cuda_rung(
            host.vote,
            "ballot<float>",
            declines=_only("any", "all", "ballot"),
            improves_on="shared_memory",
            readability=5,
            debugging=4,
        ),
        cuda_rung(
            host.match,
            "match<float>",
            declines=_only("match"),
            improves_on="shared_memory",
            readability=4,
            debugging=4,
        ),
        cuda_rung(
            host.compact_atomics,
            "compact<float>",
            declines=_only("compact_unordered"),
            improves_on="reference",
            readability=5,
            debugging=3,
        ),
        cuda_rung(
            host.compact_active,
            "compact<float>",
            declines=_only("compact_unordered"),
            improves_on="compact_atomics",
            readability=4,
            debugging=2,
        ),
        cuda_rung(
            host.compact_ballot,
            "compact<float>",
            declines=_only("compact_unordered"),
            improves_on="compact_atomics",
            readability=4,
            debugging=3,
        ),
        cuda_rung(
            host.compact_block,
            "compact<float>",
            declines=_only("compact_unordered"),
            improves_on="compact_ballot",
            readability=4,
            debugging=3,
        ),
        cuda_rung(
            host.compact,
            "compact<float>",
            declines=_only(*host.COMPACTIONS),
            improves_on="compact_block",
            readability=3,
            debugging=2,
        ),
        Rung(
            name="triton",
            language="triton",
            file=host.TRITON,
            function=host.triton,
            declines=_only(*host.OF_GROUPS),
            improves_on="shared_memory",
            compile_for=triton_compiles_for(
                host.triton_kernel,
                {"x_ptr": "*fp32", "out_ptr": "*fp32", "n": "i32"},
                {"OP": "sum", "BLOCK": host.TRITON_BLOCK},
            ),
            readability=5,
            debugging=3,
        ),
    ),
)
