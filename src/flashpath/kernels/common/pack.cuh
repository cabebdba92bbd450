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

// The word that one memory instruction moves.
template <int kBytes>
struct PackedBits {};
template <>
struct PackedBits<16> {
  using Type = int4;
};
template <>
struct PackedBits<8> {
  using Type = int2;
};
template <>
struct PackedBits<4> {
  using Type = int;
};
template <>
struct PackedBits<2> {
  using Type = short;
};
template <>
struct PackedBits<1> {
  using Type = char;
};

// As read_only(), for a pack of any width at an address that is aligned to it.
template <int kWidth, class T>
__device__ Pack<T, kWidth> read_only_pack(const T* from) {
  using Bits = typename PackedBits<kWidth * sizeof(T)>::Type;
  const Bits bits = __ldg(reinterpret_cast<const Bits*>(from));
  Pack<T, kWidth> pack;
  memcpy(&pack, &bits, sizeof(pack));
  return pack;
}

// One store to global memory, said outright, since the compiler may split a struct's into its members'.
template <int kWidth, class T>
__device__ void write_pack(T* to, const Pack<T, kWidth>& pack) {
  using Bits = typename PackedBits<kWidth * sizeof(T)>::Type;
  Bits bits;
  memcpy(&bits, &pack, sizeof(bits));
  __stwb(reinterpret_cast<Bits*>(to), bits);
}

// A load and a store of what is used once: it is the first that the caches let go of, and lines that are still being
// filled stay (`ld.global.cs`, `st.global.cs`).
template <int kWidth, class T>
__device__ Pack<T, kWidth> read_once(const T* from) {
  using Bits = typename PackedBits<kWidth * sizeof(T)>::Type;
  const Bits bits = __ldcs(reinterpret_cast<const Bits*>(from));
  Pack<T, kWidth> pack;
  memcpy(&pack, &bits, sizeof(pack));
  return pack;
}

template <int kWidth, class T>
__device__ void write_once(T* to, const Pack<T, kWidth>& pack) {
  using Bits = typename PackedBits<kWidth * sizeof(T)>::Type;
  Bits bits;
  memcpy(&bits, &pack, sizeof(bits));
  __stcs(reinterpret_cast<Bits*>(to), bits);
}
