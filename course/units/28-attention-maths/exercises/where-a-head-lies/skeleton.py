"""Where an element of q and of k lies, of multi-head attention with shared key heads."""


def places(b, t, h, c, sequence, heads, kv_heads, dim):
    """The numbers of two elements, counted from the first element of their tensors.

    b, t, h, c: NumPy arrays of whole numbers: sequence of the batch, token, query head, component.
    q has the shape (batch, sequence, heads, dim), k (batch, sequence, kv_heads, dim); heads is a multiple of kv_heads.
    Returns the place of component c of query head h at token t in q, and that of the same component, at the same
    token, of the key head which query head h uses, in k.
    """
    q_place = c  # TODO
    k_place = c  # TODO: which key head is it?
    return q_place, k_place
