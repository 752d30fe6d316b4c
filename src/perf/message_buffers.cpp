#include "perf/message_buffers.h"

#include <algorithm>

namespace react::perf {

using pattern::Collective;
using pattern::Rank;
using runtime::kInPlace;

MessageBuffers::MessageBuffers(Collective collective, Rank root, const runtime::ProcessGroup& group,
                               Bytes capacity)
    : collective_(collective),
      root_(root),
      rank_(group.rank()),
      ranks_(group.ranks()),
      send_(static_cast<std::size_t>(capacity.count)),
      recv_(static_cast<std::size_t>(capacity.count)),
      values_(runtime::ElementType::kFloat32, std::nullopt, ranks_) {}

void MessageBuffers::select(const KnownValues& values, std::size_t count) {
  values_ = values;
  count_ = count;
  results_ = collective_ == Collective::kBroadcast   ? values.inputs(root_)
             : collective_ == Collective::kAllGather ? std::vector<std::byte>{}
                                                     : values.results();
}

std::span<std::byte> MessageBuffers::part(std::vector<std::byte>& buffer, std::size_t offset,
                                          std::size_t elements) const {
  const std::size_t size = runtime::size_of(values_.type());
  return std::span(buffer).subspan(offset * size, elements * size);
}

void MessageBuffers::fill(Placement placement) {
  const bool in_place = placement == Placement::kInPlace;
  const std::vector<std::byte> inputs = values_.inputs(rank_);
  const auto ranks = static_cast<std::size_t>(ranks_), rank = static_cast<std::size_t>(rank_);
  std::fill(send_.begin(), send_.end(), kPoison);
  std::fill(recv_.begin(), recv_.end(), kPoison);
  std::vector<std::byte>& source = in_place ? recv_ : send_;
  switch (collective_) {
    case Collective::kAllGather:
      return repeat(inputs, values_.type(), rank * count_,
                    part(source, in_place ? rank * count_ : 0, count_));
    case Collective::kReduceScatter:
      return repeat(inputs, values_.type(), 0, part(source, 0, ranks * count_));
    case Collective::kBroadcast:
      if (rank_ != root_) return;
      [[fallthrough]];
    case Collective::kAllReduce:
    case Collective::kReduce:
      return repeat(inputs, values_.type(), 0, part(source, 0, count_));
  }
}

Result<void> MessageBuffers::run(runtime::ProcessGroup& group, Placement placement) {
  const bool in_place = placement == Placement::kInPlace;
  const void* send = in_place ? kInPlace : send_.data();
  void* recv = recv_.data();
  const runtime::ElementType type = values_.type();
  const runtime::ReduceOp op = values_.op().value_or(runtime::ReduceOp::kSum);
  switch (collective_) {
    case Collective::kAllReduce:
      return group.allreduce(send, recv, count_, type, op);
    case Collective::kAllGather:
      return group.allgather(send, recv, count_, type);
    case Collective::kReduceScatter:
      return group.reduce_scatter(send, recv, count_, type, op);
    case Collective::kReduce:
      return group.reduce(send, recv, count_, type, op, root_);
    case Collective::kBroadcast:
      // A process group broadcasts in place only.
      if (!in_place && rank_ == root_)
        std::copy_n(send_.data(), count_ * runtime::size_of(type), recv_.data());
      return group.broadcast(recv, count_, type, root_);
  }
  return invalid("unknown collective");
}

std::int64_t MessageBuffers::wrong_in(std::size_t offset, std::size_t elements, std::size_t first,
                                      const std::vector<std::byte>& period) const {
  const std::size_t size = runtime::size_of(values_.type());
  return count_wrong(period, values_.type(), first, std::span(recv_).subspan(offset * size, elements * size));
}

std::int64_t MessageBuffers::wrong(Placement placement) const {
  const std::size_t own = static_cast<std::size_t>(rank_) * count_;
  switch (collective_) {
    case Collective::kAllGather: {
      std::int64_t found = 0;
      for (Rank rank = 0; rank < ranks_; ++rank) {
        const std::size_t offset = static_cast<std::size_t>(rank) * count_;
        found += wrong_in(offset, count_, offset, values_.inputs(rank));
      }
      return found;
    }
    case Collective::kReduceScatter:
      return wrong_in(placement == Placement::kInPlace ? own : 0, count_, own, results_);
    case Collective::kReduce:
      return rank_ == root_ ? wrong_in(0, count_, 0, results_) : 0;
    case Collective::kAllReduce:
    case Collective::kBroadcast:
      return wrong_in(0, count_, 0, results_);
  }
  return 0;
}

}  // namespace react::perf
