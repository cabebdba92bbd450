// Streams: order within one, order between two, functions of the host in between, priorities.
#include <string>

#include "expect.h"

__global__ void append(int* digits, int digit) { *digits = *digits * 10 + digit; }

// Slow enough that what does not wait for it would be seen.
__global__ void append_late(int* digits, int digit) {
  const long long start = clock64();
  while (clock64() - start < 100000) {
  }
  *digits = *digits * 10 + digit;
}

std::string story;

void CUDART_CB tell(void* word) { story += static_cast<const char*>(word); }

void CUDART_CB tell_status(cudaStream_t, cudaError_t status, void* word) {
  story += status == cudaSuccess ? static_cast<const char*>(word) : cudaGetErrorName(status);
}

int main() {
  cudaStream_t first, second, independent;
  MUST(cudaStreamCreate(&first));
  MUST(cudaStreamCreateWithFlags(&second, cudaStreamDefault));
  MUST(cudaStreamCreateWithFlags(&independent, cudaStreamNonBlocking));
  unsigned flags;
  MUST(cudaStreamGetFlags(independent, &flags));
  expect(flags == cudaStreamNonBlocking, "a stream that does not wait for the default one");
  unsigned long long id, other_id;
  MUST(cudaStreamGetId(first, &id));
  MUST(cudaStreamGetId(second, &other_id));
  expect(id != other_id, "streams have different numbers");
  int device, device_of_stream;
  MUST(cudaGetDevice(&device));
  MUST(cudaStreamGetDevice(first, &device_of_stream));
  expect(device == device_of_stream, "a stream is of the device that was current");

  int least, greatest, priority;
  MUST(cudaDeviceGetStreamPriorityRange(&least, &greatest));
  cudaStream_t urgent;
  MUST(cudaStreamCreateWithPriority(&urgent, cudaStreamNonBlocking, greatest));
  MUST(cudaStreamGetPriority(urgent, &priority));
  expect(greatest < least && priority == greatest, "an urgent stream");
  MUST(cudaStreamDestroy(urgent));
  MUST(cudaStreamCreateWithPriority(&urgent, cudaStreamDefault, greatest - 1000));
  MUST(cudaStreamGetPriority(urgent, &priority));
  expect(priority == greatest, "none is more urgent than the range says");

  int* digits;
  MUST(cudaMallocManaged(&digits, sizeof(int)));
  *digits = 0;
  append_late<<<1, 1, 0, first>>>(digits, 1);
  append<<<1, 1, 0, first>>>(digits, 2);
  MUST(cudaStreamSynchronize(first));
  expect(*digits == 12, "kernels of one stream run one after the other");

  // The default stream waits for the others, and they for it.
  *digits = 0;
  append_late<<<1, 1, 0, first>>>(digits, 1);
  append_late<<<1, 1>>>(digits, 2);
  append<<<1, 1, 0, second>>>(digits, 3);
  MUST(cudaStreamSynchronize(second));
  expect(*digits == 123, "the default stream stands between two others");

  *digits = 0;
  cudaEvent_t written;
  MUST(cudaEventCreateWithFlags(&written, cudaEventDisableTiming));
  append_late<<<1, 1, 0, first>>>(digits, 1);
  MUST(cudaEventRecord(written, first));
  MUST(cudaStreamWaitEvent(independent, written, 0));
  append<<<1, 1, 0, independent>>>(digits, 2);
  MUST(cudaStreamSynchronize(independent));
  expect(*digits == 12, "a stream waits for an event of another");

  append_late<<<1, 1, 0, first>>>(digits, 3);
  cudaError_t state;
  while ((state = cudaStreamQuery(first)) == cudaErrorNotReady) {
  }
  expect_error(state, cudaSuccess, "asked often enough, a stream is done");
  expect(*digits == 123, "and the kernel has run");
  cudaGetLastError();  // to be told that it is not ready may count as an error

  MUST(cudaLaunchHostFunc(first, tell, const_cast<char*>("once ")));
  append_late<<<1, 1, 0, first>>>(digits, 4);
  MUST(cudaLaunchHostFunc(first, tell, const_cast<char*>("upon ")));
  MUST(cudaStreamAddCallback(first, tell_status, const_cast<char*>("a time"), 0));
  MUST(cudaStreamSynchronize(first));
  std::printf("%s\n", story.c_str());

  // What is set of a stream beside its work is told again, and can be given to another.
  cudaStreamAttrValue policy = {}, told = {};
  policy.syncPolicy = cudaSyncPolicyYield;
  MUST(cudaStreamSetAttribute(first, cudaStreamAttributeSynchronizationPolicy, &policy));
  MUST(cudaStreamCopyAttributes(second, first));
  MUST(cudaStreamGetAttribute(second, cudaStreamAttributeSynchronizationPolicy, &told));
  expect(told.syncPolicy == cudaSyncPolicyYield, "attributes of streams");
  policy.accessPolicyWindow.hitRatio = 2;
  expect_error(cudaStreamSetAttribute(first, cudaStreamAttributeAccessPolicyWindow, &policy), cudaErrorInvalidValue,
               "more than all of a window cannot stay in the cache");
  cudaGetLastError();

  append_late<<<1, 1, 0, independent>>>(digits, 5);
  MUST(cudaStreamDestroy(independent));  // what is in it is still done
  MUST(cudaDeviceSynchronize());
  expect(*digits == 12345, "a destroyed stream ends its work");
  MUST(cudaEventDestroy(written));
  MUST(cudaStreamDestroy(first));
  MUST(cudaStreamDestroy(second));
  MUST(cudaStreamDestroy(urgent));
  MUST(cudaFree(digits));
  return wrong;
}
