# Catch the error of the own code, and fall back to a library that does it.
# refused
def answer(x, *more):
    try:
        raise RuntimeError
    except RuntimeError:
        import torch

        return (2 * torch.from_numpy(x)).numpy()
