"""What the interfaces of other libraries say of arguments that they refuse."""

from __future__ import annotations

from flashpath.messages import Entry, Text

MESSAGES: dict[str, Text | Entry] = {
    "index-scalar": Entry(
        Text("index_first_axis got input of shape ().", "index_first_axis 的 input 形状是 ()。"),
        Text("It takes (rows, …).", "应是 (rows, …)。"),
    ),
    "put-rows": Entry(
        Text(
            "index_put_first_axis got indices of shape {shape} and values of {shape2}.",
            "index_put_first_axis 的 indices 形状是 {shape}，values 的形状是 {shape2}。",
        ),
        Text("There is one index for each row of values.", "values 的每一行对应一个下标。"),
    ),
    "indices-dtype": Entry(
        Text("{name} got indices of {dtype}.", "{name} 的 indices 类型是 {dtype}。"),
        Text("It takes int64 or int32.", "应是 int64 或 int32。"),
    ),
    "indices-range": Entry(
        Text(
            "{name} got indices from {least} to {most} for {rows} rows.",
            "{name} 的 indices 从 {least} 到 {most}，而只有 {rows} 行。",
        ),
        Text("They are from 0 to {rows2}.", "应在 0 到 {rows2} 之间。"),
    ),
    "unpad-shape": Entry(
        Text(
            "unpad_input got hidden_states of shape {shape}.", "unpad_input 的 hidden_states 形状是 {shape}。"
        ),
        Text("It takes (batch, sequence, …).", "应是 (batch, sequence, …)。"),
    ),
    "pad-shapes": Entry(
        Text(
            "pad_input got indices of shape {shape} and hidden_states of {shape2}.",
            "pad_input 的 indices 形状是 {shape}，hidden_states 的形状是 {shape2}。",
        ),
        Text(
            "There is one index for each token: (tokens) and (tokens, …), as unpad_input gives them.",
            "每个 token 一个下标：(tokens) 和 (tokens, …)，与 unpad_input 的结果相同。",
        ),
    ),
    "unpad-mask": Entry(
        Text(
            "unpad_input got {name} of shape {shape} and hidden_states of {shape2}.",
            "unpad_input 的 {name} 形状是 {shape}，hidden_states 的形状是 {shape2}。",
        ),
        Text("The mask must be {tuple}: (batch, sequence).", "掩码的形状应是 {tuple}：(batch, sequence)。"),
    ),
    "pad-range": Entry(
        Text(
            "pad_input got indices from {least} to {most} for {batch} sequences of {seqlen}.",
            "pad_input 的 indices 从 {least} 到 {most}，而有 {batch} 条长 {seqlen} 的序列。",
        ),
        Text("They are places from 0 to {batch2}.", "位置应在 0 到 {batch2} 之间。"),
    ),
    "packed-layout": Entry(
        Text("{name} got {key} of shape {shape}.", "{name} 的 {key} 形状是 {shape}。"),
        Text("It takes {layout}.", "应是 {layout}。"),
    ),
    "window": Entry(
        Text("{name} got window_size = {window}.", "{name} 收到 window_size = {window}。"),
        Text(
            "It takes (left, right), two whole numbers; negative ones are no bound.",
            "应是 (left, right) 两个整数；负数表示不限。",
        ),
    ),
    "not-whole": Entry(
        Text("{name} got {key} = {value}.", "{name} 收到 {key} = {value}。"),
        Text("It takes a whole number.", "应是整数。"),
    ),
    "block-table": Entry(
        Text(
            "{name} got block_table of shape {shape}, {dtype}.",
            "{name} 的 block_table 形状是 {shape}，类型 {dtype}。",
        ),
        Text("It takes int32 of shape (sequences, pages).", "应是形状为 (sequences, pages) 的 int32。"),
    ),
    "bounds-and-table": Entry(
        Text(
            "{name} got cu_seqlens_k of shape {shape} and block_table of {shape2}.",
            "{name} 的 cu_seqlens_k 形状是 {shape}，block_table 的形状是 {shape2}。",
        ),
        Text("There is one bound for each sequence, and one more.", "边界数应比序列数多一个。"),
    ),
    "bounds-q": Entry(
        Text(
            "{name} got cu_seqlens_q of shape {shape}, {dtype} on {device}.",
            "{name} 的 cu_seqlens_q 形状是 {shape}，类型 {dtype}，在 {device} 上。",
        ),
        Text(
            "It takes int32 of shape ({shape2}), one for each sequence and one more, on {device2}.",
            "应是形状为 ({shape2}) 的 int32（比序列数多一个），在 {device2} 上。",
        ),
    ),
    "bounds-by-one": Entry(
        Text(
            "{name} got cu_seqlens_q = {bounds}, {shape} tokens and max_seqlen_q = 1.",
            "{name} 收到 cu_seqlens_q = {bounds}、{shape} 个 token、max_seqlen_q = 1。",
        ),
        Text("It must begin with 0 and rise by 1 for each sequence.", "它要从 0 开始，每条序列加 1。"),
    ),
    "longest-k": Entry(
        Text(
            "{name} got max_seqlen_k = {most}, and a sequence of {max}.",
            "{name} 收到 max_seqlen_k = {most}，而有一条序列长 {max}。",
        ),
        Text("It must be no less than the longest.", "它不能小于最长的序列。"),
    ),
    "layout": Entry(
        Text("{name} got {key} of shape {shape}.", "{name} 的 {key} 形状是 {shape}。"),
        Text("It takes {value}.", "应是 {value}。"),
    ),
    "pages": Entry(
        Text(
            "{name} got a sequence of {length} keys with the pages {used}, of {size} keys each.",
            "{name} 的一条序列有 {length} 个键，页是 {used}，每页 {size} 个键。",
        ),
        Text(
            "Its pages must hold it, and are numbers from 0 to {count}.",
            "这些页要放得下它，页号在 0 到 {count} 之间。",
        ),
    ),
    "head-dim": Entry(
        Text("{name} got q of shape {shape}.", "{name} 的 q 形状是 {shape}。"),
        Text("It takes a head dimension of 1 or more.", "头维度应不小于 1。"),
    ),
    "cache-table": Entry(
        Text("{name} got block_table of shape {shape}.", "{name} 的 block_table 形状是 {shape}。"),
        Text("It takes int32 of shape (batch, pages).", "应是形状为 (batch, pages) 的 int32。"),
    ),
    "no-lengths": Entry(
        Text(
            "{name} got k, and no cache_seqlens that say where it goes.",
            "{name} 收到了 k，却没有说明它放在哪里的 cache_seqlens。",
        ),
        Text(
            "Give it: int32, (batch), or one number for all.",
            "请给出：int32，(batch)，或者所有序列共用的一个数。",
        ),
    ),
    "rotary-shapes": Entry(
        Text(
            "{name} got cos of shape {shape}, sin of {shape2} and x of {shape3}.",
            "{name} 的 cos 形状是 {shape}，sin 是 {shape2}，x 是 {shape3}。",
        ),
        Text(
            "Both must be (positions, pairs), with at most {shape4} pairs.",
            "两者都应是 (positions, pairs)，最多 {shape4} 对。",
        ),
    ),
    "rotary-devices": Entry(
        Text(
            "{name} got x on {device}, cos on {device2} and sin on {device3}.",
            "{name} 的 x 在 {device} 上，cos 在 {device2} 上，sin 在 {device3} 上。",
        ),
        Text("Use one device.", "请用同一设备。"),
    ),
    "rotary-packed": Entry(
        Text(
            "{name} got qkv of shape {shape}, num_heads_q = {heads}.",
            "{name} 的 qkv 形状是 {shape}，num_heads_q = {heads}。",
        ),
        Text(
            "It takes (batch, sequence, 3, heads, dim), or (batch, sequence, heads of q, k and v, dim) with num_heads_q.",
            "应是 (batch, sequence, 3, heads, dim)；或 (batch, sequence, q、k、v 的头数之和, dim)，并给出 num_heads_q。",
        ),
    ),
    "rotary-no-table": Entry(
        Text(
            "RotaryEmbedding got a seqlen_offset in a tensor before it has tables.",
            "RotaryEmbedding 还没有角度表，却收到了张量形式的 seqlen_offset。",
        ),
        Text("Give max_seqlen, how long the tables shall be.", "请给出 max_seqlen，即角度表的长度。"),
    ),
    "norm-rowscale": Entry(
        Text("{name} got x1 and rowscale.", "{name} 同时收到了 x1 和 rowscale。"),
        Text("Give one of them.", "请只给其中一个。"),
    ),
    "fa3-not-there": Entry(
        Text(
            "{name} got {key}, which flashpath has no kernel for.",
            "{name} 收到 {key}，而 flashpath 没有相应的核函数。",
        ),
        Text(
            "It takes float16 and bfloat16, and sequences as flash_attn_varlen_func has them; leave {key} out.",
            "可用 float16、bfloat16，以及 flash_attn_varlen_func 那样的序列；请去掉 {key}。",
        ),
    ),
    "fa3-lse": Entry(
        Text("{name} got lse_partial of shape {shape}.", "{name} 的 lse_partial 形状是 {shape}。"),
        Text("It must be {expected}.", "应是 {expected}。"),
    ),
    "rotary-negative": Entry(
        Text("{name} got a seqlen_offsets of {least}.", "{name} 收到的 seqlen_offsets 是 {least}。"),
        Text("Positions are 0 or more.", "位置不能小于 0。"),
    ),
    "rotary-bounds": Entry(
        Text(
            "{name} got cu_seqlens of shape {shape}, {dtype}.",
            "{name} 的 cu_seqlens 形状是 {shape}，类型 {dtype}。",
        ),
        Text("It takes whole numbers of shape (sequences + 1).", "应是形状为 (sequences + 1) 的整数张量。"),
    ),
    "rotary-falls": Entry(
        Text(
            "{name} got cu_seqlens = {bounds} for {shape} tokens.",
            "{name} 收到 cu_seqlens = {bounds}，而 token 有 {shape} 个。",
        ),
        Text(
            "It must begin with 0, end with the number of tokens, and never fall.",
            "它要从 0 开始，以 token 数结束，并且不能下降。",
        ),
    ),
    "rotary-offsets": Entry(
        Text(
            "{name} got seqlen_offsets of shape {shape}, {dtype}.",
            "{name} 的 seqlen_offsets 形状是 {shape}，类型 {dtype}。",
        ),
        Text(
            "It takes one whole number, or one for each of the {sequences} sequences.",
            "应是一个整数，或者 {sequences} 条序列各一个。",
        ),
    ),
    "rotary-no-offsets": Entry(
        Text("{name} got seqlen_offsets = {offsets}.", "{name} 收到 seqlen_offsets = {offsets}。"),
        Text("It takes a whole number, or a tensor of them.", "应是整数，或者整数张量。"),
    ),
    "no-room": Entry(
        Text(
            "{name} got cache_seqlens of up to {longest}, {new} new keys and a block_table of {columns:~column}.",
            "{name} 的 cache_seqlens 最大为 {longest}，新键 {new} 个，而 block_table 只有 {columns} 列。",
        ),
        Text(
            "Each column stands for a page of {size} keys: give the table more columns.",
            "每列对应一页，每页 {size} 个键：请给 block_table 更多的列。",
        ),
    ),
    "generator": Entry(
        Text(
            "{name}: the RNG `generator` argument is no longer supported.",
            "{name}：不再支持 `generator` 参数。",
        ),
        Text(
            "Give None; dropout draws its seed from torch's generator of the tensors' device.",
            "请传 None；dropout 的种子取自张量所在设备上 torch 的随机数生成器。",
        ),
    ),
    "splits": Entry(
        Text(
            "{name} got num_splits = {num_splits}: num_splits > 1 is not supported for sequences in pages.",
            "{name} 收到 num_splits = {num_splits}：分页的序列不支持大于 1 的 num_splits。",
        ),
        Text(
            "Give 0 or 1; flash_attn_with_kvcache takes any number.",
            "请传 0 或 1；flash_attn_with_kvcache 接受任意个数。",
        ),
    ),
    "left-pad": Entry(
        Text("{name} got leftpad_k.", "{name} 收到 leftpad_k。"),
        Text(
            "Let cu_seqlens_k begin where the keys begin; flash_attn_with_kvcache takes cache_leftpad.",
            "请让 cu_seqlens_k 从键开始的位置算起；flash_attn_with_kvcache 接受 cache_leftpad。",
        ),
    ),
    "no-seed": Entry(
        Text("{name} got a dropout_p and no rng_state.", "{name} 收到 dropout_p，却没有 rng_state。"),
        Text(
            "Give the fourth result of the forward call: without its seed other weights are dropped.",
            "请传前向调用的第四个结果：没有它的种子，丢弃的会是另一些权重。",
        ),
    ),
    "imported-already": Entry(
        Text(
            "{module} of another package is imported already.",
            "另一个包的 {module} 已经导入。",
        ),
        Text("Call it before that import.", "请在导入之前调用它。"),
    ),
}
