"""What the ladder vector_add says: its title and maths, each rung's idea, and the reasons of its scores."""

from __future__ import annotations

from flashpath.kernels.messages import ANY_DEBUGGER, ELEMENT_PER_THREAD, HIDDEN_THREADS, ONE_CALL
from flashpath.messages import Text

MESSAGES: dict[str, Text] = {
    "title": Text("Vector addition", "向量加法"),
    "maths": Text("c[i] = a[i] + b[i]", "c[i] = a[i] + b[i]"),
    "reference-idea": Text(
        "PyTorch's own addition, the truth that the others are checked against",
        "PyTorch 自己的加法：其余梯级以它为准",
    ),
    "reference-readability": ONE_CALL,
    "reference-debugging": ANY_DEBUGGER,
    "one_per_thread-idea": Text(
        "one thread per element; neighbours touch neighbours, so accesses coalesce",
        "每个元素一个线程；相邻线程访问相邻元素，访问得以合并",
    ),
    "one_per_thread-readability": Text("an index, a bound, an addition", "一个下标、一个边界检查、一次加法"),
    "one_per_thread-debugging": ELEMENT_PER_THREAD,
    "grid_stride-idea": Text(
        "a grid of fixed size, each thread walking through the array: any n, any grid",
        "网格大小固定，每个线程循环走过数组（网格跨步循环）：任意 n，任意网格",
    ),
    "grid_stride-readability": Text(
        "a for loop that any C programmer reads; works for any grid",
        "会 C 的人都看得懂的 for 循环；任何网格都适用",
    ),
    "grid_stride-debugging": Text(
        "runs with one block of one thread, then serially", "可以只用一个线程块、一个线程，此时就是串行执行"
    ),
    "vectorized-idea": Text(
        "16 bytes per access: the same bytes in flight with a quarter of the instructions",
        "每次访问 16 字节：同样多的在途字节，指令只要四分之一",
    ),
    "vectorized-readability": Text("needs alignment and a tail to be thought of", "要考虑对齐和尾部"),
    "vectorized-debugging": Text(
        "the tail and misaligned slices are cases of their own", "尾部和未对齐的切片要单独处理"
    ),
    "triton-idea": Text(
        "one program per block of elements; as fast as vectorized, in a third of the lines",
        "每块元素一个程序；与 vectorized 一样快，代码只有三分之一",
    ),
    "triton-readability": Text(
        "array code in Python; the mask is the only hint of the hardware",
        "用 Python 写的数组代码；只有掩码与硬件有关",
    ),
    "triton-debugging": HIDDEN_THREADS,
}
