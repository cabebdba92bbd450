"""What the ladder scan says: its title and maths, each rung's idea, and the reasons of its scores."""

from __future__ import annotations

from flashpath.kernels.messages import ANY_DEBUGGER, HIDDEN_THREADS, LANE_BY_LANE, ROW_ALONE
from flashpath.messages import Text

MESSAGES: dict[str, Text] = {
    "title": Text("Scan", "扫描（前缀和）"),
    "maths": Text(
        "out[i] = x[0] ⊕ … ⊕ x[i]: sum, max; inclusive, exclusive, segmented; of a vector or of each row",
        "out[i] = x[0] ⊕ … ⊕ x[i]：sum、max；包含、不包含、分段；对向量或每一行",
    ),
    "reference-idea": Text(
        "PyTorch's cumsum and cummax, whose rules for NaN and types the others follow",
        "PyTorch 的 cumsum 和 cummax；NaN 和类型的规则以它们为准",
    ),
    "reference-readability": Text("one call; segments are scanned one by one", "一次调用；分段时逐段扫描"),
    "reference-debugging": ANY_DEBUGGER,
    "hillis_steele-idea": Text(
        "log2(n) doublings in shared memory; each block's total is scanned the same way",
        "在共享内存里倍增 log2(n) 次；各线程块的总和用同样的方法扫描",
    ),
    "hillis_steele-readability": Text("five lines of loop", "循环只有五行"),
    "hillis_steele-debugging": Text(
        "every step is in shared memory; barriers must be met by all",
        "每一步都在共享内存里；所有线程都必须到达屏障",
    ),
    "blelloch-idea": Text(
        "up a tree with the sums, down it with what stands before: 2 n operations, not n log2(n)",
        "沿树向上求和，再向下传递前面的和：2 n 次运算，而不是 n log2(n) 次",
    ),
    "blelloch-readability": Text(
        "the way down has to be drawn once to be believed", "向下的过程要画一遍图才能相信"
    ),
    "blelloch-debugging": Text(
        "as hillis_steele; the conflicts only a profile shows",
        "与 hillis_steele 相同；冲突只有性能分析才能看到",
    ),
    "blelloch_padded-idea": Text(
        "a gap after every 32 nodes, so that the nodes of a level lie in different banks",
        "每 32 个结点后填充一格，使同一层的结点落在不同的 bank",
    ),
    "blelloch_padded-readability": Text(
        "every index goes through a function", "每个下标都要经过一个函数换算"
    ),
    "blelloch_padded-debugging": Text("as blelloch", "与 blelloch 相同"),
    "warp-idea": Text(
        "lanes hand their states over in registers: one barrier instead of 20",
        "lane 之间通过寄存器传递状态：一个屏障代替 20 个",
    ),
    "warp-readability": Text("shuffles have to be known; then it is short", "要先懂 shuffle；懂了就很短"),
    "warp-debugging": LANE_BY_LANE,
    "decoupled_lookback-idea": Text(
        "one pass: tiles publish their totals and look back at those before; always the same bits",
        "一遍完成：各分块公布自己的总和，并回看前面的分块；每次结果逐位相同",
    ),
    "decoupled_lookback-readability": Text(
        "blocks wait for each other; why nobody waits for ever takes a page",
        "线程块互相等待；为什么不会永远等下去，要一页纸才能说清",
    ),
    "decoupled_lookback-debugging": Text(
        "a mistake hangs or shows in one run of many; fp.sanitize sees both",
        "写错了会卡住，或者多次运行才错一次；两种情况 fp.sanitize 都能查出来",
    ),
    "lookahead-idea": Text(
        "a ring of tiles in shared memory: totals go out rounds before they are asked for",
        "共享内存里的一圈分块：总和在被用到的几轮之前就已公布",
    ),
    "lookahead-readability": Text(
        "every warp is in two rounds at once, and has to be drawn on a time line",
        "每个 warp 同时处在两轮之中，要画时间线才能看懂",
    ),
    "lookahead-debugging": Text(
        "as decoupled_lookback; what a slot holds when follows from counts alone",
        "与 decoupled_lookback 相同；而且各槽位何时存放什么只靠计数，代码里没有名字",
    ),
    "by_row-idea": Text(
        "a warp or a block for each row walks along it, carrying what it has so far",
        "每行一个 warp 或一个线程块，带着已有的结果向前走",
    ),
    "by_row-readability": Text("no block waits for another", "线程块之间互不等待"),
    "by_row-debugging": ROW_ALONE,
    "triton-idea": Text(
        "⊕ written once for two scalars; totals of large parts, then each part from end to end",
        "只为两个标量写一次 ⊕；先求各大段的总和，再从头到尾扫描每一段",
    ),
    "triton-readability": Text(
        "array code in Python, but two operations and two kinds of scan in one kernel",
        "用 Python 写的数组代码，但一个核函数里有两种运算、两种扫描",
    ),
    "triton-debugging": HIDDEN_THREADS,
    "cub_block-idea": Text(
        "CUB's block-wide load, scan and store with a functor of our own",
        "CUB 的线程块级加载、扫描和存储，配上自己的函数对象",
    ),
    "cub_block-readability": Text(
        "the code says what happens; the library decides how", "写明做什么，怎么做由库决定"
    ),
    "cub_block-debugging": Text(
        "errors of types are pages long; its shared memory is opaque",
        "类型错误的信息长达几页；看不到它的共享内存",
    ),
    # ---- Why a rung or a peer does not take a case
    "no-segments": Text("has no segmented scan", "不支持分段扫描"),
    "inclusive-sums-only": Text("has inclusive sums only", "只支持包含当前元素的前缀和"),
    "rows-only": Text("would scan a vector with one block", "扫描向量时只能用一个线程块"),
    "plain-vectors-only": Text(
        "leaves segments and rows to decoupled_lookback", "分段和按行的扫描由 decoupled_lookback 完成"
    ),
}
