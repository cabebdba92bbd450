"""Between q · k and the softmax, for a tile: scale, softcap, ALiBi, a function of one's own, mask, dropout.

Weights are powers of 2: e^x = 2^(x · log2 e), and the GPU has an instruction for 2^x. Where nothing but the
scale lies between, not even that is multiplied: 2^(s · scale · log2 e - m) is one multiply-add for each
score, then the instruction. `FEATURES` (features.py) says at compile time what there is; what there is not
costs nothing.
"""

import triton
import triton.language as tl

LOG2E = tl.constexpr(1.4426950408889634)
LN2 = tl.constexpr(0.6931471805599453)


@triton.jit
def exponent_scale(scale, FEATURES: tl.constexpr):
    """What scores, as `limited` and `final` make them, are multiplied with to be exponents of 2."""
    if FEATURES.folded:
        return scale * LOG2E
    return LOG2E


@triton.jit
def limited(products, scale, softcap, slope, query, key, shift, FEATURES: tl.constexpr):
    """Scaled, capped and biased scores; where only a scale is asked for, the products as they are."""
    s = products
    if not FEATURES.folded:
        s = s * scale
    if FEATURES.softcap:
        # tanh x = 1 - 2 / (e^2x + 1), which neither overflows nor needs a branch
        s = softcap - 2 * softcap / (tl.exp2(s * (2 * LOG2E / softcap)) + 1)
    if FEATURES.alibi:
        s = s - slope * tl.abs(query + shift - key).to(tl.float32)
    return s


@triton.jit
def final(s, batch, head, query, key, MOD: tl.constexpr):
    """Scores as the softmax has them."""
    if MOD is not None:
        s = MOD(s, batch, head, query, key).to(tl.float32)
    return s


@triton.jit
def derivative(
    s, softcap, slope, batch, head, query, key, shift, FEATURES: tl.constexpr, MOD_DERIVATIVE: tl.constexpr
):
    """Of the final score by the scaled product, given what `limited` made of it."""
    if FEATURES.softcap:
        before = s
        if FEATURES.alibi:
            before += slope * tl.abs(query + shift - key).to(tl.float32)
        d = 1 - (before / softcap) * (before / softcap)
    else:
        d = tl.full(s.shape, 1.0, tl.float32)
    if MOD_DERIVATIVE is not None:
        d *= MOD_DERIVATIVE(s, batch, head, query, key).to(tl.float32)
    return d


@triton.jit
def visible(query, key, keys, shift, left, right, FEATURES: tl.constexpr):
    """Whether a query sees a key.

    A causal mask compares every score once, with a last key for each query: with two comparisons the kernels
    need so many registers more that a block less fits on an SM.
    """
    last = keys - 1
    if FEATURES.right:
        last = tl.minimum(last, query + (shift + right))
    seen = key <= last
    if FEATURES.left:
        seen = seen & (key >= query + (shift - left))
    return seen


@triton.jit
def masked(
    x, hidden, query, key, keys, shift, left, right, start, whole, FEATURES: tl.constexpr, MASK: tl.constexpr
):
    """x where a query sees a key, `hidden` where not.

    MASK: "never", "always", or "outside" of `whole`: (first, last) between which tiles need none. `start` is
    where this tile begins.
    """
    if MASK == "always":
        x = tl.where(visible(query, key, keys, shift, left, right, FEATURES), x, hidden)
    elif MASK == "outside":
        on_an_edge = (start < whole[0]) | (start >= whole[1])
        if on_an_edge:
            x = tl.where(visible(query, key, keys, shift, left, right, FEATURES), x, hidden)
    return x


@triton.jit
def kept(seed, threshold, of_head, query, first_key, KEYS: tl.constexpr):
    """(queries, KEYS): which weights dropout leaves; dropout.py has the counters. `query` is (queries, 1)."""
    fours = first_key // 4 + tl.arange(0, KEYS // 4)[None, :]
    zeros = tl.zeros((query.shape[0], KEYS // 4), tl.int32)
    a, b, c, d = tl.philox(seed, fours + zeros, query + zeros, of_head + zeros, zeros)
    words = tl.interleave(tl.interleave(a, c), tl.interleave(b, d))  # a b c d a b c d …
    return words.to(tl.uint32) >= threshold.to(tl.uint32)
