// Calls that CUDA's headers declare and the virtual GPU does not have. Each is there, so that a program that names it
// can be linked; called, it says once that it is not, and what to do instead.
//
// CUDA's declarations are not included: of these functions nothing but the name matters.
#include <driver_types.h>

#include <atomic>

#include "ground/per_thread.h"
#include "ground/speech.h"

namespace flashpath::runtime {

cudaError_t& last_error();

namespace {

constexpr char kArrays[] = "vgpu.instead-of-arrays";
constexpr char kNodes[] = "vgpu.instead-of-nodes";
constexpr char kPools[] = "vgpu.instead-of-pools";
constexpr char kProcesses[] = "vgpu.instead-of-processes";
constexpr char kGraphics[] = "vgpu.instead-of-graphics";
constexpr char kLibraries[] = "vgpu.instead-of-libraries";
constexpr char kBatches[] = "vgpu.instead-of-batches";
constexpr char kDriver[] = "vgpu.instead-of-driver";
constexpr char kLogs[] = "vgpu.instead-of-logs";
constexpr char kQueries[] = "vgpu.instead-of-queries";

cudaError_t refuse(const char* name, const char* instead, std::atomic<bool>& is_told) {
  if (!is_told.exchange(true)) {
    tell({"vgpu.call-unavailable", {{"call", name}, {"instead", Message(instead)}}});
  }
  forget_own_stream();
  return last_error() = cudaErrorNotSupported;
}

}  // namespace
}  // namespace flashpath::runtime

#define FLASHPATH_UNAVAILABLE(DO) \
  DO(cudaArrayGetInfo, kArrays) \
  DO(cudaArrayGetMemoryRequirements, kArrays) \
  DO(cudaArrayGetPlane, kArrays) \
  DO(cudaArrayGetSparseProperties, kArrays) \
  DO(cudaCreateSurfaceObject, kArrays) \
  DO(cudaCreateTextureObject, kArrays) \
  DO(cudaDestroySurfaceObject, kArrays) \
  DO(cudaDestroyTextureObject, kArrays) \
  DO(cudaDeviceGetTexture1DLinearMaxWidth, kArrays) \
  DO(cudaFreeArray, kArrays) \
  DO(cudaFreeMipmappedArray, kArrays) \
  DO(cudaGetChannelDesc, kArrays) \
  DO(cudaGetMipmappedArrayLevel, kArrays) \
  DO(cudaGetSurfaceObjectResourceDesc, kArrays) \
  DO(cudaGetTextureObjectResourceDesc, kArrays) \
  DO(cudaGetTextureObjectResourceViewDesc, kArrays) \
  DO(cudaGetTextureObjectTextureDesc, kArrays) \
  DO(cudaMalloc3DArray, kArrays) \
  DO(cudaMallocArray, kArrays) \
  DO(cudaMallocMipmappedArray, kArrays) \
  DO(cudaMemcpy2DArrayToArray, kArrays) \
  DO(cudaMemcpy2DFromArray, kArrays) \
  DO(cudaMemcpy2DFromArrayAsync, kArrays) \
  DO(cudaMemcpy2DToArray, kArrays) \
  DO(cudaMemcpy2DToArrayAsync, kArrays) \
  DO(cudaMemcpyArrayToArray, kArrays) \
  DO(cudaMemcpyFromArray, kArrays) \
  DO(cudaMemcpyFromArrayAsync, kArrays) \
  DO(cudaMemcpyToArray, kArrays) \
  DO(cudaMemcpyToArrayAsync, kArrays) \
  DO(cudaMipmappedArrayGetMemoryRequirements, kArrays) \
  DO(cudaMipmappedArrayGetSparseProperties, kArrays) \
  DO(cudaDeviceGetGraphMemAttribute, kNodes) \
  DO(cudaDeviceGraphMemTrim, kNodes) \
  DO(cudaDeviceSetGraphMemAttribute, kNodes) \
  DO(cudaGraphAddChildGraphNode, kNodes) \
  DO(cudaGraphAddDependencies, kNodes) \
  DO(cudaGraphAddEmptyNode, kNodes) \
  DO(cudaGraphAddEventRecordNode, kNodes) \
  DO(cudaGraphAddEventWaitNode, kNodes) \
  DO(cudaGraphAddHostNode, kNodes) \
  DO(cudaGraphAddKernelNode, kNodes) \
  DO(cudaGraphAddMemAllocNode, kNodes) \
  DO(cudaGraphAddMemFreeNode, kNodes) \
  DO(cudaGraphAddMemcpyNode, kNodes) \
  DO(cudaGraphAddMemcpyNode1D, kNodes) \
  DO(cudaGraphAddMemcpyNodeFromSymbol, kNodes) \
  DO(cudaGraphAddMemcpyNodeToSymbol, kNodes) \
  DO(cudaGraphAddMemsetNode, kNodes) \
  DO(cudaGraphAddNode, kNodes) \
  DO(cudaGraphChildGraphNodeGetGraph, kNodes) \
  DO(cudaGraphConditionalHandleCreate, kNodes) \
  DO(cudaGraphCreate, kNodes) \
  DO(cudaGraphDebugDotPrint, kNodes) \
  DO(cudaGraphDestroyNode, kNodes) \
  DO(cudaGraphEventRecordNodeGetEvent, kNodes) \
  DO(cudaGraphEventRecordNodeSetEvent, kNodes) \
  DO(cudaGraphEventWaitNodeGetEvent, kNodes) \
  DO(cudaGraphEventWaitNodeSetEvent, kNodes) \
  DO(cudaGraphExecChildGraphNodeSetParams, kNodes) \
  DO(cudaGraphExecEventRecordNodeSetEvent, kNodes) \
  DO(cudaGraphExecEventWaitNodeSetEvent, kNodes) \
  DO(cudaGraphExecGetFlags, kNodes) \
  DO(cudaGraphExecHostNodeSetParams, kNodes) \
  DO(cudaGraphExecKernelNodeSetParams, kNodes) \
  DO(cudaGraphExecMemcpyNodeSetParams, kNodes) \
  DO(cudaGraphExecMemcpyNodeSetParams1D, kNodes) \
  DO(cudaGraphExecMemcpyNodeSetParamsFromSymbol, kNodes) \
  DO(cudaGraphExecMemcpyNodeSetParamsToSymbol, kNodes) \
  DO(cudaGraphExecMemsetNodeSetParams, kNodes) \
  DO(cudaGraphExecNodeSetParams, kNodes) \
  DO(cudaGraphGetEdges, kNodes) \
  DO(cudaGraphHostNodeGetParams, kNodes) \
  DO(cudaGraphHostNodeSetParams, kNodes) \
  DO(cudaGraphInstantiateWithParams, kNodes) \
  DO(cudaGraphKernelNodeCopyAttributes, kNodes) \
  DO(cudaGraphKernelNodeGetAttribute, kNodes) \
  DO(cudaGraphKernelNodeGetParams, kNodes) \
  DO(cudaGraphKernelNodeSetAttribute, kNodes) \
  DO(cudaGraphKernelNodeSetParams, kNodes) \
  DO(cudaGraphMemAllocNodeGetParams, kNodes) \
  DO(cudaGraphMemFreeNodeGetParams, kNodes) \
  DO(cudaGraphMemcpyNodeGetParams, kNodes) \
  DO(cudaGraphMemcpyNodeSetParams, kNodes) \
  DO(cudaGraphMemcpyNodeSetParams1D, kNodes) \
  DO(cudaGraphMemcpyNodeSetParamsFromSymbol, kNodes) \
  DO(cudaGraphMemcpyNodeSetParamsToSymbol, kNodes) \
  DO(cudaGraphMemsetNodeGetParams, kNodes) \
  DO(cudaGraphMemsetNodeSetParams, kNodes) \
  DO(cudaGraphNodeFindInClone, kNodes) \
  DO(cudaGraphNodeGetDependencies, kNodes) \
  DO(cudaGraphNodeGetDependentNodes, kNodes) \
  DO(cudaGraphNodeGetEnabled, kNodes) \
  DO(cudaGraphNodeSetEnabled, kNodes) \
  DO(cudaGraphNodeSetParams, kNodes) \
  DO(cudaGraphReleaseUserObject, kNodes) \
  DO(cudaGraphRemoveDependencies, kNodes) \
  DO(cudaGraphRetainUserObject, kNodes) \
  DO(cudaStreamBeginCaptureToGraph, kNodes) \
  DO(cudaStreamUpdateCaptureDependencies, kNodes) \
  DO(cudaUserObjectCreate, kNodes) \
  DO(cudaUserObjectRelease, kNodes) \
  DO(cudaUserObjectRetain, kNodes) \
  DO(cudaMemGetDefaultMemPool, kPools) \
  DO(cudaMemGetMemPool, kPools) \
  DO(cudaMemPoolGetAccess, kPools) \
  DO(cudaMemPoolSetAccess, kPools) \
  DO(cudaMemSetMemPool, kPools) \
  DO(cudaIpcCloseMemHandle, kProcesses) \
  DO(cudaIpcGetEventHandle, kProcesses) \
  DO(cudaIpcGetMemHandle, kProcesses) \
  DO(cudaIpcOpenEventHandle, kProcesses) \
  DO(cudaIpcOpenMemHandle, kProcesses) \
  DO(cudaMemPoolExportPointer, kProcesses) \
  DO(cudaMemPoolExportToShareableHandle, kProcesses) \
  DO(cudaMemPoolImportFromShareableHandle, kProcesses) \
  DO(cudaMemPoolImportPointer, kProcesses) \
  DO(cudaDestroyExternalMemory, kGraphics) \
  DO(cudaDestroyExternalSemaphore, kGraphics) \
  DO(cudaDeviceFlushGPUDirectRDMAWrites, kGraphics) \
  DO(cudaDeviceGetNvSciSyncAttributes, kGraphics) \
  DO(cudaExternalMemoryGetMappedBuffer, kGraphics) \
  DO(cudaExternalMemoryGetMappedMipmappedArray, kGraphics) \
  DO(cudaGraphAddExternalSemaphoresSignalNode, kGraphics) \
  DO(cudaGraphAddExternalSemaphoresWaitNode, kGraphics) \
  DO(cudaGraphExecExternalSemaphoresSignalNodeSetParams, kGraphics) \
  DO(cudaGraphExecExternalSemaphoresWaitNodeSetParams, kGraphics) \
  DO(cudaGraphExternalSemaphoresSignalNodeGetParams, kGraphics) \
  DO(cudaGraphExternalSemaphoresSignalNodeSetParams, kGraphics) \
  DO(cudaGraphExternalSemaphoresWaitNodeGetParams, kGraphics) \
  DO(cudaGraphExternalSemaphoresWaitNodeSetParams, kGraphics) \
  DO(cudaGraphicsMapResources, kGraphics) \
  DO(cudaGraphicsResourceGetMappedMipmappedArray, kGraphics) \
  DO(cudaGraphicsResourceGetMappedPointer, kGraphics) \
  DO(cudaGraphicsResourceSetMapFlags, kGraphics) \
  DO(cudaGraphicsSubResourceGetMappedArray, kGraphics) \
  DO(cudaGraphicsUnmapResources, kGraphics) \
  DO(cudaGraphicsUnregisterResource, kGraphics) \
  DO(cudaImportExternalMemory, kGraphics) \
  DO(cudaImportExternalSemaphore, kGraphics) \
  DO(cudaSignalExternalSemaphoresAsync, kGraphics) \
  DO(cudaWaitExternalSemaphoresAsync, kGraphics) \
  DO(cudaKernelSetAttributeForDevice, kLibraries) \
  DO(cudaLibraryEnumerateKernels, kLibraries) \
  DO(cudaLibraryGetGlobal, kLibraries) \
  DO(cudaLibraryGetKernel, kLibraries) \
  DO(cudaLibraryGetKernelCount, kLibraries) \
  DO(cudaLibraryGetManaged, kLibraries) \
  DO(cudaLibraryGetUnifiedFunction, kLibraries) \
  DO(cudaLibraryLoadData, kLibraries) \
  DO(cudaLibraryLoadFromFile, kLibraries) \
  DO(cudaLibraryUnload, kLibraries) \
  DO(cudaMemDiscardAndPrefetchBatchAsync, kBatches) \
  DO(cudaMemDiscardBatchAsync, kBatches) \
  DO(cudaMemPrefetchBatchAsync, kBatches) \
  DO(cudaMemcpy3DBatchAsync, kBatches) \
  DO(cudaMemcpyBatchAsync, kBatches) \
  DO(cudaGetExportTable, kDriver) \
  DO(cudaGetFuncBySymbol, kDriver) \
  DO(cudaLogsCurrent, kLogs) \
  DO(cudaLogsDumpToFile, kLogs) \
  DO(cudaLogsDumpToMemory, kLogs) \
  DO(cudaLogsRegisterCallback, kLogs) \
  DO(cudaLogsUnregisterCallback, kLogs) \
  DO(cudaDeviceGetHostAtomicCapabilities, kQueries) \
  DO(cudaDeviceGetP2PAtomicCapabilities, kQueries) \
  DO(cudaDeviceRegisterAsyncNotification, kQueries) \
  DO(cudaDeviceUnregisterAsyncNotification, kQueries) \
  DO(cudaMemRangeGetAttribute, kQueries) \
  DO(cudaMemRangeGetAttributes, kQueries)

#define FLASHPATH_REFUSE(name, instead)                                 \
  extern "C" cudaError_t name() {                                       \
    using namespace flashpath::runtime;                                 \
    static std::atomic<bool> is_told = false;                           \
    return refuse(#name, instead, is_told);                             \
  }
FLASHPATH_UNAVAILABLE(FLASHPATH_REFUSE)

// Their names, for lists of what is there: each followed by a new line.
#define FLASHPATH_NAME(name, instead) #name "\n"
extern "C" const char __cudaUnavailable[] = FLASHPATH_UNAVAILABLE(FLASHPATH_NAME);
