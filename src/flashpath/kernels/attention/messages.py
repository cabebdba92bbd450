"""What the ladder attention says: its title and maths, each rung's idea, and the reasons of its scores."""

from __future__ import annotations

from flashpath.kernels.messages import ANY_DEBUGGER, HIDDEN_THREADS, PRINTS_WORK
from flashpath.messages import Text

MESSAGES: dict[str, Text] = {
    "title": Text("Attention", "注意力"),
    "maths": Text(
        "s = scale q kᵀ, p = softmax(s), out = p v for every head; backward: dv = pᵀ dout, ds = p (dout vᵀ "
        "- Σ dout · out), dq = scale ds k, dk = scale dsᵀ q",
        "对每个头：s = scale q kᵀ，p = softmax(s)，out = p v；反向：dv = pᵀ dout，ds = p (dout vᵀ - Σ dout · out)，dq = "
        "scale ds k，dk = scale dsᵀ q",
    ),
    "reference-idea": Text("the formula in float64, rounded once", "按公式用 float64 计算，只舍入一次"),
    "reference-readability": Text("a line for each line of the formula", "公式一行，代码一行"),
    "reference-debugging": ANY_DEBUGGER,
    "naive-idea": Text(
        "the formula in PyTorch, in the type of its inputs: all scores are written, and read again",
        "用 PyTorch 按公式计算，类型与输入相同：所有分数都写入内存，再读回来",
    ),
    "naive-readability": Text("matmul, softmax, matmul", "矩阵乘、softmax、矩阵乘"),
    "naive-debugging": Text("every intermediate is a tensor", "每个中间结果都是张量"),
    "naive_backward-idea": Text(
        "gradients of that by torch: all weights, which nobody kept, are made again",
        "由 torch 求它的梯度：没有保留的权重要全部重算",
    ),
    "naive_backward-readability": Text("the formula, and torch.autograd", "公式加上 torch.autograd"),
    "naive_backward-debugging": Text("every intermediate is a tensor", "每个中间结果都是张量"),
    "tiled-idea": Text(
        "FlashAttention 2 in PyTorch: the algorithm of the kernels, tile by tile",
        "用 PyTorch 写的 FlashAttention 2：与核函数相同的算法，逐分块进行",
    ),
    "tiled-readability": Text("the paper's algorithm, line by line", "逐行对应论文里的算法"),
    "tiled-debugging": Text("every tile can be printed", "每个分块都可以打印"),
    "unfused-idea": Text(
        "the three steps as kernels: scores with their mask, softmax of rows, weights times values",
        "三步各一个核函数：带掩码的分数、逐行 softmax、权重乘以值",
    ),
    "unfused-readability": Text("three short kernels", "三个很短的核函数"),
    "unfused-debugging": Text(
        "scores and weights lie in memory between the launches",
        "两次启动之间，分数和权重都在内存里，可以查看",
    ),
    "fused-idea": Text(
        "one kernel, no scores in memory: computed for maximum and sum, and again to use",
        "一个核函数，分数不写内存：先为最大值与和算一遍，使用时再算一遍",
    ),
    "fused-readability": Text("two loops, as softmax is defined", "两个循环，与 softmax 的定义一致"),
    "fused-debugging": PRINTS_WORK,
    "online_softmax-idea": Text(
        "the update rule alone: keys one by one, m, l and o corrected as a larger score comes",
        "只看更新规则：逐个处理键，出现更大的分数时修正 m、l 和 o",
    ),
    "online_softmax-readability": Text("one loop, five lines of maths", "一个循环，五行公式"),
    "online_softmax-debugging": Text(
        "a warp for each query: m, l and o can be printed at every key",
        "每个查询一个 warp：处理每个键时都能打印 m、l 和 o",
    ),
    "flash_v1_cuda-idea": Text(
        "FlashAttention 1: keys outside, queries inside; o, m and l wait in memory between steps",
        "FlashAttention 1：外层循环是键，内层是查询；o、m、l 在各步之间存放在内存里",
    ),
    "flash_v1_cuda-readability": Text(
        "the paper's algorithm with its two loops", "论文里的算法，两层循环都在"
    ),
    "flash_v1_cuda-debugging": Text(
        "one block for each head can be followed alone", "每个头一个线程块，可以单独跟踪"
    ),
    "flash_v1_triton-idea": Text(
        "the same in Triton, on tensor cores", "同样的算法，用 Triton 写，使用 tensor core"
    ),
    "flash_v1_triton-readability": Text("two loops of array code", "两层循环的数组代码"),
    "flash_v1_triton-debugging": HIDDEN_THREADS,
    "flash_v2_triton-idea": Text(
        "FlashAttention 2: queries outside; o, m and l stay in registers; masks only where needed",
        "FlashAttention 2：外层循环是查询；o、m、l 一直留在寄存器里；只在需要处加掩码",
    ),
    "flash_v2_triton-readability": Text(
        "one loop; features that are not used are not compiled in", "一个循环；没有用到的功能不会编译进来"
    ),
    "flash_v2_triton-debugging": HIDDEN_THREADS,
    "flash_v2_cuda-idea": Text(
        "the same in CUDA C++: mma.sync, ldmatrix, cp.async; weights stay in registers",
        "同样的算法，用 CUDA C++ 写：mma.sync、ldmatrix、cp.async；权重留在寄存器里",
    ),
    "flash_v2_cuda-readability": Text(
        "the fragments of mma.sync have to be known by heart", "必须熟记 mma.sync 的片段布局"
    ),
    "flash_v2_cuda-debugging": Text(
        "every part has a test of its own; registers can only be printed",
        "每一部分都有单独的测试；寄存器里的值只能打印",
    ),
    "flash_v2_triton_backward_adds-idea": Text(
        "gradients with the scores computed again; dk and dv in registers, dq added up in memory",
        "重算分数来求梯度；dk、dv 在寄存器里，dq 在内存里累加",
    ),
    "flash_v2_triton_backward_adds-readability": Text(
        "five products, and which of them is transposed", "五次乘积，还要分清哪一个要转置"
    ),
    "flash_v2_triton_backward_adds-debugging": Text(
        "each gradient can be compared with tiled.py's", "每个梯度都能与 tiled.py 的结果对比"
    ),
    "flash_v2_cuda_backward-idea": Text(
        "the same in CUDA C++: of two warps that share their keys, one has dv, the other dk",
        "同样的算法，用 CUDA C++ 写：共用键的两个 warp，一个算 dv，另一个算 dk",
    ),
    "flash_v2_cuda_backward-readability": Text(
        "five products of fragments, two of them transposed", "五次片段乘积，其中两次要转置"
    ),
    "flash_v2_cuda_backward-debugging": Text(
        "each gradient can be compared with tiled.py's", "每个梯度都能与 tiled.py 的结果对比"
    ),
    "flash_v2_triton_backward-idea": Text(
        "a kernel of its own for dq: two products more, no sums in memory, the same bits always",
        "dq 单独一个核函数：多两次乘积，不在内存里累加，每次结果逐位相同",
    ),
    "flash_v2_triton_backward-readability": Text(
        "the forward loop again, with other products", "还是前向的循环，换成别的乘积"
    ),
    "flash_v2_triton_backward-debugging": Text("the same bits every time", "每次结果逐位相同"),
    # ---- Why a rung or a peer does not take a case
    "slow": Text("is slow: timed up to {limit:,} FLOPs", "很慢：只测到 {limit:,} 次浮点运算"),
    "tiles-in-python": Text(
        "is an explanation, which loops over tiles in Python", "只用于讲解：在 Python 里逐分块循环"
    ),
    "flex-lengths": Text(
        "is compiled anew for each shape, which takes seconds: timed for sequences of {lengths} tokens",
        "每种形状都要重新编译，需要数秒：只测长度为 {lengths} 的序列",
    ),
}
