// Tensor maps, for programs that make them as CUDA's driver does: by cudaGetDriverEntryPoint, or linked with -lcuda
// (driver/driver.cpp). A map is written by the engine, which alone knows what its bytes mean.
#include <cuda_runtime_api.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "api/call.h"
#include "ground/speech.h"
#include "program/tensor_map_encoding.h"

using namespace flashpath;

namespace {

constexpr int kInvalidValue = 1;  // CUDA_ERROR_INVALID_VALUE

template <class T>
std::string list(const T* values, std::uint32_t count) {
  std::string text = "(";
  for (std::uint32_t k = 0; k < count; ++k) text += (k == 0 ? "" : ", ") + std::to_string(values[k]);
  return text + ")";
}

int encode(void* map, const program::TensorMapRequest& request) {
  const bool has_pointers = map != nullptr && request.extents != nullptr && request.steps != nullptr &&
                            (request.strides != nullptr || request.rank < 2);
  if (!has_pointers || reinterpret_cast<std::uintptr_t>(map) % 64 != 0) return kInvalidValue;
  program::TensorMap made;
  std::uint32_t dimension = 0;
  const program::TensorMapProblem problem = program::encode(request, made, dimension);
  if (problem == program::TensorMapProblem::kNone) {
    std::memcpy(map, &made, sizeof made);
    return 0;
  }
  char address[32];
  std::snprintf(address, sizeof address, "0x%llx", static_cast<unsigned long long>(request.address));
  const std::uint32_t rank = std::min<std::uint32_t>(request.rank, program::kMostRank);
  runtime::tell({program::name_of(problem),
                 {{"shape", list(request.extents, rank)},
                  {"strides", list(request.strides, rank == 0 ? 0 : rank - 1)},
                  {"box", request.box == nullptr ? "" : list(request.box, rank)},
                  {"steps", list(request.steps, rank)},
                  {"swizzle", request.swizzle == 0 ? 0u : 16u << request.swizzle},
                  {"dimension", dimension},
                  {"address", std::string(address)}}});
  return kInvalidValue;
}

void* entry_point(std::string_view name);

}  // namespace

extern "C" {

int __cudaTensorMapEncodeTiled(void* map, int type, std::uint32_t rank, void* address, const std::uint64_t* extents,
                               const std::uint64_t* strides, const std::uint32_t* box, const std::uint32_t* steps,
                               int interleave, int swizzle, int promotion, int fill) {
  if (box == nullptr) return kInvalidValue;
  program::TensorMapRequest request;
  request.type = static_cast<std::uint32_t>(type);
  request.rank = rank;
  request.address = reinterpret_cast<std::uintptr_t>(address);
  request.extents = extents;
  request.strides = strides;
  request.box = box;
  request.steps = steps;
  request.interleave = static_cast<std::uint32_t>(interleave);
  request.swizzle = static_cast<std::uint32_t>(swizzle);
  request.promotion = static_cast<std::uint32_t>(promotion);
  request.fill = static_cast<std::uint32_t>(fill);
  return encode(map, request);
}

int __cudaTensorMapEncodeIm2col(void* map, int type, std::uint32_t rank, void* address, const std::uint64_t* extents,
                                const std::uint64_t* strides, const int* lower, const int* upper,
                                std::uint32_t channels, std::uint32_t pixels, const std::uint32_t* steps,
                                int interleave, int swizzle, int promotion, int fill) {
  if (lower == nullptr || upper == nullptr) return kInvalidValue;
  program::TensorMapRequest request;
  request.type = static_cast<std::uint32_t>(type);
  request.rank = rank;
  request.address = reinterpret_cast<std::uintptr_t>(address);
  request.extents = extents;
  request.strides = strides;
  request.steps = steps;
  request.lower = lower;
  request.upper = upper;
  request.channels = channels;
  request.pixels = pixels;
  request.interleave = static_cast<std::uint32_t>(interleave);
  request.swizzle = static_cast<std::uint32_t>(swizzle);
  request.promotion = static_cast<std::uint32_t>(promotion);
  request.fill = static_cast<std::uint32_t>(fill);
  return encode(map, request);
}

// tensorMapReplaceAddress of the driver: the same map of another array.
int __cudaTensorMapReplaceAddress(void* map, void* address) {
  if (map == nullptr || reinterpret_cast<std::uintptr_t>(address) % 16 != 0) return kInvalidValue;
  const std::uint64_t value = reinterpret_cast<std::uintptr_t>(address);
  std::memcpy(map, &value, sizeof value);
  return 0;
}

cudaError_t cudaGetDriverEntryPointByVersion(const char* symbol, void** function, unsigned, unsigned long long,
                                             cudaDriverEntryPointQueryResult* status) {
  return runtime::call("cudaGetDriverEntryPointByVersion", [&](runtime::Runtime&) {
    runtime::required(symbol, "symbol");
    void*& found = runtime::required(function, "funcPtr");
    found = entry_point(symbol);
    if (status != nullptr) *status = found ? cudaDriverEntryPointSuccess : cudaDriverEntryPointSymbolNotFound;
    if (found == nullptr && status == nullptr) throw runtime::ApiError{cudaErrorSymbolNotFound, "vgpu.instead-of-driver"};
    return cudaSuccess;
  });
}

cudaError_t cudaGetDriverEntryPoint(const char* symbol, void** function, unsigned long long flags,
                                    cudaDriverEntryPointQueryResult* status) {
  return cudaGetDriverEntryPointByVersion(symbol, function, 0, flags, status);
}

}  // extern "C"

namespace {

void* entry_point(std::string_view name) {
  if (name == "cuTensorMapEncodeTiled") return reinterpret_cast<void*>(&__cudaTensorMapEncodeTiled);
  if (name == "cuTensorMapEncodeIm2col") return reinterpret_cast<void*>(&__cudaTensorMapEncodeIm2col);
  if (name == "cuTensorMapReplaceAddress") return reinterpret_cast<void*>(&__cudaTensorMapReplaceAddress);
  return nullptr;
}

}  // namespace
