"""What layer_norm and rms_norm have in common: kernels that either includes, and the host side of both."""
