"""Figures of the unit on flash-attention's source: tree, call, blocks, instances, tiles, measurements."""

from __future__ import annotations

import json
from itertools import product
from typing import Any

from flashpath import settings
from flashpath.course.figures.drawing import Figure, Group, Picture

_KIB = 1024
_SM_KIB = {"A100": 164, "H100": 228}  # shared memory of an SM; 1 KiB of it is reserved for each block


def tree(lang: str) -> Figure:
    """The folders of the repository and the files of csrc/flash_attn, with the unit that reads them."""
    column = {"en": "what it holds (unit that reads it)", "zh": "内容（在哪个单元读）"}[lang]
    places: list[tuple[str, str, str, Group]] = [
        (
            "flash_attn/",
            "Python: flash_attn_interface.py (34)",
            "Python 层：flash_attn_interface.py（34）",
            0,
        ),
        ("csrc/flash_attn/", "FlashAttention 2 in CUDA C++", "FlashAttention 2，CUDA C++", 1),
        ("flash_api.cpp", "checks, parameters, choice (34)", "检查、参数、选择核函数（34）", 1),
        ("src/flash.h", "Flash_fwd_params (34)", "Flash_fwd_params（34）", 1),
        ("src/*_launch_template.h", "grid, instance, launch (34, 36)", "网格、实例、启动（34、36）", 1),
        ("src/static_switch.h", "BOOL_SWITCH (34)", "BOOL_SWITCH（34）", 1),
        ("src/kernel_traits.h", "tiles, layouts, copies (34)", "分块、布局、拷贝（34）", 1),
        ("src/block_info.h", "where a sequence lies (34)", "序列在哪里（34）", 1),
        ("src/flash_fwd_kernel.h", "forward, split, combine (35)", "前向、切分、合并（35）", 1),
        ("src/softmax.h, mask.h, …", "parts of that kernel (35)", "该核函数的各部分（35）", 1),
        ("src/flash_bwd_*.h", "backward (36)", "反向（36）", 1),
        ("src/*.cu", "72 files, one instantiation each", "72 个文件，各实例化一次", 1),
        ("hopper/", "FlashAttention 3, for H100 (40, 41)", "FlashAttention 3，面向 H100（40、41）", 2),
        ("csrc/cutlass/", "submodule: CUTLASS and CuTe (37)", "子模块：CUTLASS 与 CuTe（37）", 3),
        ("csrc/composable_kernel/", "submodule: tiles for AMD GPUs", "子模块：面向 AMD GPU 的分块库", 4),
        ("csrc/flash_attn_ck/", "the same functions on top of it", "在它之上的同样的函数", 4),
        ("tests/, benchmarks/", "tests; timing", "测试；计时", None),
    ]
    cells = [[english if lang == "en" else chinese] for _, english, chinese, _ in places]
    groups: list[list[Group]] = [[group] for *_, group in places]
    return Picture().grid(cells, groups, rows=[place for place, *_ in places], columns=[column]).both()


def call(lang: str) -> Figure:
    """The functions that a forward call passes, layer by layer, and what each layer decides."""
    layers: list[tuple[str, tuple[str, ...], str, str]] = [
        (
            "flash_attn_interface.py",
            ("flash_attn_func", "FlashAttnFunc.forward", "_flash_attn_forward"),
            "the scale; padding of d to a multiple of 8; what is saved for backward",
            "缩放；d 填充到 8 的倍数；为反向保存什么",
        ),
        (
            "flash_api.cpp",
            ("mha_fwd", "set_params_fprop", "set_params_splitkv", "run_mha_fwd"),
            "out and lse; Flash_fwd_params; splits; type, d and causal",
            "out 与 lse；Flash_fwd_params；切分几份；类型、d、因果",
        ),
        (
            "flash_fwd_launch_template.h",
            ("run_mha_fwd_hdim128", "run_flash_fwd"),
            "tile, warps, dropout; grid, six flags, shared memory",
            "分块、warp 数、dropout；网格、六个标志、共享内存",
        ),
        (
            "flash_fwd_kernel.h",
            ("flash_fwd_kernel", "compute_attn", "compute_attn_1rowblock"),
            "each block: its sequence, head and rows, and the keys that they see",
            "每个线程块：自己的序列、头和行，以及它们看得到的键",
        ),
    ]
    picture = Picture()
    for number, (file, functions, english, chinese) in enumerate(layers):
        picture.heading(file).flow(functions, [number] * len(functions))
        picture.note(english if lang == "en" else chinese)
    return picture.both()


def blocks(lang: str) -> Figure:
    """The blocks of one head for three packed sequences: which have rows, and which return at once."""
    lengths, tile = (200, 500, 1000), 128
    tiles = -(-max(lengths) // tile)
    said = {"en": "sequence {}: {} rows", "zh": "序列 {}：{} 行"}[lang]
    cells: list[list[str]] = []
    groups: list[list[Group]] = []
    for number, length in enumerate(lengths):
        firsts = range(0, tiles * tile, tile)
        cells.append([str(min(tile, length - first)) if first < length else "" for first in firsts])
        groups.append([number if first < length else None for first in firsts])
    rows = [said.format(number, length) for number, length in enumerate(lengths)]
    columns = [f"x = {x}" for x in range(tiles)]
    return Picture().grid(cells, groups, rows=rows, columns=columns).both()


def _instances(dim: int) -> int:
    """How many kernels run_flash_fwd makes of eight flags, for one tile, with its rules on combinations."""
    found: set[tuple[bool, ...]] = set()
    for dropout, causal, even_mn, even_k, local, softmax, alibi, softcap in product((False, True), repeat=8):
        found.add(
            (
                dropout and not softcap,
                causal,
                local and not causal,
                alibi,
                even_mn and even_k and not local and not alibi and not softmax and dim <= 128,
                even_k and not softmax and not alibi,
                softcap,
                softmax and dropout and not softcap,
            )
        )
    return len(found)


def instances(lang: str) -> Figure:
    """Kernels that the compiler makes of eight flags, with and without the rules of run_flash_fwd."""
    labels = {
        "en": ("all combinations", "with the rules, d <= 128", "with the rules, d > 128"),
        "zh": ("所有组合", "按规则合并，d <= 128", "按规则合并，d > 128"),
    }[lang]
    counts = (2**8, _instances(128), _instances(256))
    return Picture().bars([(label, count) for label, count in zip(labels, counts, strict=True)]).both()


# Head dimension, queries, keys and warps of a block, without dropout, on an A100 or H100: from
# flash_fwd_launch_template.h of v2.8.3.
_TILES = (
    ("32", 32, 128, 128, 4),
    ("64", 64, 128, 128, 4),
    ("96", 96, 128, 64, 4),
    ("128", 128, 128, 64, 4),
    ("192", 192, 128, 64, 8),
    ("256, A100", 256, 128, 64, 8),
    ("256, H100", 256, 64, 64, 4),
)


def tiles(lang: str) -> Figure:
    """The configuration of each head dimension, its shared memory, and the blocks that it leaves room for."""
    columns = {
        "en": ["tile", "warps", "KiB", "scores a thread", *(f"blocks, {gpu}" for gpu in _SM_KIB)],
        "zh": ["分块", "warp 数", "KiB", "每线程分数", *(f"{gpu} 块数" for gpu in _SM_KIB)],
    }[lang]
    cells: list[list[str]] = []
    groups: list[list[Group]] = []
    for _, dim, queries, keys, warps in _TILES:
        kib = 2 * dim * (queries + 2 * keys) // _KIB
        counts = [room // (kib + 1) for room in _SM_KIB.values()]
        scores = queries * keys // (32 * warps)
        cells.append([f"{queries} × {keys}", str(warps), str(kib), str(scores), *map(str, counts)])
        groups.append([None, None, kib // 48, None, *(None if count == 1 else 5 for count in counts)])
    return Picture().grid(cells, groups, rows=[f"d = {name}" for name, *_ in _TILES], columns=columns).both()


# ---- Measured ------------------------------------------------------------------------------------------


def _record(name: str) -> dict[str, Any]:
    file = settings.content_dir("benchmarks/results") / name
    found: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    return found


def first_call(lang: str) -> Figure:
    """Milliseconds of a first call on an H200, with and without its kernel compiled before."""
    record = _record("h200-call-cost.json")["first_calls"]
    labels = {"en": ("compiled", "cached"), "zh": ("现在编译", "取自缓存")}[lang]
    bars: list[tuple[str, float, str]] = []
    for operator in ("attention", "attention_varlen"):
        for label, key in zip(labels, ("first ever", "kernels compiled before"), strict=True):
            taken = record[key][operator]["ours"]
            bars.append((f"{operator}, {label}", taken, f"{taken:,.0f} ms"))
    return Picture().bars(bars).both()


def speed(lang: str) -> Figure:
    """TFLOP/s on an H200 by head dimension: FlashAttention 2 of PyTorch, and ours with the same plan."""
    names = {"flash_v2_cuda": "flash_v2_cuda", "torch (FlashAttention 2)": "FlashAttention 2"}
    words = {"en": {False: "full", True: "causal"}, "zh": {False: "无掩码", True: "因果"}}[lang]
    bars: list[tuple[str, float, str]] = []
    for ladder in _record("h200.json")["ladders"]:
        for case in ladder["cases"] if ladder["ladder"] == "attention" else ():
            parameters = case["parameters"]
            if (parameters.get("direction"), parameters.get("sequence")) != ("forward", 4096):
                continue
            for each in case["records"]:
                if each["implementation"] in names:
                    rate = each["tflop_per_s"]
                    label = f"d = {parameters['dim']}, {words[parameters['causal']]}: "
                    bars.append((label + names[each["implementation"]], rate, f"{rate:.0f}"))
    return Picture().bars(bars).both()
