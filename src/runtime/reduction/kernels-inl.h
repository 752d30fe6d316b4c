// The kernels of reduction.cpp, for one instruction set at a time. The include guard is Highway's: it toggles, since
// the file is included once per target.
#if defined(REACT_RUNTIME_REDUCTION_KERNELS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef REACT_RUNTIME_REDUCTION_KERNELS_INL_H_
#undef REACT_RUNTIME_REDUCTION_KERNELS_INL_H_
#else
#define REACT_RUNTIME_REDUCTION_KERNELS_INL_H_
#endif

#include <hwy/highway.h>

#include <cstring>
#include <type_traits>

#include "runtime/reduction/element.h"
#include "runtime/reduction/vectors-inl.h"

HWY_BEFORE_NAMESPACE();
namespace react::runtime {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using Combine = void (*)(std::byte* target, const std::byte* source, std::size_t count);
using Divide = void (*)(std::byte* data, std::size_t count, std::size_t divisor);

struct Sum {
  template <class D, class V>
  HWY_INLINE HWY_ATTR V operator()(D, V a, V b) const {
    return hn::Add(a, b);
  }
};
struct Prod {
  template <class D, class V>
  HWY_INLINE HWY_ATTR V operator()(D, V a, V b) const {
    return hn::Mul(a, b);
  }
};
struct Min {
  template <class D, class V>
  HWY_INLINE HWY_ATTR V operator()(D, V a, V b) const {
    if constexpr (std::is_floating_point_v<hn::TFromD<D>>)
      return hn::IfThenElse(hn::Or(hn::Lt(a, b), hn::IsNaN(a)), a, b);
    else
      return hn::Min(a, b);
  }
};
struct Max {
  template <class D, class V>
  HWY_INLINE HWY_ATTR V operator()(D, V a, V b) const {
    if constexpr (std::is_floating_point_v<hn::TFromD<D>>)
      return hn::IfThenElse(hn::Or(hn::Gt(a, b), hn::IsNaN(a)), a, b);
    else
      return hn::Max(a, b);
  }
};
struct BitAnd {
  template <class D, class V>
  HWY_INLINE HWY_ATTR V operator()(D, V a, V b) const {
    return hn::And(a, b);
  }
};
struct BitOr {
  template <class D, class V>
  HWY_INLINE HWY_ATTR V operator()(D, V a, V b) const {
    return hn::Or(a, b);
  }
};
struct BitXor {
  template <class D, class V>
  HWY_INLINE HWY_ATTR V operator()(D, V a, V b) const {
    return hn::Xor(a, b);
  }
};

// Truth values as 0 and 1.
struct LogicalAnd {
  template <class D, class V>
  HWY_INLINE HWY_ATTR V operator()(D d, V a, V b) const {
    const auto both = hn::And(hn::Ne(a, hn::Zero(d)), hn::Ne(b, hn::Zero(d)));
    return hn::IfThenElseZero(both, hn::Set(d, 1));
  }
};
struct LogicalOr {
  template <class D, class V>
  HWY_INLINE HWY_ATTR V operator()(D d, V a, V b) const {
    return hn::IfThenElseZero(hn::Ne(hn::Or(a, b), hn::Zero(d)), hn::Set(d, 1));
  }
};
struct LogicalXor {
  template <class D, class V>
  HWY_INLINE HWY_ATTR V operator()(D d, V a, V b) const {
    const auto one = hn::Xor(hn::Ne(a, hn::Zero(d)), hn::Ne(b, hn::Zero(d)));
    return hn::IfThenElseZero(one, hn::Set(d, 1));
  }
};

template <class T, class Op>
HWY_ATTR void combine_vectors(std::byte* target_bytes, const std::byte* source_bytes, std::size_t count) {
  using M = Memory<T>;
  using Stored = typename M::Stored;
  const typename M::D d;
  const std::size_t lanes = hn::Lanes(d);
  auto* target = reinterpret_cast<Stored*>(target_bytes);
  const auto* source = reinterpret_cast<const Stored*>(source_bytes);
  std::size_t i = 0;
  for (; i + lanes <= count; i += lanes)
    M::store(Op()(d, M::load(target + i), M::load(source + i)), target + i);
  if (i == count) return;
  HWY_ALIGN Stored a[hn::MaxLanes(typename M::D())] = {};
  HWY_ALIGN Stored b[hn::MaxLanes(typename M::D())] = {};
  const std::size_t rest = (count - i) * sizeof(Stored);
  std::memcpy(a, target_bytes + i * sizeof(Stored), rest);
  std::memcpy(b, source_bytes + i * sizeof(Stored), rest);
  M::store(Op()(d, M::load(a), M::load(b)), a);
  std::memcpy(target_bytes + i * sizeof(Stored), a, rest);
}

// For what has no vector instruction everywhere; the compiler vectorises what it can.
struct ScalarProd {
  template <class T>
  HWY_INLINE HWY_ATTR T operator()(T a, T b) const {
    using U = std::make_unsigned_t<T>;
    return static_cast<T>(
        static_cast<U>(std::uint64_t{static_cast<U>(a)} * std::uint64_t{static_cast<U>(b)}));
  }
};
template <class T, class Op>
HWY_ATTR void combine_scalars(std::byte* HWY_RESTRICT target, const std::byte* HWY_RESTRICT source,
                              std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    T a, b;
    std::memcpy(&a, target + i * sizeof(T), sizeof(T));
    std::memcpy(&b, source + i * sizeof(T), sizeof(T));
    a = Op()(a, b);
    std::memcpy(target + i * sizeof(T), &a, sizeof(T));
  }
}

#if HWY_TARGET == HWY_SCALAR  // one lane: no pairs in a vector
template <class T>
HWY_ATTR void multiply_complex(std::byte* target, const std::byte* source, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    T a[2], b[2];
    std::memcpy(a, target + i * sizeof(a), sizeof(a));
    std::memcpy(b, source + i * sizeof(b), sizeof(b));
    const T product[2] = {a[0] * b[0] - a[1] * b[1], a[0] * b[1] + a[1] * b[0]};
    std::memcpy(target + i * sizeof(a), product, sizeof(a));
  }
}
#else
// Of vectors of (real, imaginary) pairs.
struct ComplexProd {
  template <class D, class V>
  HWY_INLINE HWY_ATTR V operator()(D d, V a, V b) const {
    const auto by_real = hn::Mul(hn::DupEven(a), b);
    const auto by_imaginary = hn::Mul(hn::DupOdd(a), hn::Reverse2(d, b));
    return hn::OddEven(hn::Add(by_real, by_imaginary), hn::Sub(by_real, by_imaginary));
  }
};
template <class T>
HWY_ATTR void multiply_complex(std::byte* target, const std::byte* source, std::size_t count) {
  combine_vectors<T, ComplexProd>(target, source, 2 * count);
}
#endif

// A complex number is added as its two parts.
template <class T>
HWY_ATTR void add_complex(std::byte* target, const std::byte* source, std::size_t count) {
  combine_vectors<T, Sum>(target, source, 2 * count);
}

template <class T>
HWY_ATTR void divide_scalars(std::byte* data, std::size_t count, std::size_t divisor) {
  const auto by = static_cast<T>(divisor);
  for (std::size_t i = 0; i < count; ++i) {
    T value;
    std::memcpy(&value, data + i * sizeof(T), sizeof(T));
    if constexpr (std::is_integral_v<T>)
      // More ranks than the type can count: every mean rounds to nothing but this.
      value = static_cast<T>(by <= 0 || static_cast<std::size_t>(by) != divisor ? 0 : value / by);
    else
      value = value / by;
    std::memcpy(data + i * sizeof(T), &value, sizeof(T));
  }
}

template <class T>
HWY_ATTR void divide_complex(std::byte* data, std::size_t count, std::size_t divisor) {
  divide_scalars<T>(data, 2 * count, divisor);
}

template <class T>
HWY_ATTR void divide_narrow(std::byte* data, std::size_t count, std::size_t divisor) {
  using M = Memory<T>;
  using Stored = typename M::Stored;
  const typename M::D d;
  const std::size_t lanes = hn::Lanes(d);
  const auto by = hn::Set(d, static_cast<float>(divisor));
  HWY_ALIGN Stored part[hn::MaxLanes(typename M::D())] = {};
  for (std::size_t i = 0; i < count; i += lanes) {
    const std::size_t bytes = (count - i < lanes ? count - i : lanes) * sizeof(Stored);
    std::memcpy(part, data + i * sizeof(Stored), bytes);
    M::store(hn::Div(M::load(part), by), part);
    std::memcpy(data + i * sizeof(Stored), part, bytes);
  }
}

template <class T>
Combine find_real(ReduceOp op) {
  switch (op) {
    case ReduceOp::kSum:
    case ReduceOp::kAvg:
      return combine_vectors<T, Sum>;
    case ReduceOp::kProd:
      return combine_vectors<T, Prod>;
    case ReduceOp::kMin:
      return combine_vectors<T, Min>;
    case ReduceOp::kMax:
      return combine_vectors<T, Max>;
    default:
      return nullptr;
  }
}

template <class T>
Combine find_logical(ReduceOp op) {
  switch (op) {
    case ReduceOp::kLogicalAnd:
      return combine_vectors<T, LogicalAnd>;
    case ReduceOp::kLogicalOr:
      return combine_vectors<T, LogicalOr>;
    case ReduceOp::kLogicalXor:
      return combine_vectors<T, LogicalXor>;
    default:
      return nullptr;
  }
}

template <class T>
Combine find_integer(ReduceOp op) {
  switch (op) {
    case ReduceOp::kSum:
    case ReduceOp::kAvg:
      return combine_vectors<T, Sum>;
    case ReduceOp::kProd:
      return combine_scalars<T, ScalarProd>;
    case ReduceOp::kMin:
      return combine_vectors<T, Min>;
    case ReduceOp::kMax:
      return combine_vectors<T, Max>;
    case ReduceOp::kBitAnd:
      return combine_vectors<T, BitAnd>;
    case ReduceOp::kBitOr:
      return combine_vectors<T, BitOr>;
    case ReduceOp::kBitXor:
      return combine_vectors<T, BitXor>;
    default:
      return find_logical<T>(op);
  }
}

template <class T>
Combine find_complex(ReduceOp op) {
  return op == ReduceOp::kProd ? multiply_complex<T> : add_complex<T>;
}

// Bits of a byte that is 0 or 1 are its truth value.
inline Combine find_bool(ReduceOp op) {
  switch (op) {
    case ReduceOp::kBitAnd:
      return find_logical<std::uint8_t>(ReduceOp::kLogicalAnd);
    case ReduceOp::kBitOr:
      return find_logical<std::uint8_t>(ReduceOp::kLogicalOr);
    case ReduceOp::kBitXor:
      return find_logical<std::uint8_t>(ReduceOp::kLogicalXor);
    default:
      return find_logical<std::uint8_t>(op);
  }
}

// Null where the type does not support the operation.
inline Combine find_combine(ElementType type, ReduceOp op) {
  switch (type) {
    case ElementType::kInt8:
      return find_integer<std::int8_t>(op);
    case ElementType::kUint8:
      return find_integer<std::uint8_t>(op);
    case ElementType::kInt16:
      return find_integer<std::int16_t>(op);
    case ElementType::kUint16:
      return find_integer<std::uint16_t>(op);
    case ElementType::kInt32:
      return find_integer<std::int32_t>(op);
    case ElementType::kUint32:
      return find_integer<std::uint32_t>(op);
    case ElementType::kInt64:
      return find_integer<std::int64_t>(op);
    case ElementType::kUint64:
      return find_integer<std::uint64_t>(op);
    case ElementType::kFloat16:
      return find_real<Half>(op);
    case ElementType::kBfloat16:
      return find_real<Brain>(op);
    case ElementType::kFloat32:
      return find_real<float>(op);
    case ElementType::kFloat64:
      return find_real<double>(op);
    case ElementType::kComplex64:
      return find_complex<float>(op);
    case ElementType::kComplex128:
      return find_complex<double>(op);
    case ElementType::kBool:
      return find_bool(op);
  }
  return nullptr;
}

inline Divide find_divide(ElementType type) {
  switch (type) {
    case ElementType::kInt8:
      return divide_scalars<std::int8_t>;
    case ElementType::kUint8:
      return divide_scalars<std::uint8_t>;
    case ElementType::kInt16:
      return divide_scalars<std::int16_t>;
    case ElementType::kUint16:
      return divide_scalars<std::uint16_t>;
    case ElementType::kInt32:
      return divide_scalars<std::int32_t>;
    case ElementType::kUint32:
      return divide_scalars<std::uint32_t>;
    case ElementType::kInt64:
      return divide_scalars<std::int64_t>;
    case ElementType::kUint64:
      return divide_scalars<std::uint64_t>;
    case ElementType::kFloat16:
      return divide_narrow<Half>;
    case ElementType::kBfloat16:
      return divide_narrow<Brain>;
    case ElementType::kFloat32:
      return divide_scalars<float>;
    case ElementType::kFloat64:
      return divide_scalars<double>;
    case ElementType::kComplex64:
      return divide_complex<float>;
    case ElementType::kComplex128:
      return divide_complex<double>;
    case ElementType::kBool:
      break;
  }
  return nullptr;
}

}  // namespace HWY_NAMESPACE
}  // namespace react::runtime
HWY_AFTER_NAMESPACE();

#endif  // toggled include guard
