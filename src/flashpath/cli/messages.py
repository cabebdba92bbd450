"""What the command line says: help, headings, results and errors.

Each command has a section, under its name; a section's keys begin with the command's name.
"""

from __future__ import annotations

from flashpath.messages import Entry, Text

MESSAGES: dict[str, Text | Entry] = {
    # ---- explain-dispatch ------------------------------------------------------------------------------
    "explain-dispatch-help": Text(
        """Say which rung answers a call of an operator, for each direction, and why it is that one.

        No GPU is needed: name one. Attention goes by the nearest problem that was measured on such a GPU, by
        dimension and length; decoding by the bytes of the cache and the batch; where none was measured, the
        GPU's instructions decide. Batch and heads of a measured problem stand beside its times. What the
        operator refuses is refused here in the same words. softcap, ALiBi, sinks and dropout change nothing of
        the choice. `python benchmarks/dispatch_table.py` makes the table of what was measured.

        Examples:

            flashpath explain-dispatch attention --shape 4 4096 16 128 --causal --device H200

            flashpath explain-dispatch attention --shape 1 512 8 256 --device sm_86 --json

            flashpath explain-dispatch decode --shape 8 8192 32 128 --kv-heads 8 --page-size 16 --device H200

            flashpath explain-dispatch matmul --shape 4096 4096 4096 --dtype bfloat16 --device H200

            flashpath explain-dispatch softmax --shape 64 131072 --device A100
        """,
        """说明一次算子调用由哪个梯级执行（前向、反向分别说明），以及为什么选它。

        不需要 GPU：指定一块即可。注意力按维度和长度取这种 GPU 上实测过的最接近的问题；解码按缓存字节数和批大小；
        没有实测数据时由 GPU 的指令决定。实测问题的批大小和头数列在时间旁边。算子会拒绝的调用，这里用同样的话拒绝。
        softcap、ALiBi、sink 和 dropout 不影响选择。`python benchmarks/dispatch_table.py` 生成实测数据表。

        示例：

            flashpath explain-dispatch attention --shape 4 4096 16 128 --causal --device H200

            flashpath explain-dispatch attention --shape 1 512 8 256 --device sm_86 --json

            flashpath explain-dispatch decode --shape 8 8192 32 128 --kv-heads 8 --page-size 16 --device H200

            flashpath explain-dispatch matmul --shape 4096 4096 4096 --dtype bfloat16 --device H200

            flashpath explain-dispatch softmax --shape 64 131072 --device A100
        """,
    ),
    "explain-dispatch-operator": Text(
        "An operator of flashpath.ops, such as attention, softmax or matmul; decode is attention_decode.",
        "flashpath.ops 里的算子，如 attention、softmax、matmul；decode 即 attention_decode。",
    ),
    "explain-dispatch-shape": Text(
        "The sizes of the call. Of attention: of q, and of k and v unless said otherwise; of attention_varlen, "
        "so many sequences of this length; of attention_decode, the sequence is what the cache has. Of others "
        "see the message that `--shape 0` gets.",
        "调用的大小。attention：q 的大小，k 和 v 默认与它相同；attention_varlen：这么多条这样长的序列；"
        "attention_decode：序列长度指缓存里的键数。其他算子可用 `--shape 0` 查看格式。",
    ),
    "explain-dispatch-keys": Text(
        "Tokens of k and v, if not as many as of q.", "k 和 v 的 token 数，默认与 q 相同。"
    ),
    "explain-dispatch-kv-heads": Text("Heads of k and v, if fewer.", "k 和 v 的头数，可以少于 q。"),
    "explain-dispatch-v-dim": Text("The dimension of v's heads, if another.", "v 的头维度，默认与 q 相同。"),
    "explain-dispatch-queries": Text(
        "Of attention_decode: queries of the step, 1 by default.",
        "attention_decode：这一步的查询数，默认 1。",
    ),
    "explain-dispatch-page-size": Text(
        "Of attention_decode: keys of a page of the cache.", "attention_decode：缓存每页的键数。"
    ),
    "explain-dispatch-causal": Text("A query sees no key behind its place.", "查询看不到它之后的键。"),
    "explain-dispatch-window": Text(
        "Keys to the left and right that are seen; -1: all.", "左右各能看到多少个键；-1 表示不限。"
    ),
    "explain-dispatch-score-mod": Text(
        "Languages a ScoreMod is given in: triton, or cuda,triton,torch.",
        "ScoreMod 提供了哪些语言的实现：triton，或 cuda,triton,torch。",
    ),
    "explain-dispatch-dtype": Text(
        "The type of the tensors: float32, but bfloat16 of attention.",
        "张量类型：默认 float32，注意力默认 bfloat16。",
    ),
    "explain-dispatch-backend": Text(
        "As a call of attention would give it: triton, cuda or reference.",
        "与注意力调用的参数相同：triton、cuda 或 reference。",
    ),
    "explain-dispatch-device": Text(
        "sm_90, H200, cuda or cpu; by default the GPU, if there is one.",
        "sm_90、H200、cuda 或 cpu；默认用本机的 GPU（如果有）。",
    ),
    "explain-dispatch-wrong-dtype": Entry(
        Text("--dtype is {given!r}.", "--dtype 是 {given!r}。"),
        Text("It is one of {known}.", "可选：{known}。"),
    ),
    "explain-dispatch-foreign": Entry(
        Text("{option} is of {operator}.", "{option} 只用于 {operator}。"),
        Text("Leave it out.", "请去掉它。"),
    ),
    "explain-dispatch-unmeasured": Text(
        "Nothing was measured on such a GPU: python benchmarks/compare_all.py measures one.",
        "没有这种 GPU 的实测数据：可以用 python benchmarks/compare_all.py 测一遍。",
    ),
    "explain-dispatch-no-operator": Entry(
        Text("There is no choice to explain of {name!r}.", "没有可以说明的选择：{name!r}。"),
        Text("It explains {known}. {more}", "可以说明：{known}。{more}"),
    ),
    "explain-dispatch-did-you-mean": Text("Did you mean {name}?", "你是想输入 {name} 吗？"),
    "explain-dispatch-rungs-of": Text(
        "flashpath ladder {name} shows the rungs there are.", "flashpath ladder {name} 列出它的梯级。"
    ),
    "explain-dispatch-all-ladders": Text(
        "flashpath ladder lists all ladders.", "flashpath ladder 列出所有阶梯。"
    ),
    "explain-dispatch-wrong-languages": Entry(
        Text("--score-mod is {given!r}.", "--score-mod 是 {given!r}。"),
        Text(
            "It takes the languages that the ScoreMod has a form for: {known}.",
            "请给出 ScoreMod 提供了实现的语言：{known}。",
        ),
    ),
    "explain-dispatch-wrong-shape": Entry(
        Text("--shape is {given!r}.", "--shape 是 {given!r}。"),
        Text(
            "It takes {count} of 1 or more, {words}, such as --shape {example}.",
            "请给出 {count}（不小于 1）：{words}，例如 --shape {example}。",
        ),
    ),
    "explain-dispatch-one-number": Text("a whole number", "一个整数"),
    "explain-dispatch-two-numbers": Text("two whole numbers", "两个整数"),
    "explain-dispatch-three-numbers": Text("three whole numbers", "三个整数"),
    "explain-dispatch-four-numbers": Text("four whole numbers", "四个整数"),
    "explain-dispatch-nearest": Text("The nearest that were measured", "实测过的最接近的问题"),
    "explain-dispatch-direction": Text("direction", "方向"),
    "explain-dispatch-problem": Text("problem", "问题"),
    "explain-dispatch-fastest": Text("fastest", "最快"),
    "explain-dispatch-decides": Text("this one decides", "由它决定"),
    "explain-dispatch-run": Text("Measured with {run}.", "实测环境：{run}。"),
    "explain-dispatch-way": Text(
        "{name:<8}  {backend} ({rung}): {why}.", "{name:<8}  {backend}（{rung}）：{why}。"
    ),
    "explain-dispatch-refused": Text("refused: {problem}", "会被拒绝：{problem}"),
    "explain-dispatch-too-many": Entry(
        Text("{what}", "{what}"),
        Text(
            "{fix} Here --device names the GPU: --device H200.",
            "{fix} 这里可以用 --device 指定 GPU：--device H200。",
        ),
    ),
    "explain-dispatch-one-kernel": Text(
        "there is one kernel, which is not a rung of a ladder", "只有一个核函数，它不属于任何阶梯"
    ),
    "explain-dispatch-call": Text("{operator} of {tensors}, {how}", "{operator}：{tensors}，{how}"),
    "explain-dispatch-steps": Text(
        "attention_decode of q {shape} with {keys:,} keys of {heads} heads, {layout}, {how}",
        "attention_decode：q {shape}，{heads} 个键值头、每条序列 {keys:,} 个键，{layout}，{how}",
    ),
    "explain-dispatch-how": Text("{features}, on {gpu}", "{features}，在 {gpu} 上"),
    "explain-dispatch-windowed": Text("window ({left}, {right})", "窗口（{left}, {right}）"),
    "explain-dispatch-modded": Text("a score_mod in {languages}", "score_mod（{languages}）"),
}
