"""Tensors: a place in memory and a layout; slicing moves nothing."""

from flashpath.layout import Layout, parse_layout, zipped_divide

memory = list(range(100, 164))  # 64 elements


def show(name, start, layout):
    values = [memory[start + index] for index in layout.indices()]
    print(f"{name:7} starts at {start:2}  {layout}  {values[:8]}")


matrix = parse_layout("(8,8):(8,1)")  # make_tensor(memory, layout)
show("matrix", 0, matrix)

tiled = zipped_divide(matrix, (4, 4))  # ((4,4),(2,2)):((8,1),(32,4))
tile = tiled[0]  # local_tile(matrix, (4, 4), (1, 1))
corner = tiled[1](1, 1)
show("tile", corner, tile)

threads = Layout((2, 4), (4, 1))  # 8 threads, row by row
shared = zipped_divide(tile, (2, 4))  # ((2,4),(2,1)):((8,1),(16,0))
for thread in (0, 1, 6):  # local_partition(tile, threads, thread)
    row, column = thread // 4, thread % 4
    assert threads(row, column) == thread
    show(f"part {thread}", corner + shared[0](row, column), shared[1])
