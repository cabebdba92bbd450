// Bits: logic, shifts, bit fields, permutations, moves and selections.
#include <algorithm>
#include <bit>
#include <string>
#include <type_traits>

#include "exec/elementwise.h"

namespace flashpath::exec {
namespace {

template <class T>
void run_select(Warp& warp, const Instruction& i) {
  const T* a = lanes<T>(warp, i.a[0]);
  const T* b = lanes<T>(warp, i.b[0]);
  const u32 chosen = mask(warp, i.c[0]);
  assign<T>(warp, i, [=](int lane) { return (chosen >> lane) & 1 ? a[lane] : b[lane]; });
}

template <class T>
void bits(Registry& r, const std::string& type) {
  binary<T, T, T>(r, "and." + type, [](T x, T y) { return x & y; });
  binary<T, T, T>(r, "or." + type, [](T x, T y) { return x | y; });
  binary<T, T, T>(r, "xor." + type, [](T x, T y) { return x ^ y; });
  unary<T, T>(r, "not." + type, [](T x) { return ~x; });
  unary<T, T>(r, "cnot." + type, [](T x) { return x == 0; });
  unary<T, T>(r, "mov." + type, [](T x) { return x; });
  // A shift by the width or more gives zero.
  binary<T, T, u32>(r, "shl." + type, [](T x, u32 n) { return n < 8 * sizeof(T) ? u64(x) << n : 0; });
  r.add("selp." + type, &run_select<T>);
}

template <class T>
void counting(Registry& r, const std::string& type) {
  unary<u32, T>(r, "popc." + type, [](T x) { return std::popcount(x); });
  unary<u32, T>(r, "clz." + type, [](T x) { return std::countl_zero(x); });
  unary<T, T>(r, "brev." + type, [](T x) {
    T reversed = 0;
    for (unsigned bit = 0; bit < 8 * sizeof(T); ++bit) reversed |= ((x >> bit) & 1) << (8 * sizeof(T) - 1 - bit);
    return reversed;
  });
}

// Position and length are taken modulo 256, as the PTX ISA's pseudo code does.
template <class T>
T extract_field(T value, u32 position, u32 length) {
  using U = std::make_unsigned_t<T>;
  constexpr u32 kTop = 8 * sizeof(T) - 1;
  position &= 0xff;
  length &= 0xff;
  if (length == 0) return 0;
  const bool negative =
      std::is_signed_v<T> && ((U(value) >> std::min(position + length - 1, kTop)) & 1);
  const U field = position > kTop ? 0 : U(value) >> position;
  const u32 kept = position > kTop ? 0 : std::min(length, kTop + 1 - position);
  const U below = kept > kTop ? ~U(0) : (U(1) << kept) - 1;
  return static_cast<T>((field & below) | (negative ? ~below : U(0)));
}

template <class T>
T insert_field(T value, T into, u32 position, u32 length) {
  constexpr u32 kBits = 8 * sizeof(T);
  position &= 0xff;
  length &= 0xff;
  if (position >= kBits || length == 0) return into;
  const u32 kept = std::min(length, kBits - position);
  const T field = (kept == kBits ? ~T(0) : (T(1) << kept) - 1) << position;
  return (into & ~field) | ((value << position) & field);
}

template <class T>
void run_insert_field(Warp& warp, const Instruction& i) {
  const T* a = lanes<T>(warp, i.a[0]);
  const T* b = lanes<T>(warp, i.b[0]);
  const u32* position = lanes<u32>(warp, i.c[0]);
  const u32* length = lanes<u32>(warp, i.c[1]);
  assign<T>(warp, i, [=](int lane) { return insert_field(a[lane], b[lane], position[lane], length[lane]); });
}

// Any function of three bits: `modifier` holds its truth table.
void run_lop3(Warp& warp, const Instruction& i) {
  const u32* a = lanes<u32>(warp, i.a[0]);
  const u32* b = lanes<u32>(warp, i.b[0]);
  const u32* c = lanes<u32>(warp, i.c[0]);
  const u32 table = i.modifier;
  assign<u32>(warp, i, [=](int lane) {
    u32 result = 0;
    for (u32 row = 0; row < 8; ++row) {
      if (!((table >> row) & 1)) continue;
      result |= (row & 4 ? a[lane] : ~a[lane]) & (row & 2 ? b[lane] : ~b[lane]) & (row & 1 ? c[lane] : ~c[lane]);
    }
    return result;
  });
}

// Picks four of the eight bytes of (b, a); a selector's top bit spreads the byte's sign instead.
u32 permute_bytes(u32 a, u32 b, u32 selector) {
  const u64 bytes = (u64(b) << 32) | a;
  u32 result = 0;
  for (u32 k = 0; k < 4; ++k) {
    const u32 control = (selector >> (4 * k)) & 0xf;
    u32 byte = (bytes >> (8 * (control & 7))) & 0xff;
    if (control & 8) byte = byte & 0x80 ? 0xff : 0;
    result |= byte << (8 * k);
  }
  return result;
}

u32 funnel_left(u32 low, u32 high, u32 n) { return n == 0 ? high : n == 32 ? low : (high << n) | (low >> (32 - n)); }
u32 funnel_right(u32 low, u32 high, u32 n) { return n == 0 ? low : n == 32 ? high : (high << (32 - n)) | (low >> n); }

template <class Narrow, class Whole>
void run_pack(Warp& warp, const Instruction& i) {
  const Narrow* part[4];
  constexpr int kParts = sizeof(Whole) / sizeof(Narrow);
  for (int k = 0; k < kParts; ++k) part[k] = lanes<Narrow>(warp, i.a[k]);
  assign<Whole>(warp, i, [&](int lane) {
    Whole whole = 0;
    for (int k = 0; k < kParts; ++k) whole |= Whole(part[k][lane]) << (8 * sizeof(Narrow) * k);
    return whole;
  });
}

template <class Narrow, class Whole>
void run_unpack(Warp& warp, const Instruction& i) {
  const Whole* whole = lanes<Whole>(warp, i.a[0]);
  for (int k = 0; k < int(sizeof(Whole) / sizeof(Narrow)); ++k) {
    if (i.dst[k] == kNoRegister) continue;  // the sink `_`
    Narrow* part = lanes<Narrow>(warp, i.dst[k]);
    for_lanes(warp.executing, [&](int lane) { part[lane] = Narrow(whole[lane] >> (8 * sizeof(Narrow) * k)); });
  }
}

template <class F>
void predicate(Registry& r, const std::string& name, F) {
  r.add(name, [](Warp& warp, const Instruction& i) {
    const u32 b = i.b[0] == kNoRegister ? 0 : mask(warp, i.b[0]);
    assign_mask(warp, i.dst[0], F{}(mask(warp, i.a[0]), b));
  });
}

}  // namespace

void register_logic(Registry& r) {
  bits<u16>(r, "b16");
  bits<u32>(r, "b32");
  bits<u64>(r, "b64");
  counting<u32>(r, "b32");
  counting<u64>(r, "b64");
  ternary<u32, u32, u32, u32>(r, "bfe.u32", [](u32 x, u32 p, u32 n) { return extract_field<u32>(x, p, n); });
  ternary<s32, s32, u32, u32>(r, "bfe.s32", [](s32 x, u32 p, u32 n) { return extract_field<s32>(x, p, n); });
  ternary<u64, u64, u32, u32>(r, "bfe.u64", [](u64 x, u32 p, u32 n) { return extract_field<u64>(x, p, n); });
  ternary<s64, s64, u32, u32>(r, "bfe.s64", [](s64 x, u32 p, u32 n) { return extract_field<s64>(x, p, n); });
  r.add("bfi.b32", &run_insert_field<u32>);
  r.add("bfi.b64", &run_insert_field<u64>);
  r.add("lop3.b32", &run_lop3);
  ternary<u32, u32, u32, u32>(r, "prmt.b32", [](u32 a, u32 b, u32 s) { return permute_bytes(a, b, s); });
  ternary<u32, u32, u32, u32>(r, "shf.l.wrap.b32", [](u32 a, u32 b, u32 n) { return funnel_left(a, b, n & 31); });
  ternary<u32, u32, u32, u32>(r, "shf.l.clamp.b32", [](u32 a, u32 b, u32 n) { return funnel_left(a, b, n < 32 ? n : 32); });
  ternary<u32, u32, u32, u32>(r, "shf.r.wrap.b32", [](u32 a, u32 b, u32 n) { return funnel_right(a, b, n & 31); });
  ternary<u32, u32, u32, u32>(r, "shf.r.clamp.b32", [](u32 a, u32 b, u32 n) { return funnel_right(a, b, n < 32 ? n : 32); });
  r.add("pack.b16.b32", &run_pack<u16, u32>);
  r.add("pack.b32.b64", &run_pack<u32, u64>);
  r.add("pack.b16.b64", &run_pack<u16, u64>);
  r.add("unpack.b16.b32", &run_unpack<u16, u32>);
  r.add("unpack.b32.b64", &run_unpack<u32, u64>);
  r.add("unpack.b16.b64", &run_unpack<u16, u64>);
  predicate(r, "and.pred", [](u32 x, u32 y) { return x & y; });
  predicate(r, "or.pred", [](u32 x, u32 y) { return x | y; });
  predicate(r, "xor.pred", [](u32 x, u32 y) { return x ^ y; });
  predicate(r, "not.pred", [](u32 x, u32) { return ~x; });
  predicate(r, "mov.pred", [](u32 x, u32) { return x; });
}

}  // namespace flashpath::exec
