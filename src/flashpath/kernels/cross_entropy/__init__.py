"""Cross entropy of rows of logits: the losses, the log of the softmax's denominator, and the gradient."""
