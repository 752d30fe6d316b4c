#include "runtime/generated_patterns.h"

#include <map>
#include <mutex>
#include <string>
#include <tuple>

#include "pattern/generators.h"
#include "runtime/program.h"

namespace react::runtime {
namespace {

constexpr std::size_t kMostRemembered = 512;

// Held while a pattern is made or an algorithm chosen: the next rank that asks finds the answer.
std::mutex at_work;

}  // namespace

Result<pattern::CheckedPattern> generated_pattern(pattern::Collective collective, std::string_view algorithm,
                                                  pattern::Rank ranks, pattern::Rank root) {
  using Key = std::tuple<pattern::Collective, std::string, pattern::Rank, pattern::Rank>;
  static std::map<Key, pattern::WeakCheckedPattern> known;
  const std::lock_guard lock(at_work);
  const Key key(collective, algorithm, ranks, root);
  if (const auto found = known.find(key); found != known.end())
    if (auto pattern = found->second.lock()) return *pattern;
  auto pattern = pattern::generate(collective, algorithm, ranks, root);
  if (!pattern) return tl::unexpected(pattern.error());
  auto checked = pattern::check(std::move(*pattern));
  if (!checked) return checked;
  std::erase_if(known, [](const auto& entry) { return !entry.second.lock(); });
  known[key] = pattern::WeakCheckedPattern(*checked);
  return checked;
}

std::string_view chosen_algorithm(const ChoiceRequest& request) {
  using Key = std::tuple<pattern::Collective, pattern::Rank, pattern::Rank, double, double, std::size_t,
                         std::size_t, std::int32_t, std::int32_t>;
  static std::map<Key, std::string_view> known;
  const auto& [collective, ranks, root, speed, count, element_bytes, slices, lanes] = request;
  const Key key(collective, ranks, root, speed.latency_seconds, speed.bytes_per_second, count, element_bytes,
                slices, lanes);
  const std::lock_guard lock(at_work);
  if (const auto found = known.find(key); found != known.end()) return found->second;
  if (known.size() >= kMostRemembered) known.clear();
  const auto workload_of = [&](const pattern::Pattern& lowered) {
    const Layout layout(lowered, request.count, request.element_bytes, request.slices);
    return tuner::Workload{layout.message_size(), layout.slices(), request.lanes};
  };
  return known[key] = tuner::choose_algorithm(collective, ranks, root, speed, workload_of).algorithm;
}

}  // namespace react::runtime
