// __device__ and __constant__ variables, which the host names by its own shadows of them.
#include "api/call.h"
#include "operations/copy.h"

using namespace flashpath::runtime;

namespace {

std::byte* address_of(Runtime& runtime, const void* symbol, std::size_t offset = 0, std::size_t size = 0) {
  const Variable* const found = runtime.registry.variable(symbol);
  if (found == nullptr) throw ApiError{cudaErrorInvalidSymbol, "vgpu.no-such-symbol"};
  if (offset > found->size || size > found->size - offset) {
    throw ApiError{cudaErrorInvalidValue,
                   {"vgpu.symbol-too-short",
                    {{"name", found->name}, {"bytes", found->size}, {"asked", offset + size}}},
                   "out-of-bounds"};
  }
  const auto address = runtime.registry.on(*found->module, runtime.current()).address_of(found->name);
  if (!address) throw ApiError{cudaErrorInvalidSymbol, {"vgpu.no-such-variable", {{"name", found->name}}}};
  return reinterpret_cast<std::byte*>(*address + offset);
}

cudaError_t copy_symbol(const char* name, const void* symbol, void* other, std::size_t size, std::size_t offset,
                        bool to_symbol, cudaMemcpyKind kind, cudaStream_t stream, Waiting waiting) {
  return call(name, [&](Runtime& runtime) {
    const cudaMemcpyKind with_host = to_symbol ? cudaMemcpyHostToDevice : cudaMemcpyDeviceToHost;
    if (kind != with_host && kind != cudaMemcpyDeviceToDevice && kind != cudaMemcpyDefault) {
      throw ApiError{cudaErrorInvalidMemcpyDirection, "vgpu.symbol-is-not-host",
                     "wrong-direction"};
    }
    const Place variable{address_of(runtime, symbol, offset, size), size, size};
    const Place host{other, size, size};
    const Place& to = to_symbol ? variable : host;
    const Place& from = to_symbol ? host : variable;
    copy(runtime, to, from, {size}, kind, runtime.stream(stream), waiting);
    return cudaSuccess;
  });
}

}  // namespace

extern "C" {

cudaError_t cudaMemcpyToSymbol(const void* symbol, const void* from, size_t size, size_t offset, cudaMemcpyKind kind) {
  return copy_symbol("cudaMemcpyToSymbol", symbol, const_cast<void*>(from), size, offset, true, kind, nullptr,
                     Waiting::kAsUsual);
}

cudaError_t cudaMemcpyToSymbolAsync(const void* symbol, const void* from, size_t size, size_t offset,
                                    cudaMemcpyKind kind, cudaStream_t stream) {
  return copy_symbol("cudaMemcpyToSymbolAsync", symbol, const_cast<void*>(from), size, offset, true, kind, stream,
                     Waiting::kNever);
}

cudaError_t cudaMemcpyFromSymbol(void* to, const void* symbol, size_t size, size_t offset, cudaMemcpyKind kind) {
  return copy_symbol("cudaMemcpyFromSymbol", symbol, to, size, offset, false, kind, nullptr, Waiting::kAsUsual);
}

cudaError_t cudaMemcpyFromSymbolAsync(void* to, const void* symbol, size_t size, size_t offset, cudaMemcpyKind kind,
                                      cudaStream_t stream) {
  return copy_symbol("cudaMemcpyFromSymbolAsync", symbol, to, size, offset, false, kind, stream, Waiting::kNever);
}

cudaError_t cudaGetSymbolAddress(void** pointer, const void* symbol) {
  return call("cudaGetSymbolAddress", [&](Runtime& runtime) {
    required(pointer, "devPtr") = address_of(runtime, symbol);
    return cudaSuccess;
  });
}

cudaError_t cudaGetSymbolSize(size_t* size, const void* symbol) {
  return call("cudaGetSymbolSize", [&](Runtime& runtime) {
    const Variable* const found = runtime.registry.variable(symbol);
    if (found == nullptr) throw ApiError{cudaErrorInvalidSymbol, "vgpu.no-such-symbol"};
    required(size, "size") = found->size;
    return cudaSuccess;
  });
}

}  // extern "C"
