"""An addition and RMSNorm as one function of autograd's."""

import torch


class AddRmsNorm(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, residual, weight, eps):
        """x, residual: (rows, n), weight: (n). Returns out and total, (rows, n) each."""
        total = x + residual
        rstd = torch.rsqrt((total * total).mean(1, keepdim=True) + eps)  # (rows, 1)
        ctx.save_for_backward(x, residual, weight, rstd)  # TODO: one matrix is enough
        return total * rstd * weight, total

    @staticmethod
    def backward(ctx, dout, dtotal):
        """The gradients of x, residual, weight and eps, the last one None."""
        x, residual, weight, rstd = ctx.saved_tensors
        # TODO: what comes back through out, and what comes back through total.
        return torch.zeros_like(x), torch.zeros_like(x), torch.zeros_like(weight), None


def passes_gradcheck(x, residual, weight, eps):
    """Whether finite differences agree with backward."""
    inputs = (each.detach().clone().requires_grad_() for each in (x, residual, weight))
    return torch.autograd.gradcheck(AddRmsNorm.apply, (*inputs, eps), raise_exception=False)


def gradients(x, residual, weight, dout, dtotal, eps):
    """What is graded, and stays as it is: the outputs, their gradients, and how many numbers autograd keeps from the
    forward pass to the backward pass; -1 in place of that where gradcheck refuses."""
    kept = [0]

    def count(tensor):
        kept[0] += tensor.numel()
        return tensor

    checked = passes_gradcheck(x[:2, :3], residual[:2, :3], weight[:3], eps)
    x, residual, weight = x.requires_grad_(), residual.requires_grad_(), weight.requires_grad_()
    with torch.autograd.graph.saved_tensors_hooks(count, lambda tensor: tensor):
        out, total = AddRmsNorm.apply(x, residual, weight, eps)
    found = torch.autograd.grad((out, total), (x, residual, weight), (dout, dtotal))
    return out.detach(), total.detach(), *found, torch.tensor([kept[0] if checked else -1])


if __name__ == "__main__":
    made = [torch.randn(3, 5, dtype=torch.float64) for _ in range(2)]
    inputs = [each.requires_grad_() for each in (*made, torch.randn(5, dtype=torch.float64))]
    torch.autograd.gradcheck(AddRmsNorm.apply, (*inputs, 1e-5))  # where it refuses, it says which gradient differs
    print("gradcheck agrees")
