// Generators of the standard algorithms, for any number of ranks >= 2 unless said otherwise.
//
// Each states its cost: steps, and bytes sent by the busiest rank for a message of s bytes.
#pragma once

#include <string_view>
#include <vector>

#include "base/result.h"
#include "pattern/pattern.h"

namespace react::pattern {

// NCCL's double binary tree: two trees, each half of the message; tree B is the mirror of A for even N, the
// shift for odd N. Each rank sends in the step after its last child has arrived. At most 2 ceil(log2 N) steps
// and 2 s bytes out: 3 s / 2 as an inner rank of one tree, s / 2 as a leaf of the other.
Pattern double_tree_allreduce(Rank ranks);
// N chunk graphs of share 1; chunk graph c starts at rank c. 2 (N - 1) steps, 2 (N - 1) / N * s bytes.
Pattern ring_allreduce(Rank ranks);
// N chunk graphs; chunk graph c carries block c and ends at rank c. N - 1 steps, (N - 1) / N * s bytes.
Pattern ring_reduce_scatter(Rank ranks);
// One chunk graph; every rank passes on what came last. N - 1 steps, (N - 1) / N * s bytes.
Pattern ring_allgather(Rank ranks);
// Pairs at distance 2^step exchange what they have; where N is no power of two each rank sends 2^step ahead
// instead. ceil(log2 N) steps, (N - 1) / N * s bytes.
Pattern recursive_doubling_allgather(Rank ranks);
// With P the largest power of two within N: P blocks, summed by halving, gathered by doubling. 2 log2 P
// steps, 2 (P - 1) / P * s bytes; ranks beyond P add two steps, and a whole message from and to their
// partners.
Pattern halving_doubling_allreduce(Rank ranks);
// ceil(log2 N) steps; the root sends ceil(log2 N) s bytes, in Reduce every other rank sends s.
Pattern binomial_broadcast(Rank ranks, Rank root);
Pattern binomial_reduce(Rank ranks, Rank root);

// By the names of the command line ("allreduce", "double-tree"); the error lists what there is.
Result<Pattern> generate(Collective collective, std::string_view algorithm, Rank ranks, Rank root);

// The names generate() knows for a collective.
std::vector<std::string_view> algorithms_of(Collective collective);

Result<Collective> collective_from_name(std::string_view name);
std::string_view name_of(Collective collective);

}  // namespace react::pattern
