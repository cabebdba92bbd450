"""Device code and host code that the families of attention kernels have in common."""
