"""What the ladder sort says: its title and maths, each rung's idea, and the reasons of its scores."""

from __future__ import annotations

from flashpath.kernels.messages import ANY_DEBUGGER, HIDDEN_THREADS, ONE_CALL
from flashpath.messages import Text

MESSAGES: dict[str, Text] = {
    "title": Text("Sort", "排序"),
    "maths": Text(
        "out = x in rising order; equal keys stay in the order they came in; NaN comes last",
        "out = x 的升序排列；相等的键保持原来的次序；NaN 排在最后",
    ),
    "reference-idea": Text(
        "PyTorch's stable sort, whose rules for NaN, -0 and equal keys the others follow",
        "PyTorch 的稳定排序；NaN、-0 和相等键的规则以它为准",
    ),
    "reference-readability": ONE_CALL,
    "reference-debugging": ANY_DEBUGGER,
    "bitonic-idea": Text(
        "comparisons fixed beforehand, a network: in shared memory within a tile, in global beyond",
        "比较次序预先固定的排序网络：分块内在共享内存，跨分块在全局内存",
    ),
    "bitonic-readability": Text(
        "three short loops; why they sort takes a drawing", "三个短循环；为什么能排好序，要画图才明白"
    ),
    "bitonic-debugging": Text(
        "every step leaves sorted runs that can be looked at", "每一步都留下有序的段，可以查看"
    ),
    "radix-idea": Text(
        "no comparison: count the keys of each digit, scan the counts, scatter; 4 bits at a time",
        "不做比较：统计每个数位的键数，扫描计数，再分散写出；每次 4 位",
    ),
    "radix-readability": Text(
        "counting sort as in a textbook, each thread with counters of its own",
        "教科书上的计数排序，每个线程有自己的计数器",
    ),
    "radix-debugging": Text(
        "three kernels, and tables between them that can be printed", "三个核函数，它们之间的表可以打印"
    ),
    "radix_tiled-idea": Text(
        "8 bits at a time; a tile is put in order in shared memory first, so that stores coalesce",
        "每次 8 位；先在共享内存里把分块排好，使写出能合并",
    ),
    "radix_tiled-readability": Text("ranks by votes have to be understood first", "要先懂得怎样用投票求名次"),
    "radix_tiled-debugging": Text(
        "a wrong rank shows as a key lost far away", "名次算错时，表现为很远的地方丢了一个键"
    ),
    "onesweep-idea": Text(
        "one read and one write per digit: all digits are counted at once, and tiles look back at each "
        "other's counts",
        "每个数位只读写各一遍：所有数位一次统计完，分块之间回看彼此的计数",
    ),
    "onesweep-readability": Text("blocks communicate while they run", "线程块在运行中互相通信"),
    "onesweep-debugging": Text(
        "a mistake in the look-back hangs or loses keys; fp.sanitize sees it",
        "回看写错了会卡住或丢失键；fp.sanitize 能查出来",
    ),
    "triton-idea": Text(
        "radix in array code: ranks are sums down the columns of a table of keys and digits",
        "用数组代码写的基数排序：名次是“键 × 数位”表各列的前缀和",
    ),
    "triton-readability": Text("a table and its sums; no thread in sight", "一张表和它的前缀和；看不到线程"),
    "triton-debugging": HIDDEN_THREADS,
}
