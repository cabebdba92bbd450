"""The gradient of a softmax of scaled scores."""

import numpy as np


def softmax_gradient(s, dp, scale):
    """What the loss changes with the scores s, where p = softmax(scale * s), row by row, goes on into the loss.

    s: (rows, n), float64; -inf where a score is hidden, but never in a whole row. dp: (rows, n), the gradient of the loss
    with respect to p. Returns ds, (rows, n): the gradient with respect to s.
    """
    z = scale * s
    e = np.exp(z - z.max(axis=1, keepdims=True))
    p = e / e.sum(axis=1, keepdims=True)
    # TODO: dp is the gradient of p. What is that of z, and what is that of s?
    return dp
