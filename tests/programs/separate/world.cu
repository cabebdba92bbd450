// The variables, and the kernels that set them up.
#include "particles.h"

__constant__ float gravity = 1.0f;
__device__ int bounces = 0;
__device__ float ground[kParticles];

namespace {

// Another file has a kernel of that name, too; each is its own.
__global__ void prepare() { ground[threadIdx.x] = threadIdx.x % 2 ? 0.0f : 10.0f; }

}  // namespace

void set_gravity(float value) { cudaMemcpyToSymbol(gravity, &value, sizeof value); }

void make_ground() { prepare<<<1, kParticles>>>(); }
