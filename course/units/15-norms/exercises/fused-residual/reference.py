"""What is added is rounded to half, and what was rounded is normalised."""

import numpy as np


def reference(x, residual, weight, eps):
    total = (x.astype(np.float32) + residual.astype(np.float32)).astype(np.float16).astype(np.float64)
    scale = 1 / np.sqrt((total * total).mean(1, keepdims=True) + eps)
    return {"residual": total, "out": total * scale * weight}
