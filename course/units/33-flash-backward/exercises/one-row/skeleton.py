"""What the scores of some keys change in the loss, from what the forward pass kept."""

import numpy as np


def row_gradient(s, lse, v, o, dout):
    """s: (rows, keys), scaled scores of some of the keys that the rows see; v: (keys, d), their values.

    lse: (rows), o: (rows, d), of all keys of the row; dout: (rows, d), the gradient of o. Returns delta, (rows), and ds,
    (rows, keys): the gradient of s.
    """
    dp = dout @ v.T  # (rows, keys)
    # TODO: delta, the weights, and ds. The rows have other keys too, which are not here.
    return lse, dp
