#include "lab/experiment_config.h"

#include <fmt/format.h>

#include <algorithm>

#include "pattern/generators.h"

namespace react::lab {
namespace {

constexpr std::int64_t kMaxEpochs = 1'000'000;
constexpr std::int64_t kMaxSizeBytes = std::int64_t{1} << 32;

Result<void> validate_congestion(const ExperimentConfig& config) {
  const Congestion& congestion = config.congestion;
  if (congestion.flows_per_host < 0)
    return invalid("--external: the number of external flows cannot be negative");
  if (congestion.flows_per_host > 0 && congestion.into.empty() && congestion.out_of.empty()) {
    return invalid("--external needs a place: add --into RANK or --out-of RANK");
  }
  for (const auto& [flag, hosts] :
       {std::pair{"--into", &congestion.into}, {"--out-of", &congestion.out_of}}) {
    for (const int host : *hosts) {
      if (host < 0 || host >= config.cluster.hosts) {
        return invalid(fmt::format("{} {}: there is no such rank; ranks are 0 to {}", flag, host,
                                   config.cluster.hosts - 1));
      }
    }
    if (!hosts->empty() && congestion.flows_per_host == 0) {
      return invalid(fmt::format("{} needs a number of flows: add --external P", flag));
    }
  }
  if (congestion.flows() > kMaxExternalHosts) {
    return invalid(
        fmt::format("{} external flows are too many; at most {}", congestion.flows(), kMaxExternalHosts));
  }
  if (congestion.from < 0 || congestion.from >= config.epochs) {
    return invalid(fmt::format("--from-epoch {}: epochs are 0 to {}", congestion.from, config.epochs - 1));
  }
  if (congestion.until >= 0 && (congestion.until <= congestion.from || congestion.until > config.epochs)) {
    return invalid(
        fmt::format("--until-epoch {}: must lie after --from-epoch {} and not after the last epoch, {}",
                    congestion.until, congestion.from, config.epochs));
  }
  return {};
}

Result<void> validate_failure(const ExperimentConfig& config) {
  if (!config.failure) return {};
  const LinkFailure& failure = *config.failure;
  if (failure.host < 0 || failure.host >= config.cluster.hosts) {
    return invalid(fmt::format("--fail: there is no rank {}; ranks are 0 to {}", failure.host,
                               config.cluster.hosts - 1));
  }
  if (failure.epoch < 0 || failure.epoch >= config.epochs) {
    return invalid(
        fmt::format("--fail: there is no epoch {}; epochs are 0 to {}", failure.epoch, config.epochs - 1));
  }
  if (failure.rate_bits_per_second < kMinRate || failure.rate_bits_per_second > kMaxRate) {
    return invalid("--fail: a link's rate is 1M to 100G bit/s");
  }
  return {};
}

}  // namespace

std::int64_t ExperimentConfig::window_from() const {
  std::int64_t from = disturbed() ? epochs : 0;
  if (congestion.flows() > 0) from = std::min(from, congestion.from);
  if (failure) from = std::min(from, failure->epoch);
  return from;
}

std::int64_t ExperimentConfig::window_until() const {
  return congestion.flows() > 0 && congestion.until >= 0 && !failure ? congestion.until : epochs;
}

Result<void> validate(const ExperimentConfig& config) {
  if (config.cluster.hosts < 2 || config.cluster.hosts > kMaxHosts) {
    return invalid(
        fmt::format("--hosts {}: a collective needs 2 to {} hosts", config.cluster.hosts, kMaxHosts));
  }
  if (config.pattern.ranks != config.cluster.hosts) {
    return invalid(fmt::format("the pattern is for {} ranks, the cluster has {} hosts", config.pattern.ranks,
                               config.cluster.hosts));
  }
  if (config.epochs < 1 || config.epochs > kMaxEpochs) {
    return invalid(fmt::format("--epochs {}: must be 1 to {}", config.epochs, kMaxEpochs));
  }
  if (config.block_epochs < 1) return invalid("--interleave: must be at least 1 epoch");
  if (config.slices < 0 || config.slices > 4096)
    return invalid("--slices: must be 0 (chosen by size) to 4096");
  const std::int64_t least = 4 * config.cluster.hosts;
  if (config.size.count < least || config.size.count > kMaxSizeBytes) {
    return invalid(fmt::format("--size {}: must be {} bytes to 4G", config.size.count, least));
  }
  if (config.cluster.rate_bits_per_second < kMinRate || config.cluster.rate_bits_per_second > kMaxRate) {
    return invalid("--rate: must be 1M to 100G bit/s");
  }
  if (auto fine = validate_congestion(config); !fine) return fine;
  if (const auto& cut = config.control_cut; cut && (cut->host < 0 || cut->host >= config.cluster.hosts ||
                                                    cut->epoch < 0 || cut->epoch >= config.epochs))
    return invalid(fmt::format("--cut-control {}:{}: there is no such rank or epoch", cut->host, cut->epoch));
  return validate_failure(config);
}

std::string describe_disturbance(const ExperimentConfig& config) {
  std::string text;
  const Congestion& congestion = config.congestion;
  for (const auto& [word, hosts] : {std::pair{"into", &congestion.into}, {"out of", &congestion.out_of}}) {
    if (hosts->empty() || congestion.flows_per_host == 0) continue;
    if (!text.empty()) text += ", ";
    text += fmt::format("{} external flow{} {} rank{} {}{}", congestion.flows_per_host,
                        congestion.flows_per_host == 1 ? "" : "s", word, hosts->size() == 1 ? "" : "s",
                        fmt::join(*hosts, ", "), hosts->size() == 1 ? "" : " each");
  }
  if (config.failure) {
    if (!text.empty()) text += "; ";
    text += fmt::format("link of rank {} at {}", config.failure->host,
                        describe_rate(config.failure->rate_bits_per_second));
  }
  return text;
}

std::string describe_rate(std::int64_t bits_per_second) {
  if (bits_per_second % 1'000'000'000 == 0) return fmt::format("{} Gbit/s", bits_per_second / 1'000'000'000);
  return fmt::format("{:g} Mbit/s", static_cast<double>(bits_per_second) / 1e6);
}

std::string describe_size(Bytes size) {
  const auto bytes = static_cast<double>(size.count);
  if (size.count >= 1 << 20) return fmt::format("{:.4g} MiB", bytes / (1 << 20));
  if (size.count >= 1 << 10) return fmt::format("{:.4g} KiB", bytes / (1 << 10));
  return fmt::format("{} bytes", size.count);
}

}  // namespace react::lab
