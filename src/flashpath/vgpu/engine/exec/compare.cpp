// setp: a comparison of all lanes becomes a predicate's bits, joined with another predicate if one is given.
#include <string>

#include "exec/elementwise.h"
#include "exec/half.h"
#include "exec/modifiers.h"

namespace flashpath::exec {
namespace {

enum : u32 { kPlain = 0, kAnd = 1, kOr = 2, kXor = 3 };  // in `modifier`
inline constexpr u32 kNegateOther = 4;                   // the joined predicate is !c

template <class T, class F>
void run_compare(Warp& warp, const Instruction& i) {
  const T* a = lanes<T>(warp, i.a[0]);
  const T* b = lanes<T>(warp, i.b[0]);
  u32 holds = 0;
  for (int lane = 0; lane < kLanes; ++lane) holds |= u32(F{}(a[lane], b[lane])) << lane;
  u32 opposite = ~holds;
  if ((i.modifier & 3) != kPlain) {
    u32 other = mask(warp, i.c[0]);
    if (i.modifier & kNegateOther) other = ~other;
    const auto join = [&](u32 bits) {
      if ((i.modifier & 3) == kAnd) return bits & other;
      if ((i.modifier & 3) == kOr) return bits | other;
      return bits ^ other;
    };
    holds = join(holds);
    opposite = join(opposite);
  }
  // The second destination gets the opposite comparison, joined alike.
  if (i.dst[1] != kNoRegister) assign_mask(warp, i.dst[1], opposite);
  if (i.dst[0] != kNoRegister) assign_mask(warp, i.dst[0], holds);
}

template <class T, class F>
void compare(Registry& r, const std::string& name, F) { r.add(name, &run_compare<T, F>); }

template <class T>
void equality(Registry& r, const std::string& type) {
  compare<T>(r, "setp.eq." + type, [](T x, T y) { return x == y; });
  compare<T>(r, "setp.ne." + type, [](T x, T y) { return x != y; });
}

template <class T>
void order(Registry& r, const std::string& type) {
  equality<T>(r, type);
  compare<T>(r, "setp.lt." + type, [](T x, T y) { return x < y; });
  compare<T>(r, "setp.le." + type, [](T x, T y) { return x <= y; });
  compare<T>(r, "setp.gt." + type, [](T x, T y) { return x > y; });
  compare<T>(r, "setp.ge." + type, [](T x, T y) { return x >= y; });
}

// `Value` turns what is in the register into the number compared. The plain comparisons are false with a
// NaN, those that end in u are true.
template <class T, class Value>
void float_order(Registry& r, const std::string& type, Value) {
  compare<T>(r, "setp.eq." + type, [](T x, T y) { return Value{}(x) == Value{}(y); });
  compare<T>(r, "setp.ne." + type, [](T x, T y) { return Value{}(x) < Value{}(y) || Value{}(x) > Value{}(y); });
  compare<T>(r, "setp.lt." + type, [](T x, T y) { return Value{}(x) < Value{}(y); });
  compare<T>(r, "setp.le." + type, [](T x, T y) { return Value{}(x) <= Value{}(y); });
  compare<T>(r, "setp.gt." + type, [](T x, T y) { return Value{}(x) > Value{}(y); });
  compare<T>(r, "setp.ge." + type, [](T x, T y) { return Value{}(x) >= Value{}(y); });
  compare<T>(r, "setp.equ." + type, [](T x, T y) { return !(Value{}(x) < Value{}(y) || Value{}(x) > Value{}(y)); });
  compare<T>(r, "setp.neu." + type, [](T x, T y) { return !(Value{}(x) == Value{}(y)); });
  compare<T>(r, "setp.ltu." + type, [](T x, T y) { return !(Value{}(x) >= Value{}(y)); });
  compare<T>(r, "setp.leu." + type, [](T x, T y) { return !(Value{}(x) > Value{}(y)); });
  compare<T>(r, "setp.gtu." + type, [](T x, T y) { return !(Value{}(x) <= Value{}(y)); });
  compare<T>(r, "setp.geu." + type, [](T x, T y) { return !(Value{}(x) < Value{}(y)); });
  compare<T>(r, "setp.num." + type, [](T x, T y) { return Value{}(x) == Value{}(x) && Value{}(y) == Value{}(y); });
  compare<T>(r, "setp.nan." + type, [](T x, T y) { return Value{}(x) != Value{}(x) || Value{}(y) != Value{}(y); });
}

f32 flush(f32 x) { return x > -0x1p-126f && x < 0x1p-126f ? 0.0f : x; }

}  // namespace

void register_compare(Registry& r) {
  order<u16>(r, "u16");
  order<s16>(r, "s16");
  order<u32>(r, "u32");
  order<s32>(r, "s32");
  order<u64>(r, "u64");
  order<s64>(r, "s64");
  equality<u16>(r, "b16");
  equality<u32>(r, "b32");
  equality<u64>(r, "b64");
  float_order<f32>(r, "f32", [](f32 x) { return x; });
  float_order<f32>(r, "ftz.f32", [](f32 x) { return flush(x); });
  float_order<f64>(r, "f64", [](f64 x) { return x; });
  float_order<u16>(r, "f16", [](u16 x) { return f16_to_f32(x); });
  float_order<u16>(r, "bf16", [](u16 x) { return bf16_to_f32(x); });
}

}  // namespace flashpath::exec
