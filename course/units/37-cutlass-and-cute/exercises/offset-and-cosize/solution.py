"""Where does an element lie, and how much memory does the layout need?"""


def index_and_cosize(rows, cols, row_stride, col_stride, row, col):
    """Returns the index of the coordinate (row, col), and the layout's cosize.

    The layout is (rows, cols):(row_stride, col_stride). No stride is negative; a stride may be 0.
    """
    index = row * row_stride + col * col_stride
    cosize = (rows - 1) * row_stride + (cols - 1) * col_stride + 1
    return index, cosize
