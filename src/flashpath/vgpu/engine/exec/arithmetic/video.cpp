// Video instructions: arithmetic on bytes and half-words of 32-bit registers, one of them or all at once.
#include "program/video.h"

#include <algorithm>

#include "exec/operations.h"
#include "machine/warp.h"

namespace flashpath::exec {
namespace {

struct Bits {
  u32 position;
  u32 length;
};

constexpr Bits bits_of(VideoPart part) {
  switch (part) {
    case VideoPart::kB0: return {0, 8};
    case VideoPart::kB1: return {8, 8};
    case VideoPart::kB2: return {16, 8};
    case VideoPart::kB3: return {24, 8};
    case VideoPart::kH0: return {0, 16};
    case VideoPart::kH1: return {16, 16};
    default: return {0, 32};
  }
}

s64 extended(u32 value, Bits bits, bool is_signed) {
  const u32 above = 32 - bits.length;
  const u32 raised = value >> bits.position << above;
  return is_signed ? s64(s32(raised) >> above) : s64(raised >> above);
}

s64 clamped(s64 value, u32 length, bool is_signed) {
  const s64 most = (s64(1) << (is_signed ? length - 1 : length)) - 1;
  return std::clamp(value, is_signed ? -most - 1 : s64(0), most);
}

bool holds(s64 x, s64 y, VideoRelation relation) {
  switch (relation) {
    case VideoRelation::kEq: return x == y;
    case VideoRelation::kNe: return x != y;
    case VideoRelation::kLt: return x < y;
    case VideoRelation::kLe: return x <= y;
    case VideoRelation::kGt: return x > y;
    default: return x >= y;
  }
}

s64 combined(s64 x, s64 y, const Video& v) {
  switch (v.operation) {
    case VideoOperation::kAdd: return x + y;
    case VideoOperation::kSub: return x - y;
    case VideoOperation::kAbsdiff: return x > y ? x - y : y - x;
    case VideoOperation::kAverage: return (x + y + (x + y >= 0 ? 1 : 0)) >> 1;
    case VideoOperation::kMin: return std::min(x, y);
    case VideoOperation::kMax: return std::max(x, y);
    case VideoOperation::kShl: return x << (v.wraps ? y & 31 : std::min<s64>(y, 32));
    case VideoOperation::kShr: return x >> (v.wraps ? y & 31 : std::min<s64>(y, 32));
    default: return holds(x, y, v.relation) ? 1 : 0;
  }
}

u32 with_second(u32 value, u32 other, const Video& v) {
  const auto number = [&](u32 bits) { return extended(bits, {0, 32}, v.d_signed); };
  switch (v.second) {
    case VideoSecond::kAdd: return value + other;
    case VideoSecond::kMin: return static_cast<u32>(std::min(number(value), number(other)));
    case VideoSecond::kMax: return static_cast<u32>(std::max(number(value), number(other)));
    default: return value;
  }
}

void run_scalar(Warp& warp, const Instruction& i) {
  const Video v = video_of(i.modifier);
  const u32* a = lanes<u32>(warp, i.a[0]);
  const u32* b = lanes<u32>(warp, i.b[0]);
  const u32* c = lanes<u32>(warp, i.c[0]);
  const Bits d = bits_of(v.d);
  assign<u32>(warp, i, [&](int lane) {
    const s64 x = extended(a[lane], bits_of(v.a), v.a_signed);
    const s64 y = extended(b[lane], bits_of(v.b), v.b_signed);
    s64 value = combined(x, y, v);
    if (v.saturates) value = clamped(value, d.length, v.d_signed);
    if (d.length == 32) return with_second(static_cast<u32>(value), c[lane], v);
    const u32 field = ((1u << d.length) - 1) << d.position;
    return (c[lane] & ~field) | (static_cast<u32>(value) << d.position & field);
  });
}

// All bytes or half-words: each becomes one of the result, or all are added to c.
template <u32 kLength>
void run_simd(Warp& warp, const Instruction& i) {
  const Video v = video_of(i.modifier);
  const u32* a = lanes<u32>(warp, i.a[0]);
  const u32* b = lanes<u32>(warp, i.b[0]);
  const u32* c = lanes<u32>(warp, i.c[0]);
  assign<u32>(warp, i, [&](int lane) {
    u32 sum = c[lane];
    u32 merged = 0;
    for (u32 position = 0; position < 32; position += kLength) {
      const s64 x = extended(a[lane], {position, kLength}, v.a_signed);
      const s64 y = extended(b[lane], {position, kLength}, v.b_signed);
      s64 value = combined(x, y, v);
      if (v.saturates) value = clamped(value, kLength, v.d_signed);
      sum += static_cast<u32>(value);
      merged |= (static_cast<u32>(value) & ((1u << kLength) - 1)) << position;
    }
    return v.second == VideoSecond::kAdd ? sum : merged;
  });
}

void run_multiply_add(Warp& warp, const Instruction& i) {
  const Video v = video_of(i.modifier);
  const u32* a = lanes<u32>(warp, i.a[0]);
  const u32* b = lanes<u32>(warp, i.b[0]);
  const u32* c = lanes<u32>(warp, i.c[0]);
  const bool is_signed = v.a_signed || v.b_signed;
  assign<u32>(warp, i, [&](int lane) {
    const s128 product = s128(extended(a[lane], bits_of(v.a), v.a_signed)) * extended(b[lane], bits_of(v.b), v.b_signed);
    const s128 sum = product + extended(c[lane], {0, 32}, is_signed) + (v.plus_one ? 1 : 0);
    const s128 scaled = sum >> v.scale;
    if (!v.saturates) return static_cast<u32>(scaled);
    const s128 most = is_signed ? s128(0x7fffffff) : s128(0xffffffff);
    return static_cast<u32>(std::clamp<s128>(scaled, is_signed ? -most - 1 : s128(0), most));
  });
}

}  // namespace

void register_video(Registry& r) {
  r.add("video", &run_scalar);
  r.add("video2", &run_simd<16>);
  r.add("video4", &run_simd<8>);
  r.add("vmad", &run_multiply_add);
}

}  // namespace flashpath::exec
