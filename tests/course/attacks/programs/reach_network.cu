// Opens sockets, and calls home.
// denied
#include <arpa/inet.h>
#include <cstdio>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>

int main() {
  int got = 0;
  for (const int family : {AF_INET, AF_INET6, AF_UNIX, AF_NETLINK}) got += socket(family, SOCK_STREAM, 0) >= 0;
  int pair[2];
  got += socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0;
  std::printf("got = %d\n", got);
}
