// cudaMemcpy and cudaMemset in all directions, at once and in a stream.
#include <numeric>
#include <vector>

#include "expect.h"

constexpr int kCount = 5000;
constexpr std::size_t kBytes = kCount * sizeof(int);

// Copies 0 … 4999 from one place to another through `kind`, and says whether they arrive.
bool arrives(int* to, int* from, cudaMemcpyKind kind, bool in_stream) {
  std::vector<int> counted(kCount), seen(kCount);
  std::iota(counted.begin(), counted.end(), 0);
  MUST(cudaMemcpy(from, counted.data(), kBytes, cudaMemcpyDefault));
  MUST(cudaMemset(to, 0xab, kBytes));
  if (in_stream) {
    cudaStream_t stream;
    MUST(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    MUST(cudaDeviceSynchronize());
    MUST(cudaMemcpyAsync(to, from, kBytes, kind, stream));
    MUST(cudaStreamSynchronize(stream));
    MUST(cudaStreamDestroy(stream));
  } else {
    MUST(cudaMemcpy(to, from, kBytes, kind));
  }
  MUST(cudaMemcpy(seen.data(), to, kBytes, cudaMemcpyDefault));
  return seen == counted;
}

int main() {
  int *device, *other, *pinned, *another, *managed;
  MUST(cudaMalloc(&device, kBytes));
  MUST(cudaMalloc(&other, kBytes));
  MUST(cudaMallocHost(&pinned, kBytes));
  MUST(cudaMallocHost(&another, kBytes));
  MUST(cudaMallocManaged(&managed, kBytes));
  for (bool in_stream : {false, true}) {
    std::printf("%s\n", in_stream ? "in a stream:" : "at once:");
    expect(arrives(device, pinned, cudaMemcpyHostToDevice, in_stream), "host to device");
    expect(arrives(pinned, device, cudaMemcpyDeviceToHost, in_stream), "device to host");
    expect(arrives(other, device, cudaMemcpyDeviceToDevice, in_stream), "device to device");
    expect(arrives(another, pinned, cudaMemcpyHostToHost, in_stream), "host to host");
    expect(arrives(managed, device, cudaMemcpyDeviceToDevice, in_stream), "device to managed, as a device");
    expect(arrives(managed, device, cudaMemcpyDeviceToHost, in_stream), "device to managed, as the host");
    expect(arrives(device, managed, cudaMemcpyDefault, in_stream), "managed to device, found out");
    expect(arrives(pinned, other, cudaMemcpyDefault, in_stream), "device to host, found out");
  }

  // The host may use its memory again as soon as a copy from pageable memory returns.
  std::vector<int> pageable(kCount, 1), seen(kCount);
  MUST(cudaMemcpyAsync(device, pageable.data(), kBytes, cudaMemcpyHostToDevice, nullptr));
  pageable.assign(kCount, 2);
  MUST(cudaMemcpyAsync(seen.data(), device, kBytes, cudaMemcpyDeviceToHost, nullptr));
  MUST(cudaDeviceSynchronize());
  expect(seen == std::vector<int>(kCount, 1), "pageable memory was read before the call returned");

  // Bytes are filled, whatever the type of the array.
  MUST(cudaMemsetAsync(device, 1, kBytes, nullptr));
  MUST(cudaMemcpy(seen.data(), device, kBytes, cudaMemcpyDeviceToHost));
  expect(seen.front() == 0x01010101 && seen.back() == 0x01010101, "cudaMemset fills bytes");
  MUST(cudaMemset(device + 10, 0, 5 * sizeof(int)));
  MUST(cudaMemcpy(seen.data(), device, kBytes, cudaMemcpyDeviceToHost));
  expect(seen[9] != 0 && seen[10] == 0 && seen[14] == 0 && seen[15] != 0, "a part of an array is filled");
  MUST(cudaMemcpy(seen.data(), nullptr, 0, cudaMemcpyDeviceToHost));
  expect_error(cudaMemcpy(device, seen.data(), kBytes, static_cast<cudaMemcpyKind>(77)),
               cudaErrorInvalidMemcpyDirection, "there is no direction 77");

  MUST(cudaFree(device));
  MUST(cudaFree(other));
  MUST(cudaFreeHost(pinned));
  MUST(cudaFreeHost(another));
  MUST(cudaFree(managed));
  return wrong;
}
