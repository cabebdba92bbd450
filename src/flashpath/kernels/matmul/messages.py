"""What the ladder matmul says: its title and maths, each rung's idea, and the reasons of its scores."""

from __future__ import annotations

from flashpath.kernels.messages import ANY_DEBUGGER, ELEMENT_PER_THREAD, FLOAT64_TRUTH, HIDDEN_THREADS
from flashpath.messages import Text

MESSAGES: dict[str, Text] = {
    "title": Text("Matrix multiplication", "矩阵乘法"),
    "maths": Text("out[i, j] = Σ_p a[i, p] b[p, j]", "out[i, j] = Σ_p a[i, p] b[p, j]"),
    "reference-idea": FLOAT64_TRUTH,
    "reference-readability": Text("one operator", "一个运算符"),
    "reference-debugging": ANY_DEBUGGER,
    "naive-idea": Text(
        "one thread per element, as the definition has it; neighbours read far apart",
        "照定义，每个元素一个线程；相邻线程读的地址相距很远",
    ),
    "naive-readability": Text("the definition and a bound", "定义加一个边界检查"),
    "naive-debugging": ELEMENT_PER_THREAD,
    "coalesced-idea": Text(
        "x and y change places: the lanes of a warp read neighbours",
        "交换 x 和 y：一个 warp 的各 lane 读相邻的地址",
    ),
    "coalesced-readability": Text("the definition and a bound", "定义加一个边界检查"),
    "coalesced-debugging": ELEMENT_PER_THREAD,
    "shared_tile-idea": Text(
        "a block copies tiles to shared memory, where each element is read 32 times",
        "线程块把分块拷到共享内存，每个元素在那里被读 32 次",
    ),
    "shared_tile-readability": Text(
        "two tiles, two barriers; the edges are padded with zeros", "两个分块、两个屏障；边缘用零填充"
    ),
    "shared_tile-debugging": Text(
        "a missing barrier is a race, which fp.sanitize sees", "漏写屏障就是数据竞争，fp.sanitize 能查出来"
    ),
    "register_1d-idea": Text(
        "8 results of a column per thread: what is loaded of b serves 8 times",
        "每个线程算一列的 8 个结果：b 的一次加载用 8 次",
    ),
    "register_1d-readability": Text(
        "what a thread copies and what it computes are now two different mappings",
        "线程拷贝的元素与计算的元素不再是同一种对应关系",
    ),
    "register_1d-debugging": Text("one column can be followed alone", "可以只跟踪一列"),
    "register_2d-idea": Text(
        "8 × 8 results per thread: an outer product makes 64 multiply-adds of 16 numbers",
        "每个线程 8 × 8 个结果：外积用 16 个数做 64 次乘加",
    ),
    "register_2d-readability": Text(
        "loops over registers, unrolled; the rest as before", "对寄存器的循环要展开；其余与前面相同"
    ),
    "register_2d-debugging": Text(
        "64 results per thread; an index that is no constant moves them to memory",
        "每个线程 64 个结果；下标不是常量时它们会被移到内存",
    ),
    "vectorized-idea": Text(
        "16 bytes per access; a is transposed on its way to shared memory, without bank conflicts",
        "每次访问 16 字节；a 在进入共享内存时转置，没有 bank 冲突",
    ),
    "vectorized-readability": Text(
        "alignment, a transposed tile, and padding against bank conflicts",
        "要考虑对齐、转置的分块，还有为避开 bank 冲突而加的填充",
    ),
    "vectorized-debugging": Text(
        "aligned and unaligned matrices take different branches", "对齐的矩阵和不对齐的矩阵走不同的分支"
    ),
    "double_buffered-idea": Text(
        "two copies of each tile: the next is fetched while this one is multiplied",
        "每个分块两份：乘这一块时取下一块",
    ),
    "double_buffered-readability": Text(
        "as vectorized, with a first step before the loop", "与 vectorized 相同，循环之前多一步"
    ),
    "double_buffered-debugging": Text(
        "a copy that is written too early is a race, which fp.sanitize sees",
        "过早写入另一份分块就是数据竞争，fp.sanitize 能查出来",
    ),
    "warp_tiled-idea": Text(
        "64 × 64 results per warp, 8 × 16 per thread; copies run past the registers, steps ahead",
        "每个 warp 64 × 64 个结果，每个线程 8 × 16 个；拷贝不经过寄存器，提前几步进行",
    ),
    "warp_tiled-readability": Text(
        "three nested tilings and a pipeline whose border lies inside a step",
        "三层嵌套的分块，流水线的分界还落在一步的中间",
    ),
    "warp_tiled-debugging": Text(
        "groups of copies are told apart by count alone; fp.sanitize finds a missing wait",
        "各组拷贝只靠计数区分；少等一次，fp.sanitize 能查出来",
    ),
    "one-product": Text("multiplies one pair of matrices at a time", "一次只计算一对矩阵的乘积"),
    "many-products": Text("is about many products at once", "针对一次计算很多对矩阵"),
    "one_by_one-idea": Text(
        "one launch for each pair, of the rung that is for one pair",
        "每对矩阵启动一次，用计算一对矩阵的梯级",
    ),
    "one_by_one-readability": Text("a loop on the host", "主机上的一个循环"),
    "one_by_one-debugging": Text("every product can be looked at alone", "每个乘积都可以单独查看"),
    "triton_batched-idea": Text(
        "tiles of all pairs in one launch; strides are arguments, so that nothing is copied",
        "所有矩阵对的分块在一次启动里完成；步长是参数，所以不用复制",
    ),
    "triton_batched-readability": Text(
        "as triton_pointers, with a division for the product",
        "与 triton_pointers 相同，多一次除法求出是哪一对",
    ),
    "triton_batched-debugging": HIDDEN_THREADS,
    "wmma-idea": Text(
        "a warp multiplies 16 × 16 × 16 at once, through the C++ interface of the tensor cores",
        "一个 warp 通过 tensor core 的 C++ 接口一次乘 16 × 16 × 16",
    ),
    "wmma-readability": Text(
        "load, multiply, store; what a lane holds need not be known",
        "加载、相乘、存储；不必知道每个 lane 持有哪些元素",
    ),
    "wmma-debugging": Text(
        "fragments cannot be looked into, only stored", "片段的内容不能直接查看，只能存出来"
    ),
    "mma_ldmatrix-idea": Text(
        "the instructions themselves: ldmatrix hands over what mma.sync wants, four matrices at a time",
        "直接用指令：ldmatrix 按 mma.sync 的要求一次取四个矩阵",
    ),
    "mma_ldmatrix-readability": Text(
        "one has to know which lane holds what", "必须知道哪个 lane 持有哪些元素"
    ),
    "mma_ldmatrix-debugging": Text(
        "a wrong lane gives a wrong number somewhere, and no error",
        "lane 弄错了，只会有某处的数不对，不会报错",
    ),
    "mma_pipelined-idea": Text(
        "cp.async fills a ring of swizzled tiles ahead of the tensor cores, which never wait for memory",
        "cp.async 提前填好一圈交错存放（swizzle）的分块，tensor core 从不等待内存",
    ),
    "mma_pipelined-readability": Text(
        "four ideas at once, none of them visible in the maths", "四个想法同时出现，在公式里都看不到"
    ),
    "mma_pipelined-debugging": Text(
        "a missing wait shows once in a while; fp.sanitize sees it",
        "漏掉一次等待，只是偶尔出错；fp.sanitize 能查出来",
    ),
    "unfused-idea": Text(
        "the product, then scale, bias, activation and mask, each a pass over memory of its own",
        "先算乘积，再缩放、加偏置、激活、加掩码，每一步都单独过一遍内存",
    ),
    "unfused-readability": Text("one step after the other", "一步接一步"),
    "unfused-debugging": Text("every step's result can be looked at", "每一步的结果都能查看"),
    "unfused-uncounted": Text(
        "torch's passes are not counted: each step after the product reads and writes it again",
        "torch 的各遍不计入：乘积之后的每一步都要再读写一遍",
    ),
    "fused-idea": Text(
        "the same steps in the product's own kernel, on sums that are still in registers",
        "同样的步骤放进乘积自己的核函数，在还留在寄存器里的和上进行",
    ),
    "fused-readability": Text(
        "a functor; another file decides where it is called", "一个函数对象；在哪里调用由另一个文件决定"
    ),
    "fused-debugging": Text("product and steps are seen together only", "乘积和后续步骤只能一起观察"),
    "triton_pointers-idea": Text(
        "a tile of the result per program; the compiler makes the stages, swizzles and fragments",
        "每个程序算结果的一个分块；流水级、交错存放和片段由编译器安排",
    ),
    "triton_pointers-readability": Text(
        "array code in Python; the addresses take the most lines", "用 Python 写的数组代码；算地址占了大半"
    ),
    "triton_pointers-debugging": HIDDEN_THREADS,
    "triton_block_pointers-idea": Text(
        "shape, strides and place of a block instead of an address for each element",
        "给出块的形状、步长和位置，而不是每个元素的地址",
    ),
    "triton_block_pointers-readability": Text("no address arithmetic is left", "不再需要计算地址"),
    "triton_block_pointers-debugging": Text("as triton_pointers", "与 triton_pointers 相同"),
    "triton_descriptors-idea": Text(
        "the host describes the matrices; on Hopper the TMA fetches whole tiles by it",
        "由主机描述矩阵；在 Hopper 上 TMA 据此取整个分块",
    ),
    "triton_descriptors-readability": Text(
        "load this tile, multiply, store that tile", "加载分块，相乘，存储分块"
    ),
    "triton_descriptors-debugging": Text(
        "a wrong descriptor is refused, or reads zeros", "描述符写错了，要么被拒绝，要么读到零"
    ),
    "triton_persistent-idea": Text(
        "one program per SM; the next tile's loads are under way while the last one is stored",
        "每个 SM 一个程序；存上一个分块时，下一个分块已经在加载",
    ),
    "triton_persistent-readability": Text(
        "one loop more, whose purpose is not in the maths", "多一层循环，它的用途在公式里看不到"
    ),
    "triton_persistent-debugging": Text("as triton_descriptors", "与 triton_descriptors 相同"),
    "triton_autotuned-idea": Text(
        "tiles, stages and warps are measured for each size, not chosen",
        "对每种大小实测分块、流水级数和 warp 数，而不是预先选定",
    ),
    "triton_autotuned-readability": Text("a list of candidates", "一张候选配置的列表"),
    "triton_autotuned-debugging": Text(
        "which kernel runs depends on a measurement", "运行哪个核函数取决于实测"
    ),
    "triton_fused-idea": Text(
        "an epilogue on the tile in registers, written as on whole matrices",
        "在寄存器里的分块上做尾处理，写法与对整个矩阵一样",
    ),
    "triton_fused-readability": Text(
        "the formula, as one would write it in PyTorch", "就是公式，写法与 PyTorch 一样"
    ),
    "triton_fused-debugging": Text("product and steps are seen together only", "乘积和后续步骤只能一起观察"),
    # ---- Why a rung or a peer does not take a case
    "dtypes": Text("multiplies {dtypes}, not {dtype}", "只能乘 {dtypes}，不支持 {dtype}"),
    "precisions": Text(
        "multiplies float32 in {precisions}, not in {precision}",
        "乘 float32 时只用 {precisions}，不支持 {precision}",
    ),
    "epilogues-only": Text("takes products with an epilogue only", "只用于带尾处理的乘积"),
    "no-epilogue": Text("has no epilogue", "不支持尾处理"),
}
