#include "tuner/batch_fit.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace react::tuner {
namespace {

constexpr double kNoWeightBelowBytes = 64
                                       << 10;  // latency, not throughput, decides how long such a flow takes
constexpr double kFullWeightBytes = 256 << 10;
constexpr double kMostForeign = 64;
constexpr double kSmallestSpread = 0.04;
constexpr std::size_t kSuspectsTried = 4;
constexpr LinkNumber kNoLink = -1;
// A link is suspect if its share is below 0.9, at least 70 % of its weight is slower than 0.95, and that is
// no accident.
constexpr double kSuspectLogShare = -0.105;
constexpr double kSlowLogShare = -0.05;
constexpr double kSlowPart = 0.7;
constexpr double kLeastSignificance = 3;
// A link must lower the sum of squared residuals by this many squares of what spread then remains, or it
// explains nothing.
constexpr double kLeastExplained = 9;
constexpr double kSmallResidual = 0.3;
// What a throughput between the quiet prediction and a faster one counts, before and after quiet batches are known.
constexpr double kBetween = 0.5;
constexpr double kBetweenWhenKnown = 0.2;
constexpr double kStarvation = 0.3;  // see the header
constexpr double kDenseReach =
    0.16;  // of ln(throughput): more than noise, less than the smallest congestion that matters

double weight_of(double bytes) {
  return bytes < kNoWeightBelowBytes ? 0 : std::min(1.0, bytes / kFullWeightBytes);
}

// Square of small residuals, growing only linearly beyond (Huber 1964).
double loss(double distance) {
  return distance < kSmallResidual ? distance * distance : kSmallResidual * (2 * distance - kSmallResidual);
}

// The value below which `part` of the weight lies.
double weighted_quantile(std::vector<std::pair<double, double>> values, double part) {
  std::sort(values.begin(), values.end());
  double total = 0;
  for (const auto& [value, weight] : values) total += weight;
  double below = 0;
  for (const auto& [value, weight] : values) {
    below += weight;
    if (below >= part * total) return value;
  }
  return values.empty() ? 0 : values.back().first;
}

// The highest value around which nearly as much weight lies as anywhere.
double densest(const std::vector<std::pair<double, double>>& values) {
  std::vector<std::pair<double, double>> found;  // value, weight around it
  double most = 0;
  for (const auto& [middle, own] : values) {
    double around = 0;
    for (const auto& [value, weight] : values)
      if (std::abs(value - middle) < kDenseReach) around += weight;
    most = std::max(most, around);
    found.emplace_back(middle, around);
  }
  double highest = -1e300;
  for (const auto& [value, around] : found)
    if (around >= 0.8 * most) highest = std::max(highest, value);
  return highest;
}

}  // namespace

double foreign_on(const Network& network, LinkNumber link) {
  const auto ranks = static_cast<LinkNumber>(network.foreign_in.size());
  return link < ranks ? network.foreign_in[static_cast<std::size_t>(link)]
                      : network.foreign_out[static_cast<std::size_t>(link - ranks)];
}

void set_foreign(Network& network, LinkNumber link, double flows) {
  const auto ranks = static_cast<LinkNumber>(network.foreign_in.size());
  (link < ranks ? network.foreign_in[static_cast<std::size_t>(link)]
                : network.foreign_out[static_cast<std::size_t>(link - ranks)]) = flows;
}

BatchFit::BatchFit(const FluidProgram& program, std::span<const RateStatistics> rates,
                   FluidSimulator& simulator, std::span<const double> offsets)
    : program_(program), simulator_(simulator), offsets_(offsets.begin(), offsets.end()) {
  const std::size_t count = program.connections.size();
  weights_.resize(count);
  log_rates_.resize(count);
  residuals_.resize(count);
  of_link_.resize(2 * static_cast<std::size_t>(program.ranks));
  for (std::size_t c = 0; c < count; ++c) {
    if (rates[c].samples == 0) continue;
    weights_[c] = weight_of(program.connections[c].bytes);
    if (weights_[c] == 0) continue;
    log_rates_[c] = std::log(rates[c].typical);
    usable_ = true;
    of_link_[static_cast<std::size_t>(program.connections[c].dst)].push_back(static_cast<std::int32_t>(c));
    of_link_[static_cast<std::size_t>(program.ranks + program.connections[c].src)].push_back(
        static_cast<std::int32_t>(c));
  }
  if (usable_) quiet_ = simulator_.run(program, Network(program.ranks)).connection_throughput;
}

double BatchFit::residual_of(std::size_t connection) const {
  if (weights_[connection] == 0) return 0;
  const double measured = log_rates_[connection] - log_capacity_ - offset(connection);
  const double distance = measured - std::log(predicted_[connection]);
  if (distance >= 0) return distance;
  const double beyond = measured - std::log(least_predicted(connection));
  const double between = offsets_.empty() ? kBetween : kBetweenWhenKnown;
  return std::min(beyond, 0.0) + between * (distance - std::min(beyond, 0.0));
}

double BatchFit::least_predicted(std::size_t connection) const {
  const double predicted = predicted_[connection], quiet = quiet_[connection];
  return predicted <= quiet ? predicted : quiet * std::pow(quiet / predicted, kStarvation);
}

double BatchFit::expected(std::size_t connection) const {
  return std::exp(log_capacity_ + offset(connection)) * least_predicted(connection);
}

void BatchFit::predict(const Network& network) {
  predicted_ = simulator_.run(program_, network).connection_throughput;
  for (std::size_t c = 0; c < predicted_.size(); ++c) residuals_[c] = residual_of(c);
  follow_capacity();
  spread_ = spread_without(kNoLink);
}

std::vector<std::pair<double, double>> BatchFit::weighted_residuals() const {
  std::vector<std::pair<double, double>> values;
  for (std::size_t c = 0; c < residuals_.size(); ++c)
    if (weights_[c] > 0) values.emplace_back(residuals_[c], weights_[c]);
  return values;
}

void BatchFit::follow_capacity() {
  if (rule_ == Capacity::kGiven) return;
  const double shift = rule_ == Capacity::kDensest  ? densest_residual()
                       : rule_ == Capacity::kMedian ? weighted_quantile(weighted_residuals(), 0.5)
                                                    : weighted_quantile(weighted_residuals(), 0.9);
  log_capacity_ += shift;
  for (std::size_t c = 0; c < residuals_.size(); ++c)
    if (weights_[c] > 0) residuals_[c] -= shift;
}

// From the median's distances to the median: a minority that is slowed down does not pass for noise.
double BatchFit::spread_without(LinkNumber link) const {
  std::vector<std::pair<double, double>> values;
  for (std::size_t c = 0; c < residuals_.size(); ++c) {
    const FluidProgram::Connection& ends = program_.connections[c];
    if (weights_[c] > 0 && ends.dst != link && program_.ranks + ends.src != link)
      values.emplace_back(residuals_[c], weights_[c]);
  }
  const double middle = weighted_quantile(values, 0.5);
  for (auto& [value, weight] : values) value = std::abs(value - middle);
  return std::max(kSmallestSpread, 1.4826 * weighted_quantile(values, 0.5));
}

double BatchFit::densest_residual() const {
  const auto values = weighted_residuals();
  double middle = densest(values);
  for (int round = 0; round < 3; ++round) {
    double sum = 0, total = 0;
    for (const auto& [value, weight] : values)
      if (std::abs(value - middle) < kDenseReach) {
        sum += value * weight;
        total += weight;
      }
    if (total > 0) middle = sum / total;
  }
  return middle;
}

// Mean by weight, with what lies far from the median pulled in to it.
double BatchFit::mean_residual(const std::vector<std::int32_t>& connections) const {
  std::vector<std::pair<double, double>> values;
  for (const std::int32_t c : connections)
    values.emplace_back(residuals_[static_cast<std::size_t>(c)], weights_[static_cast<std::size_t>(c)]);
  const double middle = weighted_quantile(values, 0.5);
  double sum = 0, total = 0;
  for (const auto& [value, weight] : values) {
    sum += std::clamp(value, middle - 0.15, middle + 0.15) * weight;
    total += weight;
  }
  return total > 0 ? sum / total : 0;
}

LinkNumber BatchFit::other_end(std::int32_t connection, LinkNumber link) const {
  const FluidProgram::Connection& ends = program_.connections[static_cast<std::size_t>(connection)];
  return link < program_.ranks ? program_.ranks + ends.src : ends.dst;
}

// The link's connections whose other end is free of foreign traffic, if there are such; else all.
std::vector<std::int32_t> BatchFit::informative(const Network& network, LinkNumber link) const {
  const std::vector<std::int32_t>& all = of_link_[static_cast<std::size_t>(link)];
  std::vector<std::int32_t> chosen;
  for (const std::int32_t c : all)
    if (foreign_on(network, other_end(c, link)) == 0) chosen.push_back(c);
  return chosen.empty() ? all : chosen;
}

// One step of the fixed point; true if it moved.
bool BatchFit::adjust(Network& network, LinkNumber link) const {
  const std::vector<std::int32_t> connections = informative(network, link);
  if (connections.empty()) return false;
  double inverse = 0, total = 0;
  for (const std::int32_t c : connections) {
    const auto i = static_cast<std::size_t>(c);
    inverse += weights_[i] / predicted_[i];
    total += weights_[i];
  }
  const double before = foreign_on(network, link);
  const double after =
      std::clamp(before + inverse / total * (std::exp(-mean_residual(connections)) - 1), 0.0, kMostForeign);
  set_foreign(network, link, after);
  return std::abs(after - before) > 0.02 * (1 + before);
}

void BatchFit::refit(Network& network, int iterations) {
  predict(network);
  for (int i = 0; i < iterations; ++i) {
    const Network start = network;
    bool moved = false;
    for (LinkNumber link = 0; link < 2 * program_.ranks; ++link)
      if (foreign_on(start, link) > 0) moved |= adjust(network, link);
    if (!moved) return;
    predict(network);
  }
}

std::optional<BatchFit::Suspect> BatchFit::suspect(const Network& network, LinkNumber link,
                                                   const RememberedPeers& remembered) const {
  const std::vector<std::int32_t>& connections = of_link_[static_cast<std::size_t>(link)];
  if (connections.empty() || foreign_on(network, link) > 0) return std::nullopt;
  double slow = 0, total = 0, squares = 0, deficit = 0;
  std::vector<LinkNumber> peers;
  for (const std::int32_t c : connections) {
    const auto i = static_cast<std::size_t>(c);
    total += weights_[i];
    squares += weights_[i] * weights_[i];
    deficit -= weights_[i] * residuals_[i];
    if (residuals_[i] < kSlowLogShare) slow += weights_[i];
    const LinkNumber peer = other_end(c, link);
    if (std::find(peers.begin(), peers.end(), peer) == peers.end()) peers.push_back(peer);
  }
  // With one peer only, the link into the receiver is supposed to be the cause, until other peers have been
  // seen to be fast there.
  const int needed = link < program_.ranks ? 0 : 1;
  if (peers.size() < 2 && remembered.slow - remembered.fast < needed) return std::nullopt;
  const double share = mean_residual(connections);
  const double significance = -share / (spread_without(link) * std::sqrt(squares) / total);
  if (share > kSuspectLogShare || slow < kSlowPart * total || significance < kLeastSignificance)
    return std::nullopt;
  return Suspect{link, deficit, std::exp(share), significance};
}

double BatchFit::misfit() const {
  double sum = 0;
  for (std::size_t c = 0; c < residuals_.size(); ++c) sum += weights_[c] * loss(std::abs(residuals_[c]));
  return sum;
}

std::optional<LinkFinding> BatchFit::blame_next(Network& network,
                                                std::span<const RememberedPeers> remembered) {
  std::vector<Suspect> suspects;
  for (LinkNumber link = 0; link < 2 * program_.ranks; ++link)
    if (const auto found = suspect(network, link, remembered[static_cast<std::size_t>(link)]))
      suspects.push_back(*found);
  std::stable_sort(suspects.begin(), suspects.end(),
                   [](const Suspect& a, const Suspect& b) { return a.deficit > b.deficit; });
  if (suspects.size() > kSuspectsTried) suspects.resize(kSuspectsTried);

  const double misfit_before = misfit();
  double least = misfit_before;
  std::optional<Suspect> culprit;
  std::optional<Network> explained;
  for (const Suspect& candidate : suspects) {
    Network trial = network;
    for (int i = 0; i < 4; ++i) {
      const bool moved = adjust(trial, candidate.link);
      predict(trial);
      if (!moved) break;
    }
    const double misfit_now = misfit();
    const bool explains = misfit_before - misfit_now > kLeastExplained * spread_ * spread_;
    if (explains && misfit_now < least) {
      least = misfit_now;
      culprit = candidate;
      explained = std::move(trial);
    }
    predict(network);
  }
  if (!culprit) return std::nullopt;
  network = std::move(*explained);
  refit(network, 2);
  return LinkFinding{culprit->link, culprit->share, culprit->significance};
}

BatchFit::Evidence BatchFit::evidence(const Network& network, LinkNumber link) {
  predict(network);
  const std::vector<double> with = predicted_;
  const double misfit_with = misfit(), spread_with = spread_;
  Network without = network;
  set_foreign(without, link, 0);
  predict(without);
  const auto& connections = of_link_[static_cast<std::size_t>(link)];
  const bool sensitive = std::any_of(connections.begin(), connections.end(), [&](std::int32_t c) {
    const auto i = static_cast<std::size_t>(c);
    return std::abs(std::log(with[i] / predicted_[i])) > 0.05;
  });
  if (!sensitive) return Evidence::kNone;
  return misfit() - misfit_with > kLeastExplained * spread_with * spread_with ? Evidence::kFor
                                                                              : Evidence::kAgainst;
}

}  // namespace react::tuner
