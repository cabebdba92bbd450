"""What Flash_fwd_kernel_traits makes of its template arguments, with 16-bit elements."""


def traits(head_dim, m, n, warps, share, sm_bytes):
    """Returns bytes, threads, columns, rows, copies, opt_in and blocks, in this order.

    bytes: of dynamic shared memory (kSmemSize). threads: of a block. columns: of a panel of shared memory
    (kBlockKSmem). rows: how many rows of a panel all threads copy at once, 16 bytes each. copies: how many such
    copies each thread makes for one tile of K. opt_in: 1 where the launch must ask for so much, else 0. blocks: how
    many blocks fit into an SM's sm_bytes; the system takes 1024 bytes more for each.
    """
    total = m * head_dim  # TODO
    threads = warps
    columns = head_dim
    rows = 1
    copies = 1
    opt_in = 0
    return total, threads, columns, rows, copies, opt_in, 1
