"""RMS norm of each row: divided by the root of its mean square, then scaled; gradients; a fused addition."""
