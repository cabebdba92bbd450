// Writes files without end into its folder.
// Crashed SIGXFSZ
#include <cstdio>
#include <cstdlib>
#include <string>

int main() {
  const std::string block(1 << 20, 'x');
  for (int k = 0;; ++k) {
    const std::string name = std::string(std::getenv("HOME")) + "/" + std::to_string(k);
    std::FILE* file = std::fopen(name.c_str(), "w");
    if (file == nullptr) continue;
    for (int m = 0; m < 32; ++m) std::fwrite(block.data(), 1, block.size(), file);
    std::fclose(file);
  }
}
