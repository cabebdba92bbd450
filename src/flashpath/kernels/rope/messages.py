"""What the ladder rope says: its title and maths, each rung's idea, and the reasons of its scores."""

from __future__ import annotations

from flashpath.kernels.messages import ANY_DEBUGGER, ELEMENT_PER_THREAD, FLOAT64_TRUTH, HIDDEN_THREADS
from flashpath.messages import Text

MESSAGES: dict[str, Text] = {
    "title": Text("Rotary position embedding", "旋转位置编码"),
    "maths": Text(
        "(a, b) → (a cos θ - b sin θ, b cos θ + a sin θ) of every pair of every head; back for gradients",
        "每个头的每一对 (a, b) → (a cos θ - b sin θ, b cos θ + a sin θ)；梯度按相反的角度旋转",
    ),
    "with-positions": Text("takes no positions", "不支持给出位置"),
    "whole-heads": Text("turns whole heads only", "只能旋转整个头"),
    "halves-only": Text("pairs the halves of a head only", "只支持前后两半配对"),
    "reference-idea": FLOAT64_TRUTH,
    "reference-readability": Text(
        "the formula, and which row each token takes", "公式，以及每个 token取哪一行"
    ),
    "reference-debugging": ANY_DEBUGGER,
    "one_pair-idea": Text(
        "one thread per pair, one launch for q and one for k; every head reads its token's angles again",
        "每对元素一个线程，q 和 k 各启动一次；每个头都重新读取该 token的角度",
    ),
    "one_pair-readability": Text("four divisions, a row, a rotation", "四次除法、取一行角度、一次旋转"),
    "one_pair-debugging": ELEMENT_PER_THREAD,
    "by_token-idea": Text(
        "one block per token: its angles are read once into shared memory for all heads of q and k",
        "每个 token一个线程块：角度只读一次，放进共享内存，供 q 和 k 的所有头使用",
    ),
    "by_token-readability": Text(
        "two loops with a barrier between; the heads of k follow those of q",
        "两个循环，中间一个屏障；k 的头接在 q 的头之后",
    ),
    "by_token-debugging": Text("one token can be followed alone", "可以只跟踪一个 token"),
    "vectorized-idea": Text(
        "16 bytes per access; angles stay in registers while a thread turns several heads",
        "每次访问 16 字节；一个线程旋转几个头，角度一直留在寄存器里",
    ),
    "vectorized-readability": Text(
        "packs, groups of heads and units: the rotation is the smallest part",
        "分组访问、头的分组、单元：旋转本身只占很小一部分",
    ),
    "vectorized-debugging": Text(
        "narrow widths and what does not turn are cases of their own", "较窄的宽度和不旋转的部分要单独处理"
    ),
    "triton-idea": Text(
        "one program per token; interleaved pairs are split and joined in registers",
        "每个 token一个程序；交错的元素对在寄存器里拆开再合并",
    ),
    "triton-readability": Text("the formula on blocks of heads", "对成块的头写公式"),
    "triton-debugging": HIDDEN_THREADS,
}
