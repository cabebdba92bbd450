"""Quantises groups of 128 neighbours to int8, each rounding as float32 has it."""

import numpy as np


def reference(rows, columns, x):
    groups = -(-columns // 128)
    padded = np.zeros((rows, groups * 128), np.float32)
    padded[:, :columns] = x
    grouped = padded.reshape(rows, groups, 128)
    scales = np.maximum(np.abs(grouped).max(2, initial=0) / np.float32(127), np.float32(1e-30))
    codes = np.rint(grouped / scales[..., None]).reshape(rows, groups * 128)[:, :columns]
    return {"codes": codes.astype(np.int64), "scales": scales.astype(np.float64)}
