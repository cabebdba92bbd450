// The few functions of CUDA's driver that exported libraries call (jit/export/driver.h), on the runtime API beside it.
// It is a library of its own, which only those find who are to run on the virtual GPU.
#include <cuda_runtime_api.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

// What nvcc has programs call before main.
extern "C" void** __cudaRegisterFatBinary(void* wrapper);
extern "C" void __cudaRegisterFatBinaryEnd(void** handle);
extern "C" void __cudaRegisterFunction(void** handle, const char* host, char* device, const char* name, int, uint3*,
                                       uint3*, dim3*, dim3*, int*);

// Of the runtime (api/tensor_maps.cpp).
extern "C" int __cudaTensorMapEncodeTiled(void* map, int type, std::uint32_t rank, void* address,
                                          const std::uint64_t* extents, const std::uint64_t* strides,
                                          const std::uint32_t* box, const std::uint32_t* steps, int interleave,
                                          int swizzle, int promotion, int fill);
extern "C" int __cudaTensorMapEncodeIm2col(void* map, int type, std::uint32_t rank, void* address,
                                           const std::uint64_t* extents, const std::uint64_t* strides, const int* lower,
                                           const int* upper, std::uint32_t channels, std::uint32_t pixels,
                                           const std::uint32_t* steps, int interleave, int swizzle, int promotion,
                                           int fill);
extern "C" int __cudaTensorMapReplaceAddress(void* map, void* address);

namespace {

constexpr int kInvalidValue = 1, kInvalidDevice = 101, kNoBinaryForGpu = 209, kNotFound = 500;

// A fat binary that holds one PTX, as nvcc would have put it into a program (binary/fat_binary.cpp).
struct Header {
  std::uint32_t magic = 0xba55ed50;
  std::uint16_t version = 1;
  std::uint16_t header_size = 16;
  std::uint64_t size = 0;
};

struct Entry {
  std::uint16_t kind = 1;  // PTX
  std::uint16_t version = 0x101;
  std::uint32_t header_size = 64;
  std::uint64_t size = 0;
  std::uint32_t compressed_size = 0;
  std::uint32_t options = 0;
  std::uint16_t minor = 0;
  std::uint16_t major = 0;
  std::uint32_t architecture = 0;
  std::uint32_t name = 0;
  std::uint32_t name_size = 0;
  std::uint64_t flags = 0;
  std::uint64_t unused[2] = {};
};
static_assert(sizeof(Header) == 16 && sizeof(Entry) == 64);

struct Wrapper {
  std::uint32_t magic = 0x466243b1;
  std::uint32_t version = 1;
  const char* binary = nullptr;
  const void* linked = nullptr;
};

// Kept until the process ends: the runtime reads the PTX when a kernel of it is first launched.
struct Module {
  std::string ptx;
  std::vector<char> binary;
  Wrapper wrapper;
  void** handle = nullptr;
};

std::uint32_t architecture_of(const std::string& ptx) {
  constexpr char kTarget[] = ".target sm_";
  const std::size_t at = ptx.find(kTarget);
  return at == std::string::npos ? 0 : static_cast<std::uint32_t>(std::atoi(ptx.c_str() + at + sizeof kTarget - 1));
}

// Contexts are the devices, counted from 1: a null pointer is none.
void* context_of(int device) { return reinterpret_cast<void*>(static_cast<std::intptr_t>(device) + 1); }
int device_of(void* context) { return static_cast<int>(reinterpret_cast<std::intptr_t>(context)) - 1; }

thread_local std::vector<int> devices_before;

template <class T>
T* pointer(unsigned long long address) {
  return reinterpret_cast<T*>(static_cast<std::uintptr_t>(address));
}

}  // namespace

extern "C" {

int cuInit(unsigned) {
  int count = 0;
  return cudaGetDeviceCount(&count);
}

int cuGetErrorName(int error, const char** name) {
  *name = cudaGetErrorName(static_cast<cudaError_t>(error));
  return 0;
}

int cuGetErrorString(int error, const char** text) {
  *text = cudaGetErrorString(static_cast<cudaError_t>(error));
  return 0;
}

int cuDeviceGetCount(int* count) { return cudaGetDeviceCount(count); }

int cuDeviceGet(int* device, int index) {
  int count = 0;
  if (const cudaError_t error = cudaGetDeviceCount(&count)) return error;
  *device = index;
  return index >= 0 && index < count ? 0 : kInvalidDevice;
}

int cuDeviceGetAttribute(int* value, int attribute, int device) {
  return cudaDeviceGetAttribute(value, static_cast<cudaDeviceAttr>(attribute), device);
}

int cuDevicePrimaryCtxRetain(void** context, int device) {
  int count = 0;
  const cudaError_t error = cudaGetDeviceCount(&count);
  if (error != cudaSuccess) return error;
  if (device < 0 || device >= count) return kInvalidDevice;
  *context = context_of(device);
  return 0;
}

int cuCtxGetCurrent(void** context) {
  int device = 0;
  const cudaError_t error = cudaGetDevice(&device);
  *context = context_of(device);
  return error;
}

int cuCtxPushCurrent_v2(void* context) {
  int before = 0;
  if (const cudaError_t error = cudaGetDevice(&before)) return error;
  if (const cudaError_t error = cudaSetDevice(device_of(context))) return error;
  devices_before.push_back(before);
  return 0;
}

int cuCtxPopCurrent_v2(void** context) {
  if (devices_before.empty()) return kInvalidValue;
  int device = 0;
  if (const cudaError_t error = cudaGetDevice(&device)) return error;
  *context = context_of(device);
  const int before = devices_before.back();
  devices_before.pop_back();
  return cudaSetDevice(before);
}

// Machine code is no code for this GPU: a library that has PTX beside it tries that next.
int cuModuleLoadData(void** module, const void* image) {
  constexpr char kElf[] = "\x7f" "ELF";
  if (std::memcmp(image, kElf, sizeof kElf - 1) == 0) return kNoBinaryForGpu;
  auto made = std::make_unique<Module>();
  made->ptx = static_cast<const char*>(image);
  constexpr std::size_t kUnit = 8;
  Entry entry;
  entry.size = (made->ptx.size() + 1 + kUnit - 1) / kUnit * kUnit;
  entry.architecture = architecture_of(made->ptx);
  Header header;
  header.size = sizeof entry + entry.size;
  made->binary.resize(sizeof header + header.size);
  std::memcpy(made->binary.data(), &header, sizeof header);
  std::memcpy(made->binary.data() + sizeof header, &entry, sizeof entry);
  std::memcpy(made->binary.data() + sizeof header + sizeof entry, made->ptx.c_str(), made->ptx.size());
  made->wrapper.binary = made->binary.data();
  made->handle = __cudaRegisterFatBinary(&made->wrapper);
  __cudaRegisterFatBinaryEnd(made->handle);
  *module = made.release();
  return 0;
}

// The runtime knows kernels by an address of the host's: here that of a copy of the name.
int cuModuleGetFunction(void** function, void* module, const char* name) {
  const Module& from = *static_cast<Module*>(module);
  if (from.ptx.find(std::string(".entry ") + name + "(") == std::string::npos) return kNotFound;
  char* const known = strdup(name);
  __cudaRegisterFunction(from.handle, known, known, known, -1, nullptr, nullptr, nullptr, nullptr, nullptr);
  *function = known;
  return 0;
}

int cuFuncSetAttribute(void* function, int attribute, int value) {
  return cudaFuncSetAttribute(function, static_cast<cudaFuncAttribute>(attribute), value);
}

int cuLaunchKernel(void* function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x, unsigned block_y,
                   unsigned block_z, unsigned shared, void* stream, void** parameters, void** extra) {
  if (extra != nullptr) return kInvalidValue;
  return cudaLaunchKernel(function, dim3(grid_x, grid_y, grid_z), dim3(block_x, block_y, block_z), parameters, shared,
                          static_cast<cudaStream_t>(stream));
}

int cuTensorMapEncodeTiled(void* map, int type, std::uint32_t rank, void* address, const std::uint64_t* extents,
                           const std::uint64_t* strides, const std::uint32_t* box, const std::uint32_t* steps,
                           int interleave, int swizzle, int promotion, int fill) {
  return __cudaTensorMapEncodeTiled(map, type, rank, address, extents, strides, box, steps, interleave, swizzle,
                                    promotion, fill);
}

int cuTensorMapEncodeIm2col(void* map, int type, std::uint32_t rank, void* address, const std::uint64_t* extents,
                            const std::uint64_t* strides, const int* lower, const int* upper, std::uint32_t channels,
                            std::uint32_t pixels, const std::uint32_t* steps, int interleave, int swizzle,
                            int promotion, int fill) {
  return __cudaTensorMapEncodeIm2col(map, type, rank, address, extents, strides, lower, upper, channels, pixels, steps,
                                     interleave, swizzle, promotion, fill);
}

int cuTensorMapReplaceAddress(void* map, void* address) { return __cudaTensorMapReplaceAddress(map, address); }

int cuMemAlloc_v2(unsigned long long* address, std::size_t bytes) {
  void* memory = nullptr;
  const cudaError_t error = cudaMalloc(&memory, bytes);
  *address = reinterpret_cast<std::uintptr_t>(memory);
  return error;
}

int cuMemFree_v2(unsigned long long address) { return cudaFree(pointer<void>(address)); }

int cuMemcpyHtoD_v2(unsigned long long to, const void* from, std::size_t bytes) {
  return cudaMemcpy(pointer<void>(to), from, bytes, cudaMemcpyHostToDevice);
}

int cuMemcpyDtoH_v2(void* to, unsigned long long from, std::size_t bytes) {
  return cudaMemcpy(to, pointer<const void>(from), bytes, cudaMemcpyDeviceToHost);
}

}  // extern "C"
