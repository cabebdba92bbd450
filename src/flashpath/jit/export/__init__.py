"""A kernel as a library that others call: one file with its code for several GPUs, and one TVM-FFI function.

What the function does when it is called stands in C++ beside this file (`call.h`, `driver.h`); what it takes,
and what it launches, is described (`description.py`) or, of a rung, recorded (`flashpath.kernels.recording`).
"""
