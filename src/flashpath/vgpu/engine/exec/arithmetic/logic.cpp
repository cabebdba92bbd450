// Bits: logic, shifts, bit fields and permutations.
#include <algorithm>
#include <bit>
#include <string>
#include <type_traits>

#include "exec/arithmetic/elementwise.h"
#include "program/modifiers.h"

namespace flashpath::exec {
namespace {

template <class T>
void bits(Registry& r, const std::string& type) {
  binary<T, T, T>(r, "and." + type, [](T x, T y) { return x & y; });
  binary<T, T, T>(r, "or." + type, [](T x, T y) { return x | y; });
  binary<T, T, T>(r, "xor." + type, [](T x, T y) { return x ^ y; });
  unary<T, T>(r, "not." + type, [](T x) { return ~x; });
  unary<T, T>(r, "cnot." + type, [](T x) { return x == 0; });
  // A shift by the width or more gives zero.
  binary<T, T, u32>(r, "shl." + type, [](T x, u32 n) { return n < 8 * sizeof(T) ? u64(x) << n : 0; });
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

// The place of the highest bit that is no sign, counted from below, or from above as the shift that brings it
// there; all ones where there is none.
template <class T, bool kFromAbove>
u32 highest_bit(T value) {
  using U = std::make_unsigned_t<T>;
  const U bits = static_cast<U>(value < 0 ? ~value : value);
  if (bits == 0) return ~0u;
  const u32 above = static_cast<u32>(std::countl_zero(bits));
  return kFromAbove ? above : 8 * sizeof(T) - 1 - above;
}

template <class T>
void finding(Registry& r, const std::string& type) {
  unary<u32, T>(r, "bfind." + type, [](T x) { return highest_bit<T, false>(x); });
  unary<u32, T>(r, "bfind.shiftamt." + type, [](T x) { return highest_bit<T, true>(x); });
}

// The place of the n-th set bit from `base` on, upwards or, for a negative n, downwards; n = 0 asks for the
// bit at `base` itself.
u32 find_nth_set(u32 value, u32 base, s32 n) {
  const auto is_set = [value](s64 place) { return place >= 0 && place < 32 && (value >> place & 1); };
  if (n == 0) return is_set(base) ? base : ~0u;
  const s64 step = n > 0 ? 1 : -1;
  s64 left = n > 0 ? s64(n) : -s64(n);
  for (s64 place = base; place >= 0 && place < 32; place += step) {
    if (is_set(place) && --left == 0) return static_cast<u32>(place);
  }
  return ~0u;
}

// The lowest `count` bits; 32 and more are all.
u32 lowest_bits(u32 count) { return count < 32 ? (1u << count) - 1 : ~0u; }

u32 clamped_mask(u32 position, u32 length) { return position < 32 ? lowest_bits(length) << position : 0; }

s32 sign_extended(u32 value, u32 length) {
  if (length == 0 || length >= 32) return static_cast<s32>(length == 0 ? 0 : value);
  return static_cast<s32>(value << (32 - length)) >> (32 - length);
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

// Any function of three bits, by its truth table.
u32 looked_up(u32 table, u32 a, u32 b, u32 c) {
  u32 result = 0;
  for (u32 row = 0; row < 8; ++row) {
    const u32 here = (row & 4 ? a : ~a) & (row & 2 ? b : ~b) & (row & 1 ? c : ~c);
    result |= table >> row & 1 ? here : 0;
  }
  return result;
}

void run_lop3(Warp& warp, const Instruction& i) {
  const u32* a = lanes<u32>(warp, i.a[0]);
  const u32* b = lanes<u32>(warp, i.b[0]);
  const u32* c = lanes<u32>(warp, i.c[0]);
  const u32 table = static_cast<u32>(i.immediate);
  assign<u32>(warp, i, [=](int lane) { return looked_up(table, a[lane], b[lane], c[lane]); });
}

// And whether the result is not zero, joined with another predicate.
void run_lop3_join(Warp& warp, const Instruction& i) {
  run_lop3(warp, i);
  const u32* d = lanes<u32>(warp, i.dst[0]);
  u32 set = 0;
  for (int lane = 0; lane < kLanes; ++lane) set |= u32(d[lane] != 0) << lane;
  const u32 other = i.modifier & kNegateOther ? ~mask(warp, i.c[1]) : mask(warp, i.c[1]);
  assign_mask(warp, i.dst[1], (i.modifier & kJoinMask) == kJoinAnd ? set & other : set | other);
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

// The modes of prmt, as the selectors that do the same, by the two lowest bits of the last operand.
struct PermuteMode {
  const char* name;
  u16 selectors[4];
};
constexpr PermuteMode kForwardExtract = {"f4e", {0x3210, 0x4321, 0x5432, 0x6543}};
constexpr PermuteMode kBackwardExtract = {"b4e", {0x5670, 0x6701, 0x7012, 0x0123}};
constexpr PermuteMode kReplicateByte = {"rc8", {0x0000, 0x1111, 0x2222, 0x3333}};
constexpr PermuteMode kClampLeft = {"ecl", {0x3210, 0x3211, 0x3222, 0x3333}};
constexpr PermuteMode kClampRight = {"ecr", {0x0000, 0x1110, 0x2210, 0x3210}};
constexpr PermuteMode kReplicateHalf = {"rc16", {0x1010, 0x3232, 0x1010, 0x3232}};

template <const PermuteMode& kMode>
void permute_mode(Registry& r) {
  ternary<u32, u32, u32, u32>(r, std::string("prmt.b32.") + kMode.name, [](u32 a, u32 b, u32 control) {
    return permute_bytes(a, b, kMode.selectors[control & 3]);
  });
}

template <class F>
void predicate(Registry& r, const std::string& name, F) {
  r.add(name, [](Warp& warp, const Instruction& i) {
    const u32 a = mask(warp, i.a[0]) ^ (i.modifier & kNegateFirst ? kAllLanes : 0);
    const u32 b = i.b[0] == kNoRegister ? 0 : mask(warp, i.b[0]) ^ (i.modifier & kNegateSecond ? kAllLanes : 0);
    assign_mask(warp, i.dst[0], F{}(a, b));
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
  finding<u32>(r, "u32");
  finding<s32>(r, "s32");
  finding<u64>(r, "u64");
  finding<s64>(r, "s64");
  ternary<u32, u32, u32, s32>(r, "fns.b32", [](u32 x, u32 base, s32 n) { return find_nth_set(x, base, n); });
  binary<u32, u32, u32>(r, "bmsk.clamp.b32", [](u32 p, u32 n) { return clamped_mask(p, n); });
  binary<u32, u32, u32>(r, "bmsk.wrap.b32", [](u32 p, u32 n) { return lowest_bits(n & 31) << (p & 31); });
  binary<u32, u32, u32>(r, "szext.clamp.u32", [](u32 x, u32 n) { return x & lowest_bits(n); });
  binary<u32, u32, u32>(r, "szext.wrap.u32", [](u32 x, u32 n) { return x & lowest_bits(n & 31); });
  binary<s32, u32, u32>(r, "szext.clamp.s32", [](u32 x, u32 n) { return sign_extended(x, n); });
  binary<s32, u32, u32>(r, "szext.wrap.s32", [](u32 x, u32 n) { return sign_extended(x, n & 31); });
  r.add("lop3.b32", &run_lop3);
  r.add("lop3.join.b32", &run_lop3_join);
  ternary<u32, u32, u32, u32>(r, "prmt.b32", [](u32 a, u32 b, u32 s) { return permute_bytes(a, b, s); });
  ternary<u32, u32, u32, u32>(r, "shf.l.wrap.b32", [](u32 a, u32 b, u32 n) { return funnel_left(a, b, n & 31); });
  ternary<u32, u32, u32, u32>(r, "shf.l.clamp.b32", [](u32 a, u32 b, u32 n) { return funnel_left(a, b, n < 32 ? n : 32); });
  ternary<u32, u32, u32, u32>(r, "shf.r.wrap.b32", [](u32 a, u32 b, u32 n) { return funnel_right(a, b, n & 31); });
  ternary<u32, u32, u32, u32>(r, "shf.r.clamp.b32", [](u32 a, u32 b, u32 n) { return funnel_right(a, b, n < 32 ? n : 32); });
  permute_mode<kForwardExtract>(r);
  permute_mode<kBackwardExtract>(r);
  permute_mode<kReplicateByte>(r);
  permute_mode<kClampLeft>(r);
  permute_mode<kClampRight>(r);
  permute_mode<kReplicateHalf>(r);
  predicate(r, "and.pred", [](u32 x, u32 y) { return x & y; });
  predicate(r, "or.pred", [](u32 x, u32 y) { return x | y; });
  predicate(r, "xor.pred", [](u32 x, u32 y) { return x ^ y; });
  predicate(r, "not.pred", [](u32 x, u32) { return ~x; });
  predicate(r, "mov.pred", [](u32 x, u32) { return x; });
}

}  // namespace flashpath::exec
