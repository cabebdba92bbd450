// Error codes, their names and what they mean.
#include <utility>

#include "api/call.h"

using namespace flashpath::runtime;

namespace {

struct ErrorText {
  cudaError_t code;
  const char* name;
  const char* meaning;
};

#define FLASHPATH_ERROR(code, meaning) {code, #code, meaning}
constexpr ErrorText kErrors[] = {
    FLASHPATH_ERROR(cudaSuccess, "no error"),
    FLASHPATH_ERROR(cudaErrorInvalidValue, "invalid argument"),
    FLASHPATH_ERROR(cudaErrorMemoryAllocation, "out of memory"),
    FLASHPATH_ERROR(cudaErrorInitializationError, "initialization error"),
    FLASHPATH_ERROR(cudaErrorCudartUnloading, "driver shutting down"),
    FLASHPATH_ERROR(cudaErrorInvalidConfiguration, "invalid configuration argument"),
    FLASHPATH_ERROR(cudaErrorInvalidPitchValue, "invalid pitch argument"),
    FLASHPATH_ERROR(cudaErrorInvalidSymbol, "invalid device symbol"),
    FLASHPATH_ERROR(cudaErrorInvalidHostPointer, "invalid host pointer"),
    FLASHPATH_ERROR(cudaErrorInvalidDevicePointer, "invalid device pointer"),
    FLASHPATH_ERROR(cudaErrorInvalidMemcpyDirection, "invalid copy direction for memcpy"),
    FLASHPATH_ERROR(cudaErrorInsufficientDriver, "CUDA driver version is insufficient for CUDA runtime version"),
    FLASHPATH_ERROR(cudaErrorMissingConfiguration, "__global__ function call is not configured"),
    FLASHPATH_ERROR(cudaErrorInvalidDeviceFunction, "invalid device function"),
    FLASHPATH_ERROR(cudaErrorNoDevice, "no CUDA-capable device is detected"),
    FLASHPATH_ERROR(cudaErrorInvalidDevice, "invalid device ordinal"),
    FLASHPATH_ERROR(cudaErrorInvalidKernelImage, "device kernel image is invalid"),
    FLASHPATH_ERROR(cudaErrorDeviceUninitialized, "invalid device context"),
    FLASHPATH_ERROR(cudaErrorNoKernelImageForDevice, "no kernel image is available for execution on the device"),
    FLASHPATH_ERROR(cudaErrorECCUncorrectable, "uncorrectable ECC error encountered"),
    FLASHPATH_ERROR(cudaErrorPeerAccessUnsupported, "peer access is not supported between these two devices"),
    FLASHPATH_ERROR(cudaErrorInvalidPtx, "a PTX JIT compilation failed"),
    FLASHPATH_ERROR(cudaErrorInvalidSource, "device kernel image is invalid"),
    FLASHPATH_ERROR(cudaErrorFileNotFound, "file not found"),
    FLASHPATH_ERROR(cudaErrorInvalidResourceHandle, "invalid resource handle"),
    FLASHPATH_ERROR(cudaErrorIllegalState, "the operation cannot be performed in the present state"),
    FLASHPATH_ERROR(cudaErrorSymbolNotFound, "named symbol not found"),
    FLASHPATH_ERROR(cudaErrorNotReady, "device not ready"),
    FLASHPATH_ERROR(cudaErrorIllegalAddress, "an illegal memory access was encountered"),
    FLASHPATH_ERROR(cudaErrorLaunchOutOfResources, "too many resources requested for launch"),
    FLASHPATH_ERROR(cudaErrorLaunchTimeout, "the launch timed out and was terminated"),
    FLASHPATH_ERROR(cudaErrorPeerAccessAlreadyEnabled, "peer access is already enabled"),
    FLASHPATH_ERROR(cudaErrorPeerAccessNotEnabled, "peer access has not been enabled"),
    FLASHPATH_ERROR(cudaErrorSetOnActiveProcess, "cannot set while device is active in this process"),
    FLASHPATH_ERROR(cudaErrorContextIsDestroyed, "context is destroyed"),
    FLASHPATH_ERROR(cudaErrorAssert, "device-side assert triggered"),
    FLASHPATH_ERROR(cudaErrorHostMemoryAlreadyRegistered, "part or all of the requested memory range is already mapped"),
    FLASHPATH_ERROR(cudaErrorHostMemoryNotRegistered, "pointer does not correspond to a registered memory region"),
    FLASHPATH_ERROR(cudaErrorHardwareStackError, "hardware stack error"),
    FLASHPATH_ERROR(cudaErrorIllegalInstruction, "an illegal instruction was encountered"),
    FLASHPATH_ERROR(cudaErrorMisalignedAddress, "misaligned address"),
    FLASHPATH_ERROR(cudaErrorInvalidAddressSpace, "operation not supported on global/shared address space"),
    FLASHPATH_ERROR(cudaErrorInvalidPc, "invalid program counter"),
    FLASHPATH_ERROR(cudaErrorLaunchFailure, "unspecified launch failure"),
    FLASHPATH_ERROR(cudaErrorCooperativeLaunchTooLarge, "too many blocks in cooperative launch"),
    FLASHPATH_ERROR(cudaErrorNotPermitted, "operation not permitted"),
    FLASHPATH_ERROR(cudaErrorNotSupported, "operation not supported"),
    FLASHPATH_ERROR(cudaErrorStreamCaptureUnsupported, "operation not permitted when stream is capturing"),
    FLASHPATH_ERROR(cudaErrorStreamCaptureInvalidated,
                    "operation failed due to a previous error during capture"),
    FLASHPATH_ERROR(cudaErrorStreamCaptureMerge, "operation would result in a merge of separate capture sequences"),
    FLASHPATH_ERROR(cudaErrorStreamCaptureUnmatched, "capture was not ended in the same stream as it began"),
    FLASHPATH_ERROR(cudaErrorStreamCaptureUnjoined, "capturing stream has unjoined work"),
    FLASHPATH_ERROR(cudaErrorStreamCaptureIsolation,
                    "dependency created on uncaptured work in another stream"),
    FLASHPATH_ERROR(cudaErrorStreamCaptureImplicit,
                    "operation would make the legacy stream depend on a capturing blocking stream"),
    FLASHPATH_ERROR(cudaErrorCapturedEvent, "operation not permitted on an event last recorded in a capturing stream"),
    FLASHPATH_ERROR(cudaErrorStreamCaptureWrongThread,
                    "attempt to terminate a thread-local capture sequence from another thread"),
    FLASHPATH_ERROR(cudaErrorTimeout, "wait operation timed out"),
    FLASHPATH_ERROR(cudaErrorGraphExecUpdateFailure,
                    "the graph update was not performed because it included changes which violated constraints "
                    "specific to instantiated graph update"),
    FLASHPATH_ERROR(cudaErrorUnknown, "unknown error"),
};

const ErrorText* find(cudaError_t code) {
  for (const ErrorText& each : kErrors) {
    if (each.code == code) return &each;
  }
  return nullptr;
}

}  // namespace

extern "C" {

const char* cudaGetErrorName(cudaError_t error) {
  const ErrorText* const found = find(error);
  return found == nullptr ? "unrecognized error code" : found->name;
}

const char* cudaGetErrorString(cudaError_t error) {
  const ErrorText* const found = find(error);
  return found == nullptr ? "unrecognized error code" : found->meaning;
}

cudaError_t cudaGetLastError() {
  // Also where a fault has ended the context: other calls go on to return it, this one tells it once.
  return std::exchange(last_error(), cudaSuccess);
}

cudaError_t cudaPeekAtLastError() { return last_error(); }

}  // extern "C"
