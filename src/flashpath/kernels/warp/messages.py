"""What the ladder warp says: its title and maths, each rung's idea, and the reasons of its scores."""

from __future__ import annotations

from flashpath.kernels.messages import ANY_DEBUGGER, HIDDEN_THREADS, LANE_BY_LANE
from flashpath.messages import Text

MESSAGES: dict[str, Text] = {
    "title": Text("Warp primitives", "warp 原语"),
    "maths": Text(
        "of each 32 elements: broadcast the first, sum, vote (any, all, ballot), match equals; and of all: "
        "keep those above a threshold (compact)",
        "每 32 个元素：广播第一个、求和、投票（any、all、ballot）、匹配相等的值；以及对全部元素：保留超过阈值的（compact）",
    ),
    "reference-idea": Text(
        "PyTorch on rows of 32, and its indexing by a mask: the truth for all others",
        "PyTorch 按 32 个一行计算，并用掩码索引：其余梯级以它为准",
    ),
    "reference-readability": Text("array code", "数组代码"),
    "reference-debugging": ANY_DEBUGGER,
    "shared_memory-idea": Text(
        "without the primitives: an array of the block, a barrier, and everyone reads everyone's",
        "不用原语：线程块的一个数组、一个屏障，然后每个线程读所有线程的值",
    ),
    "shared_memory-readability": Text(
        "loops as anyone would write them, and a barrier", "普通的循环，加一个屏障"
    ),
    "shared_memory-debugging": Text(
        "all that passes between threads is in an array", "线程之间传递的数据都在一个数组里"
    ),
    "broadcast-idea": Text(
        "a shuffle gives one lane's register to all", "一次 shuffle 把一个 lane 的寄存器给所有 lane"
    ),
    "broadcast-readability": Text("one instruction", "一条指令"),
    "broadcast-debugging": Text(
        "all lanes must come to it: the sanitizer tells who did not",
        "所有 lane 都必须到达：检查工具会指出谁没有到",
    ),
    "reduce_shuffle-idea": Text(
        "five shuffles fold 32 lanes into one sum", "五次 shuffle 把 32 个 lane 归约成一个和"
    ),
    "reduce_shuffle-readability": Text("a loop of one line", "只有一行的循环"),
    "reduce_shuffle-debugging": LANE_BY_LANE,
    "reduce_instruction-idea": Text(
        "whole numbers are added up by one instruction", "一条指令就能把整数加起来"
    ),
    "reduce_instruction-readability": Text("one instruction", "一条指令"),
    "reduce_instruction-debugging": Text("nothing can go wrong but the mask", "只有掩码可能写错"),
    "vote-idea": Text(
        "each lane gives a bit, all get the answer: any, all, or the 32 bits themselves",
        "每个 lane 给出一位，所有 lane 得到结果：any、all，或者这 32 位本身",
    ),
    "vote-readability": Text("one instruction", "一条指令"),
    "vote-debugging": Text(
        "lanes beyond the end have to vote too, and rightly", "越过末尾的 lane 也要投票，而且要投对"
    ),
    "match-idea": Text(
        "each lane learns which others have its value", "每个 lane 得知还有哪些 lane 的值与自己相同"
    ),
    "match-readability": Text(
        "a mask of who is there, and a mask of who is equal",
        "一个掩码表示有哪些 lane，一个掩码表示哪些值相等",
    ),
    "match-debugging": Text(
        "the mask has to name those who come, no more and no fewer", "掩码必须恰好列出到达的 lane，不多也不少"
    ),
    "compact_atomics-idea": Text(
        "one counter tells each thread that keeps an element the next free place",
        "一个计数器告诉每个要保留元素的线程下一个空位",
    ),
    "compact_atomics-readability": Text("one line", "一行"),
    "compact_atomics-debugging": Text("the order differs from run to run", "每次运行的次序都不同"),
    "compact_active-idea": Text(
        "the lanes that are left in a branch appoint one of them to ask for room for all",
        "分支里剩下的 lane 推选一个，替大家申请位置",
    ),
    "compact_active-readability": Text(
        "who is here, who is first, how many are below me", "有哪些 lane、谁是第一个、编号比自己小的有几个"
    ),
    "compact_active-debugging": Text(
        "the compiler and the hardware choose which lanes arrive together",
        "哪些 lane 一起到达由编译器和硬件决定",
    ),
    "compact_ballot-idea": Text(
        "a ballot counts what a warp keeps, one lane asks for room for all",
        "用 ballot 数出一个 warp 保留多少，由一个 lane 替大家申请位置",
    ),
    "compact_ballot-readability": Text("bits set, bits below mine", "数出置 1 的位，以及低于自己的位"),
    "compact_ballot-debugging": Text(
        "the order of the groups differs from run to run", "每次运行时各组的次序都不同"
    ),
    "compact_block-idea": Text(
        "one atomic for a tile of 4096 elements", "每 4096 个元素的分块只做一次原子操作"
    ),
    "compact_block-readability": Text(
        "short; the tile's own order is in tile.cuh", "很短；分块内的次序在 tile.cuh 里"
    ),
    "compact_block-debugging": Text(
        "the order of the tiles differs from run to run", "每次运行时各分块的次序都不同"
    ),
    "compact-idea": Text(
        "tiles look back at what those before them keep: the order stays, in one pass",
        "分块回看前面的分块保留了多少：保持次序，一遍完成",
    ),
    "compact-readability": Text("blocks communicate while they run", "线程块在运行中互相通信"),
    "compact-debugging": Text(
        "a mistake in the look-back hangs; but results are the same in every run",
        "回看写错了会卡住；但每次运行的结果都相同",
    ),
    "triton-idea": Text(
        "no lanes: rows of 32, of which the compiler makes shuffles",
        "没有 lane 的概念：32 个一行，由编译器变成 shuffle",
    ),
    "triton-readability": Text("array code in Python", "用 Python 写的数组代码"),
    "triton-debugging": HIDDEN_THREADS,
    # ---- Why a rung or a peer does not take a case
    "selects-only": Text("can only select by a mask", "只能按掩码选取"),
    "operations": Text("computes {operations} only", "只支持 {operations}"),
    "int32-sums": Text("sums int32 only", "只能对 int32 求和"),
    "wrong-count-kept": Text(
        "{count} elements are kept, not {expected}", "留下了 {count} 个元素，应为 {expected} 个"
    ),
}
