// What the files of this program know of each other.
#pragma once

constexpr int kParticles = 256;

struct Particle {
  float position;
  float speed;

  __device__ void bounce();  // in forces.cu
};

// Constants and counters that live in one file and are used in others.
extern __constant__ float gravity;
extern __device__ int bounces;
extern __device__ float ground[kParticles];

// In forces.cu: called by kernels of other files.
__device__ void fall(Particle& particle, float seconds);

// In world.cu: functions of the host that launch kernels and copy to variables of that file.
void set_gravity(float value);
void make_ground();

using Force = float (*)(float);
__device__ float drag(float speed);
extern __device__ Force chosen_force;  // a function of another file, by its address
