"""The gradients of LayerNorm."""

import numpy as np


def gradients(dy, x, weight, eps):
    """What the loss changes with x, weight and bias, where y = normal * weight + bias goes on into the loss.

    dy, x: (rows, n), float64; dy is the gradient of the loss with respect to y. weight: (n). Returns dx, (rows, n), dweight
    and dbias, (n) each.
    """
    mean = x.mean(axis=1, keepdims=True)
    rstd = 1 / np.sqrt(((x - mean) ** 2).mean(axis=1, keepdims=True) + eps)
    normal = (x - mean) * rstd  # (rows, n)
    g = dy * weight
    of_g = g.mean(axis=1, keepdims=True)
    of_g_normal = (g * normal).mean(axis=1, keepdims=True)
    dx = rstd * (g - of_g - normal * of_g_normal)
    return dx, (dy * normal).sum(axis=0), dy.sum(axis=0)
