"""What kernels and their ladders say: why a rung answers a call, and what is wrong with one."""

from __future__ import annotations

from flashpath.messages import Entry, Text

MESSAGES: dict[str, Text | Entry] = {
    # ---- Ladders -----------------------------------------------------------------------------------------
    "no-choice": Entry(
        Text(
            "No operator calls the ladder {ladder}: there is no choice among its rungs.",
            "没有算子使用阶梯 {ladder}，不需要在它的梯级之间选择。",
        ),
        Text(
            "Call a rung by its name: ladder({ladder!r})[name](…).",
            "请按名字调用梯级：ladder({ladder!r})[name](…)。",
        ),
    ),
    "no-rung": Entry(
        Text("The ladder {ladder!r} has no rung {name!r}.", "阶梯 {ladder!r} 里没有梯级 {name!r}。"),
        Text("Its rungs: {known}", "它的梯级：{known}"),
    ),
    "no-score": Text(
        "A score is 1 to 5 with a reason, not {value} ({reason}).",
        "评分是 1 到 5 的整数，并且要有理由，不能是 {value}（{reason}）。",
    ),
    # ---- Why a rung answers a call -----------------------------------------------------------------------
    "softmax-float64": Text("it is the rung that computes float64", "只有这个梯级支持 float64"),
    "softmax-row-held": Text(
        "a row fits on one SM, so it is read once and written once",
        "一行放得进一个 SM，只需读一次、写一次",
    ),
    "softmax-row-split": Text(
        "rows are too long for one SM, or too few to keep all SMs busy, so several blocks share a row",
        "行太长，一个 SM 放不下，或者行数太少，占不满所有 SM，所以由多个线程块分担一行",
    ),
    "softmax-gradient": Text(
        "rows stay in registers between the sum and the gradient",
        "求和与求梯度之间，整行都留在寄存器里",
    ),
    "norm-row-held": Text(
        "the row stays in registers: it is read once and written once",
        "整行留在寄存器里，只需读一次、写一次",
    ),
    "norm-read-twice": Text(
        "for bfloat16 rows of this length, a second read from the L2 cache was faster on an H200 than holding the row",
        "对这个长度的 bfloat16 行，在 H200 上从 L2 缓存再读一次比把整行留在寄存器里更快",
    ),
    "norm-gradients": Text("all gradients come from one read of the rows", "所有梯度只需读一遍输入"),
    "reduce-whole": Text(
        "one launch reduces the whole tensor: the last block to finish adds up the others",
        "一次启动归约整个张量：最后完成的线程块汇总其余的结果",
    ),
    "reduce-many-rows": Text(
        "there are at least as many rows as SMs, so a block per row keeps them all busy",
        "行数不少于 SM 数，每行一个线程块就能占满所有 SM",
    ),
    "reduce-few-rows": Text(
        "there are fewer rows than SMs, so several blocks share a row",
        "行数少于 SM 数，所以由多个线程块分担一行",
    ),
    "scan-by-row": Text(
        "the rows are short, or enough to keep all SMs busy, so one block scans a row alone",
        "行很短，或者行数足以占满所有 SM，所以一行由一个线程块独自扫描",
    ),
    "scan-long": Text(
        "the vector is long, and shared memory holds the whole ring of tiles that are read ahead",
        "向量很长，共享内存也放得下预取分块的整个环",
    ),
    "scan-tiles": Text(
        "tiles pass their sums on, so the input is read once",
        "各分块依次传递前缀和，输入只需读一次",
    ),
    "histogram-packs": Text(
        "it reads 16 bytes at a time and counts in shared memory",
        "每次读 16 字节，在共享内存里计数",
    ),
    "sort-onesweep": Text(
        "each digit takes one pass over the keys, with no launch in between to add up counts",
        "每一位数字只需扫描一遍键，中间不用再启动核函数汇总计数",
    ),
    "spmv-merge": Text(
        "it is near the best for even rows, and a few long rows do not slow it down",
        "行长均匀时接近最快，少数很长的行也不会拖慢它",
    ),
    "elementwise-one": Text(
        "the operation is one step: 16 bytes at a time are as fast as memory",
        "运算只有一步：每次访问 16 字节就能达到内存速度",
    ),
    "elementwise-chain": Text(
        "all steps happen in one pass, so nothing in between goes to memory",
        "所有步骤在一遍里完成，中间结果不写内存",
    ),
    "matmul-float64": Text("it is the rung that computes float64", "只有这个梯级支持 float64"),
    "matmul-large": Text(
        "the result has at least a tile of 128 × 128 for every SM",
        "结果足够大，每个 SM 至少分到一个 128 × 128 的分块",
    ),
    "matmul-small": Text(
        "the result has fewer tiles of 128 × 128 than the GPU has SMs, so smaller tiles keep more of them busy",
        "结果里 128 × 128 的分块少于 SM 数，用较小的分块能让更多 SM 工作",
    ),
    "matmul-wgmma": Text(
        "Triton's compiler writes wgmma, which is faster than mma.sync on Hopper",
        "Triton 编译器会生成 wgmma，它在 Hopper 上比 mma.sync 快",
    ),
    "matmul-mma": Text(
        "mma.sync is the fastest instruction of this GPU that the rungs use",
        "在这块 GPU 上，各梯级能用的最快指令是 mma.sync",
    ),
    "asked": Text("it was asked for", "调用时指定了它"),
    "asked-torch": Text(
        "it was asked for: torch computes the formula", "调用时指定了它：由 torch 按公式计算"
    ),
    "virtual-cuda": Text(
        "on the virtual GPU CUDA C++ is compiled sooner than Triton",
        "在虚拟 GPU 上，CUDA C++ 比 Triton 编译得快",
    ),
    "only-language": Text(
        "it is the only language that the score_mod {name} is given in",
        "score_mod {name} 只提供了这一种语言的实现",
    ),
    "no-tiles": Text(
        "CUDA C++ has no tiles for dimensions of {dim} and {v_dim} that fit into {room:,} bytes of shared memory",
        "维度为 {dim} 和 {v_dim} 时，CUDA C++ 没有放得进 {room:,} 字节共享内存的分块",
    ),
    "measured": Text("measured on {gpu} with {problem}: {times}", "在 {gpu} 上实测（{problem}）：{times}"),
    "measured-near": Text(
        "measured on {gpu} with {problem}, the nearest that was: {times}",
        "在 {gpu} 上实测过的最接近的问题（{problem}）：{times}",
    ),
    "measured-attention": Text(
        "{batch} × {sequence:,} tokens, {heads} heads, dim {dim}, {mask}",
        "{batch} × {sequence:,} 个 token，{heads} 个头，维度 {dim}，{mask}",
    ),
    "measured-step": Text(
        "{batch} × {keys:,} keys, {heads} heads on {kv_heads}, dim {dim}, {layout}",
        "{batch} × {keys:,} 个键，{heads} 个查询头、{kv_heads} 个键值头，维度 {dim}，{layout}",
    ),
    "virtual-gpu": Text("the virtual GPU", "虚拟 GPU"),
    "causal": Text("causal", "因果掩码"),
    "full": Text("full", "无掩码"),
    "pages": Text("pages of {size}", "每页 {size} 个键"),
    "no-pages": Text("no pages", "不分页"),
    "unmeasured": Text("no measurement of this GPU is known; {why}", "没有这种 GPU 的实测数据；{why}"),
    "triton-wgmma": Text(
        "Triton's compiler writes wgmma, with twice the speed of mma.sync on Hopper",
        "Triton 编译器会生成 wgmma，它在 Hopper 上的速度是 mma.sync 的两倍",
    ),
    "triton-tcgen05": Text(
        "Triton's compiler writes tcgen05, and CUDA C++ here mma.sync",
        "Triton 编译器会生成 tcgen05，而这里的 CUDA C++ 用 mma.sync",
    ),
    "cuda-mma": Text("mma.sync is the fastest instruction that it has", "它最快的指令是 mma.sync"),
    "cuda-pages": Text("CUDA C++ looks pages up ahead of their keys", "CUDA C++ 会提前查好页表"),
    "triton-no-pages": Text(
        "Triton has larger tiles under way, which a cache without pages feeds evenly",
        "Triton 在途的分块更大，不分页的缓存能持续供给数据",
    ),
    "decode-not-cuda": Text("CUDA C++ does not take it: {obstacle}", "CUDA C++ 不支持：{obstacle}"),
    "cache-unaligned": Text(
        "rows of the cache of {name}, strides {strides}, do not begin at multiples of 16 bytes",
        "{name} 缓存的行（步长 {strides}）没有对齐到 16 字节",
    ),
    "decode-no-room": Text(
        "dimensions of {dim} and {v_dim} need more shared memory than the {room} bytes that a block has",
        "维度 {dim} 和 {v_dim} 需要的共享内存超过一个线程块能用的 {room} 字节",
    ),
    # ---- Attention ---------------------------------------------------------------------------------------
    "no-backend": Entry(
        Text("{operator} got backend={backend}.", "{operator} 收到 backend={backend}。"),
        Text(
            "It knows triton, cuda and reference, or None for the fastest of them.",
            "可以是 triton、cuda、reference，或者 None（自动选最快的）。",
        ),
    ),
    "gpu-too-old": Entry(
        Text(
            "{operator}'s kernels are for GPUs of sm_80 and newer; {gpu} is {arch}.",
            "{operator} 的核函数需要 sm_80 或更新的 GPU，而 {gpu} 是 {arch}。",
        ),
        Text("Give backend='reference', which torch computes.", "请传 backend='reference'，由 torch 计算。"),
    ),
    "decode-not-here": Entry(
        Text(
            "Decoding in CUDA C++ does not take this step: {obstacle}.",
            "CUDA C++ 版的解码不支持这一步：{obstacle}。",
        ),
        Text(
            'Use backend="triton", or a cache that is aligned.',
            '请用 backend="triton"，或者让缓存对齐。',
        ),
    ),
    "splits": Entry(
        Text("attention_decode got num_splits={given}.", "attention_decode 收到 num_splits={given}。"),
        Text("It takes 1 to {most}, or None to choose.", "可以是 1 到 {most}，或者 None（自动选择）。"),
    ),
    "no-table": Entry(
        Text("{path} is no table of measured attention: {error}", "{path} 不是注意力的实测数据表：{error}"),
        Text(
            "python benchmarks/dispatch_table.py writes it again.",
            "运行 python benchmarks/dispatch_table.py 可以重新生成。",
        ),
    ),
}
