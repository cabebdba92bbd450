// A counter behind a lock that all threads want at once: spinning is most of what they do.
extern "C" __global__ void spin_lock(int* lock, volatile int* count) {
  while (atomicCAS(lock, 0, 1) != 0) {
  }
  __threadfence();
  *count = *count + 1;
  __threadfence();
  atomicExch(lock, 0);
}
