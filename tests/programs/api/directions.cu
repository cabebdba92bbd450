// The kind of a copy, where it is not that of its addresses: the addresses decide. Only memory that the GPU does not
// see is never taken for its own.
#include <cstring>
#include <vector>

#include "expect.h"

constexpr std::size_t kBytes = 256;

// Whether a pattern arrives; the ends are as they are, whatever the kind says.
bool arrives(char* to, char* from, cudaMemcpyKind kind) {
  char pattern[kBytes], seen[kBytes];
  std::memset(pattern, 0x5a, kBytes);
  MUST(cudaMemcpy(from, pattern, kBytes, cudaMemcpyDefault));
  MUST(cudaMemset(to, 0, kBytes));
  MUST(cudaMemcpyAsync(to, from, kBytes, kind, nullptr));
  MUST(cudaMemcpy(seen, to, kBytes, cudaMemcpyDefault));
  return std::memcmp(seen, pattern, kBytes) == 0;
}

int main() {
  char *device, *other, *pinned, *managed;
  MUST(cudaMalloc(&device, kBytes));
  MUST(cudaMalloc(&other, kBytes));
  MUST(cudaMallocHost(&pinned, kBytes));
  MUST(cudaMallocManaged(&managed, kBytes));
  expect(arrives(device, pinned, cudaMemcpyHostToHost), "to the device, as from host to host");
  expect(arrives(pinned, device, cudaMemcpyHostToHost), "from it, as from host to host");
  expect(arrives(other, device, cudaMemcpyHostToHost), "on it, as from host to host");
  expect(arrives(pinned, device, cudaMemcpyHostToDevice), "from the device, as to it");
  expect(arrives(other, device, cudaMemcpyHostToDevice), "on the device, as to it");
  expect(arrives(managed, device, cudaMemcpyHostToDevice), "from the device to managed memory, as to it");
  expect(arrives(device, pinned, cudaMemcpyDeviceToHost), "to the device, as from it");
  expect(arrives(other, device, cudaMemcpyDeviceToHost), "on the device, as from it");
  expect(arrives(pinned, device, cudaMemcpyDeviceToDevice), "from the device to pinned memory, as on it");

  std::vector<char> pageable(kBytes);
  const auto refused = [&](void* to, const void* from, cudaMemcpyKind kind, const char* fact) {
    expect_error(cudaMemcpy(to, from, kBytes, kind), cudaErrorInvalidValue, fact);
  };
  refused(pageable.data(), device, cudaMemcpyHostToDevice, "a vector is no end on the device");
  refused(pageable.data(), pinned, cudaMemcpyDeviceToDevice, "nor is it when both shall be there");
  refused(device, pageable.data(), cudaMemcpyDeviceToHost, "nor a source on the device");
  refused(device, pageable.data(), cudaMemcpyDeviceToDevice, "also not where the other end is");
  expect_error(cudaMemcpyPeer(device, 0, pageable.data(), 0, kBytes), cudaErrorInvalidValue,
               "between devices it is no end");
  MUST(cudaFree(device));
  MUST(cudaFree(other));
  MUST(cudaFree(managed));
  MUST(cudaFreeHost(pinned));
  return wrong;
}
