// How often each letter occurs: a histogram in shared memory, then one for all blocks. The text comes from stdin.
#include <cstdio>
#include <string>

__global__ void histogram(const char* text, int length, unsigned* counts) {
  __shared__ unsigned local[26];
  if (threadIdx.x < 26) local[threadIdx.x] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < length; i += gridDim.x * blockDim.x) {
    char letter = text[i] | 32;
    if (letter >= 'a' && letter <= 'z') atomicAdd(&local[letter - 'a'], 1);
  }
  __syncthreads();
  if (threadIdx.x < 26) atomicAdd(&counts[threadIdx.x], local[threadIdx.x]);
}

int main() {
  std::string text;
  for (int c; (c = std::getchar()) != EOF;) text += static_cast<char>(c);
  char* d_text;
  unsigned *d_counts, counts[26];
  cudaMalloc(&d_text, text.size());
  cudaMalloc(&d_counts, sizeof counts);
  cudaMemcpy(d_text, text.data(), text.size(), cudaMemcpyHostToDevice);
  cudaMemset(d_counts, 0, sizeof counts);
  histogram<<<4, 64>>>(d_text, static_cast<int>(text.size()), d_counts);
  cudaMemcpy(counts, d_counts, sizeof counts, cudaMemcpyDeviceToHost);
  for (int letter = 0; letter < 26; ++letter) {
    if (counts[letter]) std::printf("%c %u\n", 'a' + letter, counts[letter]);
  }
  cudaFree(d_text);
  cudaFree(d_counts);
}
