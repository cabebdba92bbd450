// Reads the files that its arguments name: answers of the course, and a learner's progress.
// denied
#include <cstdio>

int main(int argc, char** argv) {
  int got = 0;
  for (int k = 1; k < argc; ++k) {
    std::FILE* file = std::fopen(argv[k], "r");
    got += file != nullptr && std::fgetc(file) != EOF;
  }
  std::printf("got = %d\n", got);
}
