"""The largest N by halving an interval: no formula, no roots."""


def reference(mib, batch, heads, dim, bytes_of_a_score):
    def fits(n):
        return batch * heads * n * (8 * dim + bytes_of_a_score * n) <= mib * 2**20

    low, high = 0, 2**31
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    return low
