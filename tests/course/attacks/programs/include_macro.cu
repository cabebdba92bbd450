// Includes what is no header of its own.
// Refused
#define FILE "/etc/passwd"
#include FILE

int main() {}
