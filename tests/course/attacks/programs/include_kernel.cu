// Includes what is no header of its own.
// Refused
#include <flashpath/kernels/matmul/naive.cu>

int main() {}
