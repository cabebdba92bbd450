"""The figures of the unit on the first kernel: who is where."""

from __future__ import annotations

from flashpath.course.figures.drawing import Figure, Group, Picture

_THREADS = 8  # of a block
_BLOCKS = 3


def grid() -> Figure:
    """Blocks and threads above, the index that each works out below."""
    places = range(_BLOCKS * _THREADS)
    groups: list[Group] = [i // _THREADS for i in places]
    picture = Picture()
    picture.grid(
        [[i // _THREADS for i in places], [i % _THREADS for i in places]],
        [groups, groups],
        rows=["blockIdx.x", "threadIdx.x"],
    )
    picture.links([(i, i) for i in places])
    picture.grid([list(places)], [groups], rows=["i".rjust(len("threadIdx.x"))])  # under the labels above
    return picture.both()


def tail(lang: str) -> Figure:
    """A last block that has threads to spare."""
    n = 20
    places = range(_BLOCKS * _THREADS)
    groups: list[Group] = [i // _THREADS if i < n else None for i in places]
    picture = Picture()
    picture.grid([list(places)], [groups], rows=["i"])
    picture.links([(i, i) for i in range(n)])
    picture.grid([list(range(n))], [groups[:n]], rows=["c"])
    left = len(places) - n
    spare = f"i < {n} 不成立：{left} 个线程" if lang == "zh" else f"i < {n} is false: {left} threads"
    picture.legend([*((block, f"blockIdx.x = {block}") for block in range(_BLOCKS)), (None, spare)])
    return picture.both()


def image() -> Figure:
    """An image under blocks of two dimensions: the index of every pixel, nothing where there is none."""
    height, width, side = 5, 10, 4
    down, across = -(-height // side), -(-width // side)
    rows, columns = range(down * side), range(across * side)
    inside = [[y < height and x < width for x in columns] for y in rows]
    picture = Picture()
    picture.grid(
        [[y * width + x if inside[y][x] else "" for x in columns] for y in rows],
        [[y // side * across + x // side if inside[y][x] else None for x in columns] for y in rows],
        rows=[f"y = {y}" for y in rows],
        columns=list(columns),
        note="x",
    )
    picture.legend([(y * across + x, f"blockIdx = ({x}, {y})") for y in range(down) for x in range(across)])
    return picture.both()
