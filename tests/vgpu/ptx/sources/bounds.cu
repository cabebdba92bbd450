extern "C" __global__ void __launch_bounds__(256, 2) bounded(float* x) { x[threadIdx.x] *= 2; }

#if __CUDA_ARCH__ >= 900
extern "C" __global__ void __cluster_dims__(2, 1, 1) clustered(float* x) { x[blockIdx.x] += 1; }
#endif
