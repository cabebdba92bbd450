// Reads what to do from the command line, and numbers from standard input.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <string>
#include <vector>

__global__ void apply(double* values, int count, char operation, double by) {
  const int k = blockIdx.x * blockDim.x + threadIdx.x;
  if (k >= count) return;
  switch (operation) {
    case '+': values[k] += by; break;
    case '*': values[k] *= by; break;
    case '/': values[k] /= by; break;
  }
}

int main(int argc, char* argv[]) {
  if (argc != 3 || std::strlen(argv[1]) != 1 || std::strchr("+*/", argv[1][0]) == nullptr) {
    std::cerr << "usage: arguments +|*|/ NUMBER < NUMBERS\n";
    return 2;
  }
  std::vector<double> values;
  for (double value; std::cin >> value;) values.push_back(value);
  std::cout << values.size() << " numbers " << argv[1] << ' ' << argv[2] << ':';
  double* device;
  cudaMalloc(&device, values.size() * sizeof(double));
  cudaMemcpy(device, values.data(), values.size() * sizeof(double), cudaMemcpyHostToDevice);
  apply<<<static_cast<unsigned>(values.size() / 32 + 1), 32>>>(device, static_cast<int>(values.size()), argv[1][0],
                                                               std::atof(argv[2]));
  cudaMemcpy(values.data(), device, values.size() * sizeof(double), cudaMemcpyDeviceToHost);
  for (double value : values) std::cout << ' ' << value;
  std::cout << std::endl;
  cudaFree(device);
}
