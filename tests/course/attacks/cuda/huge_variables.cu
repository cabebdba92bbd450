// Take all memory with variables of the module.
// BuildFailed Crashed
__device__ char large[3000000000ll];
extern "C" __global__ void answer(int n, const float* x, float* y) { large[threadIdx.x] = 1; y[0] = large[n]; }
