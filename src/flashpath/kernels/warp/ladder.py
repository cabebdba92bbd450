"""The ladder of warp primitives: its rungs, the problems it is timed on, and its peers."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from flashpath.kernels.building import cuda_compiles_for, triton_compiles_for
from flashpath.kernels.peers import cupy_stream, library
from flashpath.kernels.rung import Case, Ladder, Peer, Rung, Score, short
from flashpath.kernels.tolerance import check_against
from flashpath.kernels.warp import host
from flashpath.kernels.warp.reference import reference, torch_groups, torch_select
from flashpath.messages import Text


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


def _cupy_declines(case: Case) -> str | None:
    if case.parameters["op"] not in host.COMPACTIONS:
        return "selects by a mask only"
    return "has no bfloat16" if case.dtype == "bfloat16" else None


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
        assert count == int(wanted), f"{count} elements are kept, not {int(wanted)}"
        kept = kept[:count]
    if op == "compact_unordered":
        kept, is_expected = _bits(kept).sort().values, _bits(is_expected).sort().values
    torch.testing.assert_close(_bits(kept), _bits(is_expected), rtol=0, atol=0)


def _bits(tensor: Any) -> Any:
    import torch

    if not tensor.dtype.is_floating_point:
        return tensor
    return tensor.view(torch.int16 if tensor.element_size() == 2 else torch.int32)


def _only(*known: str, dtypes: Sequence[str] | None = None) -> Callable[[Case], str | None]:
    def declines(case: Case) -> str | None:
        if case.parameters["op"] not in known:
            return f"does {', '.join(known)} only"
        if dtypes is not None and case.dtype not in dtypes:
            return f"takes {', '.join(dtypes)} only"
        return None

    return declines


_entry = functools.partial(Rung, arch="sm_75", language="cuda")

LADDER = Ladder(
    name="warp",
    title=Text("Warp primitives", "warp 原语"),
    maths=Text(
        "of each 32 elements: broadcast the first, sum, vote (any, all, ballot), match equals; and "
        "of all: keep those above a threshold (compact)",
        "每 32 个元素：广播第一个、求和、投票（any、all、ballot）、匹配相等的值；"
        "以及对全部元素：保留超过阈值的（compact）",
    ),
    cases=_cases,
    peers=_peers,
    check=_check,
    sized=_sized,
    sample=(2**16,),
    more_samples=_more_samples,
    rungs=(
        Rung(
            name="reference",
            language="pytorch",
            arch="any",
            idea=Text(
                "PyTorch on rows of 32, and its indexing by a mask: the truth for all others",
                "PyTorch 按 32 个一行计算，并用掩码索引：其余梯级以它为准",
            ),
            file=host.FOLDER / "reference.py",
            function=reference,
            readability=Score(5, "array code"),
            debugging=Score(5, "runs on the CPU, under any Python debugger"),
        ),
        _entry(
            name="shared_memory",
            idea=Text(
                "without the primitives: an array of the block, a barrier, and everyone reads everyone's",
                "不用原语：线程块的一个数组、一个屏障，然后每个线程读所有线程的值",
            ),
            file=host.SHARED_MEMORY,
            function=host.shared_memory,
            declines=_only(*host.OF_GROUPS),
            improves_on="reference",
            compile_for=cuda_compiles_for(host.SHARED_MEMORY, "match<float>"),
            readability=Score(4, "loops as anyone would write them, and a barrier"),
            debugging=Score(4, "all that passes between threads is in an array"),
        ),
        _entry(
            name="broadcast",
            idea=Text(
                "a shuffle gives one lane's register to all", "一次 shuffle 把一个 lane 的寄存器给所有 lane"
            ),
            file=host.BROADCAST,
            function=host.broadcast,
            declines=_only("broadcast"),
            improves_on="shared_memory",
            compile_for=cuda_compiles_for(host.BROADCAST, "broadcast<float>"),
            readability=Score(5, "one instruction"),
            debugging=Score(4, "all lanes must come to it: the sanitizer tells who did not"),
        ),
        _entry(
            name="reduce_shuffle",
            idea=Text("five shuffles fold 32 lanes into one sum", "五次 shuffle 把 32 个 lane 归约成一个和"),
            file=host.REDUCE_SHUFFLE,
            function=host.reduce_shuffle,
            declines=_only("sum"),
            improves_on="shared_memory",
            compile_for=cuda_compiles_for(host.REDUCE_SHUFFLE, "sum<float>"),
            readability=Score(5, "a loop of one line"),
            debugging=Score(4, "what is in registers has to be printed lane by lane"),
        ),
        _entry(
            name="reduce_instruction",
            arch="sm_80",
            idea=Text("whole numbers are added up by one instruction", "一条指令就能把整数加起来"),
            file=host.REDUCE_INSTRUCTION,
            function=host.reduce_instruction,
            declines=_only("sum", dtypes=("int32",)),
            improves_on="reduce_shuffle",
            compile_for=cuda_compiles_for(host.REDUCE_INSTRUCTION, "sum"),
            readability=Score(5, "one instruction"),
            debugging=Score(5, "nothing can go wrong but the mask"),
        ),
        _entry(
            name="vote",
            idea=Text(
                "each lane gives a bit, all get the answer: any, all, or the 32 bits themselves",
                "每个 lane 给出一位，所有 lane 得到结果：any、all，或者这 32 位本身",
            ),
            file=host.VOTE,
            function=host.vote,
            declines=_only("any", "all", "ballot"),
            improves_on="shared_memory",
            compile_for=cuda_compiles_for(host.VOTE, "ballot<float>"),
            readability=Score(5, "one instruction"),
            debugging=Score(4, "lanes beyond the end have to vote too, and rightly"),
        ),
        _entry(
            name="match",
            idea=Text(
                "each lane learns which others have its value", "每个 lane 得知还有哪些 lane 的值与自己相同"
            ),
            file=host.MATCH,
            function=host.match,
            declines=_only("match"),
            improves_on="shared_memory",
            compile_for=cuda_compiles_for(host.MATCH, "match<float>"),
            readability=Score(4, "a mask of who is there, and a mask of who is equal"),
            debugging=Score(4, "the mask has to name those who come, no more and no fewer"),
        ),
        _entry(
            name="compact_atomics",
            idea=Text(
                "one counter tells each thread that keeps an element the next free place",
                "一个计数器告诉每个要保留元素的线程下一个空位",
            ),
            file=host.COMPACT_ATOMICS,
            function=host.compact_atomics,
            declines=_only("compact_unordered"),
            improves_on="reference",
            compile_for=cuda_compiles_for(host.COMPACT_ATOMICS, "compact<float>"),
            readability=Score(5, "one line"),
            debugging=Score(3, "the order is another one in every run"),
        ),
        _entry(
            name="compact_active",
            idea=Text(
                "the lanes that are left in a branch appoint one of them to ask for room for all",
                "分支里剩下的 lane 推选一个，替大家申请位置",
            ),
            file=host.COMPACT_ACTIVE,
            function=host.compact_active,
            declines=_only("compact_unordered"),
            improves_on="compact_atomics",
            compile_for=cuda_compiles_for(host.COMPACT_ACTIVE, "compact<float>"),
            readability=Score(4, "who is here, who is first, how many are below me"),
            debugging=Score(2, "which lanes come together is the compiler's and the hardware's choice"),
        ),
        _entry(
            name="compact_ballot",
            idea=Text(
                "a ballot counts what a warp keeps, one lane asks for room for all",
                "用 ballot 数出一个 warp 保留多少，由一个 lane 替大家申请位置",
            ),
            file=host.COMPACT_BALLOT,
            function=host.compact_ballot,
            declines=_only("compact_unordered"),
            improves_on="compact_atomics",
            compile_for=cuda_compiles_for(host.COMPACT_BALLOT, "compact<float>"),
            readability=Score(4, "bits set, bits below mine"),
            debugging=Score(3, "the order of the groups is another one in every run"),
        ),
        _entry(
            name="compact_block",
            idea=Text("one atomic for a tile of 4096 elements", "每 4096 个元素的分块只做一次原子操作"),
            file=host.COMPACT_BLOCK,
            function=host.compact_block,
            declines=_only("compact_unordered"),
            improves_on="compact_ballot",
            compile_for=cuda_compiles_for(host.COMPACT_BLOCK, "compact<float>"),
            readability=Score(4, "short; the tile's own order is in tile.cuh"),
            debugging=Score(3, "the order of the tiles is another one in every run"),
        ),
        _entry(
            name="compact",
            idea=Text(
                "tiles look back at what those before them keep: the order stays, in one pass",
                "分块回看前面的分块保留了多少：保持次序，一遍完成",
            ),
            file=host.COMPACT,
            function=host.compact,
            declines=_only(*host.COMPACTIONS),
            improves_on="compact_block",
            compile_for=cuda_compiles_for(host.COMPACT, "compact<float>"),
            readability=Score(3, "blocks that talk to each other while they run"),
            debugging=Score(2, "a mistake in the look-back hangs; but results are the same in every run"),
        ),
        Rung(
            name="triton",
            language="triton",
            arch="sm_75",
            idea=Text(
                "no lanes: rows of 32, of which the compiler makes shuffles",
                "没有 lane 的概念：32 个一行，由编译器变成 shuffle",
            ),
            file=host.TRITON,
            function=host.triton,
            declines=_only(*host.OF_GROUPS),
            improves_on="shared_memory",
            compile_for=triton_compiles_for(
                host.triton_kernel,
                {"x_ptr": "*fp32", "out_ptr": "*fp32", "n": "i32"},
                {"OP": "sum", "BLOCK": host.TRITON_BLOCK},
            ),
            readability=Score(5, "array code in Python"),
            debugging=Score(3, "prints and asserts work; what threads do is the compiler's secret"),
        ),
    ),
)
