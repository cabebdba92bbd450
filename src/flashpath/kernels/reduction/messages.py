"""What the ladder reduction says: its title and maths, each rung's idea, and the reasons of its scores."""

from __future__ import annotations

from flashpath.kernels.messages import ANY_DEBUGGER, HIDDEN_THREADS, LANE_BY_LANE, ONE_CALL, ROW_ALONE
from flashpath.messages import Text

MESSAGES: dict[str, Text] = {
    "title": Text("Reduction", "归约"),
    "maths": Text(
        "out = x[0] ⊕ x[1] ⊕ … ⊕ x[n - 1]: sum, max, min, mean, argmax; of the whole tensor or of each row",
        "out = x[0] ⊕ x[1] ⊕ … ⊕ x[n - 1]：sum、max、min、mean、argmax；对整个张量或每一行",
    ),
    "reference-idea": Text(
        "PyTorch's own reductions, whose rules for NaN, ties and types the others follow",
        "PyTorch 自己的归约；NaN、相等元素和类型的规则以它为准",
    ),
    "reference-readability": ONE_CALL,
    "reference-debugging": ANY_DEBUGGER,
    "divergent-idea": Text(
        "a tree in shared memory, neighbours first; most lanes of every warp idle",
        "共享内存里的归约树，先合并相邻元素；每个 warp 的大多数 lane 空闲",
    ),
    "divergent-readability": Text("the tree as it is drawn", "与画出来的归约树一样"),
    "divergent-debugging": Text(
        "every step is in shared memory; barriers must be met by all",
        "每一步都在共享内存里；所有线程都必须到达屏障",
    ),
    "bank_conflicted-idea": Text(
        "working threads side by side, so whole warps rest; their data meet in the same banks",
        "工作的线程相邻，于是整个 warp 可以空闲；但数据落在同一批 bank 里",
    ),
    "bank_conflicted-readability": Text(
        "a thread and its data no longer have the same index", "线程号与数据下标不再一致"
    ),
    "bank_conflicted-debugging": Text(
        "as divergent; the conflicts only a profile shows", "与 divergent 相同；冲突只有性能分析才能看到"
    ),
    "sequential-idea": Text(
        "the upper half folds onto the lower: threads and data both side by side",
        "上半折叠到下半：线程和数据都相邻",
    ),
    "sequential-readability": Text("the shortest loop of the ladder", "整个阶梯里最短的循环"),
    "sequential-debugging": Text("every step is in shared memory", "每一步都在共享内存里"),
    "first_add_on_load-idea": Text(
        "two elements per thread: the widest step of the tree happens in registers",
        "每个线程两个元素：归约树最宽的一步在寄存器里完成",
    ),
    "first_add_on_load-readability": Text("a second bound to think of", "要多考虑一个边界"),
    "first_add_on_load-debugging": Text("as sequential", "与 sequential 相同"),
    "warp_shuffle-idea": Text(
        "lanes hand their states over in registers: one barrier instead of nine",
        "lane 之间通过寄存器传递状态：一个屏障代替九个",
    ),
    "warp_shuffle-readability": Text(
        "shuffles have to be known; then it is short", "要先懂 shuffle；懂了就很短"
    ),
    "warp_shuffle-debugging": LANE_BY_LANE,
    "vectorized-idea": Text(
        "16-byte loads, four at once, thousands of elements per block: as fast as memory is read",
        "16 字节加载，每次四个，每个线程块数千个元素：达到内存的读取速度",
    ),
    "vectorized-readability": Text(
        "what lies before and after the packs is handled separately", "16 字节组之前和之后的元素要单独处理"
    ),
    "vectorized-debugging": Text(
        "alignment, full rounds, the last round and the rest each take a branch of their own",
        "对齐、完整的轮次、最后一轮和余下的元素各走各的分支",
    ),
    "single_pass-idea": Text(
        "one launch: the last block to arrive reduces all blocks' results, always in the same order",
        "一次启动：最后到达的线程块归约所有线程块的结果，顺序始终相同",
    ),
    "single_pass-readability": Text(
        "its correctness rests on two fences and a counter", "正确性依赖两个内存栅栏和一个计数器"
    ),
    "single_pass-debugging": Text(
        "a missing fence shows once in a million runs; fp.sanitize sees it",
        "漏掉一个内存栅栏，运行一百万次才错一次；fp.sanitize 能查出来",
    ),
    "by_row-idea": Text(
        "8 threads, a warp or a block for each row, as its length asks for",
        "按行的长度，每行用 8 个线程、一个 warp 或一个线程块",
    ),
    "by_row-readability": Text("no launch after another, no partial results", "只启动一次，没有部分结果"),
    "by_row-debugging": ROW_ALONE,
    "triton-idea": Text(
        "⊕ written once for two scalars; the compiler makes the tree, for tensors and for rows",
        "只为两个标量写一次 ⊕；张量和行的归约树都由编译器生成",
    ),
    "triton-readability": Text(
        "array code in Python; four operations in one kernel cost branches",
        "用 Python 写的数组代码；四种运算放在一个核函数里，分支较多",
    ),
    "triton-debugging": HIDDEN_THREADS,
    "cub_block-idea": Text(
        "CUB's block-wide load and reduction with a functor of our own",
        "CUB 的线程块级加载和归约，配上自己的函数对象",
    ),
    "cub_block-readability": Text(
        "the code says what happens; the library decides how", "写明做什么，怎么做由库决定"
    ),
    "cub_block-debugging": Text(
        "errors of types are pages long; its shared memory is opaque",
        "类型错误的信息长达几页；看不到它的共享内存",
    ),
    # ---- Why a rung or a peer does not take a case
    "wholes-only": Text("reduces whole tensors, not rows", "只归约整个张量，不按行归约"),
    "rows-only": Text("reduces rows, not whole tensors", "只按行归约，不归约整个张量"),
}
