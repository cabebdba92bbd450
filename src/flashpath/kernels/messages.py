"""What kernels and their ladders say: why a rung answers a call, and what is wrong with one."""

from __future__ import annotations

from flashpath.messages import Entry, Text

# What rungs of several ladders are said to be.
FLOAT64_TRUTH = Text(
    "PyTorch in float64, rounded once: the truth that the others are checked against",
    "PyTorch 用 float64 计算，只舍入一次：其余梯级以它为准",
)
ONE_CALL = Text("one call", "一次调用")
ANY_DEBUGGER = Text("runs on the CPU, under any Python debugger", "在 CPU 上运行，任何 Python 调试器都能用")
ELEMENT_PER_THREAD = Text(
    "one thread is one element: printf and cuda-gdb show it directly",
    "一个线程对应一个元素：用 printf 和 cuda-gdb 直接就能看到",
)
LANE_BY_LANE = Text("what is in registers has to be printed lane by lane", "寄存器里的值只能逐个 lane 打印")
ROW_ALONE = Text("one row can be followed alone", "可以只跟踪一行")
PRINTS_WORK = Text("prints and asserts work", "可以打印和断言")
HIDDEN_THREADS = Text(
    "prints and asserts work; the compiler hides what the threads do",
    "可以打印和断言；但看不到编译器给每个线程安排了什么",
)

MESSAGES: dict[str, Text | Entry] = {
    # ---- Exporting -------------------------------------------------------------------------------------
    "export-name": Entry(
        Text("{name!r} is no name for a function.", "{name!r} 不能作函数名。"),
        Text("Name one: name='softmax'.", "请另外指定：name='softmax'。"),
        command_fix=Text("Name one: --name softmax.", "请另外指定：--name softmax。"),
    ),
    "export-launch-of-rung": Entry(
        Text(
            "{rung} is a rung: its host function decides the launch.",
            "{rung} 是梯级：启动由它的主机端函数决定。",
        ),
        Text("Leave away launch and requires.", "请去掉 launch 和 requires。"),
        command_fix=Text("Leave away --launch and --require.", "请去掉 --launch 和 --require。"),
    ),
    "export-launch-of-kernel": Entry(
        Text("A kernel is exported with one signature and one launch.", "导出核函数需要一个签名和一次启动。"),
        Text(
            "fp.export(kernel, 'saxpy.so', 'x: float32[n]', '<<<cdiv(n, 256), 256>>>(n, x)')",
            "fp.export(kernel, 'saxpy.so', 'x: float32[n]', '<<<cdiv(n, 256), 256>>>(n, x)')",
        ),
        command_fix=Text(
            "--signature 'x: float32[n]' --launch '<<<cdiv(n, 256), 256>>>(n, x)'",
            "--signature 'x: float32[n]' --launch '<<<cdiv(n, 256), 256>>>(n, x)'",
        ),
    ),
    "export-no-kernel": Entry(
        Text("{value} is neither a kernel nor a rung.", "{value} 既不是核函数也不是梯级。"),
        Text(
            "Pass module['name'], a list of them, or fp.kernels.ladder('softmax')['resident'].",
            "请传入 module['name']、它们的列表，或 fp.kernels.ladder('softmax')['resident']。",
        ),
    ),
    "export-unlike": Entry(
        Text(
            "These are not one kernel for several architectures: {names}.",
            "这些不是同一个核函数在不同架构上的版本：{names}。",
        ),
        Text(
            "Compile the same source for each: fp.compile('saxpy.cu', arch='sm_90')['saxpy'].",
            "请为每个架构编译同一份源代码：fp.compile('saxpy.cu', arch='sm_90')['saxpy']。",
        ),
    ),
    "export-language": Entry(
        Text(
            "{rung} is written in {language}; only rungs in CUDA C++ can be exported.",
            "{rung} 用 {language} 写成；只有 CUDA C++ 的梯级可以导出。",
        ),
        Text("`flashpath ladder NAME` lists the others.", "`flashpath ladder NAME` 会列出其他梯级。"),
    ),
    "export-arch": Entry(
        Text(
            "{rung} runs from {least} on, and not on {arch}.",
            "{rung} 需要 {least} 或更新的架构，不能用于 {arch}。",
        ),
        Text("Name later architectures only.", "请只写更新的架构。"),
    ),
    "export-other-arguments": Entry(
        Text(
            "{signature!r} has other arguments than the signatures before it.",
            "{signature!r} 的参数与前面的签名不同。",
        ),
        Text("Give all signatures the same names, in the same order.", "请让所有签名的参数名和次序一致。"),
    ),
    "export-many": Entry(
        Text("The signatures need more than {most} variants.", "这些签名需要的变体超过 {most} 个。"),
        Text("Export fewer sizes, or several libraries.", "请减少大小的种类，或导出成几个库。"),
    ),
    "export-no-signature": Text("There is no signature to export for.", "没有要导出的签名。"),
    "export-arguments": Entry(
        Text("{rung} does not take these arguments: {problem}.", "{rung} 不接受这些参数：{problem}。"),
        Text(
            "The names are those of its host function; outputs are arguments as well, mostly `out`.",
            "参数名与它的主机端函数相同；输出也是参数，通常叫 `out`。",
        ),
    ),
    "export-number-of-rung": Entry(
        Text(
            "{name} is a number, and a rung's numbers are fixed in the library.",
            "{name} 是数，而梯级的数会固定在库里。",
        ),
        Text("Write its value: '{name}=1.0'.", "请写出它的值：'{name}=1.0'。"),
    ),
    "export-option": Entry(
        Text("{text!r} has no value that Python could read.", "{text!r} 的值不是 Python 的字面量。"),
        Text("Write it as 'eps=1e-6' or 'op='sum''.", "请写成 'eps=1e-6' 或 'op='sum''。"),
    ),
    "export-extent": Entry(
        Text("The extent {extent} in {text!r} is no number.", "{text!r} 里的大小 {extent} 不是数。"),
        Text(
            "Give its values: sizes={{{extent!r}: [128, 1000]}}.",
            "请给出它的取值：sizes={{{extent!r}: [128, 1000]}}。",
        ),
        command_fix=Text(
            "Give its values: --size {extent}=128,1000.", "请给出它的取值：--size {extent}=128,1000。"
        ),
    ),
    "export-refused": Text("{rung} cannot be exported: {why}.", "{rung} 不能导出：{why}。"),
    "export-launches": Text(
        "it launches {count:~kernel}, and a library launches one", "它启动 {count} 个核函数，而库只启动一个"
    ),
    "export-torch": Text(
        "it calls torch's {operator}, which the library would lack",
        "它调用 torch 的 {operator}，而库里没有 torch",
    ),
    "export-memory": Text(
        "a kernel is given memory that is none of the arguments, as where an output such as `out` is left away",
        "核函数用到的内存不是参数，例如漏掉了 `out` 这样的输出参数",
    ),
    "export-overlap": Text("{name} is given twice", "{name} 传入了两次"),
    "export-place": Text(
        "This rung cannot be exported: it asks whether {name} is on a GPU, and does other things where it is not.",
        "这个梯级不能导出：它会询问 {name} 是否在 GPU 上，并据此做不同的事。",
    ),
    "export-unseen": Text(
        "it launches {kernel} in a way that cannot be followed", "它启动 {kernel} 的方式无法跟踪"
    ),
    "export-unfollowed": Text(
        "its host function computes with what cannot be followed: {problem}",
        "它的主机端函数用到了无法跟踪的计算：{problem}",
    ),
    "export-launch-options": Text(
        "{kernel} is launched with a stream, a cluster or cooperatively, which a library cannot.",
        "{kernel} 的启动指定了流、集群或协作方式，库无法做到。",
    ),
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
    # ---- Why a rung or a peer does not take a case -------------------------------------------------------
    "takes-forward": Text("computes the forward direction only", "只计算前向"),
    "takes-backward": Text("computes the backward direction only", "只计算反向"),
    "takes-no-bfloat16": Text("has no bfloat16", "不支持 bfloat16"),
    "norm-forward": Text("computes the norm alone", "只计算归一化本身"),
    "norm-add": Text("computes the norm with a residual", "只计算带残差的归一化"),
    "norm-backward": Text("computes the backward pass", "只计算反向"),
    "norm-forward-or-add": Text("computes the norm, with or without a residual", "只计算归一化，可带残差"),
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
    "cross-entropy-rows": Text(
        "there are at least as many rows as SMs, so a block per row keeps them all busy",
        "行数不少于 SM 数，每行一个线程块就能占满所有 SM",
    ),
    "cross-entropy-split": Text(
        "there are fewer rows than SMs, so several blocks share a row",
        "行数少于 SM 数，所以由多个线程块分担一行",
    ),
    "cross-entropy-gradient": Text(
        "with the lse known, each logit's gradient is computed alone, 16 bytes at a time",
        "lse 已知，每个 logit 的梯度可以独立计算，每次访问 16 字节",
    ),
    "cross-entropy-both": Text(
        "the gradient is written while the row is still in the caches",
        "趁这一行还在缓存里就写出梯度",
    ),
    "norm-row-held": Text(
        "the row stays in registers: it is read once and written once",
        "整行留在寄存器里，只需读一次、写一次",
    ),
    "norm-read-twice": Text(
        "for bfloat16 rows of this length, a second read from the L2 cache was faster on an H200 "
        "than holding the row",
        "对这个长度的 bfloat16 行，在 H200 上从 L2 缓存再读一次比把整行留在寄存器里更快",
    ),
    "norm-added": Text(
        "the addition and the norm share one read and one write of the rows",
        "加法与归一化共用一次读和一次写",
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
    "elementwise-two": Text(
        "both gradients in one pass, 16 bytes at a time", "一遍写出两个梯度，每次访问 16 字节"
    ),
    "rope-vectorized": Text(
        "16 bytes at a time are as fast as memory, and the angles are read once for several heads",
        "每次访问 16 字节就能达到内存速度，角度只读一次，供几个头使用",
    ),
    "matmul-float64": Text("it is the rung that computes float64", "只有这个梯级支持 float64"),
    "matmul-large": Text(
        "the result has at least a tile of 128 × 128 for every SM",
        "结果足够大，每个 SM 至少分到一个 128 × 128 的分块",
    ),
    "matmul-small": Text(
        "the result has fewer tiles of 128 × 128 than the GPU has SMs, so smaller tiles keep more of "
        "them busy",
        "结果里 128 × 128 的分块少于 SM 数，用较小的分块能让更多 SM 工作",
    ),
    "matmul-turned": Text(
        "it reads a transposed matrix as it lies; the others would need a copy",
        "它直接读取转置的矩阵；其他梯级需要先复制",
    ),
    "matmul-batched": Text(
        "all products are in one launch, and nothing is copied", "所有乘积在一次启动里完成，也不用复制"
    ),
    "matmul-one-by-one": Text(
        "each product keeps the GPU busy by itself, or is of float64",
        "每个乘积自己就能占满 GPU，或者类型是 float64",
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
        "CUDA C++ has no tiles for dimensions of {dim} and {v_dim} that fit into {room:,} bytes of "
        "shared memory",
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
    # ---- Results that are wrong ------------------------------------------------------------------------
    "wrong-shape": Text("the shape is {shape}, not {expected}", "形状是 {shape}，应为 {expected}"),
    "wrong-type": Text("the type is {type}, not {expected}", "类型是 {type}，应为 {expected}"),
    "not-finite": Text("not all of it is finite", "有的元素是无穷大或 NaN"),
    "error-too-large": Text(
        "the error is {error:.3g}, and {allowed:.3g} are allowed", "误差是 {error:.3g}，允许 {allowed:.3g}"
    ),
    "wrong-elements": Text(
        "{count} of {elements} elements are wrong; the first is {at}: {got:.9g}, not {expected:.9g} ± {allowed:.3g}",
        "{elements} 个元素中有 {count} 个错误；第一个是 {at}：{got:.9g}，应为 {expected:.9g} ± {allowed:.3g}",
    ),
    "different-elements": Text(
        "{count} of {elements} elements are wrong; the first is {at}: {got}, not {expected}",
        "{elements} 个元素中有 {count} 个错误；第一个是 {at}：{got}，应为 {expected}",
    ),
    "wrong-count-of-gradients": Text(
        "{count} gradients, not {expected}", "有 {count} 个梯度，应为 {expected} 个"
    ),
    "needless-gradient": Text("a gradient that nobody wants", "算出了不需要的梯度"),
    # ---- The choice ------------------------------------------------------------------------------------
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
    # ---- What a rung refuses --------------------------------------------------------------------------------
    "no-tensor": Entry(
        Text("{operation} got {name} = {x}.", "{operation} 收到 {name} = {x}。"),
        Text("It must be a torch tensor.", "它必须是 torch 张量。"),
    ),
    "wrong-dtype": Entry(
        Text("{operation} got {dtype} for {name}.", "{operation} 的 {name} 类型是 {dtype}。"),
        Text("It takes {dtypes}.", "支持的类型：{dtypes}。"),
    ),
    "wrong-dims": Entry(
        Text("{operation} got {name} of shape {shape}.", "{operation} 的 {name} 形状是 {shape}。"),
        Text("It takes {dims} dimensions.", "需要 {dims} 维。"),
    ),
    "not-contiguous": Entry(
        Text("{operation} got a non-contiguous {name}.", "{operation} 的 {name} 不是连续存储的。"),
        Text("Pass {name}.contiguous().", "请传 {name}.contiguous()。"),
    ),
    "no-tensor-like": Entry(
        Text("{operation} got {name} = {tensor}.", "{operation} 收到 {name} = {tensor}。"),
        Text("It must be a tensor of {wanted}.", "它必须是这样的张量：{wanted}。"),
    ),
    "decode-dropout": Entry(
        Text("attention_decode got a dropout_p.", "attention_decode 收到了 dropout_p。"),
        Text("Dropout is for training: leave it away.", "dropout 只用于训练，请去掉它。"),
    ),
    "decode-half-given": Entry(
        Text("attention_decode got only one of k and v.", "attention_decode 只收到了 k 和 v 中的一个。"),
        Text("Give both, or none of them.", "请两个都给，或者都不给。"),
    ),
    "decode-lengths": Entry(
        Text(
            "attention_decode got cache_seqlens = {lengths}, {new} new keys and a cache of {capacity}.",
            "attention_decode 收到 cache_seqlens = {lengths}，新键 {new} 个，缓存容量 {capacity}。",
        ),
        Text(
            "Each must be 0 or more, and leave room for the new keys.",
            "每个长度都不能小于 0，并且要给新键留出空间。",
        ),
    ),
    "decode-cache-strided": Entry(
        Text(
            "attention_decode got a cache whose last dimension is not dense.",
            "attention_decode 的缓存最后一维不是连续的。",
        ),
        Text(
            "The step writes into it, so it is not copied: make it with a dense last dimension.",
            "这一步会写入缓存，所以不会复制它：请让最后一维连续。",
        ),
    ),
    "decode-table-and-index": Entry(
        Text(
            "attention_decode got a page table and a batch index.",
            "attention_decode 同时收到了页表和批索引。",
        ),
        Text("The table says it all.", "有页表就不需要批索引。"),
    ),
    "decode-batches": Entry(
        Text(
            "attention_decode got a cache of {shape} sequences and {batch} of q.",
            "attention_decode 的缓存有 {shape} 条序列，q 有 {batch} 条。",
        ),
        Text(
            "Both must be as many, or cache_batch_idx says which entry each sequence has.",
            "两者要一样多，或者用 cache_batch_idx 说明每条序列对应哪一项。",
        ),
    ),
    "decode-rotary": Entry(
        Text(
            "attention_decode got rotary_cos {shape} and rotary_sin {shape2} of {dtype}.",
            "attention_decode 收到 {dtype} 的 rotary_cos {shape} 和 rotary_sin {shape2}。",
        ),
        Text(
            "Both must be (positions, pairs) of {dtype2}, with a multiple of 8 pairs and at most {shape3}.",
            "两者都应是 {dtype2} 的 (positions, pairs)，pairs 是 8 的倍数且不超过 {shape3}。",
        ),
    ),
    "decode-rotary-short": Entry(
        Text(
            "attention_decode got rotary_cos and rotary_sin of {positions} positions, for "
            "cache_seqlens = {lengths}, {queries} queries and {new} new keys.",
            "attention_decode 的 rotary_cos 和 rotary_sin 只有 {positions} 个位置，而 cache_seqlens = "
            "{lengths}，查询 {queries} 个，新键 {new} 个。",
        ),
        Text(
            "The tables need a row for each position: {wanted} or more.",
            "每个位置都要有一行：至少 {wanted} 行。",
        ),
    ),
    "decode-leftpad": Entry(
        Text(
            "attention_decode got cache_leftpad = {pads} and cache_seqlens = {lengths}.",
            "attention_decode 收到 cache_leftpad = {pads}，cache_seqlens = {lengths}。",
        ),
        Text(
            "Each must be 0 or more, and no more than its sequence has.",
            "每个值都不能小于 0，也不能超过对应序列的长度。",
        ),
    ),
    "decode-places": Entry(
        Text("attention_decode got {name} = {numbers}.", "attention_decode 收到 {name} = {numbers}。"),
        Text("The cache has the places 0 to {shape}.", "缓存的位置是 0 到 {shape}。"),
    ),
    "decode-int32": Entry(
        Text("attention_decode got {name} = {x}.", "attention_decode 收到 {name} = {x}。"),
        Text(
            "It must be int32 of shape {shape}, batch = {batch}, on {device}.",
            "它必须是形状为 {shape} 的 int32（batch = {batch}），在 {device} 上。",
        ),
    ),
    "decode-new-keys": Entry(
        Text(
            "attention_decode got {name} of shape {shape}, {dtype} on {device}.",
            "attention_decode 的 {name} 形状是 {shape}，类型 {dtype}，在 {device} 上。",
        ),
        Text(
            "It must be ({shape2}), {dtype2} on {device2}: (batch, new keys, kv_heads, dim).",
            "它应是 ({shape2})，类型 {dtype2}，在 {device2} 上：(batch, new keys, kv_heads, dim)。",
        ),
    ),
    "not-plain": Entry(
        Text("{rung} got {asked}.", "{rung} 收到了 {asked}。"),
        Text(
            "It has none of these: take a rung of flash_v2, which has them.",
            "它不支持这些：请用支持它们的 flash_v2 梯级。",
        ),
    ),
    "no-room": Entry(
        Text(
            "flash_v2 in CUDA C++ needs {wanted} bytes of shared memory for dimensions of {dim} and "
            "{v_dim}; a block of this GPU has {room}.",
            "维度为 {dim} 和 {v_dim} 时，CUDA C++ 的 flash_v2 需要 {wanted} 字节共享内存，而这块 GPU 的一个线程块只有 {room} 字节。",
        ),
        Text("Use a rung of flash_v2 in Triton.", "请用 Triton 的 flash_v2 梯级。"),
    ),
    "adds-dq-deterministic": Entry(
        Text("backward got adds_dq and deterministic.", "backward 同时收到了 adds_dq 和 deterministic。"),
        Text("Sums in memory have no order.", "在内存里累加没有固定的顺序。"),
    ),
    "attention-shapes": Entry(
        Text(
            "{operator} got q {shape}, {k} {shape2} and {v} {shape3}.",
            "{operator} 收到 q {shape}、{k} {shape2}、{v} {shape3}。",
        ),
        Text(
            "{k} and {v} must agree in all but the last dimension, q and {k} in the last and in the batch.",
            "{k} 和 {v} 除最后一维外要相同，q 和 {k} 的最后一维以及批大小要相同。",
        ),
    ),
    "attention-heads": Entry(
        Text(
            "{operator} got {heads} heads of q and {kv_heads} of {k} and {v}.",
            "{operator} 的 q 有 {heads} 个头，{k} 和 {v} 有 {kv_heads} 个。",
        ),
        Text(
            "The heads of q must be a multiple of those of {k} and {v}.",
            "q 的头数必须是 {k} 和 {v} 的头数的倍数。",
        ),
    ),
    "varlen-bounds": Entry(
        Text(
            "attention_varlen got {count} bounds of q and {count2} of k.",
            "attention_varlen 收到 q 的 {count} 个边界和 k 的 {count2} 个边界。",
        ),
        Text("Both must have one for each sequence, and one more.", "两者都应比序列数多一个。"),
    ),
    "attention-window": Entry(
        Text("{operator} got window={window}.", "{operator} 收到 window={window}。"),
        Text(
            "It takes (left, right), 0 or more each, or -1 for no bound.",
            "应是 (left, right)，各不小于 0，-1 表示不限。",
        ),
    ),
    "attention-softcap": Entry(
        Text("{operator} got softcap={softcap}.", "{operator} 收到 softcap={softcap}。"),
        Text("It takes 0 (none) or more, and finite.", "应是 0（不用）或更大的有限数。"),
    ),
    "attention-scale": Entry(
        Text("{operator} got scale={scale}.", "{operator} 收到 scale={scale}。"),
        Text("It takes a finite number.", "应是有限数。"),
    ),
    "attention-dropout": Entry(
        Text("{operator} got dropout_p={dropout_p}.", "{operator} 收到 dropout_p={dropout_p}。"),
        Text("It takes 0 <= p < 1.", "应满足 0 <= p < 1。"),
    ),
    "attention-no-tensor": Entry(
        Text("{operator} got {name} = {x}.", "{operator} 收到 {name} = {x}。"),
        Text("It must be a torch tensor.", "它必须是 torch 张量。"),
    ),
    "attention-layout": Entry(
        Text("{operator} got {name} of shape {shape}.", "{operator} 的 {name} 形状是 {shape}。"),
        Text("It takes {layout}.", "应是 {layout}。"),
    ),
    "attention-dtype": Entry(
        Text("{operator} got {dtype} for {name}.", "{operator} 的 {name} 类型是 {dtype}。"),
        Text("It takes {known}.", "支持的类型：{known}。"),
    ),
    "attention-unlike": Entry(
        Text(
            "{operator} got q of {dtype} on {device} and {name} of {dtype2} on {device2}.",
            "{operator} 的 q 是 {dtype}，在 {device} 上，而 {name} 是 {dtype2}，在 {device2} 上。",
        ),
        Text("All must have one type and one device.", "所有张量的类型和设备都要相同。"),
    ),
    "attention-dim": Entry(
        Text("{operator} got a head dimension of {dim} for {name}.", "{operator} 的 {name} 头维度是 {dim}。"),
        Text(
            "It takes multiples of {dim_step} up to {largest_dim}; pad others with zeros.",
            "应是 {dim_step} 的倍数，最大 {largest_dim}；其他维度请用 0 填充。",
        ),
    ),
    "varlen-int32": Entry(
        Text("attention_varlen got {name} = {x}.", "attention_varlen 收到 {name} = {x}。"),
        Text("It must be int32 of shape (batch + 1).", "它必须是形状为 (batch + 1) 的 int32。"),
    ),
    "varlen-device": Entry(
        Text("attention_varlen got {name} on {device}.", "attention_varlen 的 {name} 在 {device} 上。"),
        Text("It must be dense, on {device2}.", "它必须连续存储，并且在 {device2} 上。"),
    ),
    "varlen-falls": Entry(
        Text(
            "attention_varlen got cu_seqlens_{name} = {bounds} for {shape} tokens.",
            "attention_varlen 收到 cu_seqlens_{name} = {bounds}，而 token 有 {shape} 个。",
        ),
        Text(
            "It must begin with 0, end with the number of tokens, and never fall.",
            "它要从 0 开始，以 token 数结束，并且不能下降。",
        ),
    ),
    "varlen-longest": Entry(
        Text(
            "attention_varlen got max_seqlen_{name} = {most}, and a sequence of {max}.",
            "attention_varlen 收到 max_seqlen_{name} = {most}，而有一条序列长 {max}。",
        ),
        Text("It must be no less than the longest.", "它不能小于最长的序列。"),
    ),
    "attention-option": Entry(
        Text("{operator} got {name} = {x}.", "{operator} 收到 {name} = {x}。"),
        Text(
            "It must be {dtype} of shape {known} on {device}.",
            "它必须是 {dtype}，形状为 {known}，在 {device} 上。",
        ),
    ),
    "mod-gone": Entry(
        Text("The score_mod {value} is gone.", "score_mod {value} 已经不存在了。"),
        Text("Keep the ScoreMod as long as it is used.", "使用期间请一直保留这个 ScoreMod。"),
    ),
    "mod-is-none": Entry(
        Text("score_mod is {function}.", "score_mod 是 {function}。"),
        Text(
            "It takes a @triton.jit function of ({arguments}), or a ScoreMod.",
            "应是参数为 ({arguments}) 的 @triton.jit 函数，或者 ScoreMod。",
        ),
    ),
    "mod-name": Entry(
        Text("ScoreMod got name = {name}.", "ScoreMod 收到 name = {name}。"),
        Text("It takes a text.", "它应是文本。"),
    ),
    "mod-empty": Entry(
        Text("ScoreMod({name}) has no form.", "ScoreMod({name}) 没有任何实现。"),
        Text(
            "Give torch=…, triton=… or cuda=…: what runs it.",
            "请给出 torch=…、triton=… 或 cuda=…，由它来运行。",
        ),
    ),
    "mod-no-form": Entry(
        Text(
            "The score_mod {name} has no form for {language}; it has {has}.",
            "score_mod {name} 没有 {language} 的实现，只有 {has}。",
        ),
        Text(
            "Give ScoreMod(…, {language}=…), or take a backend that runs one of its forms.",
            "请给出 ScoreMod(…, {language}=…)，或者换一个能运行它的 backend。",
        ),
    ),
    "mod-gave": Entry(
        Text(
            "The score_mod {name} gave {got} for scores of shape {shape}.",
            "对形状为 {shape} 的分数，score_mod {name} 返回了 {got}。",
        ),
        Text(
            "It must give a tensor of their shape: a new score for each.",
            "它必须返回同样形状的张量：每个分数一个新分数。",
        ),
    ),
    "mod-not-compiled": Entry(
        Text(
            "Triton does not compile the score_mod {name}: {said}{where}.",
            "Triton 无法编译 score_mod {name}：{said}{where}。",
        ),
        Text(
            "It takes a @triton.jit function of ({arguments}) that returns a tile of new scores, of "
            "the shape of `score`.",
            "它应是参数为 ({arguments}) 的 @triton.jit 函数，返回与 `score` 同样形状的一块新分数。",
        ),
    ),
    "mod-no-function": Entry(
        Text("ScoreMod({name}) got {name2} = {getattr}.", "ScoreMod({name}) 收到 {name2} = {getattr}。"),
        Text("It takes a function of ({arguments}).", "应是参数为 ({arguments}) 的函数。"),
    ),
    "cross-entropy-index": Entry(
        Text("{operation} got ignore_index = {value}.", "{operation} 收到 ignore_index = {value}。"),
        Text("It must be a whole number of 64 bits.", "它必须是 64 位整数。"),
    ),
    "cross-entropy-smoothing": Entry(
        Text("{operation} got label_smoothing = {value}.", "{operation} 收到 label_smoothing = {value}。"),
        Text("It must be from 0 to 1.", "它必须在 0 到 1 之间。"),
    ),
    "cross-entropy-z-loss": Entry(
        Text("{operation} got z_loss = {value}.", "{operation} 收到 z_loss = {value}。"),
        Text("It must be 0 or more, and finite.", "它必须不小于 0，且不是无穷。"),
    ),
    "cross-entropy-softcap": Entry(
        Text("{operation} got softcap = {value}.", "{operation} 收到 softcap = {value}。"),
        Text(
            "It must be more than 0 and finite, or 0.0 for none.", "它必须大于 0 且不是无穷；0.0 表示不用。"
        ),
    ),
    "cross-entropy-class": Entry(
        Text(
            "cross_entropy got target[{at}] = {target} for {classes} classes.",
            "cross_entropy 有 {classes} 个类别，却收到 target[{at}] = {target}。",
        ),
        Text(
            "A target is from 0 to {most}, or {ignore_index} (ignore_index) for a row that does not count.",
            "目标应在 0 到 {most} 之间；不计入的行用 {ignore_index}（ignore_index）。",
        ),
    ),
    "cross-entropy-long": Entry(
        Text("cross_entropy got {n} classes.", "cross_entropy 收到 {n} 个类别。"),
        Text("It takes up to {most}.", "最多 {most} 个。"),
    ),
    "norm-eps": Entry(
        Text("{name} got eps = {eps}.", "{name} 收到 eps = {eps}。"),
        Text("It must be a number, 0 or more.", "它必须是不小于 0 的数。"),
    ),
    "norm-offset": Entry(
        Text("{name} got weight_offset = {offset}.", "{name} 收到 weight_offset = {offset}。"),
        Text(
            "It takes 0.0, or 1.0 for weights that are stored less one; add any other to the weight.",
            "应是 0.0，或者 1.0（存储的权重已减去 1）；其他值请直接加到权重上。",
        ),
    ),
    "norm-statistics": Entry(
        Text("{name} got no {missing}=.", "{name} 没有收到 {missing}=。"),
        Text("Give all of {statistics}, or none.", "{statistics} 请都给，或者都不给。"),
    ),
    "norm-lanes": Entry(
        Text(
            "{kernel} has no instance of {lanes} threads for {n} elements.",
            "{kernel} 没有用 {lanes} 个线程处理 {n} 个元素的实例。",
        ),
        Text("Leave lanes= out, or give more.", "请去掉 lanes=，或者给更多线程。"),
    ),
    "norm-triton-float64": Entry(
        Text("The Triton backward computes in float32.", "Triton 的反向以 float32 计算。"),
        Text("Take backward_fused for float64.", "float64 请用 backward_fused。"),
    ),
    "norm-triton-long": Entry(
        Text(
            "The Triton backward got rows of {n} elements, and holds {most_columns}.",
            "Triton 的反向收到长 {n} 的行，而它最多放得下 {most_columns} 个元素。",
        ),
        Text("Take backward_fused.", "请用 backward_fused。"),
    ),
    "rope-unlike": Entry(
        Text(
            "rope got q of shape {shape} ({dtype} on {device}) and k of shape {shape2} ({dtype2} on {device2}).",
            "rope 的 q 形状是 {shape}（{dtype}，在 {device} 上），k 形状是 {shape2}（{dtype2}，在 {device2} 上）。",
        ),
        Text(
            "Both are (batch, sequence, heads, dim), alike in all but the heads.",
            "两者都是 (batch, sequence, heads, dim)，除 heads 外都要相同。",
        ),
    ),
    "rope-strides": Entry(
        Text("rope got {name} with the strides {strides}.", "rope 的 {name} 步长是 {strides}。"),
        Text(
            "The last dimension must be contiguous: call {name}.contiguous().",
            "最后一维必须连续：请调用 {name}.contiguous()。",
        ),
    ),
    "rope-angle-type": Entry(
        Text("rope got {name} of {dtype} on {device}.", "rope 的 {name} 类型是 {dtype}，在 {device} 上。"),
        Text(
            "cos and sin have one type, {dtypes}, and are on {device2} as q is.",
            "cos 和 sin 类型相同，可以是 {dtypes}，并且与 q 同在 {device2} 上。",
        ),
    ),
    "rope-angles": Entry(
        Text(
            "rope got cos of shape {shape} and sin of shape {shape2} for q of shape {shape3}.",
            "rope 的 cos 形状是 {shape}，sin 形状是 {shape2}，而 q 形状是 {shape3}。",
        ),
        Text(
            "Both are (positions, pairs), or (batch or 1, sequence, pairs), with at most {most} pairs.",
            "两者都是 (positions, pairs)，或者 (batch 或 1, sequence, pairs)，pairs 最多 {most}。",
        ),
    ),
    "rope-positions": Entry(
        Text(
            "rope got positions of shape {shape}, {dtype} on {device}.",
            "rope 的 positions 形状是 {shape}，类型 {dtype}，在 {device} 上。",
        ),
        Text(
            "They are (1 or {batch}, 1 or {sequence}), of {dtypes}, on {device2} as q is.",
            "应是（1 或 {batch}，1 或 {sequence}），类型 {dtypes}，与 q 同在 {device2} 上。",
        ),
    ),
    "rope-rows-and-positions": Entry(
        Text(
            "rope got positions, and cos of shape {shape}, which has a row for each token.",
            "rope 收到了位置，而 cos 的形状是 {shape}，已经为每个 token给出一行。",
        ),
        Text(
            "Give cos and sin of (positions, pairs), or no positions.",
            "请给出 (positions, pairs) 的 cos 和 sin，或者不给位置。",
        ),
    ),
    "rope-beyond": Entry(
        Text(
            "rope was asked for the positions {first} to {last} of a table with {rows} rows.",
            "rope 要取第 {first} 到 {last} 个位置，而表只有 {rows} 行。",
        ),
        Text("Give cos and sin that have a row for each position.", "请给出每个位置都有一行的 cos 和 sin。"),
    ),
    "elementwise-int32": Entry(
        Text("{name} of int32 got {key} {value}.", "int32 的 {name} 收到 {key} {value}。"),
        Text(
            "It must be an int of 32 bits; for others pass x.float().",
            "它必须是 32 位整数；其他值请传 x.float()。",
        ),
    ),
    "elementwise-unknown": Entry(
        Text("There is no operation {name}.", "没有运算 {name}。"),
        Text("There are: {operations}.", "可选：{operations}。"),
    ),
    "elementwise-operands": Entry(
        Text(
            "{name} got {operands} operands after its name; it takes {wanted}.",
            "{name} 的名字后面有 {operands} 个操作数，应是 {wanted} 个。",
        ),
        Text("Write {example}.", "请写成 {example}。"),
    ),
    "elementwise-halves": Entry(
        Text("{name} got the shape {shape}.", "{name} 的形状是 {shape}。"),
        Text(
            "Its last dimension holds two halves of one length: the gate, then what is gated.",
            "最后一维由等长的两半组成：先是门，再是被门控的值。",
        ),
    ),
    "elementwise-number": Entry(
        Text("{name} got {key} {value}.", "{name} 收到 {key} {value}。"),
        Text("It must be a number.", "它必须是数。"),
    ),
    "histogram-bins": Entry(
        Text("histogram got bins = {bins}.", "histogram 收到 bins = {bins}。"),
        Text("It takes 1 to {most_bins:,} bins.", "应是 1 到 {most_bins:,}。"),
    ),
    "histogram-bounds": Entry(
        Text("histogram got lo = {lo} and hi = {hi}.", "histogram 收到 lo = {lo}、hi = {hi}。"),
        Text(
            "lo has to be less than hi, in {dtype} too. torch.histc's default is x.min(), x.max().",
            "lo 必须小于 hi，以 {dtype} 表示时也是如此。torch.histc 默认取 x.min() 和 x.max()。",
        ),
    ),
    "histogram-width": Entry(
        Text(
            "histogram got {bins} bins from {lo} to {hi}.", "histogram 要把 {lo} 到 {hi} 分成 {bins} 个区间。"
        ),
        Text("(hi - lo) * bins has to be a float32 as well.", "(hi - lo) * bins 也要能用 float32 表示。"),
    ),
    "histogram-finite": Entry(
        Text("histogram got {name} = {value}.", "histogram 收到 {name} = {value}。"),
        Text("It must be a finite number.", "它必须是有限数。"),
    ),
    "histogram-int32": Entry(
        Text(
            "histogram got {name} = {value} for int32 values.",
            "对 int32 数据，histogram 收到 {name} = {value}。",
        ),
        Text("It must be an int32 as well.", "它也必须是 int32。"),
    ),
    "histogram-float32": Entry(
        Text("histogram got {name} = {value}.", "histogram 收到 {name} = {value}。"),
        Text("It must be a float32.", "它必须能用 float32 表示。"),
    ),
    "epilogue-activation": Entry(
        Text("An epilogue got activation={activation}.", "尾处理（epilogue）收到 activation={activation}。"),
        Text("It knows {activations}.", "可选：{activations}。"),
    ),
    "matmul-unlike": Entry(
        Text(
            "matmul got a of {dtype} on {device} and b of {dtype2} on {device2}.",
            "matmul 的 a 是 {dtype}，在 {device} 上，b 是 {dtype2}，在 {device2} 上。",
        ),
        Text("Both must have one type and one device.", "两者的类型和设备都要相同。"),
    ),
    "matmul-shapes": Entry(
        Text(
            "matmul got a of shape {shape} and b of shape {shape2}.",
            "matmul 收到形状为 {shape} 的 a 和形状为 {shape2} 的 b。",
        ),
        Text("It takes (m, k) and (k, n).", "应是 (m, k) 和 (k, n)。"),
    ),
    "matmul-precision": Entry(
        Text("matmul got precision={precision}.", "matmul 收到 precision={precision}。"),
        Text("It knows {precisions}.", "可选：{precisions}。"),
    ),
    "matmul-tf32": Entry(
        Text("matmul got precision='tf32' for {dtype}.", "matmul 对 {dtype} 收到 precision='tf32'。"),
        Text("Only float32 is rounded to tf32.", "只有 float32 会舍入到 tf32。"),
    ),
    "matmul-rung-precision": Entry(
        Text(
            "This rung does not multiply float32 in precision={precision}.",
            "这个梯级不支持以 precision={precision} 计算 float32。",
        ),
        Text("It takes {precisions}.", "可选：{precisions}。"),
    ),
    "quantize-ballot": Entry(
        Text("ballot packs bits only.", "ballot 只能打包比特。"),
        Text("For rows take simple, vectorized or triton.", "按行量化请用 simple、vectorized 或 triton。"),
    ),
    "quantize-unknown": Entry(
        Text("There is no operation {operation}.", "没有运算 {operation}。"),
        Text("There are: {operations}.", "可选：{operations}。"),
    ),
    "quantize-operands": Entry(
        Text(
            "{operation} got {operands} operands after its name.",
            "{operation} 的名字后面有 {operands} 个操作数。",
        ),
        Text("Write {operations}.", "请写成 {operations}。"),
    ),
    "quantize-order": Entry(
        Text("{operation} got the bit order {order}.", "{operation} 收到的比特顺序是 {order}。"),
        Text('It is "big" or "little".', '应是 "big" 或 "little"。'),
    ),
    "quantize-number": Entry(
        Text("{operation} got a single number.", "{operation} 只收到一个数。"),
        Text("Its last dimension is a row.", "最后一维应是一行。"),
    ),
    "quantize-out": Entry(
        Text("{operation} got out={out}.", "{operation} 收到 out={out}。"),
        Text("It is a pair: codes and scale.", "它应是一对：编码和缩放系数。"),
    ),
    "quantize-type": Entry(
        Text("dequantize got the type {dtype}.", "dequantize 收到的类型是 {dtype}。"),
        Text("It makes {floats}.", "可以得到：{floats}。"),
    ),
    "quantize-indptr": Entry(
        Text(
            "{operation} got indptr of {count} on {device}, x on {device2}.",
            "{operation} 的 indptr 有 {count} 个元素，在 {device} 上，x 在 {device2} 上。",
        ),
        Text(
            "It holds one more than there are segments, on the device of x.",
            "indptr 比段数多一个元素，并且要与 x 在同一设备上。",
        ),
    ),
    "reduce-operation": Entry(
        Text("reduction got the operation {op}.", "reduction 收到的运算是 {op}。"),
        Text("It knows {operations}.", "可选：{operations}。"),
    ),
    "reduce-int-mean": Entry(
        Text("The mean of int32 is no int32.", "int32 的平均值不是 int32。"),
        Text("Pass x.float(), as for torch.mean.", "请像 torch.mean 那样传 x.float()。"),
    ),
    "reduce-dim": Entry(
        Text(
            "reduction got dim={dim} for a tensor of shape {shape}.",
            "对形状为 {shape} 的张量，reduction 收到 dim={dim}。",
        ),
        Text(
            "Pass dim=None for the whole tensor, or dim=-1 for each row of a 2-D tensor.",
            "dim=None 归约整个张量，dim=-1 归约二维张量的每一行。",
        ),
    ),
    "reduce-whole-only": Entry(
        Text("This rung reduces whole tensors only.", "这个梯级只能归约整个张量。"),
        Text(
            "For each row take single_pass, by_row or triton.", "按行归约请用 single_pass、by_row 或 triton。"
        ),
    ),
    "reduce-nothing": Entry(
        Text("{op} got no elements.", "{op} 没有收到任何元素。"),
        Text("Only a sum and a mean of nothing are defined.", "空集只有和与平均值有定义。"),
    ),
    "reduce-rows-only": Entry(
        Text("by_row reduces rows.", "by_row 只按行归约。"),
        Text(
            "Pass dim=-1; for the whole tensor take single_pass.",
            "请传 dim=-1；归约整个张量请用 single_pass。",
        ),
    ),
    "scan-operation": Entry(
        Text("scan got the operation {op}.", "scan 收到的运算是 {op}。"),
        Text("It knows {operations}.", "可选：{operations}。"),
    ),
    "scan-shape": Entry(
        Text("scan got x of shape {shape}.", "scan 的 x 形状是 {shape}。"),
        Text("It takes a vector, or a matrix to scan row by row.", "应是向量，或者逐行扫描的矩阵。"),
    ),
    "softmax-shared-long": Entry(
        Text(
            "shared got rows of {n} elements; shared memory holds {most} as float32.",
            "shared 收到长 {n} 的行，而共享内存以 float32 只放得下 {most} 个元素。",
        ),
        Text("Take online, split_rows or meeting.", "请用 online、split_rows 或 meeting。"),
    ),
    "softmax-warp-long": Entry(
        Text(
            "warp_per_row got rows of {n} elements; a warp's registers hold {value} well.",
            "warp_per_row 收到长 {n} 的行，而一个 warp 的寄存器只宜放 {value} 个元素。",
        ),
        Text("Take resident.", "请用 resident。"),
    ),
    "softmax-backward-long": Entry(
        Text("backward_resident got rows of {n} elements.", "backward_resident 收到长 {n} 的行。"),
        Text("Take backward_simple.", "请用 backward_simple。"),
    ),
    "softmax-resident-long": Entry(
        Text(
            "resident got rows of {n} elements; an SM holds {packs} of them here.",
            "resident 收到长 {n} 的行，而这里一个 SM 放得下 {packs} 个元素。",
        ),
        Text("Take meeting or split_rows.", "请用 meeting 或 split_rows。"),
    ),
    "softmax-meeting-long": Entry(
        Text(
            "meeting got rows of {n} elements; its blocks hold {n2} here.",
            "meeting 收到长 {n} 的行，而这里它的线程块放得下 {n2} 个元素。",
        ),
        Text("Take split_rows.", "请用 split_rows。"),
    ),
    "sort-many": Entry(
        Text("This sort got {n} keys.", "这次排序收到 {n} 个键。"),
        Text(
            "It takes up to {most}: sort parts of it, or take torch.sort.",
            "最多 {most} 个：请分段排序，或者用 torch.sort。",
        ),
    ),
    "sort-out": Entry(
        Text("sort got one out= for keys and indices.", "sort 要输出键和下标，却只收到一个 out=。"),
        Text("Pass out=(values, indices).", "请传 out=(values, indices)。"),
    ),
    "spmv-devices": Entry(
        Text(
            "spmv got row_ptr on {device}, val on {device2} and x on {device3}.",
            "spmv 的 row_ptr 在 {device} 上，val 在 {device2} 上，x 在 {device3} 上。",
        ),
        Text("All need one device.", "它们要在同一设备上。"),
    ),
    "spmv-empty": Entry(
        Text("spmv got an empty row_ptr.", "spmv 的 row_ptr 是空的。"),
        Text("It is [0] where there are no rows.", "没有行时它应是 [0]。"),
    ),
    "transpose-operation": Entry(
        Text("transpose got the operation {operation}.", "transpose 收到的运算是 {operation}。"),
        Text("It knows {operations}.", "可选：{operations}。"),
    ),
    "transpose-only": Entry(
        Text("This rung does {only} only.", "这个梯级只做 {only}。"),
        Text("For {operation} take {other}.", "{operation} 请用 {other}。"),
    ),
    "vector-add-unlike": Entry(
        Text(
            "vector_add got {shape} {dtype} on {device} and {shape2} {dtype2} on {device2}.",
            "vector_add 收到 {shape} {dtype}（在 {device} 上）和 {shape2} {dtype2}（在 {device2} 上）。",
        ),
        Text(
            "Both operands need one shape, one dtype and one device.",
            "两个操作数的形状、类型和设备都要相同。",
        ),
    ),
    "warp-operation": Entry(
        Text("{rung} got the operation {op}.", "{rung} 收到的运算是 {op}。"),
        Text("It knows {known}.", "可选：{known}。"),
    ),
    "warp-threshold": Entry(
        Text(
            "{rung} got the threshold {threshold} for int32.", "对 int32，{rung} 收到的阈值是 {threshold}。"
        ),
        Text(
            "Elements are compared as float32, which tells whole numbers apart below 2^24: stay below.",
            "元素以 float32 比较，2^24 以下的整数才能区分：请小于它。",
        ),
    ),
    "varlen-shapes": Entry(
        Text(
            "{operator} got q {shape}, {k} {shape2} and {v} {shape3}.",
            "{operator} 收到 q {shape}、{k} {shape2}、{v} {shape3}。",
        ),
        Text(
            "{k} and {v} must agree in all but the last dimension, q and {k} in the last.",
            "{k} 和 {v} 除最后一维外要相同，q 和 {k} 的最后一维要相同。",
        ),
    ),
    "like": Text(
        "shape {shape}, {dtype}, on {device}",
        "形状 {shape}，类型 {dtype}，在 {device} 上",
    ),
    "like-contiguous": Text(
        "shape {shape}, {dtype}, on {device}, contiguous",
        "形状 {shape}，类型 {dtype}，在 {device} 上，连续存储",
    ),
    "unlike": Entry(
        Text(
            "{operation} got {name} of shape {shape}, {dtype}, on {device}.",
            "{operation} 的 {name} 形状是 {shape}，类型 {dtype}，在 {device} 上。",
        ),
        Text("It must have {wanted}.", "它应是：{wanted}。"),
    ),
    "unlike-strided": Entry(
        Text(
            "{operation} got {name} of shape {shape}, {dtype}, on {device}, not contiguous.",
            "{operation} 的 {name} 形状是 {shape}，类型 {dtype}，在 {device} 上，不是连续存储的。",
        ),
        Text("It must have {wanted}.", "它应是：{wanted}。"),
    ),
    "overlaps": Entry(
        Text("{operation} got an out= that overlaps an input.", "{operation} 的 out= 与输入重叠。"),
        Text("Give it memory of its own.", "请给它单独的内存。"),
    ),
    "overlaps-in-place": Entry(
        Text("{operation} got an out= that overlaps an input.", "{operation} 的 out= 与输入重叠。"),
        Text("Give it memory of its own, or exactly the input.", "请给它单独的内存，或者就用输入本身。"),
    ),
    "no-ladder": Entry(
        Text("There is no ladder {name!r}.", "没有阶梯 {name!r}。"),
        Text("The ladders: {known}.", "可选的阶梯：{known}。"),
    ),
    "no-ladder-but": Entry(
        Text("There is no ladder {name!r}.", "没有阶梯 {name!r}。"),
        Text("Did you mean '{near}'? The ladders: {known}.", "你是想输入 '{near}' 吗？可选的阶梯：{known}。"),
    ),
    "none": Text("none", "没有"),
    "a-tensor": Text("a tensor of shape {shape}", "形状为 {shape} 的张量"),
    "in-line": Text(" in its line {number}, `{text}`", "（第 {number} 行，`{text}`）"),
}
