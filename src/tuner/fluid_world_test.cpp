#include "tuner/fluid_world.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "pattern/generators.h"
#include "tuner/oracle.h"
#include "tuner/trace.h"

namespace react::tuner {
namespace {

constexpr double kWorldBytesPerMs = 62'500;  // 500 Mbit/s

Nanoseconds nanoseconds(double ms) { return Nanoseconds{static_cast<std::int64_t>(ms * 1e6)}; }

std::size_t pair_of(const FluidProgram& program, std::size_t edge) {
  const std::int32_t connection = program.edge_connection[edge];
  if (connection < 0) return 0;
  const FluidProgram::Connection& ends = program.connections[static_cast<std::size_t>(connection)];
  return static_cast<std::size_t>(ends.src * program.ranks + ends.dst);
}

}  // namespace

pattern::CheckedPattern checked(pattern::Pattern pattern) {
  auto result = pattern::check(std::move(pattern));
  EXPECT_TRUE(result) << result.error().message;
  return std::move(*result);
}

FluidWorld::FluidWorld(const Parameters& parameters, pattern::CheckedPattern initial, Workload workload,
                       Noise noise, std::uint64_t seed)
    : network(initial.pattern().ranks),
      workload_(workload),
      noise_(noise),
      random_(seed),
      initial_(initial),
      running_(initial),
      controller_(parameters, initial, workload) {
  trace.push_back(header_line({parameters, workload, initial.pattern()}));
  const auto ranks = static_cast<std::size_t>(initial_.pattern().ranks);
  biases_.assign(ranks * ranks, 1);
  if (noise.bias > 0)
    for (double& bias : biases_) bias = std::exp(noise.bias * std::abs(normal()));
}

double FluidWorld::uniform() { return (static_cast<double>(random_.next() >> 11) + 0.5) * 0x1p-53; }

double FluidWorld::normal() {
  return std::sqrt(-2 * std::log(uniform())) * std::cos(2 * std::numbers::pi * uniform());
}

double FluidWorld::time_of(const pattern::CheckedPattern& pattern) const {
  FluidSimulator simulator;
  return simulator.run(compile(pattern.lowered(), workload_), network).time / kWorldBytesPerMs;
}

double FluidWorld::best_time(bool pairs) const {
  return rank_swaps(initial_, workload_, network, {.pairs = pairs, .keep = 1}).front().time /
         kWorldBytesPerMs;
}

int FluidWorld::changes() const {
  int count = 0;
  for (const Report& report : reports) count += report.proposal.has_value() ? 1 : 0;
  return count;
}

EpochRecord FluidWorld::play() {
  FluidSimulator simulator;
  const FluidProgram program = compile(running_.lowered(), workload_);
  const Prediction& prediction = simulator.run(program, network);
  const auto slow = [&] { return uniform() < noise_.outliers ? 2.0 : 1.0; };
  EpochRecord record;
  record.epoch = epoch_;
  record.version = version_;
  const double epoch_factor = slow();
  const double ms = prediction.time / kWorldBytesPerMs * std::exp(noise_.time * normal()) * epoch_factor;
  record.durations.assign(static_cast<std::size_t>(running_.pattern().ranks), nanoseconds(ms));
  std::vector<double> bytes(program.edge_connection.size(), 0);
  for (const FluidProgram::Message& message : program.messages)
    bytes[static_cast<std::size_t>(message.edge)] += message.slice_bytes * program.slices;
  for (std::size_t f = 0; f < bytes.size(); ++f) {
    const double bias = biases_[pair_of(program, f)];
    const double rate = prediction.throughput[f] * bias * kWorldBytesPerMs *
                        std::exp(noise_.flow * normal()) / (slow() * epoch_factor);
    const bool measured = bytes[f] > 0 && uniform() >= lost_flows;
    record.flows.push_back(
        measured ? FlowRecord{{static_cast<std::int64_t>(bytes[f])}, nanoseconds(bytes[f] / rate)}
                 : FlowRecord{});
  }
  return record;
}

void FluidWorld::run(int epochs) {
  for (int i = 0; i < epochs; ++i, ++epoch_) {
    if (!adoption_.empty() && --adoption_[0].epochs_left < 0) {
      running_ = adoption_[0].pattern;
      version_ = adoption_[0].version;
      adoption_.clear();
    }
    const EpochRecord record = play();
    if (uniform() < lost_records) continue;
    trace.push_back(epoch_line(record));
    const auto report = controller_.on_epoch(record);
    if (!report) continue;
    trace.push_back(report_line(*report));
    if (report->proposal) adoption_ = {{*report->proposal, *report->proposed_version, delay_epochs}};
    reports.push_back(*report);
  }
}

}  // namespace react::tuner
