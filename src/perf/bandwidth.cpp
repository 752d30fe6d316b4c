#include "perf/bandwidth.h"

namespace react::perf {
namespace {

using pattern::Collective;

std::int64_t bytes_per_count(Collective collective, pattern::Rank ranks, runtime::ElementType type) {
  const auto element = static_cast<std::int64_t>(runtime::size_of(type));
  const bool of_all_ranks = collective == Collective::kAllGather || collective == Collective::kReduceScatter;
  return of_all_ranks ? element * ranks : element;
}

}  // namespace

double busbw_factor(Collective collective, pattern::Rank ranks) {
  const double others = static_cast<double>(ranks - 1) / ranks;
  switch (collective) {
    case Collective::kAllReduce:
      return 2 * others;
    case Collective::kAllGather:
    case Collective::kReduceScatter:
      return others;
    case Collective::kReduce:
    case Collective::kBroadcast:
      return 1;
  }
  return 0;
}

std::int64_t count_within(Bytes size, Collective collective, pattern::Rank ranks, runtime::ElementType type) {
  return size.count / bytes_per_count(collective, ranks, type);
}

Bytes message_size(std::int64_t count, Collective collective, pattern::Rank ranks,
                   runtime::ElementType type) {
  return Bytes{count * bytes_per_count(collective, ranks, type)};
}

double algbw_gbytes_per_s(Bytes size, double time_us) {
  return time_us > 0 ? static_cast<double>(size.count) / time_us / 1e3 : 0;
}

}  // namespace react::perf
