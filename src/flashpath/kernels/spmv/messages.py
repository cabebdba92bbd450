"""What the ladder spmv says: its title and maths, each rung's idea, and the reasons of its scores."""

from __future__ import annotations

from flashpath.kernels.messages import ANY_DEBUGGER, HIDDEN_THREADS, ROW_ALONE
from flashpath.messages import Text

MESSAGES: dict[str, Text] = {
    "title": Text("Sparse matrix times vector (CSR)", "稀疏矩阵乘向量（CSR）"),
    "maths": Text(
        "y[r] = Σ val[j] x[col[j]] for row_ptr[r] <= j < row_ptr[r + 1]",
        "y[r] = Σ val[j] x[col[j]]，其中 row_ptr[r] <= j < row_ptr[r + 1]",
    ),
    "reference-idea": Text(
        "every product in float64, added to its row: the truth that the others are checked against",
        "每个乘积用 float64 计算并加到所在的行：其余梯级以它为准",
    ),
    "reference-readability": Text(
        "gather, multiply, add by row: a line each", "收集、相乘、按行相加：各一行"
    ),
    "reference-debugging": ANY_DEBUGGER,
    "thread_per_row-idea": Text(
        "one thread per row: the formula as it stands; as slow as the longest row",
        "每行一个线程：照公式写；快慢取决于最长的行",
    ),
    "thread_per_row-readability": Text("the loop of a textbook", "教科书上的循环"),
    "thread_per_row-debugging": Text(
        "one thread is one row: printf and cuda-gdb show it directly",
        "一个线程对应一行：用 printf 和 cuda-gdb 直接就能看到",
    ),
    "warp_per_row-idea": Text(
        "1 to 32 lanes per row, by the mean length: neighbours read neighbouring entries, in packs",
        "按平均长度，每行 1 到 32 个 lane：相邻的 lane 成组读相邻的元素",
    ),
    "warp_per_row-readability": Text(
        "the same loop with lanes, and a tree of shuffles", "同样的循环分给多个 lane，再加一棵 shuffle 归约树"
    ),
    "warp_per_row-debugging": ROW_ALONE,
    "merge_based-idea": Text(
        "entries and row ends on one path, cut into equal pieces: no row is too long or too short",
        "元素和行尾排成一条路径，切成等长的段：行再长再短都没关系",
    ),
    "merge_based-readability": Text(
        "a search in two lists, a segmented scan, and rows cut at both ends",
        "在两个列表里查找、分段扫描，行的两端都可能被切断",
    ),
    "merge_based-debugging": Text(
        "a row's sum is spread over threads and tiles", "一行的和分散在多个线程和分块里"
    ),
    "triton-idea": Text(
        "a tile of rows × entries moves along until its longest row is done",
        "“行 × 元素”的分块一直向前移动，直到最长的行处理完",
    ),
    "triton-readability": Text(
        "array code in Python; masks take the place of bounds", "用 Python 写的数组代码；用掩码代替边界检查"
    ),
    "triton-debugging": HIDDEN_THREADS,
    "row-off": Text("row {row} is off by {error:.3g}", "第 {row} 行相差 {error:.3g}"),
}
