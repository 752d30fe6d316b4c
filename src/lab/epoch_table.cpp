#include "lab/epoch_table.h"

#include <fmt/format.h>

#include <algorithm>

namespace react::lab {

EpochTable::EpochTable(int ranks, std::int64_t epochs)
    : ranks_(ranks), rows_(static_cast<std::size_t>(epochs)) {
  for (Row& row : rows_) row.missing = ranks;
}

Result<bool> EpochTable::add(const EpochLine& line) {
  if (line.epoch < 0 || line.epoch >= static_cast<std::int64_t>(rows_.size()) || line.rank < 0 ||
      line.rank >= ranks_) {
    return invalid(
        fmt::format("rank {} reports epoch {}, which this run does not have", line.rank, line.epoch));
  }
  Row& row = rows_[static_cast<std::size_t>(line.epoch)];
  if (row.heard.empty()) {
    row.heard.resize(static_cast<std::size_t>(ranks_));
    row.start = line.start;
    row.end = line.end;
    row.version = line.version;
  }
  const auto rank = static_cast<std::size_t>(line.rank);
  if (row.heard[rank]) return invalid(fmt::format("rank {} reports epoch {} twice", line.rank, line.epoch));
  if (row.version != line.version) {
    return invalid(fmt::format("ranks ran different pattern versions in epoch {}: {} and {}", line.epoch,
                               row.version, line.version));
  }
  row.heard[rank] = true;
  row.start = std::min(row.start, line.start);
  row.end = std::max(row.end, line.end);
  const bool whole = --row.missing == 0;
  while (complete_ < static_cast<std::int64_t>(rows_.size()) &&
         rows_[static_cast<std::size_t>(complete_)].missing == 0) {
    ++complete_;
  }
  return whole;
}

std::vector<double> EpochTable::milliseconds() const {
  std::vector<double> all;
  for (std::int64_t i = 0; i < complete_; ++i) {
    const Row& row = rows_[static_cast<std::size_t>(i)];
    all.push_back(static_cast<double>((row.end - row.start).count()) * 1e-6);
  }
  return all;
}

std::vector<std::uint32_t> EpochTable::versions() const {
  std::vector<std::uint32_t> all;
  for (std::int64_t i = 0; i < complete_; ++i) all.push_back(rows_[static_cast<std::size_t>(i)].version);
  return all;
}

}  // namespace react::lab
