def arrived(ops):
    """Returns how many copies are certain to have arrived, and how many groups may be on their way."""
    # TODO: follow one thread. 0: a copy, 1: commit, 2 and more: wait_group of op - 2.
    return 0, 0
