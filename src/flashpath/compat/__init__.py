"""Drop-in interfaces of other libraries, on flashpath's kernels."""
