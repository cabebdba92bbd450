"""What the ladder attention_decode says: its title and maths, each rung's idea, and the reasons of its scores."""

from __future__ import annotations

from flashpath.kernels.messages import ANY_DEBUGGER
from flashpath.messages import Text

MESSAGES: dict[str, Text] = {
    "title": Text("Attention, decoding", "注意力：解码"),
    "maths": Text(
        "out = softmax(scale q kᵀ) v for one query of each sequence, over a cache of keys and values",
        "out = softmax(scale q kᵀ) v，每条序列一个查询，键和值来自缓存",
    ),
    "reference-idea": Text(
        "the formula in float64, sequence by sequence, rounded once",
        "按公式用 float64 逐条序列计算，只舍入一次",
    ),
    "reference-readability": Text(
        "gathers the keys, then computes ordinary attention", "先从所在的位置取出键，之后就是普通的注意力"
    ),
    "reference-debugging": ANY_DEBUGGER,
    "split_triton-idea": Text(
        "keys are split until all SMs read; heads that share them read together; a kernel combines",
        "把键切成多段，让所有 SM 都参与读取；共用键的头一起读；再用一个核函数合并",
    ),
    "split_triton-readability": Text(
        "the loop of FlashAttention 2, and the lookup of where a key lies",
        "FlashAttention 2 的循环，再加上查找键的位置",
    ),
    "split_triton-debugging": Text(
        "the parts of the splits lie in memory between the launches",
        "两次启动之间，各段的结果在内存里，可以查看",
    ),
    "split_cuda-idea": Text(
        "a ring of copies for each warp, pages looked up ahead; the last block combines: one launch",
        "每个 warp 一个异步拷贝环，提前查页表；最后完成的线程块负责合并：只启动一次",
    ),
    "split_cuda-readability": Text(
        "the fragments of mma.sync, and who waits for which copy",
        "要懂 mma.sync 的片段，还要清楚谁在等哪次拷贝",
    ),
    "split_cuda-debugging": Text(
        "warps are independent until the end; registers can only be printed",
        "各 warp 直到最后才互相依赖；寄存器里的值只能打印",
    ),
    # ---- Why a rung or a peer does not take a case
    "slow": Text("is slow: timed up to {limit:,} keys", "很慢：只测到 {limit:,} 个键"),
    "no-pages": Text("has no pages", "不支持分页"),
    "pages-only": Text("takes pages only", "只支持分页"),
}
