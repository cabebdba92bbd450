// Launches kernels as text files describe them; what make_verdicts.py compiles behind each file of kernels.
//
//   kernel name gx gy gz bx by bz shared
//   array BYTES FILE | word BYTES HEX | null
//
// Each argument of the program is such a file. Arrays are written back beside theirs, as FILE.out.
#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

const std::map<std::string, const void*>& kernels();  // made by make_verdicts.py

static void check(cudaError_t status, const char* what) {
  if (status == cudaSuccess) return;
  std::printf("%s: %s\n", what, cudaGetErrorString(status));
  std::exit(3);
}

struct Argument {
  std::vector<char> bytes;   // what the kernel is given
  std::vector<char> memory;  // what it points to
  std::string file;
};

static std::vector<char> contents(const std::string& path, std::size_t size) {
  std::vector<char> bytes(size);
  std::ifstream file(path, std::ios::binary);
  if (!file.read(bytes.data(), static_cast<std::streamsize>(size))) check(cudaErrorInvalidValue, path.c_str());
  return bytes;
}

static Argument read_argument(const std::string& line, const std::string& folder) {
  std::istringstream words(line);
  std::string kind, what;
  std::size_t size = 0;
  words >> kind >> size >> what;
  Argument argument;
  if (kind == "array") {
    argument.file = folder + what;
    argument.memory = contents(argument.file, size);
    void* pointer = nullptr;
    check(cudaMalloc(&pointer, size), "cudaMalloc");
    check(cudaMemcpy(pointer, argument.memory.data(), size, cudaMemcpyHostToDevice), "cudaMemcpy");
    argument.bytes.resize(sizeof pointer);
    std::memcpy(argument.bytes.data(), &pointer, sizeof pointer);
  } else {
    argument.bytes.resize(kind == "null" ? sizeof(void*) : size);
    for (std::size_t i = 0; i < what.size() / 2; ++i)
      argument.bytes[i] = static_cast<char>(std::stoi(what.substr(2 * i, 2), nullptr, 16));
  }
  return argument;
}

static void launch(const std::string& description) {
  const std::string folder = description.substr(0, description.find_last_of('/') + 1);
  std::ifstream file(description);
  std::string line, word, name;
  std::getline(file, line);
  std::istringstream words(line);
  dim3 grid, block;
  std::size_t shared = 0;
  words >> word >> name >> grid.x >> grid.y >> grid.z >> block.x >> block.y >> block.z >> shared;
  std::vector<Argument> arguments;
  while (std::getline(file, line)) arguments.push_back(read_argument(line, folder));
  std::vector<void*> pointers;
  for (Argument& argument : arguments) pointers.push_back(argument.bytes.data());

  check(cudaLaunchKernel(kernels().at(name), grid, block, pointers.data(), shared, nullptr), "launch");
  check(cudaDeviceSynchronize(), "the kernel");
  for (Argument& argument : arguments) {
    if (argument.file.empty()) continue;
    void* pointer = nullptr;
    std::memcpy(&pointer, argument.bytes.data(), sizeof pointer);
    const std::size_t size = argument.memory.size();
    check(cudaMemcpy(argument.memory.data(), pointer, size, cudaMemcpyDeviceToHost), "cudaMemcpy");
    std::ofstream(argument.file + ".out", std::ios::binary).write(argument.memory.data(), size);
    check(cudaFree(pointer), "cudaFree");
  }
}

int main(int count, char** descriptions) {
  for (int i = 1; i < count; ++i) launch(descriptions[i]);
  check(cudaDeviceReset(), "cudaDeviceReset");
  return 0;
}
