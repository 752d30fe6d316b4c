// Every generator by name, for tests that hold for all of them.
#pragma once

#include <ostream>
#include <string>
#include <vector>

#include "pattern/generators.h"

namespace react::pattern {

struct GeneratorCase {
  std::string name;
  Pattern (*make)(Rank ranks);
};
inline std::ostream& operator<<(std::ostream& out, const GeneratorCase& generator) {
  return out << generator.name;
}

inline std::vector<GeneratorCase> generator_cases() {
  return {{"double_tree_allreduce", double_tree_allreduce},
          {"ring_allreduce", ring_allreduce},
          {"ring_reduce_scatter", ring_reduce_scatter},
          {"ring_allgather", ring_allgather},
          {"recursive_doubling_allgather", recursive_doubling_allgather},
          {"halving_doubling_allreduce", halving_doubling_allreduce},
          {"binomial_broadcast", [](Rank ranks) { return binomial_broadcast(ranks, ranks / 2); }},
          {"binomial_reduce", [](Rank ranks) { return binomial_reduce(ranks, ranks - 1); }}};
}

}  // namespace react::pattern
