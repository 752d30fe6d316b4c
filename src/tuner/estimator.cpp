#include "tuner/estimator.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

namespace react::tuner {
namespace {

using pattern::Rank;

constexpr double kLeastForeign = 0.2;  // less is noise
constexpr double kFreePath = 0.9;      // a path factor above is none
constexpr double kDecay = 0.9;         // per batch, of what the present pattern cannot measure
constexpr double kSlowShare = 0.9;
constexpr double kSlowPart = 0.7;
constexpr double kSureSignificance = 6;
constexpr double kStrongShare = 0.85;
constexpr double kLeastPathSignificance = 3;
constexpr std::int32_t kBatchesToKnow = 2;      // quiet batches until a profile counts
constexpr std::int32_t kBatchesToAverage = 20;  // then the oldest fade
constexpr std::size_t kMostProfiles = 16;
constexpr double kCauseCost = 0.06;  // in squared residuals: about nine times the square of a usual error

bool before(const auto& a, const auto& b) { return std::pair(a.src, a.dst) < std::pair(b.src, b.dst); }

struct Explanation {
  double cost, capacity;
  Network network;
  std::vector<Cause> causes;
};

// Connections of one ordered pair of ranks, whatever their lane.
struct PairView {
  Rank src, dst;
  std::vector<std::size_t> connections;
};

std::vector<PairView> measured_pairs(const FluidProgram& program, const BatchFit& fit) {
  std::vector<PairView> pairs;
  for (std::size_t c = 0; c < program.connections.size(); ++c) {
    if (fit.weight(c) == 0) continue;
    PairView key{program.connections[c].src, program.connections[c].dst, {}};
    auto at = std::lower_bound(pairs.begin(), pairs.end(), key, before<PairView, PairView>);
    if (at == pairs.end() || before(key, *at)) at = pairs.insert(at, std::move(key));
    at->connections.push_back(c);
  }
  return pairs;
}

double mean_residual(const PairView& pair, const BatchFit& fit) {
  double sum = 0;
  for (const std::size_t c : pair.connections) sum += fit.residual(c);
  return sum / static_cast<double>(pair.connections.size());
}

bool touches(const Cause& cause, const FluidProgram::Connection& connection) {
  switch (cause.kind) {
    case Cause::Kind::kIngress:
      return connection.dst == cause.rank;
    case Cause::Kind::kEgress:
      return connection.src == cause.rank;
    case Cause::Kind::kPath:
      return connection.src == cause.rank && connection.dst == cause.peer;
  }
  return false;
}

}  // namespace

Estimator::Estimator(Rank ranks, const Thresholds& thresholds, std::int32_t memory_batches)
    : thresholds_(thresholds), memory_batches_(memory_batches), network_(ranks) {}

void Estimator::observe(std::uint64_t pattern, const FluidProgram& program,
                        std::span<const RateStatistics> rates, FluidSimulator& simulator) {
  for (Pair& pair : pairs_) ++pair.age;
  std::erase_if(pairs_, [&](const Pair& pair) { return pair.age > memory_batches_; });
  const std::span<const double> offsets = profile_of(pattern);
  BatchFit fit(program, rates, simulator, offsets);
  judged_ = fit.usable();
  quiet_rates_.assign(program.connections.size(), 0);
  if (!judged_) return;

  // Paths that are measured now are found anew; the others are believed a little less each batch.
  drop_paths_in_use(program, fit);
  for (SlowPath& path : network_.slow_paths) path.factor = std::pow(path.factor, kDecay);
  std::erase_if(network_.slow_paths, [](const SlowPath& path) { return path.factor > kFreePath; });
  ++observed_batches_;
  if (settled()) {
    fit.set_capacity(capacity_);
    find_links(fit, program);
  } else {
    find_links_and_capacity(fit, program);
    fit.set_capacity(capacity_);
  }
  find_paths(fit, program, rates);
  learn_capacity(fit);
  if (!settled()) find_paths(fit, program, rates);
  prune(fit);
  describe(fit, program);
  remember_pairs(program, fit);
  // describe() has just predicted the quiet network.
  observed_ = {pattern, 1, {}};
  for (std::size_t c = 0; c < program.connections.size(); ++c)
    observed_.offsets.push_back(fit.residual(c) + (offsets.empty() ? 0 : offsets[c]));
}

std::span<const double> Estimator::profile_of(std::uint64_t pattern) const {
  for (const Profile& profile : profiles_)
    if (profile.pattern == pattern && profile.batches >= kBatchesToKnow) return profile.offsets;
  return {};
}

void Estimator::learn_profile() {
  if (!judged_ || observed_batches_ < 2) return;
  const auto at = std::find_if(profiles_.begin(), profiles_.end(),
                               [&](const Profile& profile) { return profile.pattern == observed_.pattern; });
  if (at == profiles_.end()) {
    if (profiles_.size() == kMostProfiles) profiles_.erase(profiles_.begin());
    profiles_.push_back(observed_);
    return;
  }
  at->batches = std::min(at->batches + 1, kBatchesToAverage);
  for (std::size_t c = 0; c < at->offsets.size(); ++c)
    at->offsets[c] += (observed_.offsets[c] - at->offsets[c]) / at->batches;
}

// At first as measured; then slowly: up when connections are faster than predicted, hardly at all when all
// are slow at once.
void Estimator::learn_capacity(BatchFit& fit) {
  fit.predict(network_);
  const double ratio = fit.capacity_from_residuals() / capacity_;
  const double step = observed_batches_ <= 1 ? 1
                      : !settled()           ? 0.5
                      : ratio >= 1           ? 0.3
                      : ratio > 0.9          ? 0.2
                                             : 0.02;
  capacity_ *= std::pow(ratio, step);
  fit.set_capacity(capacity_);
}

void Estimator::drop_paths_in_use(const FluidProgram& program, const BatchFit& fit) {
  for (const PairView& pair : measured_pairs(program, fit)) network_.set_path_factor(pair.src, pair.dst, 1);
}

void Estimator::find_links(BatchFit& fit, const FluidProgram& program) {
  fit.refit(network_, 6);
  const std::vector<RememberedPeers> peers = remembered(program);
  for (Rank found = 0; found < program.ranks; ++found) {
    const auto finding = fit.blame_next(network_, peers);
    if (!finding) return;
    add_link_cause(*finding);
  }
}

// While the capacity is not well known: by each rule for it, and the simplest good explanation is taken.
void Estimator::find_links_and_capacity(BatchFit& fit, const FluidProgram& program) {
  const Network network = network_;
  const std::vector<Cause> causes = causes_;
  std::optional<Explanation> best;
  using Rule = BatchFit::Capacity;
  for (const Rule rule : {Rule::kDensest, Rule::kMedian, Rule::kFastest, Rule::kGiven}) {
    if (rule == Rule::kGiven && capacity_ == 0) continue;
    network_ = network;
    causes_ = causes;
    if (rule == Rule::kGiven) {
      fit.set_capacity(capacity_);
    } else {
      fit.let_capacity_follow(rule);
    }
    find_links(fit, program);
    fit.let_capacity_follow(Rule::kDensest);
    fit.predict(network_);
    const double cost = fit.misfit() + kCauseCost * static_cast<double>(causes_.size());
    if (!best || cost < best->cost) best = Explanation{cost, fit.capacity(), network_, causes_};
  }
  capacity_ = best->capacity;
  network_ = std::move(best->network);
  causes_ = std::move(best->causes);
}

void Estimator::add_link_cause(const LinkFinding& finding) {
  const auto ranks = static_cast<LinkNumber>(network_.foreign_in.size());
  const bool ingress = finding.link < ranks;
  const Cause::Kind kind = ingress ? Cause::Kind::kIngress : Cause::Kind::kEgress;
  const Rank rank = ingress ? finding.link : finding.link - ranks;
  if (known(kind, rank, -1) != nullptr) return;
  Cause cause;
  cause.kind = kind;
  cause.rank = rank;
  cause.significance = finding.significance;
  cause.batches = 0;
  causes_.push_back(cause);
}

void Estimator::find_paths(BatchFit& fit, const FluidProgram& program,
                           std::span<const RateStatistics> rates) {
  drop_paths_in_use(program, fit);
  fit.predict(network_);
  std::vector<double> expected(rates.size());
  for (std::size_t c = 0; c < rates.size(); ++c) expected[c] = fit.weight(c) > 0 ? fit.expected(c) : 0;
  const Thresholds thresholds{thresholds_.steady, sporadic_threshold_of(rates, thresholds_.sporadic)};
  const auto congestion = detect(rates, expected, thresholds);
  for (const PairView& pair : measured_pairs(program, fit)) {
    const double residual = mean_residual(pair, fit);
    const bool steady = std::all_of(pair.connections.begin(), pair.connections.end(),
                                    [&](std::size_t c) { return congestion[c] == Congestion::kSteady; });
    const bool sporadic = std::any_of(pair.connections.begin(), pair.connections.end(), [&](std::size_t c) {
      const double low = expected[c] * (1 - thresholds_.steady / 2);
      return congestion[c] == Congestion::kSporadic && rates[c].mean < low && rates[c].typical < low;
    });
    if ((!steady && !sporadic) || -residual < kLeastPathSignificance * fit.spread()) continue;
    double factor = 1;
    for (const std::size_t c : pair.connections) factor = std::min(factor, rates[c].mean / fit.capacity());
    if (factor > kFreePath) continue;
    network_.set_path_factor(pair.src, pair.dst, std::max(factor, 0.01));
    Cause* cause = known(Cause::Kind::kPath, pair.src, pair.dst);
    if (cause == nullptr) {
      cause = &causes_.emplace_back();
      cause->kind = Cause::Kind::kPath;
      cause->rank = pair.src;
      cause->peer = pair.dst;
      cause->significance = -residual / fit.spread();
      cause->batches = 0;
    }
    cause->steady = steady;
  }
}

// Traces of foreign traffic are dropped; what the present pattern cannot measure is believed a little less
// each batch.
void Estimator::prune(BatchFit& fit) {
  const auto links = static_cast<LinkNumber>(2 * network_.foreign_in.size());
  for (LinkNumber link = 0; link < links; ++link) {
    const double flows = foreign_on(network_, link);
    if (flows == 0) continue;
    const BatchFit::Evidence evidence = fit.evidence(network_, link);
    double kept = flows;
    if (evidence == BatchFit::Evidence::kNone) kept = flows * kDecay;
    if (evidence == BatchFit::Evidence::kAgainst || kept < kLeastForeign) kept = 0;
    set_foreign(network_, link, kept);
  }
}

// Brings the list of causes in line with the network and says how much each costs the connections that it
// touches.
void Estimator::describe(BatchFit& fit, const FluidProgram& program) {
  fit.predict(Network(program.ranks));
  for (std::size_t c = 0; c < quiet_rates_.size(); ++c)
    quiet_rates_[c] = fit.weight(c) > 0 ? fit.expected(c) : 0;
  for (Cause& cause : causes_) {
    const auto rank = static_cast<std::size_t>(cause.rank);
    if (cause.kind == Cause::Kind::kIngress) cause.foreign = network_.foreign_in[rank];
    if (cause.kind == Cause::Kind::kEgress) cause.foreign = network_.foreign_out[rank];
    if (cause.kind == Cause::Kind::kPath) cause.factor = network_.path_factor(cause.rank, cause.peer);
    ++cause.batches;
    cause.connections = cause.slow_connections = 0;
    double sum = 0;
    for (std::size_t c = 0; c < program.connections.size(); ++c) {
      if (fit.weight(c) == 0 || !touches(cause, program.connections[c])) continue;
      ++cause.connections;
      sum += fit.residual(c);
      if (fit.residual(c) < std::log(kSlowShare)) ++cause.slow_connections;
    }
    cause.share = cause.connections == 0 ? 1 : std::exp(sum / cause.connections);
  }
  drop_invisible();
  std::erase_if(causes_, [](const Cause& cause) {
    return cause.kind == Cause::Kind::kPath ? cause.factor >= 1 : cause.foreign == 0;
  });
  std::stable_sort(causes_.begin(), causes_.end(),
                   [](const Cause& a, const Cause& b) { return a.share < b.share; });
}

// A new cause that does not show against the quiet network only makes up for an error of the model elsewhere.
void Estimator::drop_invisible() {
  for (Cause& cause : causes_) {
    if (cause.kind == Cause::Kind::kPath || cause.batches > 1) continue;
    if (cause.share <= kSlowShare && cause.slow_connections >= kSlowPart * cause.connections) continue;
    cause.foreign = 0;
    auto& links = cause.kind == Cause::Kind::kIngress ? network_.foreign_in : network_.foreign_out;
    links[static_cast<std::size_t>(cause.rank)] = 0;
  }
}

Network Estimator::believed() const {
  Network network = network_;
  for (const Cause& cause : causes_)
    if (cause.kind == Cause::Kind::kPath && cause.batches < 2 && !strong(cause))
      network.set_path_factor(cause.rank, cause.peer, 1);
  return network;
}

// Residuals are against the quiet network here: describe() has just predicted it.
void Estimator::remember_pairs(const FluidProgram& program, const BatchFit& fit) {
  for (const PairView& pair : measured_pairs(program, fit)) {
    const Pair entry{pair.src, pair.dst, std::exp(mean_residual(pair, fit)), 0};
    const auto at = std::lower_bound(pairs_.begin(), pairs_.end(), entry, before<Pair, Pair>);
    if (at != pairs_.end() && !before(entry, *at)) {
      *at = entry;
    } else {
      pairs_.insert(at, entry);
    }
  }
}

std::vector<RememberedPeers> Estimator::remembered(const FluidProgram& program) const {
  std::vector<std::pair<Rank, Rank>> present;
  for (const FluidProgram::Connection& connection : program.connections)
    present.emplace_back(connection.src, connection.dst);
  std::sort(present.begin(), present.end());
  std::vector<RememberedPeers> peers(2 * static_cast<std::size_t>(program.ranks));
  for (const Pair& pair : pairs_) {
    if (std::binary_search(present.begin(), present.end(), std::pair(pair.src, pair.dst))) continue;
    for (const LinkNumber link : {pair.dst, program.ranks + pair.src}) {
      RememberedPeers& at = peers[static_cast<std::size_t>(link)];
      ++(pair.share < kSlowShare ? at.slow : at.fast);
    }
  }
  return peers;
}

Cause* Estimator::known(Cause::Kind kind, Rank rank, Rank peer) {
  const auto at = std::find_if(causes_.begin(), causes_.end(), [&](const Cause& cause) {
    return cause.kind == kind && cause.rank == rank && cause.peer == peer;
  });
  return at == causes_.end() ? nullptr : &*at;
}

bool strong(const Cause& cause) {
  return cause.steady && cause.significance >= kSureSignificance && cause.share <= kStrongShare;
}

std::string describe(const Cause& cause) {
  const std::string measured = cause.connections == 0
                                   ? std::string("not measured now")
                                   : fmt::format("{} of {} flows slow, at {:.2f} of what is expected",
                                                 cause.slow_connections, cause.connections, cause.share);
  if (cause.kind == Cause::Kind::kPath)
    return fmt::format("path {} -> {}: {}, {:.2f} of a link left ({})", cause.rank, cause.peer,
                       cause.steady ? "steady" : "sporadic", cause.factor, measured);
  return fmt::format("rank {}: steady, {} shared with about {:.1f} foreign flows ({})", cause.rank,
                     cause.kind == Cause::Kind::kIngress ? "ingress" : "egress", cause.foreign, measured);
}

}  // namespace react::tuner
