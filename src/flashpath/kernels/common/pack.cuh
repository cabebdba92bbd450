// Elements that one memory instruction moves together: 16 bytes of them, the most there is from sm_75 to sm_90, or
// fewer where an address is not aligned to 16 bytes.
#pragma once

template <class T, int kWidth = 16 / sizeof(T)>
struct alignas(kWidth * sizeof(T)) Pack {
  static_assert(kWidth > 0 && kWidth * sizeof(T) <= 16, "no memory instruction of sm_75 to sm_90 is wider");
  T value[kWidth];
};

// One read-only load of 16 bytes, said outright: where a kernel also writes, the compiler may not see that nothing
// changes what is read.
template <class T>
__device__ Pack<T> read_only(const Pack<T>* from) {
  const int4 bits = __ldg(reinterpret_cast<const int4*>(from));
  Pack<T> pack;
  memcpy(&pack, &bits, sizeof(pack));
  return pack;
}
