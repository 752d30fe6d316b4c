// How a group finds the algorithm for a call: by the cost model, at the speed that its ranks have measured.
#include <algorithm>
#include <bit>

#include "pattern/generators.h"
#include "runtime/generated_patterns.h"
#include "runtime/group.h"

namespace react::runtime {
namespace {

int log2_rounded_up(std::size_t value) { return static_cast<int>(std::bit_width(value > 0 ? value - 1 : 0)); }

}  // namespace

Result<TunedCollective*> Group::tuned_collective(pattern::Collective collective, pattern::Rank root,
                                                 const Elements& elements) {
  if (given_ != nullptr && given_->collective() == collective && given_->root() == root) return given_;
  const int size = log2_rounded_up(elements.count * size_of(elements.type));
  for (const Chosen& chosen : chosen_)
    if (chosen.collective == collective && chosen.root == root && chosen.size_log2 == size)
      return chosen.tuned;
  auto tuned = choose(collective, root, elements);
  if (tuned) chosen_.push_back({collective, root, size, *tuned});
  return tuned;
}

Result<TunedCollective*> Group::choose(pattern::Collective collective, pattern::Rank root,
                                       const Elements& elements) {
  std::string_view algorithm = pattern::algorithms_of(collective).front();
  if (pattern::algorithms_of(collective).size() > 1) {
    if (auto measured = measure_links(); !measured) return tl::unexpected(measured.error());
    const std::size_t bytes = size_of(elements.type);
    // The largest size that will be run with this choice.
    const std::size_t count =
        std::max<std::size_t>(1, (std::size_t{1} << log2_rounded_up(elements.count * bytes)) / bytes);
    algorithm = chosen_algorithm(
        {collective, options_.ranks, root, *link_speed_, count, bytes, options_.slices, transport_->lanes()});
  }
  for (const auto& tuned : collectives_)
    if (tuned.get() != given_ && tuned->collective() == collective && tuned->root() == root &&
        tuned->algorithm() == algorithm)
      return tuned.get();
  const auto checked = generated_pattern(collective, algorithm, options_.ranks, root);
  if (!checked) return tl::unexpected(checked.error());
  return &add_collective(*checked, std::nullopt);
}

}  // namespace react::runtime
