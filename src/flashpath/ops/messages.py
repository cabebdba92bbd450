"""What the operators say of arguments that they refuse."""

from __future__ import annotations

from flashpath.messages import Entry, Text

MESSAGES: dict[str, Text | Entry] = {
    "alibi-gradient": Entry(
        Text("{name} got alibi_slopes that require a gradient.", "{name} 的 alibi_slopes 要求梯度。"),
        Text(
            "There is none for them: give alibi_slopes.detach().", "它没有梯度：请传 alibi_slopes.detach()。"
        ),
    ),
    "class-weights": Entry(
        Text(
            "{name} got weights of classes of shape {shape}, {dtype}, on {device}.",
            "{name} 的类别权重形状是 {shape}，类型 {dtype}，在 {device} 上。",
        ),
        Text(
            "There must be {classes}, one for each class, in a float type, on the device of the logits.",
            "应有 {classes} 个，每类一个，为浮点类型，与 logits 在同一设备上。",
        ),
    ),
    "weights-smoothing": Entry(
        Text(
            "{name} got weights of classes and label_smoothing.",
            "{name} 同时收到了类别权重和 label_smoothing。",
        ),
        Text("Give one of them.", "请只给其中一个。"),
    ),
    "gradient-input": Entry(
        Text("{name} got {key} of shape {shape}, {dtype}.", "{name} 的 {key} 形状是 {shape}，类型 {dtype}。"),
        Text("It must be {expected}, {expected_dtype}.", "应是 {expected}，类型 {expected_dtype}。"),
    ),
    "backend": Entry(
        Text("{name} got backend = {backend}.", "{name} 收到 backend = {backend}。"),
        Text("It takes triton, cuda, reference or None.", "应是 triton、cuda、reference 或 None。"),
    ),
    "tangent": Entry(
        Text(
            "{name} got {key} with a tangent: forward-mode differentiation (jvp).",
            "{name} 的 {key} 带有切向量：这是前向模式微分（jvp）。",
        ),
        Text(
            "Operators of flashpath have backward gradients only: take torch.autograd.grad or .backward().",
            "flashpath 的算子只有反向梯度：请用 torch.autograd.grad 或 .backward()。",
        ),
    ),
    "sdpa-two-masks": Entry(
        Text("{name} got attn_mask and is_causal=True.", "{name} 同时收到了 attn_mask 和 is_causal=True。"),
        Text("Give one of them.", "请只给其中一个。"),
    ),
    "sdpa-mask": Entry(
        Text(
            "{name} got attn_mask, a tensor of shape {shape}, {dtype}.",
            "{name} 的 attn_mask 是形状 {shape}、类型 {dtype} 的张量。",
        ),
        Text(
            "Its kernels read no mask: give is_causal=True, or causal_upper_left or causal_lower_right of "
            "torch.nn.attention.bias. For padding take fp.attention_varlen, for rules of one's own a score_mod of "
            "fp.attention, for any mask torch's own function.",
            "核函数不读取掩码：请用 is_causal=True，或者 torch.nn.attention.bias 的 causal_upper_left、causal_lower_right。"
            "有填充时用 fp.attention_varlen，自定规则用 fp.attention 的 score_mod，任意掩码用 torch 自己的函数。",
        ),
    ),
    "sdpa-bias": Entry(
        Text(
            "{name} got a causal bias of {sizes} for {queries} queries and {keys} keys.",
            "{name} 的因果掩码大小是 {sizes}，而有 {queries} 个查询、{keys} 个键。",
        ),
        Text("Both sizes must be the same.", "两者必须相同。"),
    ),
    "sdpa-dtype": Entry(
        Text("{name} got {dtype} for {key}.", "{name} 的 {key} 类型是 {dtype}。"),
        Text(
            "It takes {dtypes}: cast the tensors, or call it under torch.autocast.",
            "支持 {dtypes}：请转换类型，或者在 torch.autocast 下调用。",
        ),
    ),
    "sdpa-dims": Entry(
        Text("{name} got tensors of the shapes {shapes}.", "{name} 收到的张量形状是 {shapes}。"),
        Text(
            "It takes (…, heads, sequence, dim), of two dimensions or more, as many for all.",
            "应是 (…, heads, sequence, dim)，至少两维，维数都相同。",
        ),
    ),
    "sdpa-unlike": Entry(
        Text(
            "{name} got query of {dtype} on {device} and {key} of {dtype2} on {device2}.",
            "{name} 的 query 类型是 {dtype}，在 {device} 上；{key} 类型是 {dtype2}，在 {device2} 上。",
        ),
        Text("All must have one type and one device.", "类型和设备必须都相同。"),
    ),
    "sdpa-dim": Entry(
        Text("{name} got {key} with heads of {dim}.", "{name} 的 {key} 的头维度是 {dim}。"),
        Text("It takes 1 to {largest_dim}.", "应是 1 到 {largest_dim}。"),
    ),
    "sdpa-shapes": Entry(
        Text("{name} got tensors of the shapes {shapes}.", "{name} 收到的张量形状是 {shapes}。"),
        Text(
            "query and key have one dim, key and value one sequence, and what stands before the heads broadcasts.",
            "query 与 key 的 dim 相同，key 与 value 的 sequence 相同，heads 之前的维度可以广播。",
        ),
    ),
    "sdpa-heads": Entry(
        Text(
            "{name} got {heads} heads of query, {kv_heads} of key and {v_heads} of value.",
            "{name} 的 query 有 {heads} 个头，key 有 {kv_heads} 个，value 有 {v_heads} 个。",
        ),
        Text(
            "They are equal, or 1; with enable_gqa=True those of query are a multiple of those of key and value.",
            "三者相等，或者是 1；enable_gqa=True 时，query 的头数是 key 和 value 头数的倍数。",
        ),
    ),
    "rope-gradient": Entry(
        Text("rope got {key} that requires a gradient.", "rope 的 {key} 要求梯度。"),
        Text("There is none for it: give {key}.detach().", "它没有梯度：请传 {key}.detach()。"),
    ),
    "rope-both": Entry(
        Text("rope got positions and offsets.", "rope 同时收到了 positions 和 offsets。"),
        Text("Give one of them.", "请只给其中一个。"),
    ),
    "rope-offsets": Entry(
        Text(
            "rope got offsets of shape {shape} for q of shape {shape2}.",
            "rope 的 offsets 形状是 {shape}，而 q 形状是 {shape2}。",
        ),
        Text(
            "It takes a number, or (batch) of them for q of (batch, sequence, heads, dim).",
            "应是一个数；q 为 (batch, sequence, heads, dim) 时也可以是 (batch) 个数。",
        ),
    ),
    "reduce-dims": Entry(
        Text("reduce got dim={dims} for {op}.", "reduce 对 {op} 收到 dim={dims}。"),
        Text(
            "It takes each dimension once, and one of them for argmax.",
            "每个维度只能给一次；argmax 只能给一个维度。",
        ),
    ),
    "no-dtype": Entry(
        Text("{name} got dtype = {value}.", "{name} 收到 dtype = {value}。"),
        Text("It takes a type of torch, such as torch.float32.", "应是 torch 的类型，例如 torch.float32。"),
    ),
    "no-choice": Entry(
        Text("{name} got the {what} {value}.", "{name} 收到的 {what} 是 {value}。"),
        Text("It knows {choices}.", "可选：{choices}。"),
    ),
    "no-number": Entry(
        Text("{name} got {key} = {value}.", "{name} 收到 {key} = {value}。"),
        Text("It must be a number.", "它必须是数。"),
    ),
    "large-number": Entry(
        Text("{name} got {key}, a whole number of {digits} bits.", "{name} 的 {key} 是 {digits} 位的整数。"),
        Text("It takes up to 64 bits: give it as a float.", "最多 64 位：请以浮点数给出。"),
    ),
    "number-gradient": Entry(
        Text("{name} got {key}, a tensor that requires a gradient.", "{name} 的 {key} 是要求梯度的张量。"),
        Text(
            "A number has none: give {key}.detach(), or multiply by the tensor with torch's functions.",
            "数没有梯度：请传 {key}.detach()，或者用 torch 的函数与该张量相乘。",
        ),
    ),
    "no-flag": Entry(
        Text("{name} got {key} = {value}.", "{name} 收到 {key} = {value}。"),
        Text("It takes True or False.", "应是 True 或 False。"),
    ),
    "not-whole": Entry(
        Text("{name} got {key} = {value}.", "{name} 收到 {key} = {value}。"),
        Text("It takes a whole number.", "应是整数。"),
    ),
    "negative": Entry(
        Text("{name} got {key} = {value}.", "{name} 收到 {key} = {value}。"),
        Text("It takes 0 or more.", "应不小于 0。"),
    ),
    "window": Entry(
        Text("{name} got window = {window}.", "{name} 收到 window = {window}。"),
        Text(
            "It takes (left, right), whole numbers of 0 or more, or -1 for no bound.",
            "应是 (left, right)，不小于 0 的整数，-1 表示不限。",
        ),
    ),
    "dim": Entry(
        Text(
            "{name} got dim={dim} for a tensor of shape {shape}.",
            "对形状为 {shape} 的张量，{name} 收到 dim={dim}。",
        ),
        Text("It takes one dimension, from {value} to {rank}.", "应是一个维度，从 {value} 到 {rank}。"),
    ),
    "no-tensor": Entry(
        Text("{name} got {key} = {x}.", "{name} 收到 {key} = {x}。"),
        Text("It must be a torch tensor.", "它必须是 torch 张量。"),
    ),
    "nested": Entry(
        Text("{name} got {key}, a nested tensor.", "{name} 的 {key} 是嵌套张量。"),
        Text(
            "It takes dense ones: {key}.values() and offsets() for attention_varlen, or "
            "{key}.to_padded_tensor(0.0).",
            "它需要普通张量：用 {key}.values() 和 offsets() 调用 attention_varlen，或者用 {key}.to_padded_tensor(0.0)。",
        ),
    ),
    "layout": Entry(
        Text("{name} got {key} of layout {layout}.", "{name} 的 {key} 布局是 {layout}。"),
        Text("It takes dense tensors: {key}.to_dense().", "它需要普通张量：{key}.to_dense()。"),
    ),
    "bins": Entry(
        Text("histogram got bins = {given}.", "histogram 收到 bins = {given}。"),
        Text("It takes 1 to {most_bins:,} bins.", "应是 1 到 {most_bins:,}。"),
    ),
    "decode-q": Entry(
        Text("attention_decode got q of shape {shape}.", "attention_decode 的 q 形状是 {shape}。"),
        Text("It takes (batch, sequence, heads, dim).", "应是 (batch, sequence, heads, dim)。"),
    ),
    "decode-rotary": Entry(
        Text(
            "attention_decode got only one of rotary_cos and rotary_sin.",
            "attention_decode 只收到了 rotary_cos 和 rotary_sin 中的一个。",
        ),
        Text("Give both, or none of them.", "请两个都给，或者都不给。"),
    ),
    "decode-backend": Entry(
        Text("attention_decode got backend = {backend}.", "attention_decode 收到 backend = {backend}。"),
        Text("It takes triton, cuda, reference or None.", "应是 triton、cuda、reference 或 None。"),
    ),
    "merge-dtype": Entry(
        Text("merge_states got {dtype} for a.", "merge_states 的 a 类型是 {dtype}。"),
        Text("It takes {known}.", "支持的类型：{known}。"),
    ),
    "decode-lengths": Entry(
        Text(
            "attention_decode got cache_seqlens = {cache_seqlens}.",
            "attention_decode 收到 cache_seqlens = {cache_seqlens}。",
        ),
        Text(
            "It takes a whole number of 0 or more, or one for each sequence: int32, (batch).",
            "应是不小于 0 的整数，或者每条序列一个：int32，(batch)。",
        ),
    ),
    "merge-shapes": Entry(
        Text(
            "merge_states got {name} of shape {shape} and its lse of {shape2}.",
            "merge_states 的 {name} 形状是 {shape}，它的 lse 是 {shape2}。",
        ),
        Text(
            "Both must be (batch, queries, heads, dim) of one type, and their lse (batch, heads, "
            "queries), float32.",
            "两者都应是同一类型的 (batch, queries, heads, dim)，lse 是 float32 的 (batch, heads, queries)。",
        ),
    ),
    "merge-devices": Entry(
        Text(
            "merge_states got a on {device} and {each} on {device2}.",
            "merge_states 的 a 在 {device} 上，{each} 在 {device2} 上。",
        ),
        Text("All must be on one device.", "它们要在同一设备上。"),
    ),
    "many-products": Entry(
        Text(
            "{operator} got {products:,} multiply-adds on the CPU; the virtual GPU takes up to "
            "{most_products_on_cpu:,}.",
            "{operator} 在 CPU 上要做 {products:,} 次乘加，虚拟 GPU 最多 {most_products_on_cpu:,} 次。",
        ),
        Text(
            "Move the tensors to a GPU (q.cuda()), or give backend='reference', which torch computes.",
            "请把张量移到 GPU（q.cuda()），或者传 backend='reference'，由 torch 计算。",
        ),
    ),
    "many-scores": Entry(
        Text(
            "{operator} got {scores:,} scores to differentiate by torch's formula on the CPU, which "
            "keeps about {kept} GiB for it; it takes up to {most_kept_bytes_on_cpu} GiB.",
            "{operator} 要在 CPU 上用 torch 的公式对 {scores:,} 个分数求导，约需保留 {kept} GiB，上限是 "
            "{most_kept_bytes_on_cpu} GiB。",
        ),
        Text(
            "Move the tensors to a GPU (q.cuda()), take torch.no_grad() where no gradient is wanted, "
            "or give shorter sequences or fewer heads at a time.",
            "请把张量移到 GPU（q.cuda()）；不需要梯度时用 torch.no_grad()；或者缩短序列、减少每次的头数。",
        ),
    ),
    "matmul-shapes": Entry(
        Text("matmul got shapes {shape} and {shape2}.", "matmul 收到的形状是 {shape} 和 {shape2}。"),
        Text(
            "It takes (m, k) and (k, n), or (k); what stands before the last two dimensions broadcasts.",
            "应是 (m, k) 和 (k, n)，或者 (k)；最后两维之前的维度可以广播。",
        ),
    ),
    "linear-shapes": Entry(
        Text(
            "linear got x of shape {shape} and weight of shape {shape2}.",
            "linear 的 x 形状是 {shape}，weight 形状是 {shape2}。",
        ),
        Text("It takes (…, k) and (n, k).", "应是 (…, k) 和 (n, k)。"),
    ),
    "linear-unlike": Entry(
        Text(
            "linear got {name} of shape {shape}, {dtype} on {device}.",
            "linear 的 {name} 形状是 {shape}，类型 {dtype}，在 {device} 上。",
        ),
        Text(
            "It must be {wanted}, {wanted_dtype} on {wanted_device}.",
            "应是 {wanted}，类型 {wanted_dtype}，在 {wanted_device} 上。",
        ),
    ),
    "matmul-unlike": Entry(
        Text(
            "{name} got {first} of {dtype} on {device} and {second} of {dtype2} on {device2}.",
            "{name} 的 {first} 是 {dtype}，在 {device} 上，{second} 是 {dtype2}，在 {device2} 上。",
        ),
        Text("Both must have one type and one device.", "两者的类型和设备都要相同。"),
    ),
    "matmul-dtype": Entry(
        Text("{name} got matrices of {dtype}.", "{name} 收到 {dtype} 的矩阵。"),
        Text("It takes {dtypes}.", "支持的类型：{dtypes}。"),
    ),
    "scan-flags": Entry(
        Text(
            "scan got flags of shape {shape} for x of shape {shape2}.",
            "scan 的 flags 形状是 {shape}，x 的形状是 {shape2}。",
        ),
        Text("They have one shape.", "两者的形状要相同。"),
    ),
    "norm-scalar": Entry(
        Text("{name} got a tensor without dimensions.", "{name} 收到没有维度的张量。"),
        Text("It normalises the last dimension.", "它对最后一维做归一化。"),
    ),
    "residual": Entry(
        Text(
            "{name} got a residual of shape {shape} for x of shape {shape2}.",
            "{name} 的 residual 形状是 {shape}，x 的形状是 {shape2}。",
        ),
        Text(
            "They have one shape: residual.expand_as(x) broadcasts it.",
            "两者的形状要相同：residual.expand_as(x) 可以广播。",
        ),
    ),
    "linear-weight": Entry(
        Text(
            "{name} got a weight of shape {shape} for rows of {hidden} elements.",
            "{name} 的 weight 形状是 {shape}，而每行有 {hidden} 个元素。",
        ),
        Text(
            "It takes (classes, hidden), as torch.nn.Linear has it.",
            "应是 (classes, hidden)，与 torch.nn.Linear 相同。",
        ),
    ),
    "targets": Entry(
        Text(
            "{name} got a target of shape {shape} for {what} of shape {shape2}.",
            "{name} 的 target 形状是 {shape}，{what} 的形状是 {shape2}。",
        ),
        Text(
            "target has all dimensions but the last. For torch's (batch, classes, …) pass logits.movedim(1, -1).",
            "target 比它少最后一维。torch 的 (batch, classes, …) 请传 logits.movedim(1, -1)。",
        ),
    ),
    "spmv-ends": Entry(
        Text("spmv got a row_ptr from {first} to {last}.", "spmv 的 row_ptr 从 {first} 到 {last}。"),
        Text(
            "It starts with 0 and ends with the number of entries, here {count}.",
            "它要从 0 开始，以元素个数结束，这里是 {count}。",
        ),
    ),
    "spmv-falls": Entry(
        Text(
            "spmv got row_ptr[{at}] = {row_ptr} and row_ptr[{at2}] = {row_ptr2}.",
            "spmv 收到 row_ptr[{at}] = {row_ptr}、row_ptr[{at2}] = {row_ptr2}。",
        ),
        Text(
            "It never falls: row r has the entries from row_ptr[r] up to row_ptr[r + 1].",
            "它不能下降：第 r 行的元素从 row_ptr[r] 到 row_ptr[r + 1] 之前。",
        ),
    ),
    "spmv-column": Entry(
        Text(
            "spmv got col[{at}] = {col} for an x of {count} elements.",
            "x 有 {count} 个元素，spmv 却收到 col[{at}] = {col}。",
        ),
        Text("Columns are from 0 to {count2}.", "列号从 0 到 {count2}。"),
    ),
    "slow-products": Text(
        "ops.{name} got {count:,} multiply-adds on the CPU: the virtual GPU computes them, slowly. "
        "Move them to a GPU (x.cuda()), or take torch's own function there.",
        "ops.{name} 要在 CPU 上做 {count:,} 次乘加：由虚拟 GPU 计算，很慢。请把张量移到 GPU（x.cuda()），或者在 CPU 上用 torch 自己的函数。",
    ),
    "slow-elements": Text(
        "ops.{name} got {count:,} elements on the CPU: the virtual GPU computes them, slowly. Move "
        "them to a GPU (x.cuda()), or take torch's own function there.",
        "ops.{name} 收到 CPU 上的 {count:,} 个元素：由虚拟 GPU 计算，很慢。请把张量移到 GPU（x.cuda()），或者在 CPU 上用 torch 自己的函数。",
    ),
}
