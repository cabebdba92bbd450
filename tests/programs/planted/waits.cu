// The host uses memory that a copy or a kernel is not known to be done with.
#include "planted.h"

constexpr int kCount = 1024;
constexpr size_t kBytes = kCount * sizeof(float);

__managed__ float total = 0;
__managed__ int counted = kCount;

__global__ void fill(float* x, float value) { x[blockIdx.x * blockDim.x + threadIdx.x] = value; }

__global__ void add_all(const float* x) {
  float sum = 0;
  for (int i = 0; i < kCount; ++i) sum += x[i];
  total = sum;
}

__global__ void add_counted(const float* x) {
  float sum = 0;
  for (int i = 0; i < counted; ++i) sum += x[i];
  total = sum;
}

__global__ void count(int* counter) { atomicAdd(counter, 1); }

__global__ void count_in_bins(int* bins) { atomicAdd(&bins[3 + threadIdx.x % 4], 1); }

__global__ void greet() { std::printf("hello from thread %d\n", threadIdx.x); }

float* new_array(float value) {
  float* x;
  check(cudaMalloc(&x, kBytes));
  fill<<<kCount / 256, 256>>>(x, value);
  check(cudaGetLastError());
  check(cudaDeviceSynchronize());
  return x;
}

float* new_pinned() {
  float* x;
  check(cudaMallocHost(&x, kBytes));
  std::memset(x, 0, kBytes);
  return x;
}

void reads_copied() {
  float *x = new_array(3), *host = new_pinned();
  check(cudaMemcpyAsync(host, x, kBytes, cudaMemcpyDeviceToHost));  // OTHER
  if (mended) check(cudaStreamSynchronize(0));
  expect(host[0] == 3);  // BUG: missing-sync
  check(cudaDeviceSynchronize());
  check(cudaFree(x));
  check(cudaFreeHost(host));
}

void overwrites_source() {
  float *x = new_array(3), *host = new_pinned();
  for (int i = 0; i < kCount; ++i) host[i] = 5;
  check(cudaMemcpyAsync(x, host, kBytes, cudaMemcpyHostToDevice));  // OTHER
  if (mended) check(cudaDeviceSynchronize());
  for (int i = 0; i < kCount; ++i) host[i] = 7;  // BUG: missing-sync
  check(cudaMemcpy(host, x, kBytes, cudaMemcpyDeviceToHost));
  expect(host[0] == 5);
  check(cudaFree(x));
  check(cudaFreeHost(host));
}

void reads_managed() {
  float* x;
  check(cudaMallocManaged(&x, kBytes));
  fill<<<kCount / 256, 256>>>(x, 2);  // OTHER
  check(cudaGetLastError());
  if (mended) check(cudaDeviceSynchronize());
  expect(x[kCount - 1] == 2);  // BUG: missing-sync
  check(cudaFree(x));
}

void reads_mapped() {
  float *x, *seen_by_device;
  check(cudaHostAlloc(&x, kBytes, cudaHostAllocMapped));
  check(cudaHostGetDevicePointer(&seen_by_device, x, 0));
  fill<<<kCount / 256, 256>>>(seen_by_device, 2);  // OTHER
  check(cudaGetLastError());
  if (mended) check(cudaDeviceSynchronize());
  expect(x[0] == 2);  // BUG: missing-sync
  check(cudaFreeHost(x));
}

void reads_managed_variable() {
  float* x = new_array(1);
  add_all<<<1, 1>>>(x);  // OTHER
  check(cudaGetLastError());
  if (mended) check(cudaDeviceSynchronize());
  expect(total == kCount);  // BUG: missing-sync
  check(cudaFree(x));
}

void waits_for_the_wrong_stream() {
  cudaStream_t one, other;
  check(cudaStreamCreate(&one));
  check(cudaStreamCreate(&other));
  float *x = new_array(3), *host = new_pinned();
  check(cudaMemcpyAsync(host, x, kBytes, cudaMemcpyDeviceToHost, one));  // OTHER
  check(cudaStreamSynchronize(mended ? one : other));
  expect(host[0] == 3);  // BUG: missing-sync
  check(cudaFree(x));
  check(cudaFreeHost(host));
  check(cudaStreamDestroy(one));
  check(cudaStreamDestroy(other));
}

// The event comes before the copy in its stream: who waits for it has not waited for the copy.
void waits_for_an_early_event() {
  cudaEvent_t event;
  check(cudaEventCreate(&event));
  float *x = new_array(3), *host = new_pinned();
  if (!mended) check(cudaEventRecord(event));
  check(cudaMemcpyAsync(host, x, kBytes, cudaMemcpyDeviceToHost));  // OTHER
  if (mended) check(cudaEventRecord(event));
  check(cudaEventSynchronize(event));
  expect(host[0] == 3);  // BUG: missing-sync
  check(cudaFree(x));
  check(cudaFreeHost(host));
  check(cudaEventDestroy(event));
}

// That it was asked whether the copy is done is not enough: the answer was no.
void asks_and_does_not_listen() {
  cudaStream_t stream;
  check(cudaStreamCreate(&stream));
  float *x = new_array(3), *host = new_pinned();
  check(cudaMemcpyAsync(host, x, kBytes, cudaMemcpyDeviceToHost, stream));  // OTHER
  if (mended) {
    while (cudaStreamQuery(stream) == cudaErrorNotReady) {
    }
  } else {
    cudaStreamQuery(stream);
  }
  expect(host[0] == 3);  // BUG: missing-sync
  check(cudaStreamSynchronize(stream));
  check(cudaFree(x));
  check(cudaFreeHost(host));
  check(cudaStreamDestroy(stream));
}

// The next data are written while the kernel may still read those before.
void writes_managed_input() {
  float* x;
  check(cudaMallocManaged(&x, kBytes));
  for (int i = 0; i < kCount; ++i) x[i] = 1;
  add_all<<<1, 1>>>(x);  // OTHER
  check(cudaGetLastError());
  if (mended) check(cudaDeviceSynchronize());
  for (int i = 0; i < kCount; ++i) x[i] = 2;  // BUG: missing-sync
  check(cudaDeviceSynchronize());
  expect(total == kCount);
  check(cudaFree(x));
}

void reads_registered() {
  float* host;
  constexpr size_t kPages = 4 * 4096;
  if (posix_memalign(reinterpret_cast<void**>(&host), 4096, kPages) != 0) std::exit(1);
  std::memset(host, 0, kPages);
  check(cudaHostRegister(host, kPages, cudaHostRegisterDefault));
  float* x = new_array(3);
  check(cudaMemcpyAsync(host, x, kBytes, cudaMemcpyDeviceToHost));  // OTHER
  if (mended) check(cudaDeviceSynchronize());
  expect(host[0] == 3);  // BUG: missing-sync
  check(cudaFree(x));
  check(cudaHostUnregister(host));
  std::free(host);
}

void reads_after_graph() {
  cudaStream_t stream;
  cudaGraph_t graph;
  cudaGraphExec_t runnable;
  check(cudaStreamCreate(&stream));
  float *x = new_array(3), *host = new_pinned();
  check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  check(cudaMemcpyAsync(host, x, kBytes, cudaMemcpyDeviceToHost, stream));  // OTHER
  check(cudaStreamEndCapture(stream, &graph));
  check(cudaGraphInstantiate(&runnable, graph, 0));
  check(cudaGraphLaunch(runnable, stream));
  if (mended) check(cudaStreamSynchronize(stream));
  expect(host[0] == 3);  // BUG: missing-sync
  check(cudaStreamSynchronize(stream));
  check(cudaGraphExecDestroy(runnable));
  check(cudaGraphDestroy(graph));
  check(cudaFree(x));
  check(cudaFreeHost(host));
  check(cudaStreamDestroy(stream));
}

void reads_atomic_counter() {
  int* counter;
  check(cudaMallocManaged(&counter, sizeof(int)));
  *counter = 0;
  count<<<1, 64>>>(counter);  // OTHER
  check(cudaGetLastError());
  if (mended) check(cudaDeviceSynchronize());
  expect(*counter == 64);  // BUG: missing-sync
  check(cudaFree(counter));
}

// The kernel leaves bins 0 to 2 alone: that the host may read them hides nothing of the others.
void reads_all_bins() {
  int* bins;
  check(cudaMallocManaged(&bins, 8 * sizeof(int)));
  for (int i = 0; i < 8; ++i) bins[i] = 0;
  count_in_bins<<<1, 64>>>(bins);  // OTHER
  check(cudaGetLastError());
  if (mended) check(cudaDeviceSynchronize());
  int sum = 0;
  for (int i = 0; i < 8; ++i) sum += bins[i];  // BUG: missing-sync
  expect(sum == 64);
  check(cudaFree(bins));
}

// Of two variables the kernel only reads the first, which the host may do, too.
void reads_second_variable() {
  float* x = new_array(1);
  add_counted<<<1, 1>>>(x);  // OTHER
  check(cudaGetLastError());
  if (mended) check(cudaDeviceSynchronize());
  std::printf("of %d numbers\n", counted);
  expect(total == kCount);  // BUG: missing-sync
  check(cudaFree(x));
}

void ends_before_the_kernel() {
  greet<<<1, 2>>>();  // BUG: missing-sync
  if (mended) check(cudaDeviceSynchronize());
}

int main(int argc, char** argv) {
  return run_named(argc, argv,
                   {NAMED(reads_copied), NAMED(overwrites_source), NAMED(reads_managed), NAMED(reads_mapped),
                    NAMED(reads_managed_variable), NAMED(waits_for_the_wrong_stream), NAMED(waits_for_an_early_event),
                    NAMED(asks_and_does_not_listen), NAMED(writes_managed_input), NAMED(reads_registered),
                    NAMED(reads_after_graph), NAMED(reads_atomic_counter), NAMED(reads_all_bins),
                    NAMED(reads_second_variable), NAMED(ends_before_the_kernel)});
}
