"""Call softmax.so: only TVM-FFI (pip install apache-tvm-ffi) and NumPy are needed, on a GPU torch too.

python programs/tvm_ffi/call_softmax.py [softmax.so] [--virtual]

NumPy's arrays are on the CPU: the library copies them to the GPU and back. torch's tensors are on the GPU,
where the library launches on torch's current stream. `--virtual` runs on flashpath's virtual GPU.
"""

import sys

import numpy as np
import tvm_ffi

words = [word for word in sys.argv[1:] if word != "--virtual"]
if "--virtual" in sys.argv:
    import flashpath

    flashpath.vgpu.driver()

softmax = tvm_ffi.load_module(words[0] if words else "softmax.so").softmax

x = np.random.default_rng(0).standard_normal((1000, 777), dtype=np.float32)
out = np.empty_like(x)
softmax(x, out)
truth = np.exp(x - x.max(-1, keepdims=True))
truth /= truth.sum(-1, keepdims=True)
error = np.abs(out - truth).max()
print(f"NumPy: 1000 rows of 777, largest error {error:.1e}")

try:
    softmax(x, out[:, :500].copy())
    raise SystemExit("a wrong call was taken")
except ValueError as refused:
    print(f"A wrong call: {refused}")

if "--virtual" not in sys.argv:
    import torch

    on_gpu = torch.from_numpy(x).cuda()
    result = torch.empty_like(on_gpu)
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        softmax(on_gpu, result)
    stream.synchronize()
    difference = (result.cpu().numpy() - out).max()
    print(f"torch, on a stream of its own: differs from NumPy's by {difference:.1e}")

sys.exit(not error < 1e-6)
