#include "lab/workload_buffer.h"

#include <fmt/format.h>

namespace react::lab {

using pattern::Collective;

WorkloadBuffer::WorkloadBuffer(const pattern::Pattern& pattern, pattern::Rank rank, Bytes size)
    : collective_(pattern.collective), ranks_(pattern.ranks), rank_(rank), root_(pattern.root) {
  auto elements = static_cast<std::size_t>(size.count) / sizeof(float);
  per_rank_ = elements / static_cast<std::size_t>(ranks_);
  if (collective_ == Collective::kAllGather || collective_ == Collective::kReduceScatter) {
    elements = per_rank_ * static_cast<std::size_t>(ranks_);
  }
  data_.resize(elements);
}

float WorkloadBuffer::input(pattern::Rank rank, std::size_t element) const {
  return static_cast<float>(element % 251) + static_cast<float>(rank);
}

void WorkloadBuffer::fill() {
  for (std::size_t i = 0; i < data_.size(); ++i) data_[i] = input(rank_, i);
}

Result<void> WorkloadBuffer::run(runtime::ProcessGroup& group) {
  using runtime::kInPlace;
  constexpr auto kType = runtime::ElementType::kFloat32;
  constexpr auto kOp = runtime::ReduceOp::kSum;
  switch (collective_) {
    case Collective::kAllReduce:
      return group.allreduce(kInPlace, data_.data(), data_.size(), kType, kOp);
    case Collective::kAllGather:
      return group.allgather(kInPlace, data_.data(), per_rank_, kType);
    case Collective::kReduceScatter:
      return group.reduce_scatter(kInPlace, data_.data(), per_rank_, kType, kOp);
    case Collective::kReduce:
      return group.reduce(kInPlace, data_.data(), data_.size(), kType, kOp, root_);
    case Collective::kBroadcast:
      return group.broadcast(data_.data(), data_.size(), kType, root_);
  }
  return invalid("unknown collective");
}

float WorkloadBuffer::expected(std::size_t element) const {
  switch (collective_) {
    case Collective::kAllGather:
      return input(static_cast<pattern::Rank>(element / per_rank_), element);
    case Collective::kBroadcast:
      return input(root_, element);
    default: {
      const auto n = static_cast<std::size_t>(ranks_);
      const std::size_t sum = n * (element % 251) + n * (n - 1) / 2;  // exact: n * (n - 1) is even
      return static_cast<float>(sum);
    }
  }
}

bool WorkloadBuffer::defined(std::size_t element) const {
  if (collective_ == Collective::kReduce) return rank_ == root_;
  if (collective_ == Collective::kReduceScatter)
    return element / per_rank_ == static_cast<std::size_t>(rank_);
  return true;
}

Result<void> WorkloadBuffer::verify() const {
  for (std::size_t i = 0; i < data_.size(); ++i) {
    if (defined(i) && data_[i] != expected(i)) {
      return fail(
          ErrorCode::kInvalidInput,
          fmt::format("wrong result on rank {}: element {} is {}, not {}", rank_, i, data_[i], expected(i)),
          rank_);
    }
  }
  return {};
}

}  // namespace react::lab
