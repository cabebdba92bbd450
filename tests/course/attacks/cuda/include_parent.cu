// Climb out of the toolkit's folder.
// Refused
#include <../../../flashpath/kernels/vector_add/one_per_thread.cu>
extern "C" __global__ void answer(int n, const float* x, float* y) {}
