"""What the ladder softmax says: its title and maths, each rung's idea, and the reasons of its scores."""

from __future__ import annotations

from flashpath.kernels.messages import ANY_DEBUGGER, HIDDEN_THREADS, ONE_CALL
from flashpath.messages import Text

MESSAGES: dict[str, Text] = {
    "title": Text("Softmax", "Softmax（归一化指数）"),
    "maths": Text(
        "out[r, i] = e^(x[r, i] - m) / Σ_j e^(x[r, j] - m), m = max x[r, :]; backward: dx[r, i] = y[r, i] "
        "(dy[r, i] - Σ_j y[r, j] dy[r, j])",
        "out[r, i] = e^(x[r, i] - m) / Σ_j e^(x[r, j] - m)，m = max x[r, :]；反向：dx[r, i] = y[r, i] (dy[r, i] "
        "- Σ_j y[r, j] dy[r, j])",
    ),
    "reference-idea": Text(
        "PyTorch's own softmax and its gradient, whose rules for NaN and infinity the others follow",
        "PyTorch 自己的 softmax 及其梯度；NaN 和无穷的规则以它们为准",
    ),
    "reference-readability": ONE_CALL,
    "reference-debugging": ANY_DEBUGGER,
    "three_pass-idea": Text(
        "the definition: a pass for the maximum, one for the sum, one to write",
        "照定义：一遍求最大值，一遍求和，一遍写结果",
    ),
    "three_pass-readability": Text("three loops, as the formula has them", "三个循环，与公式一致"),
    "three_pass-debugging": Text("m and l can be printed between the passes", "两遍之间可以打印 m 和 l"),
    "online-idea": Text(
        "maximum and sum in one pass: a larger element scales down what was summed",
        "一遍求出最大值与和：出现更大的元素时缩小已有的和",
    ),
    "online-readability": Text("the recurrence has to be believed once", "递推式要先弄懂一次"),
    "online-debugging": Text(
        "-inf is the case to think of; the rest is three_pass", "要留意 -inf；其余与 three_pass 相同"
    ),
    "shared-idea": Text(
        "the row waits in shared memory: one read from global memory", "整行放在共享内存里：全局内存只读一次"
    ),
    "shared-readability": Text(
        "three loops again, the last two over shared memory", "还是三个循环，后两个读共享内存"
    ),
    "shared-debugging": Text("each thread touches only its own elements", "每个线程只接触自己的元素"),
    "warp_per_row-idea": Text(
        "a warp per row, its elements in registers, reduced by shuffles: no barrier",
        "每行一个 warp，元素在寄存器里，用 shuffle 归约：不需要屏障",
    ),
    "warp_per_row-readability": Text(
        "register arrays need lengths that the compiler knows", "寄存器数组的长度必须在编译时已知"
    ),
    "warp_per_row-debugging": Text("one warp can be followed alone", "可以只跟踪一个 warp"),
    "resident-idea": Text(
        "the whole row on one SM: 16-byte packs in registers, then in shared memory",
        "整行放在一个 SM 上：16 字节一组，先放寄存器，再放共享内存",
    ),
    "resident-readability": Text(
        "packs, lanes, parked packs: the softmax is the smaller part",
        "分组、lane、暂存的组：softmax 本身只占小部分",
    ),
    "resident-debugging": Text(
        "many instances; alignment and ends of rows are cases of their own",
        "模板实例很多；对齐和行尾要单独处理",
    ),
    "split_rows-idea": Text(
        "long rows cut into parts: one launch for the parts' (m, l), one to write",
        "长行切成几段：一次启动求各段的 (m, l)，一次写结果",
    ),
    "split_rows-readability": Text(
        "two kernels, and parts that are cut where packs begin", "两个核函数，还要在 16 字节组的边界处切段"
    ),
    "split_rows-debugging": Text(
        "the parts' states lie in memory between the launches", "两次启动之间，各段的状态在内存里，可以查看"
    ),
    "meeting-idea": Text(
        "the blocks of a row wait for each other, their parts in registers: one launch, one read",
        "同一行的线程块互相等待，各段留在寄存器里：启动一次，读一次",
    ),
    "meeting-readability": Text(
        "it takes a paragraph to show that it ends", "为什么一定会结束，要一段话才能说清"
    ),
    "meeting-debugging": Text(
        "a mistake hangs or shows once in a million runs; fp.sanitize sees it",
        "写错了会卡住，或者运行一百万次才错一次；fp.sanitize 能查出来",
    ),
    "backward_simple-idea": Text(
        "the gradient from y and dy alone: a pass for the sum, one to write",
        "只用 y 和 dy 求梯度：一遍求和，一遍写结果",
    ),
    "backward_simple-readability": Text("two loops", "两个循环"),
    "backward_simple-debugging": Text("one sum to look at", "只有一个和要看"),
    "backward_resident-idea": Text(
        "y and dy in registers, in 16-byte packs: each is read once",
        "y 和 dy 以 16 字节为单位放在寄存器里：各读一次",
    ),
    "backward_resident-readability": Text(
        "as resident; what does not fit is read twice", "与 resident 相同，放不下的部分读两遍"
    ),
    "backward_resident-debugging": Text(
        "many instances; alignment and ends of rows are cases of their own",
        "模板实例很多；对齐和行尾要单独处理",
    ),
    "triton-idea": Text(
        "a tile of rows per program; the compiler makes the shuffles, barriers and wide accesses",
        "每个程序处理几行；shuffle、屏障和宽访问由编译器生成",
    ),
    "triton-readability": Text(
        "the definition in array code; the ends of rows need only a mask",
        "用数组代码写定义；行尾只需要一个掩码",
    ),
    "triton-debugging": HIDDEN_THREADS,
    # ---- Why a rung or a peer does not take a case
    "longer": Text("takes rows of up to {limit:,} elements", "每行最多 {limit:,} 个元素"),
}
