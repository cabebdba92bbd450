// Riffles each row as a deck of cards: its two halves, one element of each in turn. x, y: (rows, cols), row by row.
// Block r has row r; thread t copies element t, and writes element t of the result. cols is at most 256.
#include <cuda_pipeline.h>

__global__ void riffle(int cols, const float* x, float* y) {
  __shared__ float row[256];
  const int t = threadIdx.x;
  const float* from = x + blockIdx.x * cols;
  if (t < cols) {
    __pipeline_memcpy_async(&row[t], &from[t], sizeof(float));
  }
  __pipeline_commit();
  __pipeline_wait_prior(0);  // my own copy has arrived
  __syncthreads();           // and those of the others
  const int half = (cols + 1) / 2;
  if (t < cols) {
    y[blockIdx.x * cols + t] = row[t % 2 ? half + t / 2 : t / 2];
  }
}
