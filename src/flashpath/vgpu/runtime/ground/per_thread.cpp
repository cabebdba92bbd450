// The names that a program asks for when it is compiled with `nvcc --default-stream per-thread`: the same functions, but
// stream 0 is then one that each thread of the host has of its own. A mark tells them apart.
#include "ground/per_thread.h"

extern "C" {
__attribute__((visibility("hidden"), tls_model("initial-exec"), used)) thread_local char flashpath_asks_for_own_stream = 0;
}

namespace flashpath::runtime {

bool asks_for_own_stream() { return flashpath_asks_for_own_stream != 0; }
void forget_own_stream() { flashpath_asks_for_own_stream = 0; }

}  // namespace flashpath::runtime

// Sets the mark, in registers that hold no argument, and goes on.
#if defined(__x86_64__)
#define FLASHPATH_MARK_AND_JUMP(name)                           \
  "movq flashpath_asks_for_own_stream@GOTTPOFF(%rip), %r11\n"   \
  "movb $1, %fs:(%r11)\n"                                       \
  "jmp " #name "@PLT\n"
#elif defined(__aarch64__)
#define FLASHPATH_MARK_AND_JUMP(name)                                  \
  "adrp x16, :gottprel:flashpath_asks_for_own_stream\n"                \
  "ldr x16, [x16, #:gottprel_lo12:flashpath_asks_for_own_stream]\n"    \
  "mrs x17, tpidr_el0\n"                                               \
  "add x16, x16, x17\n"                                                \
  "mov w17, #1\n"                                                      \
  "strb w17, [x16]\n"                                                  \
  "b " #name "\n"
#else
#error "what does a jump to another function look like on this processor?"
#endif

#define FLASHPATH_ALSO(name, suffix)                                                                  \
  asm(".text\n.globl " #name suffix "\n.type " #name suffix ", %function\n" #name suffix ": " \
      FLASHPATH_MARK_AND_JUMP(name) ".size " #name suffix ", . - " #name suffix)

FLASHPATH_ALSO(cudaMemcpy, "_ptds");
FLASHPATH_ALSO(cudaMemcpy2D, "_ptds");
FLASHPATH_ALSO(cudaMemcpy2DArrayToArray, "_ptds");
FLASHPATH_ALSO(cudaMemcpy2DFromArray, "_ptds");
FLASHPATH_ALSO(cudaMemcpy2DToArray, "_ptds");
FLASHPATH_ALSO(cudaMemcpy3D, "_ptds");
FLASHPATH_ALSO(cudaMemcpy3DPeer, "_ptds");
FLASHPATH_ALSO(cudaMemcpyArrayToArray, "_ptds");
FLASHPATH_ALSO(cudaMemcpyFromArray, "_ptds");
FLASHPATH_ALSO(cudaMemcpyFromSymbol, "_ptds");
FLASHPATH_ALSO(cudaMemcpyToArray, "_ptds");
FLASHPATH_ALSO(cudaMemcpyToSymbol, "_ptds");
FLASHPATH_ALSO(cudaMemset, "_ptds");
FLASHPATH_ALSO(cudaMemset2D, "_ptds");
FLASHPATH_ALSO(cudaMemset3D, "_ptds");
FLASHPATH_ALSO(__cudaLaunchKernel, "_ptsz");
FLASHPATH_ALSO(cudaEventRecord, "_ptsz");
FLASHPATH_ALSO(cudaEventRecordWithFlags, "_ptsz");
FLASHPATH_ALSO(cudaFreeAsync, "_ptsz");
FLASHPATH_ALSO(cudaGetDriverEntryPoint, "_ptsz");
FLASHPATH_ALSO(cudaGetDriverEntryPointByVersion, "_ptsz");
FLASHPATH_ALSO(cudaGraphInstantiateWithParams, "_ptsz");
FLASHPATH_ALSO(cudaGraphLaunch, "_ptsz");
FLASHPATH_ALSO(cudaGraphUpload, "_ptsz");
FLASHPATH_ALSO(cudaLaunchCooperativeKernel, "_ptsz");
FLASHPATH_ALSO(cudaLaunchHostFunc, "_ptsz");
FLASHPATH_ALSO(cudaLaunchKernel, "_ptsz");
FLASHPATH_ALSO(cudaLaunchKernelExC, "_ptsz");
FLASHPATH_ALSO(cudaMallocAsync, "_ptsz");
FLASHPATH_ALSO(cudaMallocFromPoolAsync, "_ptsz");
FLASHPATH_ALSO(cudaMemDiscardAndPrefetchBatchAsync, "_ptsz");
FLASHPATH_ALSO(cudaMemDiscardBatchAsync, "_ptsz");
FLASHPATH_ALSO(cudaMemPrefetchAsync, "_ptsz");
FLASHPATH_ALSO(cudaMemPrefetchBatchAsync, "_ptsz");
FLASHPATH_ALSO(cudaMemcpy2DAsync, "_ptsz");
FLASHPATH_ALSO(cudaMemcpy2DFromArrayAsync, "_ptsz");
FLASHPATH_ALSO(cudaMemcpy2DToArrayAsync, "_ptsz");
FLASHPATH_ALSO(cudaMemcpy3DAsync, "_ptsz");
FLASHPATH_ALSO(cudaMemcpy3DBatchAsync, "_ptsz");
FLASHPATH_ALSO(cudaMemcpy3DPeerAsync, "_ptsz");
FLASHPATH_ALSO(cudaMemcpyAsync, "_ptsz");
FLASHPATH_ALSO(cudaMemcpyBatchAsync, "_ptsz");
FLASHPATH_ALSO(cudaMemcpyFromArrayAsync, "_ptsz");
FLASHPATH_ALSO(cudaMemcpyFromSymbolAsync, "_ptsz");
FLASHPATH_ALSO(cudaMemcpyToArrayAsync, "_ptsz");
FLASHPATH_ALSO(cudaMemcpyToSymbolAsync, "_ptsz");
FLASHPATH_ALSO(cudaMemset2DAsync, "_ptsz");
FLASHPATH_ALSO(cudaMemset3DAsync, "_ptsz");
FLASHPATH_ALSO(cudaMemsetAsync, "_ptsz");
FLASHPATH_ALSO(cudaSignalExternalSemaphoresAsync, "_ptsz");
FLASHPATH_ALSO(cudaStreamAddCallback, "_ptsz");
FLASHPATH_ALSO(cudaStreamAttachMemAsync, "_ptsz");
FLASHPATH_ALSO(cudaStreamBeginCapture, "_ptsz");
FLASHPATH_ALSO(cudaStreamBeginCaptureToGraph, "_ptsz");
FLASHPATH_ALSO(cudaStreamCopyAttributes, "_ptsz");
FLASHPATH_ALSO(cudaStreamEndCapture, "_ptsz");
FLASHPATH_ALSO(cudaStreamGetAttribute, "_ptsz");
FLASHPATH_ALSO(cudaStreamGetCaptureInfo, "_ptsz");
FLASHPATH_ALSO(cudaStreamGetDevice, "_ptsz");
FLASHPATH_ALSO(cudaStreamGetFlags, "_ptsz");
FLASHPATH_ALSO(cudaStreamGetId, "_ptsz");
FLASHPATH_ALSO(cudaStreamGetPriority, "_ptsz");
FLASHPATH_ALSO(cudaStreamIsCapturing, "_ptsz");
FLASHPATH_ALSO(cudaStreamQuery, "_ptsz");
FLASHPATH_ALSO(cudaStreamSetAttribute, "_ptsz");
FLASHPATH_ALSO(cudaStreamSynchronize, "_ptsz");
FLASHPATH_ALSO(cudaStreamUpdateCaptureDependencies, "_ptsz");
FLASHPATH_ALSO(cudaStreamWaitEvent, "_ptsz");
FLASHPATH_ALSO(cudaWaitExternalSemaphoresAsync, "_ptsz");
