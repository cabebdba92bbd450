"""What was in dq, and the gradient of q on top of it, in float64."""

import numpy as np


def reference(q, k, v, dout, lse, delta, dq, n, scale):
    sees = np.tri(n, dtype=bool)
    p = np.where(sees, np.exp(scale * np.einsum("ic,jc->ij", q, k) - lse[:, None]), 0.0)
    ds = p * (np.einsum("ic,jc->ij", dout, v) - delta[:, None])
    return {"dq": dq + scale * np.einsum("ij,jc->ic", ds, k)}
