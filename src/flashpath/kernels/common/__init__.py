"""Device code and host code that several families of kernels use."""
