// Device functions that kernels of other files call.
#include "particles.h"

__device__ float drag(float speed) { return -speed / 4; }

__device__ Force chosen_force = drag;

__device__ void Particle::bounce() {
  const float floor = ground[threadIdx.x];
  position = 2 * floor - position;
  speed = -speed;
  atomicAdd(&bounces, 1);
}

__device__ void fall(Particle& particle, float seconds) {
  particle.speed -= gravity * seconds;
  particle.position += particle.speed * seconds;
  if (particle.position < ground[threadIdx.x]) particle.bounce();
}
