"""What the ladder rms_norm says: its title and maths, each rung's idea, and the reasons of its scores."""

from __future__ import annotations

from flashpath.kernels.messages import ANY_DEBUGGER, FLOAT64_TRUTH, PRINTS_WORK
from flashpath.messages import Text

MESSAGES: dict[str, Text] = {
    "title": Text("RMS norm", "RMS 归一化（RMS norm）"),
    "maths": Text(
        "out = x / sqrt(Σ x² / n + eps) * weight of each row, of x + residual; its gradients",
        "每一行 out = x / sqrt(Σ x² / n + eps) * weight，也可对 x + residual；及其梯度",
    ),
    "reference-idea": FLOAT64_TRUTH,
    "reference-readability": Text("the formulas", "就是公式"),
    "reference-debugging": ANY_DEBUGGER,
    "two_pass-idea": Text(
        "a block per row: the mean square, then the row, each from memory",
        "每行一个线程块：先求均方，再写结果，每次都从内存读",
    ),
    "two_pass-readability": Text("two loops and a sum", "两个循环，一个和"),
    "two_pass-debugging": Text("the sum can be printed by itself", "这个和可以单独打印"),
    "vectorized-idea": Text(
        "the row stays in registers: one read in 16-byte packs, one write",
        "整行留在寄存器里：以 16 字节为单位读一次、写一次",
    ),
    "vectorized-readability": Text(
        "load, a sum, store; how a row is held is in a header", "加载、求和、存储；行如何存放写在头文件里"
    ),
    "vectorized-debugging": Text(
        "long rows and odd lengths take branches of their own", "长行和不规则的长度各走各的分支"
    ),
    "read_twice-idea": Text(
        "a long row is read twice, the second time from the L2 cache: registers hold nothing",
        "长行读两遍，第二遍来自 L2 缓存：寄存器里不保留数据",
    ),
    "read_twice-readability": Text(
        "layer norm's, with the mean left out; the hints to the caches are PTX",
        "layer norm 的代码去掉平均值；缓存提示用 PTX 写",
    ),
    "read_twice-debugging": Text(
        "every length takes the same path; the sum can be checked by itself",
        "任何长度都走同一条路径；和可以单独检查",
    ),
    "fused_residual-idea": Text(
        "x + residual is written and normalised in one pass: 4 n elements moved, not 5 n",
        "一遍写出 x + residual 并归一化：搬运 4 n 个元素而不是 5 n 个",
    ),
    "fused_residual-readability": Text("vectorized with three lines more", "比 vectorized 多三行"),
    "fused_residual-debugging": Text("as vectorized", "与 vectorized 相同"),
    "backward-idea": Text(
        "a kernel along rows for dx, one down the columns for dweight",
        "dx 用一个逐行的核函数，dweight 用一个逐列的核函数",
    ),
    "backward-readability": Text("layer norm's, with the mean left out", "layer norm 的代码去掉平均值"),
    "backward-debugging": Text("the gradients come from kernels of their own", "各个梯度由单独的核函数计算"),
    "backward_fused-idea": Text(
        "both gradients from one read: column sums stay in registers, rows are fetched ahead",
        "两个梯度只读一遍：列的和留在寄存器里，后面的行提前取",
    ),
    "backward_fused-readability": Text(
        "a pipeline, a sum along the row and one down the columns in one loop",
        "一个循环里既有流水线，又有行方向的和与列方向的和",
    ),
    "backward_fused-debugging": Text(
        "what is fetched when follows from counts alone; nothing names it",
        "何时取什么数据只能靠计数，代码里没有名字",
    ),
    "triton-idea": Text(
        "layer norm's kernel compiled without the mean", "layer norm 的核函数，编译时去掉平均值"
    ),
    "triton-readability": Text("the formulas on arrays", "直接对数组写公式"),
    "triton-debugging": Text(
        "prints and asserts work, and one program is one row", "可以打印和断言，而且一个程序就是一行"
    ),
    "triton_backward-idea": Text(
        "layer norm's backward kernels compiled without the mean", "layer norm 的反向核函数，编译时去掉平均值"
    ),
    "triton_backward-readability": Text(
        "one loop over rows; the second kernel is bookkeeping", "对各行循环一次；第二个核函数只做汇总"
    ),
    "triton_backward-debugging": PRINTS_WORK,
}
