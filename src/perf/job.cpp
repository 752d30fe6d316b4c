#include "perf/job.h"

namespace react::perf {

using pattern::Collective;

bool reduces(Collective collective) {
  return collective != Collective::kAllGather && collective != Collective::kBroadcast;
}

bool has_root(Collective collective) {
  return collective == Collective::kReduce || collective == Collective::kBroadcast;
}

std::vector<Case> cases_of(Collective collective, const std::vector<runtime::ElementType>& types,
                           const std::vector<runtime::ReduceOp>& ops) {
  std::vector<Case> cases;
  for (const runtime::ElementType type : types) {
    if (!reduces(collective)) {
      cases.push_back({type, std::nullopt});
      continue;
    }
    for (const runtime::ReduceOp op : ops)
      if (runtime::supports(type, op)) cases.push_back({type, op});
  }
  return cases;
}

}  // namespace react::perf
