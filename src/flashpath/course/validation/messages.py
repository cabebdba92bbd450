"""What is said of a function that is validated."""

from __future__ import annotations

from flashpath.messages import Entry, Text

_DECLARE = Text(
    "Write NAME: DTYPE[SIZES], such as 'x: float32[m, n]' or 'index: int64[n] < 10', "
    "or NAME: NUMBER for a plain argument, such as 'eps: 1e-5'.",
    "请写成 名字: 类型[大小]，例如 'x: float32[m, n]' 或 'index: int64[n] < 10'；普通参数写成 名字: 数，例如 'eps: 1e-5'。",
)
_REFERENCE = Text(
    "Name FILE.py:function, torch's or NumPy's (torch.nn.functional.gelu), or a ladder (ladder:softmax).",
    "请写 FILE.py:函数、torch 或 NumPy 的函数（torch.nn.functional.gelu），或阶梯（ladder:softmax）。",
)

MESSAGES: dict[str, Text | Entry] = {
    # ---- Checks ----------------------------------------------------------------------------------------
    "case": Text("{parts}", "{parts}"),
    "random-inputs": Text("random inputs {number}", "随机输入 {number}"),
    "same-bits-again": Text("the same bits again", "再次调用，结果逐位相同"),
    "inputs-stay": Text("inputs stay as they are", "不改动输入"),
    "not-contiguous": Text("inputs that are not contiguous", "不连续的输入"),
    "requires-grad": Text("a call with requires_grad", "带 requires_grad 的调用"),
    "backward-pass": Text("a backward pass", "反向传播"),
    "float64-call": Text("a call in float64", "float64 调用"),
    "gradcheck": Text("torch.autograd.gradcheck in float64", "float64 的 torch.autograd.gradcheck"),
    "reference-gradients": Text("gradients of the reference", "参考实现的梯度"),
    "finite-differences": Text("finite differences of its own forward", "前向的有限差分"),
    # ---- What is wrong ---------------------------------------------------------------------------------
    "it-says": Text("{text}", "{text}"),
    "reference-failed": Text("The reference failed: {problem}", "参考实现出错：{problem}"),
    "no-backward": Text(
        "it has no backward pass: its result does not require gradients, the reference's does. "
        "If none is wanted, say --no-gradients",
        "它没有反向传播：它的结果不需要梯度，而参考实现的需要。如果不要梯度，请加 --no-gradients",
    ),
    "other-count": Text(
        "it returned {got:~result}, the reference {expected}",
        "它返回了 {got} 个结果，参考实现返回 {expected} 个",
    ),
    "of-result": Text("result {number}: {problem}", "结果 {number}：{problem}"),
    "returned-none": Text("it returned None: return the result", "它返回了 None：请返回结果"),
    "other-shape": Text(
        "its shape is {got}, the reference's {expected}", "它的形状是 {got}，参考实现的是 {expected}"
    ),
    "elements-off": Text(
        "{count:,} of {n:,} elements are off, first at {at}: got {got}, expected {expected} ({allowed})",
        "{n:,} 个元素中有 {count:,} 个不对，第一个在 {at}：得到 {got}，应为 {expected}（{allowed}）",
    ),
    "bit-by-bit": Text("bit by bit", "逐位比较"),
    "twice-own-error": Text(
        "twice the reference's own error in {dtype}", "允许参考实现在 {dtype} 下误差的两倍"
    ),
    "calls-differ": Text(
        "two calls with the same inputs differ in {count:,} elements: atomics, or a race",
        "相同输入的两次调用有 {count:,} 个元素不同：原子操作，或竞争",
    ),
    "writes-input": Text("it writes into its input {name!r}", "它改动了输入 {name!r}"),
    "no-gradient": Text(
        "{name!r} has no gradient, the reference has one for it", "{name!r} 没有梯度，而参考实现有"
    ),
    "gradient-off": Text("gradient of {name!r}: {problem}", "{name!r} 的梯度：{problem}"),
    "slope-off": Text(
        "along a random direction it rises by {slope}, its gradient says {promised}",
        "沿一个随机方向，它上升 {slope}，而它的梯度给出 {promised}",
    ),
    "took-too-long": Text(
        "it took longer than {seconds:g} s, and was ended", "它用时超过 {seconds:g} 秒，已被终止"
    ),
    "took-too-long-at": Text(
        "it took longer than {seconds:g} s, and was ended, at {file}:{line}, in {function}",
        "它用时超过 {seconds:g} 秒，已被终止，当时在 {file}:{line} 的 {function} 里",
    ),
    "ended-by-signal": Text(
        "it ended the process with signal {number} ({name})", "它使进程因信号 {number}（{name}）终止"
    ),
    "exited": Text("it ended the process with exit code {code}", "它使进程以退出码 {code} 结束"),
    # ---- Why a step was not done -----------------------------------------------------------------------
    "no-floats": Text("no input is a floating-point tensor", "没有浮点张量输入"),
    "not-wanted": Text("it was not asked for: --no-gradients", "按 --no-gradients 的要求未检查"),
    "neither": Text("neither it nor the reference has a backward pass", "它和参考实现都没有反向传播"),
    # ---- What cannot be validated ----------------------------------------------------------------------
    "no-tensor": Entry(
        Text("No input is a tensor.", "没有张量输入。"),
        Text("Declare one: --input 'x: float32[n]'.", "请声明一个：--input 'x: float32[n]'。"),
    ),
    "input-without-name": Entry(
        Text("The input {text!r} has no name and kind.", "输入 {text!r} 缺少名字和类型。"), _DECLARE
    ),
    "input-neither": Entry(
        Text("The input {text!r} is neither a tensor nor a number.", "输入 {text!r} 既不是张量也不是数。"),
        _DECLARE,
    ),
    "input-dtype": Entry(
        Text("The input {name!r} is of dtype {dtype!r}.", "输入 {name!r} 的类型是 {dtype!r}。"),
        Text("It is one of {known}.", "可用的类型：{known}。"),
    ),
    "input-size": Entry(
        Text("The input {name!r} has the size {size!r}.", "输入 {name!r} 的大小写成了 {size!r}。"), _DECLARE
    ),
    "unknown-reference": Entry(
        Text("The reference {where!r} is not known.", "不认识参考实现 {where!r}。"), _REFERENCE
    ),
    "no-such-function": Entry(Text("{module} has no {name!r}.", "{module} 里没有 {name!r}。"), _REFERENCE),
    "no-such-function-near": Entry(
        Text("{module} has no {name!r}.", "{module} 里没有 {name!r}。"),
        Text("Did you mean {near}?", "你是不是想写 {near}？"),
    ),
    "no-function": Entry(Text("{where} is no function.", "{where} 不是函数。"), _REFERENCE),
}
