"""What the modules and `patch` say."""

from __future__ import annotations

from flashpath.messages import Entry, Text

MESSAGES: dict[str, Text | Entry] = {
    "norm-shape": Entry(
        Text("{name} got normalized_shape {shape}.", "{name} 的 normalized_shape 是 {shape}。"),
        Text("It takes the last dimension alone: one number.", "只能归一化最后一维：请给一个数。"),
    ),
    "activation": Entry(
        Text("GatedMLP got activation = {activation}.", "GatedMLP 收到 activation = {activation}。"),
        Text("It takes {known}.", "可选：{known}。"),
    ),
    "rotary-dim": Entry(
        Text("Rotary got dim = {dim}.", "Rotary 收到 dim = {dim}。"),
        Text("Elements turn in pairs: give an even number above 0.", "元素成对旋转：请给正偶数。"),
    ),
    "rotary-frequencies": Entry(
        Text("Rotary got inv_freq of shape {shape}.", "Rotary 的 inv_freq 形状是 {shape}。"),
        Text("It must be ({pairs}), one for each pair.", "应是 ({pairs})，每对一个。"),
    ),
    "attention-heads": Entry(
        Text(
            "Attention got hidden_size = {hidden}, heads = {heads}, kv_heads = {kv_heads}.",
            "Attention 收到 hidden_size = {hidden}、heads = {heads}、kv_heads = {kv_heads}。",
        ),
        Text(
            "heads must be a multiple of kv_heads, and hidden_size one of heads, or give head_dim.",
            "heads 应是 kv_heads 的倍数，hidden_size 应是 heads 的倍数；否则请给 head_dim。",
        ),
    ),
    "cache-batch": Entry(
        Text(
            "A step of {batch:~sequence} got a cache of {rows}.",
            "这一步有 {batch} 个序列，缓存却有 {rows} 个。",
        ),
        Text("Make a cache for that batch.", "请按该批大小建立缓存。"),
    ),
    "cache-full": Entry(
        Text(
            "The cache has room for {capacity:~token}: {longest} are in it, and {tokens} were to be added.",
            "缓存的容量是 {capacity} 个 token：已有 {longest} 个，又要加入 {tokens} 个。",
        ),
        Text("Make a larger cache, or reset() it.", "请建立更大的缓存，或用 reset() 清空。"),
    ),
    "cache-order": Entry(
        Text(
            "Attention got a cache together with positions, or with causal=False.",
            "Attention 收到缓存的同时收到了 positions，或 causal=False。",
        ),
        Text(
            "With a cache tokens follow what is in it, and see only what is before them.",
            "使用缓存时，token 依次接在已有的 token 之后，并且只能看到前面的 token。",
        ),
    ),
    "cache-type": Entry(
        Text("Attention got a cache of {dtype}.", "Attention 的缓存类型是 {dtype}。"),
        Text("It takes float16 and bfloat16.", "应是 float16 或 bfloat16。"),
    ),
    "no-module": Entry(
        Text("patch got {model}.", "patch 收到 {model}。"),
        Text(
            "It takes a torch.nn.Module, not one of TorchScript.",
            "应是 torch.nn.Module，TorchScript 的模块不行。",
        ),
    ),
    "no-transformers": Entry(
        Text("transformers is not installed.", "没有安装 transformers。"),
        Text("pip install 'transformers>=5'", "pip install 'transformers>=5'"),
    ),
    "old-transformers": Entry(
        Text("transformers {version} is installed.", "已安装的 transformers 是 {version}。"),
        Text(
            "Its attention is changed from version {least} on: pip install 'transformers>={least}'",
            "从 {least} 版起才能更换它的注意力：pip install 'transformers>={least}'",
        ),
    ),
    # ---- The report --------------------------------------------------------------------------------------
    "report-head": Text(
        "flashpath computes {replaced:~module} of this model, {kept} stay.",
        "这个模型的 {replaced} 个模块改由 flashpath 计算，{kept} 个保持原样。",
    ),
    "report-kept-head": Text("As they were:", "保持原样："),
    "report-replaced": Text("{name} ({was}): {by}", "{name}（{was}）：{by}"),
    "report-kept": Text("{name} ({was}) stays: {why}", "{name}（{was}）保持原样：{why}"),
    "kept-forward": Text(
        "its forward was replaced on the instance already",
        "实例上的 forward 已被替换",
    ),
    "kept-script": Text("it is a TorchScript module", "它是 TorchScript 模块"),
    "kept-device": Text("it is on {device}, which has no kernels", "它在 {device} 上，没有相应的核函数"),
    "kept-norm": Text(
        "it computes no RMS or layer norm of the last dimension",
        "它计算的不是最后一维上的 RMS norm 或 layer norm",
    ),
    "kept-mlp": Text(
        "it computes more, or other things, than down(activation(gate) · up) with silu or gelu",
        "它计算的不只是（或不是）采用 silu 或 gelu 的 down(activation(gate) · up)",
    ),
    "kept-rotary": Text(
        "its apply_rotary_pos_emb does not turn pairs of q and k by one angle each",
        "它的 apply_rotary_pos_emb 不是把 q、k 的每一对按同一角度旋转",
    ),
    "kept-multihead": Text(
        "torch's MultiheadAttention takes masks as tensors; fp.nn.Attention does not",
        "torch 的 MultiheadAttention 接受张量掩码，fp.nn.Attention 不接受",
    ),
    "kept-loss": Text(
        "class weights together with label smoothing are torch's alone",
        "类别权重与标签平滑同时使用时只能由 torch 计算",
    ),
    "kept-head": Text(
        "how its forward gets from hidden states to the loss is not known: its logits are kept",
        "不了解它的 forward 如何由隐藏状态得到损失，因此保留 logits",
    ),
    "kept-attention": Text(
        "its class lets nobody choose such an attention; {implementation} stays",
        "它的类不允许更换为这类注意力，仍用 {implementation}",
    ),
    "note-cpu": Text(
        "Its weights are on the CPU: there the virtual GPU computes, by far slower than torch. Move it to a GPU, or unpatch it.",
        "它的权重在 CPU 上：此时由虚拟 GPU 计算，比 torch 慢得多。请移到 GPU 上，或用 unpatch 还原。",
    ),
    "note-float32": Text(
        "Its weights are float32: attention stays torch's but under autocast to float16 or bfloat16.",
        "它的权重是 float32：除非 autocast 为 float16 或 bfloat16，注意力仍由 torch 计算。",
    ),
}
