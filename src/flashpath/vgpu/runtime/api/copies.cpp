// Copies and fills.
#include "api/call.h"
#include "ground/sizes.h"
#include "operations/copy.h"

using namespace flashpath::runtime;

namespace {

Place row(const void* pointer, std::size_t size) { return {const_cast<void*>(pointer), size, size}; }
Place rows(const void* pointer, std::size_t pitch, std::size_t height) {
  return {const_cast<void*>(pointer), pitch, product(pitch, height)};
}

cudaError_t copy_row(const char* name, void* to, const void* from, std::size_t size, cudaMemcpyKind kind,
                     cudaStream_t stream, Waiting waiting) {
  return call(name, [&](Runtime& runtime) {
    copy(runtime, row(to, size), row(from, size), {size}, kind, runtime.stream(stream), waiting);
    return cudaSuccess;
  });
}

cudaError_t copy_rows(const char* name, void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
                      std::size_t width, std::size_t height, cudaMemcpyKind kind, cudaStream_t stream,
                      Waiting waiting) {
  return call(name, [&](Runtime& runtime) {
    copy(runtime, rows(to, to_pitch, height), rows(from, from_pitch, height), {width, height}, kind,
         runtime.stream(stream), waiting);
    return cudaSuccess;
  });
}

Place place_in(const cudaPitchedPtr& pitched, const cudaPos& position) {
  const std::size_t plane = product(pitched.pitch, pitched.ysize);
  return {static_cast<std::byte*>(pitched.ptr) + position.z * plane + position.y * pitched.pitch + position.x,
          pitched.pitch, plane};
}

cudaError_t copy_box(const char* name, const cudaMemcpy3DParms* given, cudaStream_t stream, Waiting waiting) {
  return call(name, [&](Runtime& runtime) {
    const cudaMemcpy3DParms& p = required(given, "p");
    if (p.srcArray != nullptr || p.dstArray != nullptr) {
      throw ApiError{cudaErrorNotSupported, "vgpu.no-cuda-arrays"};
    }
    copy(runtime, place_in(p.dstPtr, p.dstPos), place_in(p.srcPtr, p.srcPos),
         {p.extent.width, p.extent.height, p.extent.depth}, p.kind, runtime.stream(stream), waiting);
    return cudaSuccess;
  });
}

// Between devices: host memory that they do not see is no end of it. Which device an address is of, it says itself.
constexpr cudaMemcpyKind kBetweenDevices = cudaMemcpyDeviceToDevice;

cudaError_t copy_between(const char* name, void* to, int to_device, const void* from, int from_device, std::size_t size,
                         cudaStream_t stream, Waiting waiting) {
  return call(name, [&](Runtime& runtime) {
    runtime.device(to_device);
    runtime.device(from_device);
    copy(runtime, row(to, size), row(from, size), {size}, kBetweenDevices, runtime.stream(stream), waiting);
    return cudaSuccess;
  });
}

cudaError_t copy_box_between(const char* name, const cudaMemcpy3DPeerParms* given, cudaStream_t stream,
                             Waiting waiting) {
  if (given == nullptr) return copy_box(name, nullptr, stream, waiting);
  const cudaError_t devices = call(name, [&](Runtime& runtime) {
    runtime.device(given->srcDevice);
    runtime.device(given->dstDevice);
    return cudaSuccess;
  });
  if (devices != cudaSuccess) return devices;
  cudaMemcpy3DParms same = {};
  same.srcArray = given->srcArray;
  same.srcPos = given->srcPos;
  same.srcPtr = given->srcPtr;
  same.dstArray = given->dstArray;
  same.dstPos = given->dstPos;
  same.dstPtr = given->dstPtr;
  same.extent = given->extent;
  same.kind = kBetweenDevices;
  return copy_box(name, &same, stream, waiting);
}

cudaError_t fill_box(const char* name, const Place& place, int value, const Box& box, cudaStream_t stream,
                     Waiting waiting) {
  return call(name, [&](Runtime& runtime) {
    fill(runtime, place, value, box, runtime.stream(stream), waiting);
    return cudaSuccess;
  });
}

}  // namespace

extern "C" {

cudaError_t cudaMemcpy(void* to, const void* from, size_t size, cudaMemcpyKind kind) {
  return copy_row("cudaMemcpy", to, from, size, kind, nullptr, Waiting::kAsUsual);
}

cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t size, cudaMemcpyKind kind, cudaStream_t stream) {
  return copy_row("cudaMemcpyAsync", to, from, size, kind, stream, Waiting::kNever);
}

cudaError_t cudaMemcpy2D(void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width, size_t height,
                         cudaMemcpyKind kind) {
  return copy_rows("cudaMemcpy2D", to, to_pitch, from, from_pitch, width, height, kind, nullptr, Waiting::kAsUsual);
}

cudaError_t cudaMemcpy2DAsync(void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width,
                              size_t height, cudaMemcpyKind kind, cudaStream_t stream) {
  return copy_rows("cudaMemcpy2DAsync", to, to_pitch, from, from_pitch, width, height, kind, stream, Waiting::kNever);
}

cudaError_t cudaMemcpy3D(const cudaMemcpy3DParms* parameters) {
  return copy_box("cudaMemcpy3D", parameters, nullptr, Waiting::kAsUsual);
}

cudaError_t cudaMemcpy3DAsync(const cudaMemcpy3DParms* parameters, cudaStream_t stream) {
  return copy_box("cudaMemcpy3DAsync", parameters, stream, Waiting::kNever);
}

cudaError_t cudaMemcpyPeer(void* to, int to_device, const void* from, int from_device, size_t size) {
  return copy_between("cudaMemcpyPeer", to, to_device, from, from_device, size, nullptr, Waiting::kAsUsual);
}

cudaError_t cudaMemcpyPeerAsync(void* to, int to_device, const void* from, int from_device, size_t size,
                                cudaStream_t stream) {
  return copy_between("cudaMemcpyPeerAsync", to, to_device, from, from_device, size, stream, Waiting::kNever);
}

cudaError_t cudaMemcpy3DPeer(const cudaMemcpy3DPeerParms* parameters) {
  return copy_box_between("cudaMemcpy3DPeer", parameters, nullptr, Waiting::kAsUsual);
}

cudaError_t cudaMemcpy3DPeerAsync(const cudaMemcpy3DPeerParms* parameters, cudaStream_t stream) {
  return copy_box_between("cudaMemcpy3DPeerAsync", parameters, stream, Waiting::kNever);
}

cudaError_t cudaMemset(void* to, int value, size_t size) {
  return fill_box("cudaMemset", row(to, size), value, {size}, nullptr, Waiting::kAsUsual);
}

cudaError_t cudaMemsetAsync(void* to, int value, size_t size, cudaStream_t stream) {
  return fill_box("cudaMemsetAsync", row(to, size), value, {size}, stream, Waiting::kNever);
}

cudaError_t cudaMemset2D(void* to, size_t pitch, int value, size_t width, size_t height) {
  return fill_box("cudaMemset2D", rows(to, pitch, height), value, {width, height}, nullptr, Waiting::kAsUsual);
}

cudaError_t cudaMemset2DAsync(void* to, size_t pitch, int value, size_t width, size_t height, cudaStream_t stream) {
  return fill_box("cudaMemset2DAsync", rows(to, pitch, height), value, {width, height}, stream, Waiting::kNever);
}

cudaError_t cudaMemset3D(cudaPitchedPtr to, int value, cudaExtent extent) {
  return fill_box("cudaMemset3D", place_in(to, {}), value, {extent.width, extent.height, extent.depth}, nullptr,
                  Waiting::kAsUsual);
}

cudaError_t cudaMemset3DAsync(cudaPitchedPtr to, int value, cudaExtent extent, cudaStream_t stream) {
  return fill_box("cudaMemset3DAsync", place_in(to, {}), value, {extent.width, extent.height, extent.depth}, stream,
                  Waiting::kNever);
}

}  // extern "C"
