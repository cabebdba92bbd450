"""gradcheck of the formula in two precisions, and of an attention that forgets δ: which gradients are off."""

import warnings

import torch
from forgets_the_sum import attention, formula

warnings.filterwarnings("ignore", message="Input #")  # that float32 is too narrow: to be seen below


def checked(function, inputs):
    return "holds" if torch.autograd.gradcheck(function, inputs, raise_exception=False) else "fails"


torch.manual_seed(33)
inputs = [torch.randn(n, 8, dtype=torch.float64, requires_grad=True) for n in (5, 7, 7)]  # q, k, v
narrow = [each.detach().float().requires_grad_() for each in inputs]
print(f"formula, float64:          {checked(formula, inputs)}")
print(f"formula, float32:          {checked(formula, narrow)}")
print(f"forgets_the_sum, float64:  {checked(attention, inputs)}")

dout = torch.randn(5, 8, dtype=torch.float64)
right = torch.autograd.grad(formula(*inputs), inputs, dout)
wrong = torch.autograd.grad(attention(*inputs), inputs, dout)
for name, one, other in zip(("dq", "dk", "dv"), right, wrong, strict=True):
    off = (one - other).abs().max() / one.abs().max()
    print(f"    {name}: off by {off:.2f} of the largest element")
