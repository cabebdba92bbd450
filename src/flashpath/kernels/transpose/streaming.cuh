// Packs that are used once: loads and stores that tell the caches so (`ld.global.cs`, `st.global.cs`), for packs of
// 2 to 16 bytes. What is streamed through is the first to be given up, and lines that are still being filled stay.
#pragma once
#include "../common/pack.cuh"

template <int kBytes>
struct Word;
template <>
struct Word<2> {
  using Type = short;
};
template <>
struct Word<4> {
  using Type = int;
};
template <>
struct Word<8> {
  using Type = int2;
};
template <>
struct Word<16> {
  using Type = int4;
};

template <class P>
__device__ P stream_in(const P* from) {
  using W = typename Word<sizeof(P)>::Type;
  const W bits = __ldcs(reinterpret_cast<const W*>(from));
  P pack;
  memcpy(&pack, &bits, sizeof(pack));
  return pack;
}

template <class P>
__device__ void stream_out(P* to, const P& pack) {
  using W = typename Word<sizeof(P)>::Type;
  W bits;
  memcpy(&bits, &pack, sizeof(pack));
  __stcs(reinterpret_cast<W*>(to), bits);
}
