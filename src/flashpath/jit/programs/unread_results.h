// Calls whose results say whether they worked: declared once more, so that the host compiler warns of each place that
// drops one. `flashpath sanitize` tells of those that failed.
#pragma once

#if defined(__cplusplus) && !defined(__CUDA_ARCH__)
#include <cuda_runtime.h>

// The type of a function, without the defaults of its parameters, which must not be given twice.
template <class Pointer>
struct FlashpathFunction;
template <class Result, class... Parameters>
struct FlashpathFunction<Result (*)(Parameters...)> {
  using type = Result(Parameters...);
};
#define FLASHPATH_READ(name) [[nodiscard]] FlashpathFunction<decltype(&name)>::type name;
extern "C" {
FLASHPATH_READ(cudaCtxResetPersistingL2Cache)
FLASHPATH_READ(cudaDeviceCanAccessPeer)
FLASHPATH_READ(cudaDeviceDisablePeerAccess)
FLASHPATH_READ(cudaDeviceEnablePeerAccess)
FLASHPATH_READ(cudaDeviceGetAttribute)
FLASHPATH_READ(cudaDeviceGetLimit)
FLASHPATH_READ(cudaDeviceReset)
FLASHPATH_READ(cudaDeviceSetLimit)
FLASHPATH_READ(cudaDeviceSynchronize)
FLASHPATH_READ(cudaEventCreateWithFlags)
FLASHPATH_READ(cudaEventDestroy)
FLASHPATH_READ(cudaEventElapsedTime)
FLASHPATH_READ(cudaEventRecord)
FLASHPATH_READ(cudaEventSynchronize)
FLASHPATH_READ(cudaFree)
FLASHPATH_READ(cudaFreeAsync)
FLASHPATH_READ(cudaFreeHost)
FLASHPATH_READ(cudaGetDevice)
FLASHPATH_READ(cudaGetDeviceCount)
FLASHPATH_READ(cudaGetDeviceProperties)
FLASHPATH_READ(cudaGraphDestroy)
FLASHPATH_READ(cudaGraphExecDestroy)
FLASHPATH_READ(cudaGraphLaunch)
FLASHPATH_READ(cudaHostRegister)
FLASHPATH_READ(cudaHostUnregister)
FLASHPATH_READ(cudaLaunchHostFunc)
FLASHPATH_READ(cudaLaunchKernelExC)
FLASHPATH_READ(cudaMalloc3D)
FLASHPATH_READ(cudaMemGetInfo)
FLASHPATH_READ(cudaMemcpy)
FLASHPATH_READ(cudaMemcpy2D)
FLASHPATH_READ(cudaMemcpy2DAsync)
FLASHPATH_READ(cudaMemcpy3D)
FLASHPATH_READ(cudaMemcpy3DAsync)
FLASHPATH_READ(cudaMemcpyAsync)
FLASHPATH_READ(cudaMemcpyPeer)
FLASHPATH_READ(cudaMemcpyPeerAsync)
FLASHPATH_READ(cudaMemset)
FLASHPATH_READ(cudaMemset2D)
FLASHPATH_READ(cudaMemset2DAsync)
FLASHPATH_READ(cudaMemset3D)
FLASHPATH_READ(cudaMemset3DAsync)
FLASHPATH_READ(cudaMemsetAsync)
FLASHPATH_READ(cudaPointerGetAttributes)
FLASHPATH_READ(cudaSetDevice)
FLASHPATH_READ(cudaSetDeviceFlags)
FLASHPATH_READ(cudaStreamAddCallback)
FLASHPATH_READ(cudaStreamBeginCapture)
FLASHPATH_READ(cudaStreamCreate)
FLASHPATH_READ(cudaStreamCreateWithFlags)
FLASHPATH_READ(cudaStreamCreateWithPriority)
FLASHPATH_READ(cudaStreamDestroy)
FLASHPATH_READ(cudaStreamEndCapture)
FLASHPATH_READ(cudaStreamSynchronize)
FLASHPATH_READ(cudaStreamWaitEvent)

// Those that C++ has overloads of, with these beside them below.
[[nodiscard]] cudaError_t cudaEventCreate(cudaEvent_t*);
[[nodiscard]] cudaError_t cudaFuncGetAttributes(cudaFuncAttributes*, const void*);
[[nodiscard]] cudaError_t cudaFuncSetAttribute(const void*, cudaFuncAttribute, int);
[[nodiscard]] cudaError_t cudaHostAlloc(void**, size_t, unsigned);
[[nodiscard]] cudaError_t cudaHostGetDevicePointer(void**, void*, unsigned);
[[nodiscard]] cudaError_t cudaLaunchCooperativeKernel(const void*, dim3, dim3, void**, size_t, cudaStream_t);
[[nodiscard]] cudaError_t cudaLaunchKernel(const void*, dim3, dim3, void**, size_t, cudaStream_t);
[[nodiscard]] cudaError_t cudaMalloc(void**, size_t);
[[nodiscard]] cudaError_t cudaMallocAsync(void**, size_t, cudaStream_t);
[[nodiscard]] cudaError_t cudaMallocHost(void**, size_t);
[[nodiscard]] cudaError_t cudaMallocManaged(void**, size_t, unsigned);
[[nodiscard]] cudaError_t cudaMallocPitch(void**, size_t*, size_t, size_t);
}
#undef FLASHPATH_READ

#if defined(__CUDACC__)
#define FLASHPATH_READ template <class T> [[nodiscard]] static __inline__ __host__ cudaError_t
FLASHPATH_READ cudaFuncGetAttributes(cudaFuncAttributes*, T*);
FLASHPATH_READ cudaFuncSetAttribute(T*, cudaFuncAttribute, int);
FLASHPATH_READ cudaGetSymbolAddress(void**, const T&);
FLASHPATH_READ cudaHostAlloc(T**, size_t, unsigned);
FLASHPATH_READ cudaHostGetDevicePointer(T**, void*, unsigned);
FLASHPATH_READ cudaLaunchCooperativeKernel(T*, dim3, dim3, void**, size_t, cudaStream_t);
FLASHPATH_READ cudaLaunchKernel(T*, dim3, dim3, void**, size_t, cudaStream_t);
FLASHPATH_READ cudaMalloc(T**, size_t);
FLASHPATH_READ cudaMallocAsync(T**, size_t, cudaStream_t);
FLASHPATH_READ cudaMallocHost(T**, size_t, unsigned);
FLASHPATH_READ cudaMallocManaged(T**, size_t, unsigned);
FLASHPATH_READ cudaMallocPitch(T**, size_t*, size_t, size_t);
FLASHPATH_READ cudaMemcpyFromSymbol(void*, const T&, size_t, size_t, cudaMemcpyKind);
FLASHPATH_READ cudaMemcpyFromSymbolAsync(void*, const T&, size_t, size_t, cudaMemcpyKind, cudaStream_t);
FLASHPATH_READ cudaMemcpyToSymbol(const T&, const void*, size_t, size_t, cudaMemcpyKind);
FLASHPATH_READ cudaMemcpyToSymbolAsync(const T&, const void*, size_t, size_t, cudaMemcpyKind, cudaStream_t);
#undef FLASHPATH_READ
#endif
#endif
