"""What the ladder elementwise says: its title and maths, each rung's idea, and the reasons of its scores."""

from __future__ import annotations

from flashpath.kernels.messages import ANY_DEBUGGER, ELEMENT_PER_THREAD, FLOAT64_TRUTH, HIDDEN_THREADS
from flashpath.messages import Text

MESSAGES: dict[str, Text] = {
    "title": Text("Elementwise operations", "逐元素运算"),
    "maths": Text(
        "out[i] = f(x[i], y[i]); gated: out[r, c] = act(x[r, c]) * x[r, d + c], or act(x[i]) * y[i]; and their "
        "gradients",
        "out[i] = f(x[i], y[i])；门控：out[r, c] = act(x[r, c]) * x[r, d + c]，或者 act(x[i]) * y[i]；以及它们的梯度",
    ),
    "one-result": Text("has no kernel that writes two gradients", "没有一次写出两个梯度的核函数"),
    "two-results": Text("computes the gradients of gates and of chains only", "只计算门控运算和运算链的梯度"),
    "two-tensors": Text("computes gates of two tensors only", "只计算两个张量的门控运算"),
    "reference-idea": FLOAT64_TRUTH,
    "reference-readability": Text("each operation as the textbook has it", "每种运算都照教科书写"),
    "reference-debugging": ANY_DEBUGGER,
    "scalar-idea": Text(
        "one thread per element; the operation is a functor, a template argument of one kernel",
        "每个元素一个线程；运算是函数对象，作为核函数的模板参数",
    ),
    "scalar-readability": Text("an index, a bound, a call", "一个下标、一个边界检查、一次调用"),
    "scalar-debugging": ELEMENT_PER_THREAD,
    "grid_stride-idea": Text(
        "a grid of fixed size, each thread walking; gated rows are found by carrying, not dividing",
        "网格大小固定，线程循环处理；门控的行号靠进位得到，不用除法",
    ),
    "grid_stride-readability": Text(
        "a for loop; the step in rows and columns takes a second look",
        "一个 for 循环；行列方向的步进要多看一眼",
    ),
    "grid_stride-debugging": Text(
        "runs with one block of one thread, then serially", "可以只用一个线程块、一个线程，此时就是串行执行"
    ),
    "vectorized-idea": Text(
        "16 bytes per access, up to four of them in flight per thread, for any alignment and tail",
        "每次访问 16 字节，每个线程最多四次同时在途，任何对齐和尾部都支持",
    ),
    "vectorized-readability": Text(
        "packs, tiles, a tail: the operation is the smallest part", "分组、分块、尾部：运算本身只占很小一部分"
    ),
    "vectorized-debugging": Text(
        "the tail and misaligned slices are cases of their own", "尾部和未对齐的切片要单独处理"
    ),
    "fused_chain-idea": Text(
        "scale, add and activation in one pass: 3 n elements moved in place of 7 n, rounded once",
        "缩放、加法、激活一遍完成：搬运 3 n 个元素而不是 7 n 个，只舍入一次",
    ),
    "fused_chain-readability": Text(
        "a fold over functors, on the loop of the rung before", "在前一个梯级的循环上，依次套用各个函数对象"
    ),
    "fused_chain-debugging": Text(
        "what lies between the steps exists in registers only", "步骤之间的结果只在寄存器里"
    ),
    "triton-idea": Text(
        "one program per block; the chain is fused, the widths are chosen by the compiler",
        "每块数据一个程序；整条链融合，访问宽度由编译器选择",
    ),
    "triton-readability": Text(
        "the formulas in Python; the mask is the only hint of the hardware",
        "用 Python 写公式；只有掩码与硬件有关",
    ),
    "triton-debugging": HIDDEN_THREADS,
    "backward-idea": Text(
        "both gradients of a gate or a chain in one launch; the forward values are computed again, not kept",
        "一次启动写出门控或运算链的两个梯度；前向的值重新计算，不保存",
    ),
    "backward-readability": Text("an index, a bound, two results", "一个下标、一个边界检查、两个结果"),
    "backward-debugging": ELEMENT_PER_THREAD,
    "backward_vectorized-idea": Text(
        "16 bytes per access, three loads in flight before the first product",
        "每次访问 16 字节，第一次相乘之前三次加载同时在途",
    ),
    "backward_vectorized-readability": Text(
        "packs and tails, as in the forward direction", "分组与尾部，与前向相同"
    ),
    "backward_vectorized-debugging": Text(
        "the tail and misaligned slices are cases of their own", "尾部和未对齐的切片要单独处理"
    ),
    "triton_backward-idea": Text(
        "one program per piece of a row, as in the forward direction", "每段行一个程序，与前向相同"
    ),
    "triton_backward-readability": Text("the formulas, and where rows begin", "公式，以及每行的起点"),
    "triton_backward-debugging": HIDDEN_THREADS,
}
