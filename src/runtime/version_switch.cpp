#include "runtime/version_switch.h"

#include "base/check.h"

namespace react::runtime {

VersionSwitch::VersionSwitch(std::shared_ptr<const Program> initial) {
  prepared_[0] = {0, std::move(initial)};
}

bool VersionSwitch::prepare(std::uint32_t version, std::int64_t extra_epochs,
                            std::shared_ptr<const Program> program) {
  const std::lock_guard lock(mutex_);
  if (version != prepared_.rbegin()->first + 1) return false;
  prepared_[version] = {extra_epochs, std::move(program)};
  return true;
}

std::uint32_t VersionSwitch::highest_prepared() const {
  const std::lock_guard lock(mutex_);
  return prepared_.rbegin()->first;
}

std::shared_ptr<const Program> VersionSwitch::begin_epoch(std::int64_t epoch) {
  while (!effective_.empty() && effective_.begin()->first <= epoch) {
    version_ = effective_.begin()->second;
    effective_.erase(effective_.begin());
  }
  const std::lock_guard lock(mutex_);
  prepared_.erase(prepared_.begin(), prepared_.lower_bound(version_));
  return prepared_.at(version_).program;
}

void VersionSwitch::end_epoch(std::int64_t epoch, std::uint32_t prepared_by_all) {
  if (prepared_by_all <= agreed_) return;
  const std::lock_guard lock(mutex_);
  const auto found = prepared_.find(prepared_by_all);
  REACT_CHECK(found != prepared_.end(), "all ranks agreed on a version that this one has not prepared");
  agreed_ = prepared_by_all;
  effective_[epoch + 1 + found->second.extra_epochs] = prepared_by_all;
}

void VersionSwitch::schedule(std::int64_t epoch, std::uint32_t version,
                             std::shared_ptr<const Program> program) {
  const std::lock_guard lock(mutex_);
  prepared_[version] = {0, std::move(program)};
  effective_[epoch] = version;
  agreed_ = version > agreed_ ? version : agreed_;
}

}  // namespace react::runtime
