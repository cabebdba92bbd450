// Includes what is no header of its own.
// Refused
#include "/etc/passwd"

int main() {}
