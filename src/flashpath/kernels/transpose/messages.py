"""What the ladder transpose says: its title and maths, each rung's idea, and the reasons of its scores."""

from __future__ import annotations

from flashpath.kernels.messages import ANY_DEBUGGER, HIDDEN_THREADS, ONE_CALL
from flashpath.messages import Text

MESSAGES: dict[str, Text] = {
    "title": Text("Copy and transpose", "拷贝与转置"),
    "maths": Text(
        "out[c, r] = x[r, c]; a copy of the same bytes as the measure",
        "out[c, r] = x[r, c]；以拷贝同样多的字节为参照",
    ),
    "reference-idea": Text(
        "PyTorch's own strided copy, the truth that the others are checked against",
        "PyTorch 自己的跨步拷贝：其余梯级以它为准",
    ),
    "reference-readability": ONE_CALL,
    "reference-debugging": ANY_DEBUGGER,
    "copy-idea": Text(
        "no transpose at all: the same bytes in the same order, the speed that transposes aim at",
        "完全不转置：按原顺序拷贝同样多的字节，这是转置要追赶的速度",
    ),
    "copy-readability": Text("loads, then stores", "先加载，再存储"),
    "copy-debugging": Text("packs and a tail", "要处理 16 字节组和尾部"),
    "naive-idea": Text(
        "rows are read together and written apart: 32 sectors per store in place of 4",
        "按行一起读，却分散写：每次存储要访问 32 个扇区，而不是 4 个",
    ),
    "naive-readability": Text("the formula, with a bound", "公式加一个边界检查"),
    "naive-debugging": Text(
        "one thread is one column of a tile; nothing is shared", "一个线程对应分块的一列；没有共享的数据"
    ),
    "coalesced-idea": Text(
        "a tile in shared memory: both sides along rows; columns of the tile all in one bank",
        "分块放进共享内存：读写都沿行进行；但分块的一列都在同一个 bank",
    ),
    "coalesced-readability": Text("in, barrier, out", "写入、屏障、读出"),
    "coalesced-debugging": Text(
        "the tile can be printed; the conflicts only a profile shows",
        "分块可以打印；冲突只有性能分析才能看到",
    ),
    "padded-idea": Text(
        "rows of the tile one word longer: a column lies in 32 banks",
        "分块的每行多填充一个字：一列分布在 32 个 bank 里",
    ),
    "padded-readability": Text("one more word in a declaration", "声明里多一个字"),
    "padded-debugging": Text("as coalesced", "与 coalesced 相同"),
    "swizzled-idea": Text(
        "column c of row r at place c ^ r: no conflict and no padding",
        "第 r 行第 c 列存放在 c ^ r 处：没有冲突，也不用填充",
    ),
    "swizzled-readability": Text("XOR has to be understood once", "要先弄懂 XOR 的用法"),
    "swizzled-debugging": Text(
        "what lies where in the tile has to be worked out", "分块里的数据放在哪里，要推算才知道"
    ),
    "vectorized-idea": Text(
        "squares of 16-byte packs turned in registers; shared memory hands packs over, swizzled",
        "在寄存器里转置由 16 字节组构成的方块；各组经共享内存交错传递",
    ),
    "vectorized-readability": Text("three index spaces: squares, packs, tiles", "三套下标：方块、组、分块"),
    "vectorized-debugging": Text(
        "widths, edges and the order of tiles are cases of their own", "宽度、边缘和分块的次序要分别处理"
    ),
    "triton-idea": Text(
        "load a tile, `tl.trans`, store it; the compiler goes through shared memory by itself",
        "加载一个分块，`tl.trans`，再存回；编译器自己借道共享内存",
    ),
    "triton-readability": Text("one line says what is done", "一行就说明了做什么"),
    "triton-debugging": HIDDEN_THREADS,
    # ---- Why a rung or a peer does not take a case
    "transposes-only": Text("transposes, and does not copy", "只做转置，不做拷贝"),
    "copies-only": Text("copies, and does not transpose", "只做拷贝，不做转置"),
}
