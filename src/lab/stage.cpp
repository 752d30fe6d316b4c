#include "lab/stage.h"

#include <algorithm>
#include <chrono>

#include "runtime/clock.h"

namespace react::lab {
namespace {

// A new flow has its share of the link within the first second; the ranks then meet it in full.
constexpr int kCongestionSettlesMs = 800;
constexpr int kQueuesDrainMs = 200;
constexpr Nanoseconds kStartUp = std::chrono::seconds(30);

}  // namespace

Result<Stage> Stage::build(const ExperimentConfig& config, const InterruptScope& interrupt) {
  Stage stage(config, interrupt);
  ClusterConfig cluster = config.cluster;
  cluster.external_hosts = config.congestion.flows();
  cluster.path_seed = static_cast<std::uint32_t>(config.seed);
  auto built = Cluster::create(cluster);
  if (!built) return tl::unexpected(built.error());
  stage.cluster_ = std::move(*built);
  if (interrupt.interrupted()) return tl::unexpected(InterruptScope::error());
  return stage;
}

Result<void> Stage::run(WorkerConfig worker, std::vector<Event> events, const LineHandler& on_line) {
  std::stable_sort(events.begin(), events.end(),
                   [](const Event& a, const Event& b) { return a.epoch < b.epoch; });
  worker.gates.clear();
  for (const Event& event : events) {
    if (worker.gates.empty() || worker.gates.back() != event.epoch) worker.gates.push_back(event.epoch);
  }
  worker.timeout = config_->timeout;
  worker.pause = config_->pause;
  auto ranks = RankProcesses::start(cluster_, config_->executable, worker);
  if (!ranks) return tl::unexpected(ranks.error());

  int waiting = 0;
  const auto handle = [&](int rank, const WorkerLine& line) -> Result<void> {
    const auto* gate = std::get_if<GateLine>(&line);
    if (gate == nullptr) return on_line(rank, line);
    if (++waiting < worker.pattern.ranks) return {};
    waiting = 0;
    for (const Event& event : events) {
      if (event.epoch != gate->epoch) continue;
      if (auto done = event.action(); !done) return done;
    }
    return ranks->open_gate();
  };
  const Nanoseconds silence = kStartUp + config_->timeout + config_->pause;
  return ranks->listen(*interrupt_, {silence, runtime::steady_now() + config_->time_limit}, handle);
}

Result<void> Stage::start_congestion() {
  if (config_->congestion.flows() == 0 || traffic_.running()) return {};
  std::vector<ExternalFlow> flows;
  for (const bool into : {true, false}) {
    for (const int host : into ? config_->congestion.into : config_->congestion.out_of) {
      for (int i = 0; i < config_->congestion.flows_per_host; ++i) {
        flows.push_back({host, into, static_cast<int>(flows.size())});
      }
    }
  }
  auto traffic = ExternalTraffic::start(cluster_, flows);
  if (!traffic) return tl::unexpected(traffic.error());
  traffic_ = std::move(*traffic);
  auto settled = interrupt_->sleep_ms(kCongestionSettlesMs);
  traffic_start_ = runtime::steady_now();
  traffic_start_bytes_ = traffic_.delivered();
  return settled;
}

Result<void> Stage::stop_congestion() {
  if (!traffic_.running()) return {};
  last_mbps_ = measure_external();
  traffic_.stop();
  return interrupt_->sleep_ms(kQueuesDrainMs);
}

Result<void> Stage::degrade_link() {
  if (!config_->failure) return {};
  return cluster_.set_rate(config_->failure->host, config_->failure->rate_bits_per_second);
}

Result<void> Stage::cut_control_link() {
  if (!config_->control_cut) return {};
  return cluster_.set_control_link(config_->control_cut->host, false);
}

std::vector<double> Stage::external_mbps() const {
  return traffic_.running() ? measure_external() : last_mbps_;
}

std::vector<double> Stage::measure_external() const {
  std::vector<double> all;
  const std::vector<Bytes> delivered = traffic_.delivered();
  for (std::size_t i = 0; i < delivered.size(); ++i) {
    all.push_back(8e-6 * bytes_per_second(delivered[i] - traffic_start_bytes_[i],
                                          runtime::steady_now() - traffic_start_));
  }
  return all;
}

}  // namespace react::lab
