// Vectors of every element type in and out of memory, for one instruction set at a time: the narrow floating-point types
// are float32 in between. The include guard toggles, as in kernels-inl.h.
#if defined(REACT_RUNTIME_REDUCTION_VECTORS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef REACT_RUNTIME_REDUCTION_VECTORS_INL_H_
#undef REACT_RUNTIME_REDUCTION_VECTORS_INL_H_
#else
#define REACT_RUNTIME_REDUCTION_VECTORS_INL_H_
#endif

#include <hwy/highway.h>

#include <cstdint>

HWY_BEFORE_NAMESPACE();
namespace react::runtime {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// Types that are stored in 16 bits and computed with as float32.
struct Half {};
struct Brain {};

// How vectors of a stored type are loaded for computing and stored again.
template <class T>
struct Memory {
  using Stored = T;
  using D = hn::ScalableTag<T>;
  static HWY_INLINE HWY_ATTR hn::Vec<D> load(const Stored* from) { return hn::LoadU(D(), from); }
  static HWY_INLINE HWY_ATTR void store(hn::Vec<D> value, Stored* to) { hn::StoreU(value, D(), to); }
};
template <>
struct Memory<Half> {
  using D = hn::ScalableTag<float>;
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX2  // better targets have lower numbers
  using Stored = hwy::float16_t;
  static HWY_INLINE HWY_ATTR hn::Vec<D> load(const Stored* from) {
    return hn::PromoteTo(D(), hn::LoadU(hn::Rebind<hwy::float16_t, D>(), from));
  }
  static HWY_INLINE HWY_ATTR void store(hn::Vec<D> value, Stored* to) {
    const hn::Rebind<hwy::float16_t, D> narrow;
    hn::StoreU(hn::DemoteTo(narrow, value), narrow, to);
  }
#else
  // Where no instruction converts: Highway's emulation loses infinities.
  using Stored = std::uint16_t;
  static HWY_INLINE HWY_ATTR hn::Vec<D> load(const Stored* from) {
    const hn::RebindToUnsigned<D> bits;
    const auto half = hn::PromoteTo(bits, hn::LoadU(hn::Rebind<std::uint16_t, D>(), from));
    const auto sign = hn::ShiftLeft<16>(hn::And(half, hn::Set(bits, 0x8000)));
    const auto size = hn::ShiftLeft<13>(hn::And(half, hn::Set(bits, 0x7FFF)));
    const auto exponent = hn::And(size, hn::Set(bits, 0x0F800000));
    const auto normal = hn::Add(size, hn::Set(bits, 112U << 23));
    const auto special = hn::Add(size, hn::Set(bits, 224U << 23));  // infinities and NaN
    // A subnormal number: as the fraction of 2^-14, less the leading one that it does not have.
    const auto least = hn::BitCast(D(), hn::Set(bits, 113U << 23));
    const auto raised = hn::BitCast(D(), hn::Add(size, hn::Set(bits, 113U << 23)));
    const auto subnormal = hn::BitCast(bits, hn::Sub(raised, least));
    const auto finite = hn::IfThenElse(hn::Eq(exponent, hn::Zero(bits)), subnormal, normal);
    const auto chosen = hn::IfThenElse(hn::Eq(exponent, hn::Set(bits, 0x0F800000)), special, finite);
    return hn::BitCast(D(), hn::Or(chosen, sign));
  }
  // Round to nearest, ties to even.
  static HWY_INLINE HWY_ATTR void store(hn::Vec<D> value, Stored* to) {
    const hn::RebindToUnsigned<D> bits;
    const hn::RebindToSigned<D> order;  // sizes are below 2^31
    const hn::Rebind<std::uint16_t, D> narrow;
    const auto raw = hn::BitCast(bits, value);
    const auto size = hn::And(raw, hn::Set(bits, 0x7FFFFFFF));
    const auto sign = hn::ShiftRight<16>(hn::Xor(raw, size));
    const auto odd = hn::And(hn::ShiftRight<13>(size), hn::Set(bits, 1));
    const auto normal = hn::ShiftRight<13>(
        hn::Add(hn::Sub(size, hn::Set(bits, 112U << 23)), hn::Add(odd, hn::Set(bits, 0xFFF))));
    // Adding this power of two shifts a subnormal's bits to their place and rounds them.
    const auto shifter = hn::Set(bits, 126U << 23);
    const auto shifted = hn::Add(hn::BitCast(D(), size), hn::BitCast(D(), shifter));
    const auto subnormal = hn::Sub(hn::BitCast(bits, shifted), shifter);
    const auto signed_size = hn::BitCast(order, size);
    const auto is_small = hn::RebindMask(bits, hn::Lt(signed_size, hn::Set(order, 113 << 23)));
    const auto is_large = hn::RebindMask(bits, hn::Gt(signed_size, hn::Set(order, (143 << 23) - 1)));
    const auto is_nan = hn::RebindMask(bits, hn::IsNaN(value));
    const auto large = hn::IfThenElse(is_nan, hn::Set(bits, 0x7E00), hn::Set(bits, 0x7C00));
    const auto chosen = hn::IfThenElse(is_large, large, hn::IfThenElse(is_small, subnormal, normal));
    hn::StoreU(hn::DemoteTo(narrow, hn::BitCast(order, hn::Or(chosen, sign))), narrow, to);
  }
#endif
};
template <>
struct Memory<Brain> {
  using Stored = std::uint16_t;
  using D = hn::ScalableTag<float>;
  static HWY_INLINE HWY_ATTR hn::Vec<D> load(const Stored* from) {
    const hn::RebindToUnsigned<D> bits;
    const hn::Rebind<std::uint16_t, D> narrow;
    return hn::BitCast(D(), hn::ShiftLeft<16>(hn::PromoteTo(bits, hn::LoadU(narrow, from))));
  }
  // Round to nearest, ties to even; a NaN keeps its upper bits and becomes quiet.
  static HWY_INLINE HWY_ATTR void store(hn::Vec<D> value, Stored* to) {
    const hn::RebindToUnsigned<D> bits;
    const hn::Rebind<std::uint16_t, D> narrow;
    const auto raw = hn::BitCast(bits, value);
    const auto odd = hn::And(hn::ShiftRight<16>(raw), hn::Set(bits, 1));
    const auto rounded = hn::Add(raw, hn::Add(odd, hn::Set(bits, 0x7FFF)));
    const auto quiet = hn::Or(raw, hn::Set(bits, 0x00400000));
    const auto chosen = hn::IfThenElse(hn::RebindMask(bits, hn::IsNaN(value)), quiet, rounded);
    const auto upper = hn::BitCast(hn::RebindToSigned<D>(), hn::ShiftRight<16>(chosen));
    hn::StoreU(hn::DemoteTo(narrow, upper), narrow, to);
  }
};

}  // namespace HWY_NAMESPACE
}  // namespace react::runtime
HWY_AFTER_NAMESPACE();

#endif  // toggled include guard
