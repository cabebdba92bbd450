"""What the ladder quantize says: its title and maths, each rung's idea, and the reasons of its scores."""

from __future__ import annotations

from flashpath.kernels.messages import ANY_DEBUGGER, HIDDEN_THREADS, LANE_BY_LANE
from flashpath.messages import Text

MESSAGES: dict[str, Text] = {
    "title": Text("Quantisation: bits, int8 and fp8", "量化：比特、int8 和 fp8"),
    "maths": Text(
        "packbits: bit k of out[i] = x[8 i + k] != 0; rows: codes[r, c] = x[r, c] / scale[r], rounded",
        "packbits：out[i] 的第 k 位 = x[8 i + k] != 0；按行：codes[r, c] = x[r, c] / scale[r]，再舍入",
    ),
    "reference-idea": Text(
        "NumPy's packbits, PyTorch's division and casts: the bits that the others have to meet",
        "NumPy 的 packbits、PyTorch 的除法和类型转换：其余梯级要逐位相同",
    ),
    "reference-readability": Text("a line for each step", "每一步一行"),
    "reference-debugging": ANY_DEBUGGER,
    "simple-idea": Text(
        "a thread per byte, a block per row; each row is read twice",
        "每字节一个线程，每行一个线程块；每行读两遍",
    ),
    "simple-readability": Text("each operation as it is defined", "每种运算都照定义写"),
    "simple-debugging": Text(
        "one thread is one byte: printf and cuda-gdb show it directly",
        "一个线程对应一个字节：用 printf 和 cuda-gdb 直接就能看到",
    ),
    "ballot-idea": Text(
        "a warp's vote is 32 bits at once; lane k keeps the k-th vote",
        "一次 warp 投票得到 32 位；lane k 保留第 k 次投票",
    ),
    "ballot-readability": Text(
        "short, once votes and bit orders are understood", "弄懂投票和位序之后，代码很短"
    ),
    "ballot-debugging": Text("every vote can be printed", "每次投票都能打印"),
    "vectorized-idea": Text(
        "16-byte accesses; rows stay in registers; one reciprocal and exact remainders divide a row",
        "16 字节访问；整行留在寄存器里；用一个倒数和精确余数完成一行的除法",
    ),
    "vectorized-readability": Text(
        "packs, pieces of rows, and arithmetic that needs its proof", "分组、行的分段，还有需要证明的算术"
    ),
    "vectorized-debugging": LANE_BY_LANE,
    "triton-idea": Text(
        "tiles of bytes and rows; the compiler keeps a row in registers by itself",
        "按字节和行分块；编译器自己把整行留在寄存器里",
    ),
    "triton-readability": Text(
        "array code in Python; fp8's rounding is integer arithmetic",
        "用 Python 写的数组代码；fp8 的舍入用整数运算完成",
    ),
    "triton-debugging": HIDDEN_THREADS,
    # ---- Why a rung or a peer does not take a case
    "packs-only": Text("packs bits, and does not quantise rows", "只打包比特，不量化行"),
    "codes-of-no-numbers": Text("a row that is not finite has codes", "有无穷大或 NaN 的行也有编码"),
    "not-the-nearest": Text("a code is not the nearest", "有的编码不是最接近的"),
}
