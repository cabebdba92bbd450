"""How long does a pipeline of chunks take, in one stream and in several?"""


def how_long(chunks, copy_in, kernel, copy_out):
    """The time of all chunks in one stream, and in as many streams as help.

    Each chunk is copied in, computed and copied out, which takes `copy_in`, `kernel` and `copy_out` microseconds. A GPU
    makes one copy in, one copy out and one of these kernels at a time, the three beside each other.
    """
    return chunks * copy_in, chunks * copy_in
