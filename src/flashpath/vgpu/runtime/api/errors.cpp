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
    FLASHPATH_ERROR(cudaErrorProfilerDisabled, "profiler disabled while using external profiling tool"),
    FLASHPATH_ERROR(cudaErrorProfilerNotInitialized, "profiler not initialized: call cudaProfilerInitialize()"),
    FLASHPATH_ERROR(cudaErrorProfilerAlreadyStarted, "profiler already started"),
    FLASHPATH_ERROR(cudaErrorProfilerAlreadyStopped, "profiler already stopped"),
    FLASHPATH_ERROR(cudaErrorInvalidConfiguration, "invalid configuration argument"),
    FLASHPATH_ERROR(cudaErrorInvalidPitchValue, "invalid pitch argument"),
    FLASHPATH_ERROR(cudaErrorInvalidSymbol, "invalid device symbol"),
    FLASHPATH_ERROR(cudaErrorInvalidHostPointer, "invalid host pointer"),
    FLASHPATH_ERROR(cudaErrorInvalidDevicePointer, "invalid device pointer"),
    FLASHPATH_ERROR(cudaErrorInvalidTexture, "invalid texture reference"),
    FLASHPATH_ERROR(cudaErrorInvalidTextureBinding, "texture is not bound to a pointer"),
    FLASHPATH_ERROR(cudaErrorInvalidChannelDescriptor, "invalid channel descriptor"),
    FLASHPATH_ERROR(cudaErrorInvalidMemcpyDirection, "invalid copy direction for memcpy"),
    FLASHPATH_ERROR(cudaErrorAddressOfConstant, "invalid address of constant"),
    FLASHPATH_ERROR(cudaErrorTextureFetchFailed, "fetch from texture failed"),
    FLASHPATH_ERROR(cudaErrorTextureNotBound, "cannot fetch from a texture that is not bound"),
    FLASHPATH_ERROR(cudaErrorSynchronizationError, "incorrect use of __syncthreads()"),
    FLASHPATH_ERROR(cudaErrorInvalidFilterSetting, "linear filtering not supported for non-float type"),
    FLASHPATH_ERROR(cudaErrorInvalidNormSetting, "read as normalized float not supported for data type"),
    FLASHPATH_ERROR(cudaErrorMixedDeviceExecution, "device emulation mode and device execution mode cannot be mixed"),
    FLASHPATH_ERROR(cudaErrorNotYetImplemented, "feature not yet implemented"),
    FLASHPATH_ERROR(cudaErrorMemoryValueTooLarge, "memory size or pointer value too large to fit in 32 bit"),
    FLASHPATH_ERROR(cudaErrorStubLibrary, "CUDA driver is a stub library"),
    FLASHPATH_ERROR(cudaErrorInsufficientDriver, "CUDA driver version is insufficient for CUDA runtime version"),
    FLASHPATH_ERROR(cudaErrorCallRequiresNewerDriver, "API call is not supported in the installed CUDA driver"),
    FLASHPATH_ERROR(cudaErrorInvalidSurface, "invalid surface reference"),
    FLASHPATH_ERROR(cudaErrorDuplicateVariableName, "duplicate global variable looked up by string name"),
    FLASHPATH_ERROR(cudaErrorDuplicateTextureName, "duplicate texture looked up by string name"),
    FLASHPATH_ERROR(cudaErrorDuplicateSurfaceName, "duplicate surface looked up by string name"),
    FLASHPATH_ERROR(cudaErrorDevicesUnavailable, "CUDA-capable device(s) is/are busy or unavailable"),
    FLASHPATH_ERROR(cudaErrorIncompatibleDriverContext, "incompatible driver context"),
    FLASHPATH_ERROR(cudaErrorMissingConfiguration, "__global__ function call is not configured"),
    FLASHPATH_ERROR(cudaErrorPriorLaunchFailure, "unspecified launch failure in prior launch"),
    FLASHPATH_ERROR(cudaErrorLaunchMaxDepthExceeded, "launch would exceed maximum depth of nested launches"),
    FLASHPATH_ERROR(cudaErrorLaunchFileScopedTex,
                    "launch failed because kernel uses unsupported, file-scoped textures (texture objects are"
                    " supported)"),
    FLASHPATH_ERROR(cudaErrorLaunchFileScopedSurf,
                    "launch failed because kernel uses unsupported, file-scoped surfaces (surface objects are"
                    " supported)"),
    FLASHPATH_ERROR(cudaErrorSyncDepthExceeded,
                    "cudaDeviceSynchronize failed because caller's grid depth exceeds "
                    "cudaLimitDevRuntimeSyncDepth"),
    FLASHPATH_ERROR(cudaErrorLaunchPendingCountExceeded,
                    "launch failed because launch would exceed cudaLimitDevRuntimePendingLaunchCount"),
    FLASHPATH_ERROR(cudaErrorInvalidDeviceFunction, "invalid device function"),
    FLASHPATH_ERROR(cudaErrorNoDevice, "no CUDA-capable device is detected"),
    FLASHPATH_ERROR(cudaErrorInvalidDevice, "invalid device ordinal"),
    FLASHPATH_ERROR(cudaErrorDeviceNotLicensed, "device doesn't have valid Grid license"),
    FLASHPATH_ERROR(cudaErrorSoftwareValidityNotEstablished, "integrity checks failed"),
    FLASHPATH_ERROR(cudaErrorStartupFailure, "startup failure in cuda runtime"),
    FLASHPATH_ERROR(cudaErrorInvalidKernelImage, "device kernel image is invalid"),
    FLASHPATH_ERROR(cudaErrorDeviceUninitialized, "invalid device context"),
    FLASHPATH_ERROR(cudaErrorMapBufferObjectFailed, "mapping of buffer object failed"),
    FLASHPATH_ERROR(cudaErrorUnmapBufferObjectFailed, "unmapping of buffer object failed"),
    FLASHPATH_ERROR(cudaErrorArrayIsMapped, "array is mapped"),
    FLASHPATH_ERROR(cudaErrorAlreadyMapped, "resource already mapped"),
    FLASHPATH_ERROR(cudaErrorNoKernelImageForDevice, "no kernel image is available for execution on the device"),
    FLASHPATH_ERROR(cudaErrorAlreadyAcquired, "resource already acquired"),
    FLASHPATH_ERROR(cudaErrorNotMapped, "resource not mapped"),
    FLASHPATH_ERROR(cudaErrorNotMappedAsArray, "resource not mapped as array"),
    FLASHPATH_ERROR(cudaErrorNotMappedAsPointer, "resource not mapped as pointer"),
    FLASHPATH_ERROR(cudaErrorECCUncorrectable, "uncorrectable ECC error encountered"),
    FLASHPATH_ERROR(cudaErrorUnsupportedLimit, "limit is not supported on this architecture"),
    FLASHPATH_ERROR(cudaErrorDeviceAlreadyInUse, "exclusive-thread device already in use by a different thread"),
    FLASHPATH_ERROR(cudaErrorPeerAccessUnsupported, "peer access is not supported between these two devices"),
    FLASHPATH_ERROR(cudaErrorInvalidPtx, "a PTX JIT compilation failed"),
    FLASHPATH_ERROR(cudaErrorInvalidGraphicsContext, "invalid OpenGL or DirectX context"),
    FLASHPATH_ERROR(cudaErrorNvlinkUncorrectable, "uncorrectable NVLink error detected during the execution"),
    FLASHPATH_ERROR(cudaErrorJitCompilerNotFound, "PTX JIT compiler library not found"),
    FLASHPATH_ERROR(cudaErrorUnsupportedPtxVersion, "the provided PTX was compiled with an unsupported toolchain."),
    FLASHPATH_ERROR(cudaErrorJitCompilationDisabled, "PTX JIT compilation was disabled"),
    FLASHPATH_ERROR(cudaErrorUnsupportedExecAffinity, "the provided execution affinity is not supported"),
    FLASHPATH_ERROR(cudaErrorUnsupportedDevSideSync,
                    "the provided PTX contains unsupported call to cudaDeviceSynchronize"),
    FLASHPATH_ERROR(cudaErrorContained, "Invalid access of peer GPU memory over nvlink or a hardware error"),
    FLASHPATH_ERROR(cudaErrorInvalidSource, "device kernel image is invalid"),
    FLASHPATH_ERROR(cudaErrorFileNotFound, "file not found"),
    FLASHPATH_ERROR(cudaErrorSharedObjectSymbolNotFound, "shared object symbol not found"),
    FLASHPATH_ERROR(cudaErrorSharedObjectInitFailed, "shared object initialization failed"),
    FLASHPATH_ERROR(cudaErrorOperatingSystem, "OS call failed or operation not supported on this OS"),
    FLASHPATH_ERROR(cudaErrorInvalidResourceHandle, "invalid resource handle"),
    FLASHPATH_ERROR(cudaErrorIllegalState, "the operation cannot be performed in the present state"),
    FLASHPATH_ERROR(cudaErrorLossyQuery, "attempted introspection would be semantically lossy"),
    FLASHPATH_ERROR(cudaErrorSymbolNotFound, "named symbol not found"),
    FLASHPATH_ERROR(cudaErrorNotReady, "device not ready"),
    FLASHPATH_ERROR(cudaErrorIllegalAddress, "an illegal memory access was encountered"),
    FLASHPATH_ERROR(cudaErrorLaunchOutOfResources, "too many resources requested for launch"),
    FLASHPATH_ERROR(cudaErrorLaunchTimeout, "the launch timed out and was terminated"),
    FLASHPATH_ERROR(cudaErrorLaunchIncompatibleTexturing, "launch uses incompatible texturing mode"),
    FLASHPATH_ERROR(cudaErrorPeerAccessAlreadyEnabled, "peer access is already enabled"),
    FLASHPATH_ERROR(cudaErrorPeerAccessNotEnabled, "peer access has not been enabled"),
    FLASHPATH_ERROR(cudaErrorSetOnActiveProcess, "cannot set while device is active in this process"),
    FLASHPATH_ERROR(cudaErrorContextIsDestroyed, "context is destroyed"),
    FLASHPATH_ERROR(cudaErrorAssert, "device-side assert triggered"),
    FLASHPATH_ERROR(cudaErrorTooManyPeers, "peer mapping resources exhausted"),
    FLASHPATH_ERROR(cudaErrorHostMemoryAlreadyRegistered,
                    "part or all of the requested memory range is already mapped"),
    FLASHPATH_ERROR(cudaErrorHostMemoryNotRegistered, "pointer does not correspond to a registered memory region"),
    FLASHPATH_ERROR(cudaErrorHardwareStackError, "hardware stack error"),
    FLASHPATH_ERROR(cudaErrorIllegalInstruction, "an illegal instruction was encountered"),
    FLASHPATH_ERROR(cudaErrorMisalignedAddress, "misaligned address"),
    FLASHPATH_ERROR(cudaErrorInvalidAddressSpace, "operation not supported on global/shared address space"),
    FLASHPATH_ERROR(cudaErrorInvalidPc, "invalid program counter"),
    FLASHPATH_ERROR(cudaErrorLaunchFailure, "unspecified launch failure"),
    FLASHPATH_ERROR(cudaErrorCooperativeLaunchTooLarge, "too many blocks in cooperative launch"),
    FLASHPATH_ERROR(cudaErrorTensorMemoryLeak, "tensor memory not completely freed"),
    FLASHPATH_ERROR(cudaErrorNotPermitted, "operation not permitted"),
    FLASHPATH_ERROR(cudaErrorNotSupported, "operation not supported"),
    FLASHPATH_ERROR(cudaErrorSystemNotReady, "system not yet initialized"),
    FLASHPATH_ERROR(cudaErrorSystemDriverMismatch, "system has unsupported display driver / cuda driver combination"),
    FLASHPATH_ERROR(cudaErrorCompatNotSupportedOnDevice, "forward compatibility was attempted on non supported HW"),
    FLASHPATH_ERROR(cudaErrorMpsConnectionFailed,
                    "MPS client failed to connect to the MPS control daemon or the MPS server"),
    FLASHPATH_ERROR(cudaErrorMpsRpcFailure,
                    "the remote procedural call between the MPS server and the MPS client failed"),
    FLASHPATH_ERROR(cudaErrorMpsServerNotReady, "MPS server is not ready to accept new MPS client requests"),
    FLASHPATH_ERROR(cudaErrorMpsMaxClientsReached,
                    "the hardware resources required to create MPS client have been exhausted"),
    FLASHPATH_ERROR(cudaErrorMpsMaxConnectionsReached,
                    "the hardware resources required to support device connections have been exhausted"),
    FLASHPATH_ERROR(cudaErrorMpsClientTerminated, "the MPS client has been terminated by the server"),
    FLASHPATH_ERROR(cudaErrorCdpNotSupported,
                    "is using CUDA Dynamic Parallelism, but the current configuration, like MPS, does not "
                    "support it"),
    FLASHPATH_ERROR(cudaErrorCdpVersionMismatch,
                    "unsupported interaction between different versions of CUDA Dynamic Parallelism"),
    FLASHPATH_ERROR(cudaErrorStreamCaptureUnsupported, "operation not permitted when stream is capturing"),
    FLASHPATH_ERROR(cudaErrorStreamCaptureInvalidated, "operation failed due to a previous error during capture"),
    FLASHPATH_ERROR(cudaErrorStreamCaptureMerge, "operation would result in a merge of separate capture sequences"),
    FLASHPATH_ERROR(cudaErrorStreamCaptureUnmatched, "capture was not ended in the same stream as it began"),
    FLASHPATH_ERROR(cudaErrorStreamCaptureUnjoined, "capturing stream has unjoined work"),
    FLASHPATH_ERROR(cudaErrorStreamCaptureIsolation, "dependency created on uncaptured work in another stream"),
    FLASHPATH_ERROR(cudaErrorStreamCaptureImplicit,
                    "operation would make the legacy stream depend on a capturing blocking stream"),
    FLASHPATH_ERROR(cudaErrorCapturedEvent, "operation not permitted on an event last recorded in a capturing stream"),
    FLASHPATH_ERROR(cudaErrorStreamCaptureWrongThread,
                    "attempt to terminate a thread-local capture sequence from another thread"),
    FLASHPATH_ERROR(cudaErrorTimeout, "wait operation timed out"),
    FLASHPATH_ERROR(cudaErrorGraphExecUpdateFailure,
                    "the graph update was not performed because it included changes which violated "
                    "constraints specific to instantiated graph update"),
    FLASHPATH_ERROR(cudaErrorExternalDevice, "an async error has occured in external entity outside of CUDA"),
    FLASHPATH_ERROR(cudaErrorInvalidClusterSize, "a kernel launch error has occurred due to cluster misconfiguration"),
    FLASHPATH_ERROR(cudaErrorFunctionNotLoaded,
                    "the function handle is not loaded when calling an API that requires a loaded function"),
    FLASHPATH_ERROR(cudaErrorInvalidResourceType,
                    "one or more resources passed in are not valid resource types for the operation"),
    FLASHPATH_ERROR(cudaErrorInvalidResourceConfiguration,
                    "one or more resources are insufficient or non-applicable for the operation"),
    FLASHPATH_ERROR(cudaErrorUnknown, "unknown error"),
};

const ErrorText* find(cudaError_t code) {
  for (const ErrorText& each : kErrors) {
    if (each.code == code) return &each;
  }
  return nullptr;
}

void look_at_error() {
  Runtime& runtime = Runtime::get();
  if (last_error() == cudaSuccess || runtime.is_forked) return;
  const std::scoped_lock lock(runtime.mutex);
  if (runtime.checks != nullptr) runtime.checks->looked_at_error();
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
  look_at_error();
  // Also where a fault has ended the context: other calls go on to return it, this one tells it once.
  return std::exchange(last_error(), cudaSuccess);
}

cudaError_t cudaPeekAtLastError() {
  look_at_error();
  return last_error();
}

}  // extern "C"
