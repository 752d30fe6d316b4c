// Element types of messages and the operations that reduce them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace react::runtime {

enum class ElementType : std::uint8_t {
  kInt8,
  kUint8,
  kInt16,
  kUint16,
  kInt32,
  kUint32,
  kInt64,
  kUint64,
  kFloat16,   // IEEE 754 binary16
  kBfloat16,  // the upper half of a binary32
  kFloat32,
  kFloat64,
  kComplex64,   // two float32: real, imaginary
  kComplex128,  // two float64
  kBool,        // one byte; anything but 0 is true; results are 0 or 1
};

enum class ReduceOp : std::uint8_t {
  kSum,
  kProd,
  kMin,
  kMax,
  kAvg,  // the sum, divided by the number of ranks in the end; integers round towards zero
  kLogicalAnd,
  kLogicalOr,
  kLogicalXor,
  kBitAnd,
  kBitOr,
  kBitXor,
};

inline constexpr std::array kElementTypes{
    ElementType::kInt8,      ElementType::kUint8,      ElementType::kInt16,   ElementType::kUint16,
    ElementType::kInt32,     ElementType::kUint32,     ElementType::kInt64,   ElementType::kUint64,
    ElementType::kFloat16,   ElementType::kBfloat16,   ElementType::kFloat32, ElementType::kFloat64,
    ElementType::kComplex64, ElementType::kComplex128, ElementType::kBool};
inline constexpr std::array kReduceOps{ReduceOp::kSum,       ReduceOp::kProd,       ReduceOp::kMin,
                                       ReduceOp::kMax,       ReduceOp::kAvg,        ReduceOp::kLogicalAnd,
                                       ReduceOp::kLogicalOr, ReduceOp::kLogicalXor, ReduceOp::kBitAnd,
                                       ReduceOp::kBitOr,     ReduceOp::kBitXor};

std::size_t size_of(ElementType type);
inline constexpr std::size_t kLargestElement = 16;
// Complex numbers and booleans have no order or mean, floating-point numbers no bits or truth values.
bool supports(ElementType type, ReduceOp op);

std::string_view name_of(ElementType type);  // "int8", "bfloat16", "complex64", ...
std::string_view name_of(ReduceOp op);       // "sum", "avg", "land", "bxor", ...
// Besides these names NCCL's: "half", "float", "double".
std::optional<ElementType> element_type_from_name(std::string_view name);
std::optional<ReduceOp> reduce_op_from_name(std::string_view name);

}  // namespace react::runtime
