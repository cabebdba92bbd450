// Objects made by kernels: new and delete on the device, virtual functions, a heap that is made larger first.
#include <cstdio>

class Shape {
 public:
  __device__ virtual ~Shape() {}
  __device__ virtual float area() const = 0;
};

class Square : public Shape {
 public:
  __device__ explicit Square(float side) : side_(side) {}
  __device__ float area() const override { return side_ * side_; }

 private:
  float side_;
};

class Triangle : public Shape {
 public:
  __device__ Triangle(float base, float height) : base_(base), height_(height) {}
  __device__ float area() const override { return base_ * height_ / 2; }

 private:
  float base_, height_;
};

__global__ void make(Shape** shapes) {
  int k = threadIdx.x;
  if (k % 2) shapes[k] = new Square(k);
  else shapes[k] = new Triangle(k, 4);
}

// Another kernel than the one that made them, which allocates nothing itself.
__global__ void add_up(Shape** shapes, int count, float* sum) {
  *sum = 0;
  for (int k = 0; k < count; ++k) *sum += shapes[k]->area();
}

__global__ void destroy(Shape** shapes) { delete shapes[threadIdx.x]; }

__global__ void take_much(size_t bytes, bool* found) {
  char* much = static_cast<char*>(malloc(bytes));
  *found = much != nullptr;
  if (much != nullptr) much[bytes - 1] = 1;
  free(much);
}

int main() {
  cudaDeviceSetLimit(cudaLimitMallocHeapSize, 64 << 20);
  Shape** shapes;
  float* sum;
  bool* found;
  cudaMalloc(&shapes, 10 * sizeof(Shape*));
  cudaMallocManaged(&sum, sizeof(float));
  cudaMallocManaged(&found, sizeof(bool));
  make<<<1, 10>>>(shapes);
  add_up<<<1, 1>>>(shapes, 10, sum);
  destroy<<<1, 10>>>(shapes);
  take_much<<<1, 1>>>(40 << 20, found);
  cudaError_t error = cudaDeviceSynchronize();
  printf("%s\n", cudaGetErrorString(error));
  if (error != cudaSuccess) return 1;
  printf("all areas: %g\n40 MiB were %s\n", *sum, *found ? "found" : "not found");
  cudaFree(shapes);
  cudaFree(sum);
  cudaFree(found);
}
