#include "pattern/generators.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>

namespace react::pattern {
namespace {

constexpr std::array<std::pair<Collective, std::string_view>, 5> kCollectives{{
    {Collective::kAllReduce, "allreduce"},
    {Collective::kAllGather, "allgather"},
    {Collective::kReduceScatter, "reduce-scatter"},
    {Collective::kReduce, "reduce"},
    {Collective::kBroadcast, "broadcast"},
}};

struct Generator {
  Collective collective;
  std::string_view algorithm;
  Pattern (*make)(Rank ranks, Rank root);
  std::int64_t (*edges)(std::int64_t ranks);  // how many it will make, at most
};

constexpr std::int64_t few(std::int64_t n) { return 64 * n; }

const std::array<Generator, 8> kGenerators{{
    {Collective::kAllReduce, "double-tree", [](Rank n, Rank) { return double_tree_allreduce(n); }, few},
    {Collective::kAllReduce, "ring", [](Rank n, Rank) { return ring_allreduce(n); },
     [](std::int64_t n) { return 2 * n * (n - 1); }},
    {Collective::kAllReduce, "halving-doubling", [](Rank n, Rank) { return halving_doubling_allreduce(n); },
     few},
    {Collective::kAllGather, "recursive-doubling",
     [](Rank n, Rank) { return recursive_doubling_allgather(n); }, few},
    {Collective::kAllGather, "ring", [](Rank n, Rank) { return ring_allgather(n); },
     [](std::int64_t n) { return n * (n - 1); }},
    {Collective::kReduceScatter, "ring", [](Rank n, Rank) { return ring_reduce_scatter(n); },
     [](std::int64_t n) { return n * (n - 1); }},
    {Collective::kReduce, "binomial", [](Rank n, Rank root) { return binomial_reduce(n, root); }, few},
    {Collective::kBroadcast, "binomial", [](Rank n, Rank root) { return binomial_broadcast(n, root); }, few},
}};

Result<void> check_request(const Generator& generator, Rank ranks, Rank root) {
  if (ranks < 2 || ranks > kMaxRanks)
    return invalid(fmt::format("{} ranks: must be 2 to {}", ranks, kMaxRanks));
  if (const std::int64_t edges = generator.edges(ranks); edges > kMaxEdges)
    return invalid(fmt::format("{} {} of {} ranks would have {} edges: at most {}, take fewer ranks",
                               generator.algorithm, name_of(generator.collective), ranks, edges, kMaxEdges));
  if (root < 0 || root >= ranks)
    return invalid(fmt::format("root {}: must be a rank, 0 to {}", root, ranks - 1));
  const bool rooted =
      generator.collective == Collective::kReduce || generator.collective == Collective::kBroadcast;
  if (root != 0 && !rooted)
    return invalid(fmt::format("root {}: only reduce and broadcast have a root", root));
  return {};
}

}  // namespace

Result<Pattern> generate(Collective collective, std::string_view algorithm, Rank ranks, Rank root) {
  for (const Generator& generator : kGenerators) {
    if (generator.collective != collective || generator.algorithm != algorithm) continue;
    if (auto ok = check_request(generator, ranks, root); !ok) return tl::unexpected(ok.error());
    return generator.make(ranks, root);
  }
  return invalid(fmt::format("no algorithm \"{}\" for {}: there is {}", algorithm, name_of(collective),
                             fmt::join(algorithms_of(collective), ", ")));
}

std::vector<std::string_view> algorithms_of(Collective collective) {
  std::vector<std::string_view> names;
  for (const Generator& generator : kGenerators)
    if (generator.collective == collective) names.push_back(generator.algorithm);
  return names;
}

Result<Collective> collective_from_name(std::string_view name) {
  std::string names;
  for (const auto& [collective, its_name] : kCollectives) {
    if (its_name == name) return collective;
    names += fmt::format("{}{}", names.empty() ? "" : ", ", its_name);
  }
  return invalid(fmt::format("no collective \"{}\": there is {}", name, names));
}

std::string_view name_of(Collective collective) {
  for (const auto& [known, name] : kCollectives)
    if (known == collective) return name;
  return "unknown";
}

}  // namespace react::pattern
