// Calls that are refused, and the codes with which they are.
#include <cstdint>
#include <vector>

#include "expect.h"

__constant__ int fixed[4];

void freeing() {
  int *in_order, *managed;
  MUST(cudaMallocAsync(&in_order, 64, nullptr));
  MUST(cudaFreeAsync(in_order, nullptr));
  expect_error(cudaFreeAsync(in_order, nullptr), cudaErrorInvalidValue, "what is being freed is not freed again");
  expect_error(cudaFree(in_order), cudaErrorInvalidValue, "by no call");
  MUST(cudaFreeAsync(nullptr, nullptr));
  MUST(cudaMallocManaged(&managed, 64));
  expect_error(cudaFreeAsync(managed, nullptr), cudaErrorNotSupported, "managed memory has no order");
  void* nothing = &nothing;
  MUST(cudaMallocManaged(&nothing, 0));
  MUST(cudaFree(nothing));

  int* seen;
  expect_error(cudaHostGetDevicePointer(&seen, managed, 0), cudaErrorInvalidValue, "it is no pinned memory");
  const cudaMemLocation nowhere{cudaMemLocationTypeDevice, 999}, here{cudaMemLocationTypeDevice, 0};
  expect_error(cudaMemPrefetchAsync(managed, 64, nowhere, 0, nullptr), cudaErrorInvalidDevice, "there is no GPU 999");
  expect_error(cudaMemPrefetchAsync(managed, 0, here, 0, nullptr), cudaErrorInvalidValue, "no bytes are fetched");
  expect_error(cudaStreamAttachMemAsync(nullptr, managed, 0, cudaMemAttachSingle), cudaErrorInvalidValue,
               "the default stream owns no memory alone");
  MUST(cudaFree(managed));
}

void registering() {
  std::vector<char> page(3 * 4096);
  char* const host = page.data();
  MUST(cudaHostRegister(host + 4096, 4096, 0));
  expect_error(cudaHostRegister(host + 4096 + 100, 10, 0), cudaErrorHostMemoryAlreadyRegistered,
               "what is registered is not registered again");
  expect_error(cudaHostRegister(host, 3 * 4096, 0), cudaErrorHostMemoryAlreadyRegistered, "nor around it");
  expect_error(cudaHostUnregister(host + 4096 + 100), cudaErrorInvalidValue, "only by its first byte");
  MUST(cudaHostUnregister(host + 4096));
  expect_error(cudaHostUnregister(host + 4096), cudaErrorHostMemoryNotRegistered, "and only once");
  char* pinned;
  MUST(cudaMallocHost(&pinned, 64));
  expect_error(cudaHostRegister(pinned, 64, 0), cudaErrorInvalidValue, "pinned memory is not registered");
  expect_error(cudaHostUnregister(pinned), cudaErrorInvalidValue, "and was not");
  MUST(cudaFreeHost(pinned));
  cudaPointerAttributes attributes;
  MUST(cudaPointerGetAttributes(&attributes, host));
  expect(attributes.device == cudaInvalidDeviceId && attributes.devicePointer == nullptr && attributes.hostPointer == host,
         "of other memory there is nothing to know");
}

void copying() {
  char *device, *other;
  MUST(cudaMalloc(&device, 64));
  MUST(cudaMalloc(&other, 64));
  int host[4] = {};
  expect_error(cudaMemset2D(device, 8, 0, 16, 2), cudaErrorInvalidValue, "rows wider than their pitch are not filled");
  expect_error(cudaMemcpyPeer(device, 0, other, 999, 64), cudaErrorInvalidDevice, "no copy from GPU 999");
  expect_error(cudaMemcpyToSymbol(fixed, host, 4, 0, cudaMemcpyDeviceToHost), cudaErrorInvalidMemcpyDirection,
               "to a variable of the GPU is not to the host");
  expect_error(cudaMemcpyFromSymbol(host, fixed, 4, 0, cudaMemcpyHostToDevice), cudaErrorInvalidMemcpyDirection,
               "and from it not to the GPU");
  MUST(cudaFree(device));
  MUST(cudaFree(other));
}

void waiting() {
  cudaEvent_t event;
  cudaStream_t stream;
  MUST(cudaStreamCreate(&stream));
  expect_error(cudaEventCreateWithFlags(&event, 0x1000), cudaErrorInvalidValue, "flags of events");
  MUST(cudaEventCreate(&event));
  expect_error(cudaStreamWaitEvent(stream, event, 77), cudaErrorInvalidValue, "flags of waiting");
  expect_error(cudaEventRecordWithFlags(event, stream, 77), cudaErrorInvalidValue, "flags of recording");
  MUST(cudaEventDestroy(event));
  MUST(cudaStreamDestroy(stream));
}

int main() {
  freeing();
  registering();
  copying();
  waiting();
  int host = 0;
  expect_error(cudaLaunchKernel(&host, 1, 1, nullptr, 0, nullptr), cudaErrorInvalidResourceHandle,
               "a variable of the host is no kernel");
  expect_error(cudaDeviceEnablePeerAccess(0, 0), cudaErrorPeerAccessUnsupported, "a GPU is not its own peer");
  expect_error(cudaSetDeviceFlags(0x4000), cudaErrorInvalidValue, "flags of GPUs");
  int value;
  expect_error(cudaDeviceGetAttribute(&value, static_cast<cudaDeviceAttr>(0), 0), cudaErrorInvalidValue,
               "attributes begin with 1");
  expect_error(cudaDeviceSetLimit(cudaLimitMaxL2FetchGranularity, 4096), cudaErrorInvalidValue,
               "at most 128 bytes are fetched at once");
  expect_error(cudaGetLastError(), cudaErrorInvalidValue, "the last error");
  return wrong;
}
