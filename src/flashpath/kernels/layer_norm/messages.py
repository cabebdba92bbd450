"""What the ladder layer_norm says: its title and maths, each rung's idea, and the reasons of its scores."""

from __future__ import annotations

from flashpath.kernels.messages import ANY_DEBUGGER, FLOAT64_TRUTH, PRINTS_WORK
from flashpath.messages import Text

MESSAGES: dict[str, Text] = {
    "title": Text("Layer norm", "层归一化（layer norm）"),
    "maths": Text(
        "out = (x - mean) / sqrt(var + eps) * weight + bias of each row, of x + residual; its gradients",
        "每一行 out = (x - mean) / sqrt(var + eps) * weight + bias，也可对 x + residual；及其梯度",
    ),
    "reference-idea": FLOAT64_TRUTH,
    "reference-readability": Text("the formulas", "就是公式"),
    "reference-debugging": ANY_DEBUGGER,
    "two_pass-idea": Text(
        "a block per row: the mean, then the variance, then the row, each from memory",
        "每行一个线程块：先求平均值，再求方差，再写结果，每次都从内存读",
    ),
    "two_pass-readability": Text("three loops, one for each formula", "三个循环，每个公式一个"),
    "two_pass-debugging": Text("each sum can be printed by itself", "每个和都能单独打印"),
    "welford-idea": Text(
        "mean and variance from one walk: triples (count, mean, M2) that threads merge",
        "一遍求出平均值和方差：各线程合并三元组 (count, mean, M2)",
    ),
    "welford-readability": Text("the merge has to be believed or derived", "合并公式要么相信，要么自己推导"),
    "welford-debugging": Text(
        "a triple of any part of a row can be checked by itself", "行中任何一段的三元组都能单独检查"
    ),
    "vectorized-idea": Text(
        "the row stays in registers: one read in 16-byte packs, one write",
        "整行留在寄存器里：以 16 字节为单位读一次、写一次",
    ),
    "vectorized-readability": Text(
        "load, two sums, store; how a row is held is in a header",
        "加载、求两个和、存储；行如何存放写在头文件里",
    ),
    "vectorized-debugging": Text(
        "long rows and odd lengths take branches of their own", "长行和不规则的长度各走各的分支"
    ),
    "read_twice-idea": Text(
        "a long row is read twice, the second time from the L2 cache: registers hold nothing",
        "长行读两遍，第二遍来自 L2 缓存：寄存器里不保留数据",
    ),
    "read_twice-readability": Text(
        "two loops, moments between them; the hints to the caches are PTX",
        "两个循环，中间求矩；缓存提示用 PTX 写",
    ),
    "read_twice-debugging": Text(
        "every length takes the same path; the moments can be checked by themselves",
        "任何长度都走同一条路径；矩可以单独检查",
    ),
    "fused_residual-idea": Text(
        "x + residual is written and normalised in one pass: 4 n elements moved, not 5 n",
        "一遍写出 x + residual 并归一化：搬运 4 n 个元素而不是 5 n 个",
    ),
    "fused_residual-readability": Text("vectorized with three lines more", "比 vectorized 多三行"),
    "fused_residual-debugging": Text("as vectorized", "与 vectorized 相同"),
    "backward-idea": Text(
        "a kernel along rows for dx, one down the columns for dweight and dbias",
        "dx 用一个逐行的核函数，dweight 和 dbias 用一个逐列的核函数",
    ),
    "backward-readability": Text("the formulas, one loop each", "每个公式一个循环"),
    "backward-debugging": Text("the gradients come from kernels of their own", "各个梯度由单独的核函数计算"),
    "backward_fused-idea": Text(
        "all gradients from one read: column sums stay in registers, rows are fetched ahead",
        "所有梯度只读一遍：列的和留在寄存器里，后面的行提前取",
    ),
    "backward_fused-readability": Text(
        "a pipeline, two sums along the row and two down the columns in one loop",
        "一个循环里既有流水线，又有两个行方向的和与两个列方向的和",
    ),
    "backward_fused-debugging": Text(
        "what is fetched when follows from counts alone; nothing names it",
        "何时取什么数据只能靠计数，代码里没有名字",
    ),
    "triton-idea": Text(
        "a program per row, the row one array; with or without a residual",
        "每行一个程序，整行是一个数组；可带残差，也可不带",
    ),
    "triton-readability": Text("the formulas on arrays", "直接对数组写公式"),
    "triton-debugging": Text(
        "prints and asserts work, and one program is one row", "可以打印和断言，而且一个程序就是一行"
    ),
    "triton_backward-idea": Text(
        "few programs for many rows, column sums on the way, a second kernel to add these up",
        "少量程序处理许多行，顺便求列的和，再用第二个核函数汇总",
    ),
    "triton_backward-readability": Text(
        "one loop over rows; the second kernel is bookkeeping", "对各行循环一次；第二个核函数只做汇总"
    ),
    "triton_backward-debugging": PRINTS_WORK,
    # ---- Why a rung or a peer does not take a case
    "no-residual": Text("has no residual", "不支持残差"),
}
