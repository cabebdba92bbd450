// Puts a link to another's file in the place of its own output.
// denied
#include <cstdio>
#include <cstdlib>
#include <string>
#include <unistd.h>

int main(int argc, char** argv) {
  const std::string output = std::string(std::getenv("HOME")) + "/output";
  unlink(output.c_str());
  if (argc > 1) (void)!symlink(argv[1], output.c_str());
  std::printf("got = 0\n");
}
