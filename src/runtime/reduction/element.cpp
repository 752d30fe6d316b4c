#include "runtime/reduction/element.h"

#include <utility>

namespace react::runtime {
namespace {

struct TypeFacts {
  std::string_view name;
  std::size_t size;
  enum class Kind { kInteger, kReal, kComplex, kBool } kind;
};

using Kind = TypeFacts::Kind;

// In the order of the enumeration.
constexpr std::array<TypeFacts, kElementTypes.size()> kTypes{{{"int8", 1, Kind::kInteger},
                                                              {"uint8", 1, Kind::kInteger},
                                                              {"int16", 2, Kind::kInteger},
                                                              {"uint16", 2, Kind::kInteger},
                                                              {"int32", 4, Kind::kInteger},
                                                              {"uint32", 4, Kind::kInteger},
                                                              {"int64", 8, Kind::kInteger},
                                                              {"uint64", 8, Kind::kInteger},
                                                              {"float16", 2, Kind::kReal},
                                                              {"bfloat16", 2, Kind::kReal},
                                                              {"float32", 4, Kind::kReal},
                                                              {"float64", 8, Kind::kReal},
                                                              {"complex64", 8, Kind::kComplex},
                                                              {"complex128", 16, Kind::kComplex},
                                                              {"bool", 1, Kind::kBool}}};

constexpr std::array<std::string_view, kReduceOps.size()> kOps{"sum", "prod", "min",  "max", "avg", "land",
                                                               "lor", "lxor", "band", "bor", "bxor"};

constexpr std::array<std::pair<std::string_view, ElementType>, 3> kOtherNames{
    {{"half", ElementType::kFloat16}, {"float", ElementType::kFloat32}, {"double", ElementType::kFloat64}}};

const TypeFacts& facts(ElementType type) { return kTypes[static_cast<std::size_t>(type)]; }

}  // namespace

std::size_t size_of(ElementType type) { return facts(type).size; }

bool supports(ElementType type, ReduceOp op) {
  switch (facts(type).kind) {
    case Kind::kInteger:
      return true;
    case Kind::kReal:
      return op <= ReduceOp::kAvg;
    case Kind::kComplex:
      return op == ReduceOp::kSum || op == ReduceOp::kProd || op == ReduceOp::kAvg;
    case Kind::kBool:
      return op >= ReduceOp::kLogicalAnd;
  }
  return false;
}

std::string_view name_of(ElementType type) { return facts(type).name; }

std::string_view name_of(ReduceOp op) { return kOps[static_cast<std::size_t>(op)]; }

std::optional<ElementType> element_type_from_name(std::string_view name) {
  for (const ElementType type : kElementTypes)
    if (name_of(type) == name) return type;
  for (const auto& [other, type] : kOtherNames)
    if (other == name) return type;
  return std::nullopt;
}

std::optional<ReduceOp> reduce_op_from_name(std::string_view name) {
  for (const ReduceOp op : kReduceOps)
    if (name_of(op) == name) return op;
  return std::nullopt;
}

}  // namespace react::runtime
