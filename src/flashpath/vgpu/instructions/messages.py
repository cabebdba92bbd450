"""What the table of instructions says: notes on opcodes, forms, and what is refused."""

from __future__ import annotations

from flashpath.messages import Entry, Text

MESSAGES: dict[str, Text | Entry] = {
    # ---- The section -----------------------------------------------------------------------------------
    "head-class": Text("class", "类别"),
    "head-opcodes": Text("opcodes", "操作码"),
    "head-forms": Text("forms", "形式"),
    "head-what": Text("what", "指令"),
    "head-error": Text("error", "错误"),
    "special-registers": Text(
        "Special registers: {readable}. Not known: {refused}.",
        "特殊寄存器：{readable}。不认识的：{refused}。",
    ),
    "refused": Text("Refused, and what the error says:", "被拒绝的指令，以及错误信息："),
    # ---- Opcodes that are made of operations of other names, or of none at all -------------------------
    "note-carry": Text(
        "32 and 64 bits; so do `add.cc`, `sub.cc` and `mad.cc` write the carry",
        "32 和 64 位；`add.cc`、`sub.cc`、`mad.cc` 同样写进位",
    ),
    "note-as-addc": Text("as `addc`", "同 `addc`"),
    "note-madc": Text("`.hi` `.lo`, as `addc`", "`.hi` `.lo`，同 `addc`"),
    "note-bar": Text(
        "`.sync` `.arrive` `.red` of all or some threads; `bar.warp.sync`",
        "`.sync` `.arrive` `.red`，全部或部分线程；`bar.warp.sync`",
    ),
    "note-barrier": Text("as `bar`; `.cluster.arrive` `.cluster.wait`", "同 `bar`；`.cluster.arrive` `.cluster.wait`"),
    "note-bra": Text("to a label, `.uni` or not", "跳到标号，可带 `.uni`"),
    "note-brx": Text("`.idx`: to one of a list of labels", "`.idx`：跳到标号表中的一个"),
    "note-brkpt": Text("stops the launch, as `trap`", "中止启动，同 `trap`"),
    "note-call": Text(
        "of device functions, direct or by address, recursive too; `printf`, `malloc`, `free`, `assert`",
        "调用设备函数，直接或按地址，可递归；`printf`、`malloc`、`free`、`assert`",
    ),
    "note-cvta": Text(
        "between generic and any space: all share one address space",
        "通用地址与任一空间之间：所有空间共用一个地址空间",
    ),
    "note-cp": Text(
        "`.async` of 4, 8 and 16 bytes, global to shared, with zeros behind the source's bytes; `.commit_group` `.wait_group` `.wait_all` `.mbarrier.arrive`; `.async.bulk` of ranges (global, shared, another block's shared memory) and `.tensor` of boxes of 1 to 5 dimensions (`.tile`, `.im2col`), `.multicast`, `.prefetch`, `.commit_group`, `.wait_group`; `.reduce.async.bulk`",
        "`.async`，4、8、16 字节，从全局内存到共享内存，源数据之后补零；`.commit_group` `.wait_group` `.wait_all` `.mbarrier.arrive`；`.async.bulk`：一段内存（全局、共享、其他线程块的共享内存）；`.tensor`：1 到 5 维的 box（`.tile`、`.im2col`），`.multicast`，`.prefetch`，`.commit_group`，`.wait_group`；`.reduce.async.bulk`",
    ),
    "note-createpolicy": Text("gives a policy that nothing asks for", "给出缓存策略，但不起作用"),
    "note-elect": Text("`.sync`: the first member that lives", "`.sync`：第一个未结束的成员"),
    "note-getctarank": Text("of addresses of shared memory, 32 and 64 bits", "共享内存地址所属的线程块，32 和 64 位"),
    "note-mapa": Text(
        "of addresses of shared memory, `.shared::cluster` and generic", "共享内存地址，`.shared::cluster` 和通用地址"
    ),
    "note-setmaxnreg": Text("no effect: registers are not shared out", "不起作用：寄存器不作分配"),
    "note-tensormap": Text(
        "`.replace` of all fields of a tiled map; `.cp_fenceproxy`", "`.replace` tile 模式映射的所有字段；`.cp_fenceproxy`"
    ),
    "note-wgmma": Text(
        "`.mma_async` m64n8 … m64n256: f16 into f16 and f32, bf16 and tf32 into f32, e4m3 and e5m2 into f16 and f32, s8 and u8 "
        "into s32, b1 into s32 by `.and`; the left factor from registers or shared memory, all swizzles, both majors; `.fence` "
        "`.commit_group` `.wait_group`",
        "`.mma_async` m64n8 … m64n256：f16 得 f16、f32，bf16 和 tf32 得 f32，e4m3 和 e5m2 得 f16、f32，s8 和 u8 得 s32，b1 用 "
        "`.and` 得 s32；左矩阵来自寄存器或共享内存，所有 swizzle，两种主序；`.fence` `.commit_group` `.wait_group`",
    ),
    "note-exit": Text("ends the thread", "结束线程"),
    "note-fence": Text(
        "no effect: the accesses of a block are never out of order", "不起作用：线程块的访存从不乱序"
    ),
    "note-griddepcontrol": Text("no effect: launches follow one another", "不起作用：启动依次进行"),
    "note-as-ld": Text("as `ld`", "同 `ld`"),
    "note-ldmatrix": Text(
        "8×8 matrices of b16 `.x1` `.x2` `.x4`, each also `.trans`; shared, or generic",
        "b16 的 8×8 矩阵，`.x1` `.x2` `.x4`，都可带 `.trans`；共享或通用地址",
    ),
    "note-as-ldmatrix": Text("as `ldmatrix`", "同 `ldmatrix`"),
    "note-mbarrier": Text(
        "`.init` `.inval` `.arrive` `.arrive_drop` `.test_wait` `.try_wait` (also `.parity`) `.pending_count` `.expect_tx` `.complete_tx`",
        "`.init` `.inval` `.arrive` `.arrive_drop` `.test_wait` `.try_wait`（也可 `.parity`）`.pending_count` `.expect_tx` `.complete_tx`",
    ),
    "note-mov": Text(
        "16 to 128 bits, predicates, packing and unpacking, addresses, special registers",
        "16 到 128 位，谓词，打包与拆包，地址，特殊寄存器",
    ),
    "note-nanosleep": Text("lets the other warps run", "让其他 warp 运行"),
    "note-as-fence": Text("as `fence`", "同 `fence`"),
    "note-ret": Text(
        "from a device function; from a kernel, as `exit`", "从设备函数返回；在核函数中同 `exit`"
    ),
    "note-red": Text("as `atom`, without a result", "同 `atom`，没有结果"),
    "note-trap": Text("stops the launch with `fp.KernelFault`", "以 `fp.KernelFault` 中止启动"),
    "note-vmad": Text(
        "of bytes, half-words and words, with `.po`, `.shr7`, `.shr15` and `.sat`",
        "字节、半字和字，可带 `.po`、`.shr7`、`.shr15`、`.sat`",
    ),
    # ---- Forms -----------------------------------------------------------------------------------------
    "video-scalar": Text(
        "of bytes, half-words and words, with a second operation", "字节、半字和字，可带第二个运算"
    ),
    "video-halves": Text("of two half-words, each with its lane's mask", "两个半字，各有掩码"),
    "video-bytes": Text("of four bytes, each with its lane's mask", "四个字节，各有掩码"),
    "no-effect": Text("no effect", "不起作用"),
    "plain": Text("plain,", "（不带修饰）"),
    "matrix-by": Text("(by `.{operation}`)", "（用 `.{operation}`）"),
    "any-pair": Text("{elements} in any pair", "{elements}（任意组合）"),
    "matrix": Text("{elements} into {results}: {shapes}", "{elements} 相乘得 {results}：{shapes}"),
    "fragments": Text(
        "fragments of these shapes, `.row` and `.col`, of global, shared and generic memory",
        "这些形状的 fragment，`.row` 和 `.col`，全局、共享和通用内存",
    ),
    "widths": Text("{bits} bits", "{bits} 位"),
    "widths-vectors": Text("{bits} bits; {vectors}", "{bits} 位；{vectors}"),
    "constant": Text("as `ld.global`; not counted as an access", "同 `ld.global`；不计入访存"),
    "atomic": Text("{operations} ({spaces}): {elements}", "{operations}（{spaces}）：{elements}"),
    "vectors": Text("{vectors} of {elements}", "{vectors}，元素为 {elements}"),
    "space-generic": Text("generic", "通用"),
    "space-global": Text("global", "全局"),
    "space-shared": Text("shared", "共享"),
    "integers": Text("integers", "整数"),
    "conversion": Text("to {results} from {elements}", "由 {elements} 到 {results}"),
    "integral": Text("between floats of one type, rounded to integers", "同一浮点类型之间，舍入到整数"),
    "pack": Text(
        "`.pack`: two integers into halves, bytes, nibbles or pairs of bits, saturated",
        "`.pack`：两个整数饱和后打包成半字、字节、4 位或 2 位",
    ),
    # ---- Refused instructions --------------------------------------------------------------------------
    "refused-sparse": Text("sparse tensor cores", "稀疏 tensor core"),
    "refused-wgmma": Text("sparse tensor cores of sm_90a", "sm_90a 的稀疏 tensor core"),
    "refused-tcgen05": Text("tensor cores of sm_100a", "sm_100a 的 tensor core"),
    "refused-textures": Text("textures: no texture units", "纹理：没有纹理单元"),
    "refused-surfaces": Text("surfaces: no texture units", "表面：没有纹理单元"),
    "refused-multimem": Text("memory of several GPUs (sm_90)", "多块 GPU 的内存（sm_90）"),
    "refused-three-operands": Text("the least of three (sm_100)", "三个数的最小值（sm_100）"),
    "refused-alloca": Text("stack memory of a size known late", "运行时才知道大小的栈内存"),
    "refused-no-mask": Text(
        "warp-wide without a member mask (before sm_70)", "没有成员掩码的 warp 级操作（sm_70 之前）"
    ),
    "refused-device-launch": Text("kernels launched by kernels", "由核函数启动核函数"),
}
