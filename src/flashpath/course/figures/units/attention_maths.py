"""Figures of the unit on the maths of attention: block, heads, masked scores, scale, bytes of keys."""

from __future__ import annotations

import math

import numpy as np

from flashpath import jit, settings
from flashpath.course.figures.drawing import Figure, Group, Picture

_HEADS = 8
_SHARED = {"MHA": 8, "GQA": 2, "MQA": 1}  # key heads for so many query heads
_KEYS, _DIM = 256, 32  # of the step of decoding that is counted


def block(lang: str) -> Figure:
    """A Transformer block: attention mixes tokens, the MLP works on each alone; both add to their input."""
    said = {
        "en": (
            "attention: tokens look at each other",
            ["x (N, D)", "norm", "Q, K, V", "attention of H heads", "W_O", "+ x"],
            "MLP: each token by itself",
            ["y (N, D)", "norm", "W_1 (D, 4 D)", "activation", "W_2 (4 D, D)", "+ y"],
            "inside a head: (N, d) × (d, N), then (N, N) × (N, d)",
            ["Q Kᵀ", "× scale", "mask", "softmax", "× V"],
        ),
        "zh": (
            "注意力：token 之间互相看",
            ["x (N, D)", "归一化", "Q, K, V", "H 个头的注意力", "W_O", "+ x"],
            "MLP：每个 token 各自计算",
            ["y (N, D)", "归一化", "W_1 (D, 4 D)", "激活函数", "W_2 (4 D, D)", "+ y"],
            "一个头之内：(N, d) × (d, N)，然后 (N, N) × (N, d)",
            ["Q Kᵀ", "× scale", "掩码", "softmax", "× V"],
        ),
    }[lang]
    first, attention, second, mlp, third, head = said
    return (
        Picture()
        .heading(first)
        .flow(attention, [None, None, 0, 0, 0, 1])
        .heading(second)
        .flow(mlp, [None, None, 2, 2, 2, 1])
        .heading(third)
        .flow(head, [0, None, None, 3, 0])
        .both()
    )


def heads(lang: str) -> Figure:
    """Which key head each query head uses: a head each, groups, one for all."""
    said = {
        "en": ("{}: query heads", "key and value heads"),
        "zh": ("{}：查询头", "键头与值头"),
    }[lang]
    picture = Picture()
    for name, shared in _SHARED.items():
        group = _HEADS // shared
        colours: list[Group] = [head // group for head in range(_HEADS)]
        owners: list[Group] = list(range(shared))
        picture.grid([range(_HEADS)], [colours], title=said[0].format(name))
        picture.links([(head, head // group) for head in range(_HEADS)])
        picture.grid([range(shared)], [owners], title=said[1])
    return picture.both()


def masked(lang: str) -> Figure:
    """Scores of four tokens, under the causal mask, and their weights."""
    q = np.array([[1.0, 0.0, 1.0, 0.0], [0.0, 2.0, 0.0, 1.0], [1.0, 1.0, 0.0, 0.0], [2.0, 0.0, 1.0, 1.0]])
    k = np.array([[1.0, 1.0, 0.0, 1.0], [0.0, 1.0, 2.0, 0.0], [2.0, 0.0, 0.0, 1.0], [1.0, 0.0, 1.0, 1.0]])
    n, d = q.shape
    s = q @ k.T / math.sqrt(d)
    seen = np.tri(n) > 0
    e = np.where(seen, np.exp(s), 0.0)
    p = e / e.sum(1, keepdims=True)
    groups: list[list[Group]] = [[0 if seen[i, j] else None for j in range(n)] for i in range(n)]
    titles = {
        "en": ("S = Q Kᵀ / √d", "masked", "P = softmax of each row"),
        "zh": ("S = Q Kᵀ / √d", "加掩码", "P = 每行 softmax"),
    }[lang]
    shown = (
        [[f"{s[i, j]:.1f}" for j in range(n)] for i in range(n)],
        [[f"{s[i, j]:.1f}" if seen[i, j] else "-∞" for j in range(n)] for i in range(n)],
        [[f"{p[i, j]:.2f}" if seen[i, j] else "0" for j in range(n)] for i in range(n)],
    )
    colours: tuple[list[list[Group]], ...] = ([[0] * n for _ in range(n)], groups, groups)
    word = {"en": "query", "zh": "查询"}[lang]
    rows = [f"{word} {i}" for i in range(n)]
    parts = [
        Picture().grid(cells, colour, title=title, rows=rows if place == 0 else ())
        for place, (cells, colour, title) in enumerate(zip(shown, colours, titles, strict=True))
    ]
    return Picture().side_by_side(*parts).both()


def saturation(lang: str) -> Figure:
    """The largest weight of 64 random keys, on average over queries, with the scale and without."""
    rng = np.random.default_rng(28)
    said = {"en": ("with 1/√d", "without"), "zh": ("除以 √d", "不除")}[lang]
    bars: list[tuple[str, float, str]] = []
    for d in (4, 16, 64, 256):
        s = rng.standard_normal((200, d)) @ rng.standard_normal((d, 64))
        for word, scale in zip(said, (1 / math.sqrt(d), 1.0), strict=True):
            z = scale * s
            e = np.exp(z - z.max(1, keepdims=True))
            largest = float((e / e.sum(1, keepdims=True)).max(1).mean())
            bars.append((f"d = {d}, {word}", largest, f"{largest:.2f}"))
    return Picture().bars(bars).both()


def key_bytes(lang: str) -> Figure:
    """KiB that a token's scores move with as many query heads and fewer key heads, counted."""
    folder = settings.content_dir("course") / "units/28-attention-maths/exercises/count-a-head"
    name = "heads_of_a_token"
    kernel = jit.compile(folder / "heads.cu", name_expressions=[name])[name]
    said = {"en": "key heads: {}", "zh": "键头 {} 个"}[lang]
    bars: list[tuple[str, float, str]] = []
    for word, shared in _SHARED.items():
        q = np.ones((_HEADS, _DIM), np.float32)
        k = np.ones((_KEYS, shared, _DIM), np.float32)
        s = np.zeros((_HEADS, _KEYS), np.float32)
        arguments = (_HEADS, shared, _KEYS, 1.0, q, k, s)
        report = jit.profile(kernel, grid=(_KEYS // 32, _HEADS), block=(32,), args=arguments)
        kib = report.dram_bytes / 1024
        bars.append((f"{word}, {said.format(shared)}", kib, f"{kib:g} KiB"))
    return Picture().bars(bars).both()
