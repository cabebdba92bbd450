// Writes a record whose tables would fill all memory.
// Crashed
#include <cstdio>
#include <string>
#include <unistd.h>

int main() {
  std::string names = "{\"what\": \"counters\", \"names\": [\"warps\"";
  for (int k = 0; k < 200000; ++k) names += ", \"n\"";
  std::string origins = "{\"what\": \"program\", \"program\": 0, \"kernel\": \"k\", \"registers\": 1, \"local\": 0,"
                        " \"static_shared\": 0, \"files\": [], \"libraries\": {}, \"origins\": [[\"x\", 0, 0, 0, 0, 0]";
  for (int k = 0; k < 200000; ++k) origins += ", [\"x\", 0, 0, 0, 0, 0]";
  const std::string all = names + "]}\n" + origins +
      "]}\n{\"what\": \"launch\", \"program\": 0, \"grid\": [1, 1, 1], \"block\": [1, 1, 1], \"dynamic_shared\": 0,"
      " \"device\": 0, \"stream\": 0, \"seconds\": 0, \"memory_sectors\": 0, \"global_allocated\": 0,"
      " \"global_touched\": 0, \"counts\": []}\n";
  for (int fd = 3; fd < 64; ++fd) (void)!write(fd, all.data(), all.size());
  std::printf("got = 0\n");
}
