struct Mixed {
  char letter;
  int* where;
  short small;
  float real;
};

__constant__ float table[4] = {1.0f, -2.0f, 0.5f, 3e10f};
__constant__ double whole = -1.5;
__device__ int grid[3][2] = {{1, 2}, {3, 4}, {5, -6}};
__device__ int* inside = &grid[1][1];
__device__ Mixed mixed = {'a', &grid[0][1], 7, 2.5f};
__device__ const char* words[2] = {"hello", "world"};
__device__ long long zeroed[100];
__device__ unsigned char bytes[5] = {1, 2, 255};
__managed__ int shared_with_host = 3;

extern "C" __global__ void read(int* out, int i) {
  out[0] = grid[i][1] + *inside + mixed.small + words[i][0] + bytes[i] + shared_with_host;
  out[1] = static_cast<int>(table[i] * whole) + static_cast<int>(zeroed[i]);
}
