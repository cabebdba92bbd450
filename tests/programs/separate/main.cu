// A program of three files: their device code is compiled apart and linked (nvcc -rdc=true).
#include <cstdio>

#include "particles.h"

namespace {

__global__ void prepare(Particle* particles) { particles[threadIdx.x] = {32.0f, 0.0f}; }

}  // namespace

__global__ void simulate(Particle* particles, int steps) {
  Particle own = particles[threadIdx.x];
  for (int k = 0; k < steps; ++k) fall(own, 1.0f);
  particles[threadIdx.x] = own;
}

__global__ void slow_down(Particle* particles) {
  Particle& own = particles[threadIdx.x];
  own.speed += chosen_force(own.speed);
}

int main() {
  set_gravity(8.0f);
  make_ground();
  Particle *particles, host[kParticles];
  cudaMalloc(&particles, sizeof host);
  prepare<<<1, kParticles>>>(particles);
  simulate<<<1, kParticles>>>(particles, 3);
  slow_down<<<1, kParticles>>>(particles);
  cudaMemcpy(host, particles, sizeof host, cudaMemcpyDeviceToHost);
  int count = 0;
  cudaMemcpyFromSymbol(&count, bounces, sizeof count);
  std::printf("above 10: %g, %g\nabove 0: %g, %g\n%d bounces\n", host[0].position, host[0].speed, host[1].position,
              host[1].speed, count);
  cudaFree(particles);
  return cudaGetLastError() == cudaSuccess ? 0 : 1;
}
