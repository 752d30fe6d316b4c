// Generators of the standard algorithms, for any number of ranks >= 2 unless said otherwise.
//
// Each states its cost: steps, and bytes sent by the busiest rank for a message of s bytes.
#pragma once

#include <string_view>

#include "base/result.h"
#include "pattern/pattern.h"

namespace react::pattern {

// NCCL's double binary tree (two trees, each half of the message; tree B is the mirror of A for even N,
// the shift for odd N). 2 * ceil(log2 N) steps or so, at most 3 s / 2 + s / 2 bytes out.
Pattern double_tree_allreduce(Rank ranks);
// N chunk graphs of share 1; chunk graph c starts at rank c. 2 (N - 1) steps, 2 (N - 1) / N * s bytes.
Pattern ring_allreduce(Rank ranks);
Pattern ring_reduce_scatter(Rank ranks);
Pattern ring_allgather(Rank ranks);
Pattern recursive_doubling_allgather(Rank ranks);
Pattern halving_doubling_allreduce(Rank ranks);
Pattern binomial_broadcast(Rank ranks, Rank root);
Pattern binomial_reduce(Rank ranks, Rank root);

// By the names of the command line ("allreduce", "double-tree"); the error lists what there is.
Result<Pattern> generate(Collective collective, std::string_view algorithm, Rank ranks, Rank root);

Result<Collective> collective_from_name(std::string_view name);
std::string_view name_of(Collective collective);

}  // namespace react::pattern
