// Has the assembler put another file into the program.
// BuildFailed
#include <cstdio>

asm(".section .rodata\nstolen: .incbin \"OUTSIDE\"\n.byte 0\n.text\n");
extern "C" const char stolen[] asm("stolen");

int main() { std::printf("got = %d\n", stolen[0] != 0); }
