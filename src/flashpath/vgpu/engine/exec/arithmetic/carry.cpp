// Sums of many words: additions, subtractions and products that read a carry, write one, or both.
//
// A subtraction adds the complement, as hardware does: it leaves a carry where there was no borrow. Code that
// mixes both kinds sees the difference. The carry is a predicate of the warp, in c[1].
#include <string>
#include <type_traits>

#include "exec/operations.h"
#include "machine/warp.h"
#include "program/modifiers.h"

namespace flashpath::exec {
namespace {

template <class T>
struct Sum {
  T value;
  bool carry;
};

template <class T>
Sum<T> added(T x, T y, bool carry) {
  T sum;
  const bool first = __builtin_add_overflow(x, y, &sum);
  const bool second = __builtin_add_overflow(sum, T(carry), &sum);
  return {sum, first || second};
}

// The upper half of x * y, in the sign of S.
template <class S>
std::make_unsigned_t<S> upper(std::make_unsigned_t<S> x, std::make_unsigned_t<S> y) {
  using Product = std::conditional_t<std::is_signed_v<S>, s128, u128>;
  return static_cast<std::make_unsigned_t<S>>((Product(S(x)) * Product(S(y))) >> (8 * sizeof(S)));
}

// F: (x, y, z, carry) → Sum; z is what is in c[0], where the operation has a third operand. `kWithout` is the
// carry that changes nothing, for the forms that read none.
template <class T, class F, bool kWithout>
void run(Warp& warp, const Instruction& i) {
  const T* a = lanes<T>(warp, i.a[0]);
  const T* b = lanes<T>(warp, i.b[0]);
  const T* c = i.c[0] == kNoRegister ? b : lanes<T>(warp, i.c[0]);
  T* d = lanes<T>(warp, i.dst[0]);
  const u32 before = i.modifier & kReadsCarry ? mask(warp, i.c[1]) : kWithout ? kAllLanes : 0;
  u32 after = 0;
  for_lanes(warp.executing, [&](int lane) {
    const Sum<T> sum = F{}(a[lane], b[lane], c[lane], before >> lane & 1);
    d[lane] = sum.value;
    after |= u32(sum.carry) << lane;
  });
  if (i.modifier & kWritesCarry) assign_mask(warp, i.c[1], after);
}

template <class T, class F>
void add(Registry& r, const std::string& name, F) { r.add(name, &run<T, F, false>); }
template <class T, class F>
void subtract(Registry& r, const std::string& name, F) { r.add(name, &run<T, F, true>); }

template <class T>
void with_width(Registry& r, const std::string& bits) {
  using S = std::make_signed_t<T>;
  add<T>(r, "add.carry.b" + bits, [](T x, T y, T, bool carry) { return added<T>(x, y, carry); });
  subtract<T>(r, "sub.carry.b" + bits, [](T x, T y, T, bool carry) { return added<T>(x, ~y, carry); });
  add<T>(r, "mad.lo.carry.b" + bits, [](T x, T y, T z, bool carry) { return added<T>(T(x * y), z, carry); });
  add<T>(r, "mad.hi.carry.u" + bits, [](T x, T y, T z, bool carry) { return added<T>(upper<T>(x, y), z, carry); });
  add<T>(r, "mad.hi.carry.s" + bits, [](T x, T y, T z, bool carry) { return added<T>(upper<S>(x, y), z, carry); });
}

}  // namespace

void register_carry(Registry& r) {
  with_width<u32>(r, "32");
  with_width<u64>(r, "64");
}

}  // namespace flashpath::exec
