// Writes to the files that its arguments name, and beside them.
// denied
#include <cstdio>
#include <string>
#include <sys/stat.h>
#include <unistd.h>

int main(int argc, char** argv) {
  int got = 0;
  for (int k = 1; k < argc; ++k) {
    const std::string beside = std::string(argv[k]) + ".new";
    got += std::fopen(argv[k], "a") != nullptr;
    got += std::fopen(beside.c_str(), "w") != nullptr;
    got += mkdir(beside.c_str(), 0755) == 0;
    got += unlink(argv[k]) == 0;
    got += rename(argv[k], beside.c_str()) == 0;
    got += chmod(argv[k], 0666) == 0;
    got += truncate(argv[k], 0) == 0;
    got += symlink("/etc/passwd", beside.c_str()) == 0;
  }
  std::printf("got = %d\n", got);
}
