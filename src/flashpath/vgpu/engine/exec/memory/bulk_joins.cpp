#include "exec/memory/bulk_joins.h"

#include <cmath>
#include <cstring>
#include <type_traits>

#include "exec/arithmetic/half.h"

namespace flashpath::exec {
namespace {

template <class T, class F>
void join(std::byte* to, const std::byte* from, u32 bytes) {
  for (u32 at = 0; at + sizeof(T) <= bytes; at += sizeof(T)) {
    T x;
    T y;
    std::memcpy(&x, to + at, sizeof x);
    std::memcpy(&y, from + at, sizeof y);
    x = F{}(x, y);
    std::memcpy(to + at, &x, sizeof x);
  }
}

template <class T>
struct Add {
  T operator()(T x, T y) const {
    using U = std::make_unsigned_t<T>;
    return static_cast<T>(U(x) + U(y));
  }
};
template <class T>
struct Min {
  T operator()(T x, T y) const { return x < y ? x : y; }
};
template <class T>
struct Max {
  T operator()(T x, T y) const { return x > y ? x : y; }
};
struct Inc {
  u32 operator()(u32 x, u32 y) const { return x >= y ? 0u : x + 1; }
};
struct Dec {
  u32 operator()(u32 x, u32 y) const { return x == 0 || x > y ? y : x - 1; }
};
template <class T>
struct And {
  T operator()(T x, T y) const { return x & y; }
};
template <class T>
struct Or {
  T operator()(T x, T y) const { return x | y; }
};
template <class T>
struct Xor {
  T operator()(T x, T y) const { return x ^ y; }
};

f32 flushed(f32 x) { return std::fpclassify(x) == FP_SUBNORMAL ? std::copysign(0.0f, x) : x; }

// As atomics on global memory add.
struct AddSingle {
  f32 operator()(f32 x, f32 y) const { return flushed(flushed(x) + flushed(y)); }
};
struct AddDouble {
  f64 operator()(f64 x, f64 y) const { return x + y; }
};
template <class Number>
struct AddHalf {
  u16 operator()(u16 x, u16 y) const { return Number::narrow(Number::widen(x) + Number::widen(y)); }
};
// A number wins over NaN, and -0 is less than +0.
template <class Number, bool kMax>
struct ExtremeHalf {
  u16 operator()(u16 x, u16 y) const {
    const f32 a = Number::widen(x);
    const f32 b = Number::widen(y);
    if (a != a) return b != b ? u16(0x7fff) : y;
    if (b != b) return x;
    if (a == b) return (kMax ? std::signbit(a) : std::signbit(b)) ? y : x;
    return (a < b) != kMax ? x : y;
  }
};

template <class T>
Joining of_integers(BulkJoin how) {
  switch (how) {
    case BulkJoin::kAdd: return &join<T, Add<T>>;
    case BulkJoin::kMin: return &join<T, Min<T>>;
    case BulkJoin::kMax: return &join<T, Max<T>>;
    case BulkJoin::kAnd: return &join<T, And<T>>;
    case BulkJoin::kOr: return &join<T, Or<T>>;
    case BulkJoin::kXor: return &join<T, Xor<T>>;
    default: return nullptr;
  }
}

template <class Number>
Joining of_halves(BulkJoin how) {
  switch (how) {
    case BulkJoin::kAdd: return &join<u16, AddHalf<Number>>;
    case BulkJoin::kMin: return &join<u16, ExtremeHalf<Number, false>>;
    case BulkJoin::kMax: return &join<u16, ExtremeHalf<Number, true>>;
    default: return nullptr;
  }
}

}  // namespace

Joining joining_of(BulkJoin how, TensorType type, bool is_shared) {
  switch (type) {
    case TensorType::kU32:
      if (how == BulkJoin::kInc) return &join<u32, Inc>;
      if (how == BulkJoin::kDec) return &join<u32, Dec>;
      return of_integers<u32>(how);
    case TensorType::kS32: return of_integers<s32>(how);
    case TensorType::kU64: return of_integers<u64>(how);
    case TensorType::kS64: return how == BulkJoin::kAdd ? nullptr : of_integers<s64>(how);
    case TensorType::kF16: return is_shared ? nullptr : of_halves<Fp16>(how);
    case TensorType::kBf16: return is_shared ? nullptr : of_halves<Bf16>(how);
    case TensorType::kF32: case TensorType::kF32Flushed: case TensorType::kTf32: case TensorType::kTf32Flushed:
      return how == BulkJoin::kAdd && !is_shared ? &join<f32, AddSingle> : nullptr;
    case TensorType::kF64: return how == BulkJoin::kAdd && !is_shared ? &join<f64, AddDouble> : nullptr;
    default: return nullptr;
  }
}

}  // namespace flashpath::exec
