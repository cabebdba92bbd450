// Copies from global to shared memory that pass the registers by, and that a thread waits for when it wants to:
// `cp.async`, from sm_80 on. Before, and for sizes that it does not move, a whole copy is a plain one, and there is
// nothing to wait for.
#pragma once

// 4, 8 or 16 bytes; zeros where nothing is `inside`: then no byte is read, and the address may be any.
template <int kBytes>
__device__ void copy_async(void* shared, const void* global, bool inside) {
  const unsigned to = static_cast<unsigned>(__cvta_generic_to_shared(shared));
  const int size = inside ? kBytes : 0;
  if constexpr (kBytes == 16) {  // past the L1
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(global), "r"(size) : "memory");
  } else {
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;" ::"r"(to), "l"(global), "n"(kBytes), "r"(size)
                 : "memory");
  }
}

// 16 bytes, of which the first `size` are there; zeros for the others. The neighbours are wanted too: the L2 fetches
// 256 bytes at once.
__device__ inline void copy_async_part(void* shared, const void* global, int size) {
  const unsigned to = static_cast<unsigned>(__cvta_generic_to_shared(shared));
  asm volatile("cp.async.cg.shared.global.L2::256B [%0], [%1], 16, %2;" ::"r"(to), "l"(global), "r"(size) : "memory");
}

// One word that is there, of any size.
template <class Word>
__device__ void copy_async(Word* shared, const Word* global) {
#if __CUDA_ARCH__ >= 800
  if constexpr (sizeof(Word) >= 4) {
    const unsigned to = static_cast<unsigned>(__cvta_generic_to_shared(shared));
    if constexpr (sizeof(Word) == 16) {
      asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(global) : "memory");
    } else {
      asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(to), "l"(global), "n"(sizeof(Word)) : "memory");
    }
    return;
  }
#endif
  *shared = *global;
}

// What a thread has asked for since the last commit becomes a group, be it nothing.
__device__ inline void commit_copies() {
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}

// Until all but the last kPending groups of this thread's copies are there.
template <int kPending>
__device__ void wait_for_copies() {
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.wait_group %0;" ::"n"(kPending) : "memory");
#endif
}
