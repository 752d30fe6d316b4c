#include "runtime/tuned_collective.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <utility>

#include "base/random.h"
#include "pattern/generators.h"
#include "pattern/json.h"
#include "runtime/log.h"

namespace react::runtime {

using pattern::Collective;

TunedCollective::TunedCollective(std::uint32_t number, pattern::Rank rank,
                                 const pattern::CheckedPattern& initial)
    : number_(number),
      rank_(rank),
      ranks_(initial.pattern().ranks),
      root_(initial.pattern().root),
      collective_(initial.pattern().collective),
      algorithm_(initial.pattern().algorithm),
      versions_(std::make_shared<const Program>(initial, rank)) {}

void TunedCollective::tune(const pattern::CheckedPattern& initial, const tuner::Parameters& parameters,
                           std::int32_t lanes, std::optional<Recorder> recorder,
                           std::function<void(const messages::Propose&)> announce,
                           std::function<void(const tuner::Report&)> on_report) {
  TunerHandlers handlers;
  handlers.on_report = std::move(on_report);
  handlers.on_proposal = [this, extra_epochs = parameters.extra_epochs, announce = std::move(announce)](
                             std::uint32_t version, const pattern::CheckedPattern& proposal) {
    if (propose(version, proposal, extra_epochs))
      announce(
          {number_, version, static_cast<std::uint32_t>(extra_epochs), pattern::to_json(proposal.pattern())});
  };
  tuner_ =
      std::make_unique<LeaderTuner>(parameters, initial, lanes, std::move(recorder), std::move(handlers));
}

void TunedCollective::add(messages::FlowReport share) {
  if (tuner_) tuner_->add(std::move(share));
}

bool TunedCollective::prepare(const messages::Propose& proposal) {
  const auto refuse = [&](const std::string& why) {
    log_warning(fmt::format("rank {} does not take version {} of the {} pattern: {}", rank_, proposal.version,
                            pattern::name_of(collective_), why));
    return false;
  };
  auto parsed = pattern::from_json(proposal.pattern_json);
  if (!parsed) return refuse(parsed.error().message);
  if (parsed->ranks != ranks_ || parsed->collective != collective_ || parsed->root != root_)
    return refuse("it is for another group or collective");
  const auto checked = pattern::check(std::move(*parsed));
  if (!checked) return refuse(checked.error().message);
  return versions_.prepare(proposal.version, proposal.extra_epochs,
                           std::make_shared<const Program>(*checked, rank_));
}

bool TunedCollective::propose(std::uint32_t version, const pattern::CheckedPattern& proposal,
                              std::int32_t extra_epochs) {
  return versions_.prepare(version, extra_epochs, std::make_shared<const Program>(proposal, rank_));
}

bool TunedCollective::is_timed() const {
  constexpr std::uint64_t kFewest = 64;  // one of so many
  const auto wanted = static_cast<std::uint64_t>(kTimedPeriod / std::max(usual_duration_, Nanoseconds(1)));
  const std::uint64_t one_of = std::min(std::bit_floor(wanted | 1), kFewest);
  // Scattered, so that a job's own rhythm (large, small, small, ...) cannot hide its large messages.
  return Random(static_cast<std::uint64_t>(epoch)).next() % one_of == 0;
}

void TunedCollective::took(Nanoseconds duration) { usual_duration_ += (duration - usual_duration_) / 8; }

bool TunedCollective::agrees_by_itself() const {
  return collective_ != Collective::kReduce && collective_ != Collective::kBroadcast;
}

}  // namespace react::runtime
