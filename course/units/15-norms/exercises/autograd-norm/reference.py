"""The outputs and their gradients in float64, and the size of total, weight and rstd."""

import numpy as np


def reference(x, residual, weight, dout, dtotal, eps):
    total = x + residual
    n = x.shape[1]
    deviation = np.sqrt((total * total).mean(1) + eps)
    normal = total / deviation[:, None]
    jacobians = (np.eye(n) - normal[:, :, None] * normal[:, None, :] / n) / deviation[:, None, None]
    d = np.einsum("rj,rji->ri", dout * weight, jacobians) + dtotal
    kept = np.array([x.size + weight.size + len(x)])
    return normal * weight, total, d, d, (dout * normal).sum(0), kept
