// Device memory that is written in part, by all that can write it, and then read by a kernel, byte by byte.
// The argument says how it is written.
#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#define CHECK(call)                                                       \
  do {                                                                    \
    if ((call) != cudaSuccess) {                                          \
      std::printf("line %d: %s\n", __LINE__, #call);                      \
      std::exit(1);                                                       \
    }                                                                     \
  } while (0)

constexpr int kBytes = 1000;

__device__ unsigned char variable[kBytes];
__device__ int sink;

__global__ void read_bytes(const unsigned char* bytes) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < kBytes && bytes[i] == 77) atomicAdd(&sink, 1);
}

__global__ void write_every_third(unsigned char* bytes, int count) {
  const int i = 3 * (blockIdx.x * blockDim.x + threadIdx.x);
  if (i < count) bytes[i] = 1;
}

__global__ void look(const volatile unsigned char* bytes) {
  if (bytes[threadIdx.x] == 77) atomicAdd(&sink, 1);
}

__global__ void count_up(int* counters) { atomicAdd(&counters[threadIdx.x], 1); }

struct Padded {
  double value;
  char letter;
};

__global__ void make(Padded* all) {
  all[threadIdx.x].value = threadIdx.x;
  all[threadIdx.x].letter = 'a';
}

__global__ void copy_whole(const Padded* from, Padded* to) {
  const uint4* const words = reinterpret_cast<const uint4*>(from);
  reinterpret_cast<uint4*>(to)[threadIdx.x] = words[threadIdx.x];
}

unsigned char host[kBytes];

unsigned char* allocate() {
  void* made;
  CHECK(cudaMalloc(&made, kBytes));
  return static_cast<unsigned char*>(made);
}

// What the kernel is to read.
unsigned char* written(const std::string& how) {
  if (how == "managed") {
    unsigned char* made;
    CHECK(cudaMallocManaged(&made, kBytes));
    return made;
  }
  if (how == "pinned") {
    unsigned char* made;
    CHECK(cudaMallocHost(&made, kBytes));
    return made;
  }
  if (how == "registered") {
    CHECK(cudaHostRegister(host, kBytes, cudaHostRegisterDefault));
    return host;
  }
  if (how == "variable") {
    void* made;
    CHECK(cudaGetSymbolAddress(&made, variable));
    return static_cast<unsigned char*>(made);
  }
  if (how == "allocated in order") {
    void* made;
    CHECK(cudaMallocAsync(&made, kBytes, nullptr));
    CHECK(cudaMemsetAsync(made, 0, 10, nullptr));
    return static_cast<unsigned char*>(made);
  }
  unsigned char* bytes = allocate();
  if (how == "copied") {
    CHECK(cudaMemcpy(bytes + 1, host, kBytes - 2, cudaMemcpyHostToDevice));
  } else if (how == "copied later") {
    CHECK(cudaMemcpyAsync(bytes, host, kBytes / 2, cudaMemcpyHostToDevice));
  } else if (how == "filled") {
    CHECK(cudaMemset(bytes + 3, 0, 10));
  } else if (how == "filled twice") {
    CHECK(cudaMemset(bytes, 0, 600));
    CHECK(cudaMemset(bytes + 400, 0, 600));
  } else if (how == "rows filled") {
    CHECK(cudaMemset2D(bytes, 16, 0, 5, 4));
  } else if (how == "rows copied") {
    CHECK(cudaMemcpy2D(bytes + 7, 33, host, 5, 5, 4, cudaMemcpyHostToDevice));
  } else if (how == "box filled") {
    CHECK(cudaMemset3D(make_cudaPitchedPtr(bytes, 10, 10, 20), 0, make_cudaExtent(3, 4, 5)));
  } else if (how == "box copied") {
    cudaMemcpy3DParms copy{};
    copy.srcPtr = make_cudaPitchedPtr(host, 10, 10, 20);
    copy.dstPtr = make_cudaPitchedPtr(bytes, 10, 10, 20);
    copy.extent = make_cudaExtent(2, 3, 4);
    copy.kind = cudaMemcpyHostToDevice;
    CHECK(cudaMemcpy3D(&copy));
  } else if (how == "by a kernel") {
    write_every_third<<<4, 128>>>(bytes, kBytes);
  } else if (how == "by two kernels") {
    write_every_third<<<4, 128>>>(bytes, kBytes);
    write_every_third<<<4, 128>>>(bytes + 1, kBytes - 1);
  } else if (how == "from a part") {
    unsigned char* const source = allocate();
    CHECK(cudaMemset(source, 0, 100));
    CHECK(cudaMemset(bytes, 0, kBytes));
    CHECK(cudaMemcpy(bytes + 50, source + 20, 200, cudaMemcpyDeviceToDevice));
  } else if (how == "from a whole") {
    unsigned char* const source = allocate();
    CHECK(cudaMemset(source, 0, kBytes));
    CHECK(cudaMemcpy(bytes, source, kBytes, cudaMemcpyDeviceToDevice));
  } else if (how == "from itself") {
    CHECK(cudaMemset(bytes, 0, 30));
    CHECK(cudaMemcpy(bytes + 500, bytes, 50, cudaMemcpyDeviceToDevice));
  } else if (how == "from a variable") {
    CHECK(cudaMemcpyFromSymbol(bytes, variable, 400, 0, cudaMemcpyDeviceToDevice));
  } else if (how == "freed") {
    CHECK(cudaMemset(bytes, 0, kBytes));
    CHECK(cudaFree(bytes));
    bytes = allocate();
  } else if (how == "captured") {
    cudaStream_t stream;
    cudaGraph_t graph;
    cudaGraphExec_t executable;
    CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    CHECK(cudaMemsetAsync(bytes, 0, 700, stream));
    write_every_third<<<4, 128, 0, stream>>>(bytes, kBytes);
    CHECK(cudaStreamEndCapture(stream, &graph));
    CHECK(cudaGraphInstantiate(&executable, graph, 0));
    CHECK(cudaGraphLaunch(executable, stream));
    CHECK(cudaStreamSynchronize(stream));
  } else if (how != "not at all") {
    std::printf("what is \"%s\"?\n", how.c_str());
    std::exit(2);
  }
  return bytes;
}

int main(int, char** arguments) {
  const std::string how = arguments[1];
  if (how == "counters") {
    int* counters;
    CHECK(cudaMalloc(&counters, 64 * sizeof(int)));
    CHECK(cudaMemset(counters, 0, 40 * sizeof(int)));
    count_up<<<1, 64>>>(counters);
    count_up<<<1, 64>>>(counters);  // written by now, whatever it was
  } else if (how == "looked at") {
    unsigned char* const bytes = allocate();
    CHECK(cudaMemset(bytes, 0, 60));
    look<<<1, 100>>>(bytes);
    look<<<1, 100>>>(bytes);
  } else if (how == "padded") {
    Padded *from, *to;
    CHECK(cudaMalloc(&from, 64 * sizeof(Padded)));
    CHECK(cudaMalloc(&to, 64 * sizeof(Padded)));
    make<<<1, 40>>>(from);
    copy_whole<<<1, 64>>>(from, to);
  } else {
    read_bytes<<<4, 256>>>(written(how));
  }
  CHECK(cudaDeviceSynchronize());
  return 0;
}
