"""What the ladder cross_entropy says: its title and maths, each rung's idea, and the reasons of its scores."""

from __future__ import annotations

from flashpath.kernels.messages import ANY_DEBUGGER, FLOAT64_TRUTH, HIDDEN_THREADS, PRINTS_WORK
from flashpath.messages import Text

MESSAGES: dict[str, Text] = {
    "title": Text("Cross entropy", "交叉熵（cross entropy）"),
    "maths": Text(
        "lse[r] = log Σ_i e^z[r, i]; loss[r] = (1 - s) (lse - z[r, t]) + s (lse - Σ_i z[r, i] / n) + z_loss "
        "lse², t = target[r], s the label smoothing, z = cap tanh(x / cap) or x; backward: dx[r, i] = g[r] "
        "((1 + 2 z_loss lse) e^(z - lse) - s / n - (1 - s) [i = t]) dz/dx",
        "lse[r] = log Σ_i e^z[r, i]；loss[r] = (1 - s) (lse - z[r, t]) + s (lse - Σ_i z[r, i] / n) + z_loss "
        "lse²，t = target[r]，s 是标签平滑，z = cap tanh(x / cap) 或 x；反向：dx[r, i] = g[r] "
        "((1 + 2 z_loss lse) e^(z - lse) - s / n - (1 - s) [i = t]) dz/dx",
    ),
    "reference-idea": FLOAT64_TRUTH,
    "reference-readability": Text("the formulas", "就是公式"),
    "reference-debugging": ANY_DEBUGGER,
    "two_pass-idea": Text(
        "a pass for the maximum, one for the sum; the log of the softmax is never written",
        "一遍求最大值，一遍求和；softmax 的对数从不写出",
    ),
    "two_pass-readability": Text("two loops, as the formula has them", "两个循环，与公式一致"),
    "two_pass-debugging": Text("m and l can be printed between the passes", "两遍之间可以打印 m 和 l"),
    "online-idea": Text(
        "maximum and sum in one pass, so the logits are read once",
        "一遍求出最大值与和，logits 只读一次",
    ),
    "online-readability": Text(
        "softmax's recurrence, which has to be believed once", "softmax 的递推式，要先弄懂一次"
    ),
    "online-debugging": Text(
        "-inf is the case to think of; the rest is two_pass", "要留意 -inf；其余与 two_pass 相同"
    ),
    "vectorized-idea": Text(
        "16-byte packs wherever a row starts: a vocabulary is seldom a multiple of one",
        "行从哪里开始都以 16 字节为一组读取：词表大小很少是它的整数倍",
    ),
    "vectorized-readability": Text(
        "packs that are cut short at the ends of a row are in a header", "行首行尾不完整的组写在头文件里"
    ),
    "vectorized-debugging": Text(
        "many instances; alignment and ends of rows are cases of their own",
        "模板实例很多；对齐和行尾要单独处理",
    ),
    "split_rows-idea": Text(
        "few rows cut into parts: one launch for the parts' statistics, one to combine them",
        "行数少时把一行切成几段：一次启动求各段的统计量，一次合并",
    ),
    "split_rows-readability": Text(
        "two kernels, and parts that are cut where packs begin", "两个核函数，还要在 16 字节组的边界处切段"
    ),
    "split_rows-debugging": Text(
        "the parts' statistics lie in memory between the launches",
        "两次启动之间，各段的统计量在内存里，可以查看",
    ),
    "backward_simple-idea": Text(
        "with the lse a probability is one exponential of one logit: no sum to wait for",
        "有了 lse，概率只是一个 logit 的一次指数：不用等任何求和",
    ),
    "backward_simple-readability": Text("the formula in one loop", "一个循环写出公式"),
    "backward_simple-debugging": Text("each element stands for itself", "每个元素互不相关"),
    "backward_vectorized-idea": Text(
        "16-byte packs, a block for each part of a row; ignored rows are written and never read",
        "以 16 字节为一组，每段一个线程块；被忽略的行只写不读",
    ),
    "backward_vectorized-readability": Text(
        "the formula is the smaller part beside the packs", "相比分组，公式只占小部分"
    ),
    "backward_vectorized-debugging": Text("each pack stands for itself", "每一组互不相关"),
    "loss_and_gradient-idea": Text(
        "the gradient is written, over the logits if wanted, while the row is still in the caches",
        "趁这一行还在缓存里就写出梯度，也可以直接覆盖 logits",
    ),
    "loss_and_gradient-readability": Text(
        "vectorized and backward_vectorized after each other", "vectorized 与 backward_vectorized 先后相接"
    ),
    "loss_and_gradient-debugging": Text(
        "written over the logits, what was read is gone", "覆盖 logits 之后，读入的数据就不在了"
    ),
    "triton-idea": Text(
        "a program walks through a row with {m, l} for each column of a block",
        "每个程序走完一行，块中每一列各有自己的 {m, l}",
    ),
    "triton-readability": Text("the definition in array code", "用数组代码写定义"),
    "triton-debugging": HIDDEN_THREADS,
    "triton_backward-idea": Text(
        "a program for each block of a row, as nothing in it waits for anything else",
        "一行的每一块由一个程序处理，块与块互不等待",
    ),
    "triton_backward-readability": Text("the formula on arrays", "直接对数组写公式"),
    "triton_backward-debugging": PRINTS_WORK,
    # ---- Why a rung or a peer does not take a case
    "takes-both": Text("computes the loss and its gradient at once", "只同时计算损失与梯度"),
}
