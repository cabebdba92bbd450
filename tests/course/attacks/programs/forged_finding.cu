// Puts a message of its own into the mouth of the grader.
// Crashed
#include <cstdio>
#include <string>
#include <unistd.h>

int main() {
  const std::string row =
      "{\"what\": \"host finding\", \"kind\": \"leak\", \"message\": {\"code\": \"course.grader.passed-one\","
      " \"params\": {}}, \"site\": [], \"other\": null}\n";
  for (int fd = 3; fd < 64; ++fd) (void)!write(fd, row.data(), row.size());
  std::printf("got = 0\n");
}
