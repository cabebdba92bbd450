// Calls softmax.so from C++: TVM-FFI's headers and library are all that it needs beside CUDA's runtime.
//
//   export LD_LIBRARY_PATH="$(tvm-ffi-config --libdir)"
//   flashpath run call_softmax.cu -I "$(tvm-ffi-config --includedir)" -I "$(tvm-ffi-config --dlpack-includedir)" \
//     -L "$(tvm-ffi-config --libdir)" -l tvm_ffi -- softmax.so
//
// Memory and streams are the program's own. The library is told of the stream by TVM-FFI's environment.
#include <tvm/ffi/container/tensor.h>
#include <tvm/ffi/extra/c_env_api.h>
#include <tvm/ffi/extra/module.h>
#include <tvm/ffi/function.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define CHECK(call)                                                                       \
  do {                                                                                    \
    const cudaError_t error = (call);                                                     \
    if (error != cudaSuccess) {                                                           \
      std::fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(error)); \
      std::exit(1);                                                                       \
    }                                                                                     \
  } while (0)

// A (rows, columns) matrix of float32 on the first GPU; it does not own its memory.
DLTensor matrix(void* data, int64_t* shape) {
  return {data, {kDLCUDA, 0}, 2, {kDLFloat, 32, 1}, shape, nullptr, 0};
}

int main(int argc, char** argv) {
  const char* const library = argc > 1 ? argv[1] : "softmax.so";
  int64_t shape[] = {100, 777};
  const std::size_t count = 100 * 777, bytes = count * sizeof(float);
  std::vector<float> x(count), out(count);
  for (std::size_t i = 0; i < count; ++i) x[i] = std::sin(static_cast<float>(i));

  float *device_x, *device_out;
  CHECK(cudaMalloc(&device_x, bytes));
  CHECK(cudaMalloc(&device_out, bytes));
  CHECK(cudaMemcpy(device_x, x.data(), bytes, cudaMemcpyHostToDevice));
  cudaStream_t stream;
  CHECK(cudaStreamCreate(&stream));

  try {
    const tvm::ffi::Module module = tvm::ffi::Module::LoadFromFile(library);
    const tvm::ffi::Function softmax = module->GetFunction("softmax", false).value();
    DLTensor from = matrix(device_x, shape), to = matrix(device_out, shape);
    TVMFFIEnvSetStream(kDLCUDA, 0, stream, nullptr);
    softmax(&from, &to);
    CHECK(cudaStreamSynchronize(stream));

    int64_t other_shape[] = {100, 500};
    DLTensor other = matrix(device_out, other_shape);
    try {
      softmax(&from, &other);
      std::puts("a wrong call was taken");
      return 1;
    } catch (const tvm::ffi::Error& refused) {
      std::printf("A wrong call: %s\n", refused.message().c_str());
    }
  } catch (const tvm::ffi::Error& error) {
    std::fprintf(stderr, "%s\n", error.message().c_str());
    return 1;
  }
  CHECK(cudaMemcpy(out.data(), device_out, bytes, cudaMemcpyDeviceToHost));

  double largest = 0;
  for (int64_t r = 0; r < shape[0]; ++r) {
    double sum = 0;
    for (int64_t c = 0; c < shape[1]; ++c) sum += std::exp(static_cast<double>(x[r * shape[1] + c]));
    for (int64_t c = 0; c < shape[1]; ++c) {
      const std::size_t i = r * shape[1] + c;
      largest = std::fmax(largest, std::fabs(out[i] - std::exp(static_cast<double>(x[i])) / sum));
    }
  }
  std::printf("C++: 100 rows of 777, largest error %.1e\n", largest);
  for (float* memory : {device_x, device_out}) CHECK(cudaFree(memory));
  CHECK(cudaStreamDestroy(stream));
  return largest < 1e-6 ? 0 : 1;
}
