"""What the ladder histogram says: its title and maths, each rung's idea, and the reasons of its scores."""

from __future__ import annotations

from flashpath.kernels.messages import ANY_DEBUGGER, HIDDEN_THREADS
from flashpath.messages import Text

MESSAGES: dict[str, Text] = {
    "title": Text("Histogram", "直方图"),
    "maths": Text(
        "counts[b] = how many x[i] in [lo, hi] have ⌊(x[i] - lo) bins / (hi - lo)⌋ = b; hi in the last bin",
        "counts[b] = [lo, hi] 内满足 ⌊(x[i] - lo) bins / (hi - lo)⌋ = b 的 x[i] 的个数；hi 归入最后一个区间",
    ),
    "reference-idea": Text(
        "PyTorch's tensor operations, rounding as torch.histc does, counted exactly",
        "用 PyTorch 的张量运算，舍入方式与 torch.histc 相同，计数精确",
    ),
    "reference-readability": Text("the formula, then bincount", "先按公式算，再用 bincount"),
    "reference-debugging": ANY_DEBUGGER,
    "global_atomics-idea": Text(
        "one atomic addition in the L2 cache per value: any number of bins, and all meet there",
        "每个值在 L2 缓存里做一次原子加：区间数不限，但全都挤在那里",
    ),
    "global_atomics-readability": Text("the definition of a histogram", "就是直方图的定义"),
    "global_atomics-debugging": Text("nothing is shared but the result", "线程之间只共享结果"),
    "shared-idea": Text(
        "privatised: each block counts in shared memory and adds its counts once",
        "私有化：每个线程块在共享内存里计数，最后只加一次",
    ),
    "shared-readability": Text("clear, count, add up: two barriers", "清零、计数、汇总：两个屏障"),
    "shared-debugging": Text("a block can be run alone", "可以只运行一个线程块"),
    "per_warp-idea": Text(
        "a copy for each warp: what is left are meetings within a warp",
        "每个 warp 一份计数：只剩 warp 内部的冲突",
    ),
    "per_warp-readability": Text("as shared, with a sum of the copies", "与 shared 相同，再把各份加起来"),
    "per_warp-debugging": Text("as shared", "与 shared 相同"),
    "aggregated-idea": Text(
        "lanes that hold the same bin send one of them, with their number",
        "落入同一区间的 lane 只派一个去加它们的个数",
    ),
    "aggregated-readability": Text(
        "masks of lanes, and every lane of a mask has to arrive", "用到 lane 的掩码，掩码里的 lane 必须都到达"
    ),
    "aggregated-debugging": Text(
        "a lane that leaves the loop early hangs its warp", "一个 lane 提前退出循环，整个 warp 就会卡住"
    ),
    "vectorized-idea": Text(
        "16-byte loads, two at once; division by multiplying; no branch",
        "16 字节加载，每次两个；用乘法代替除法；没有分支",
    ),
    "vectorized-readability": Text(
        "why a product gives the exact quotient takes a second reading",
        "为什么乘法能得到精确的商，要读两遍才明白",
    ),
    "vectorized-debugging": Text(
        "heads, tails and full rounds are cases of their own", "开头、尾部和完整的轮次要分别处理"
    ),
    "per_lane-idea": Text(
        "a column of counts, and so a bank, for each lane: no lanes meet, whatever is added",
        "每个 lane 一列计数，也就是一个 bank：无论加什么，lane 之间都不冲突",
    ),
    "per_lane-readability": Text("as vectorized, and a layout", "与 vectorized 相同，另有一种数据布局"),
    "per_lane-debugging": Text("as vectorized", "与 vectorized 相同"),
    "triton-idea": Text(
        "`tl.histogram` of one block after the other; programs add up with atomics",
        "逐块调用 `tl.histogram`；各程序用原子加汇总",
    ),
    "triton-readability": Text("find the bins, count them", "先求区间，再计数"),
    "triton-debugging": HIDDEN_THREADS,
}
