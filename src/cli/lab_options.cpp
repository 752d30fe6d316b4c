#include "cli/lab_options.h"

#include <fmt/format.h>

#include <charconv>
#include <cstdint>
#include <fstream>
#include <limits>

#include "cli/amounts.h"
#include "pattern/checker.h"
#include "pattern/generators.h"
#include "pattern/json.h"

namespace react::cli {
namespace {

constexpr std::size_t kMaxParametersBytes = 1 << 20;

tl::unexpected<Error> blame(const char* flag, const Error& error) {
  return invalid(std::string(flag) + ": " + error.message);
}

Result<pattern::Pattern> pattern_from(const LabFlags& flags) {
  if (!flags.pattern_file.empty()) {
    auto read = pattern::read_file(flags.pattern_file);
    if (!read) return blame("--pattern", read.error());
    if (auto checked = pattern::check(*read); !checked)
      return invalid(fmt::format("--pattern: {}: {}", flags.pattern_file, checked.error().message));
    return read;
  }
  if (flags.hosts < 2 || flags.hosts > lab::kMaxHosts) {
    return invalid(fmt::format("--hosts {}: a collective needs 2 to {} hosts", flags.hosts, lab::kMaxHosts));
  }
  auto collective = pattern::collective_from_name(flags.collective);
  if (!collective) return tl::unexpected(collective.error());
  return pattern::generate(*collective, flags.algorithm, flags.hosts, flags.root);
}

Result<tuner::Parameters> parameters_from(const LabFlags& flags) {
  tuner::Parameters parameters;
  if (!flags.parameters_file.empty()) {
    std::ifstream file(flags.parameters_file, std::ios::binary);
    if (!file) return invalid("--params: cannot read " + flags.parameters_file);
    std::string text(kMaxParametersBytes + 1, '\0');
    file.read(text.data(), static_cast<std::streamsize>(text.size()));
    text.resize(static_cast<std::size_t>(file.gcount()));
    if (file.bad()) return invalid("--params: cannot read " + flags.parameters_file);
    if (text.size() > kMaxParametersBytes)
      return invalid("--params: " + flags.parameters_file + " is larger than 1 MiB");
    auto read = tuner::parameters_from_toml(text);
    if (!read) return blame("--params", read.error());
    parameters = *read;
  }
  parameters.seed = flags.seed;
  std::vector<std::string> assignments = flags.overrides;
  if (!flags.policy.empty()) assignments.push_back("policy=" + flags.policy);
  for (const std::string& assignment : assignments) {
    auto changed = tuner::with_override(parameters, assignment);
    if (!changed) return blame(assignment.starts_with("policy=") ? "--policy" : "--set", changed.error());
    parameters = *changed;
  }
  return parameters;
}

bool read_number(const std::string& digits, auto& value) {
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  return error == std::errc() && end == digits.data() + digits.size() && !digits.empty();
}

// HOST:RATE:EPOCH
Result<lab::LinkFailure> failure_from(const std::string& text) {
  const auto first = text.find(':'), second = text.find(':', first == std::string::npos ? first : first + 1);
  const auto bad = [&] { return invalid("--fail '" + text + "': write RANK:RATE:EPOCH, as in 5:100M:150"); };
  if (second == std::string::npos) return bad();
  lab::LinkFailure failure;
  const std::string host = text.substr(0, first), epoch = text.substr(second + 1);
  auto rate = parse_rate(text.substr(first + 1, second - first - 1));
  if (!rate || !read_number(host, failure.host) || !read_number(epoch, failure.epoch)) return bad();
  failure.rate_bits_per_second = *rate;
  return failure;
}

Result<lab::ControlCut> control_cut_from(const std::string& text) {
  lab::ControlCut cut;
  const auto colon = text.find(':');
  const std::string rank = text.substr(0, colon),
                    epoch = colon == std::string::npos ? "" : text.substr(colon + 1);
  if (!read_number(rank, cut.host) || !read_number(epoch, cut.epoch))
    return invalid("--cut-control '" + text + "': write RANK:EPOCH, as in 2:20");
  return cut;
}

Result<Nanoseconds> duration_from(const char* flag, double value, double unit_ns, double least, double most) {
  if (!(value >= least && value <= most))
    return invalid(fmt::format("{} {}: must be {} to {}", flag, value, least, most));
  return Nanoseconds(static_cast<std::int64_t>(value * unit_ns));
}

Result<void> fill_amounts(const LabFlags& flags, lab::ExperimentConfig& config) {
  auto size = parse_size(flags.size);
  if (!size) return blame("--size", size.error());
  config.size = *size;
  auto rate = parse_rate(flags.rate);
  if (!rate) return blame("--rate", rate.error());
  config.cluster.rate_bits_per_second = *rate;
  if (!flags.queue.empty()) {
    auto queue = parse_size(flags.queue);
    if (!queue || queue->count < 4096 || queue->count > (1 << 30))
      return invalid("--queue: must be 4K to 1G");
    config.cluster.queue = *queue;
  }
  auto pause = duration_from("--pause-ms", flags.pause_ms, 1e6, 0, 60'000);
  auto timeout = duration_from("--timeout", flags.timeout_s, 1e9, 0.1, 3600);
  auto limit = duration_from("--time-limit", flags.time_limit_s, 1e9, 1, 7 * 86'400);
  for (const auto* each : {&pause, &timeout, &limit}) {
    if (!*each) return tl::unexpected(each->error());
  }
  config.pause = *pause;
  config.timeout = *timeout;
  config.time_limit = *limit;
  return {};
}

}  // namespace

void add_link_flags(CLI::App& command, LabFlags& flags) {
  command.add_option("--rate", flags.rate, "rate of every link, bit/s; K, M, G are powers of 1000")
      ->capture_default_str();
  command.add_option("--queue", flags.queue,
                     "switch queue toward each host, bytes [2.5 ms of the rate, 64K at least]");
  command
      .add_option("--congestion", flags.congestion_control,
                  "congestion control of every connection: cubic, reno, bbr")
      ->capture_default_str();
  command.add_option("--seed", flags.seed, "of the tuner's choices and of paths")
      ->check(CLI::Range(std::int64_t{0}, std::numeric_limits<std::int64_t>::max()))
      ->capture_default_str();
  command.add_option("--time-limit", flags.time_limit_s, "seconds until a run is given up")
      ->capture_default_str();
  command.add_flag("--json", flags.json, "one JSON document on stdout");
}

void add_host_flags(CLI::App& command, LabFlags& flags) {
  command.add_option("--hosts", flags.hosts, "hosts, one rank each")->capture_default_str();
  command.add_option("--topology", flags.topology, "star or leaf-spine (2 ToRs, 2 spines)")
      ->capture_default_str();
  command.add_option("--external", flags.external, "external flows per chosen rank")->capture_default_str();
  command.add_option("--into", flags.into, "ranks that the external flows enter")->delimiter(',');
  command.add_option("--out-of", flags.out_of, "ranks that the external flows leave")->delimiter(',');
}

void add_job_flags(CLI::App& command, LabFlags& flags) {
  command.add_option("--size", flags.size, "message size; K, M, G are powers of 1024")->capture_default_str();
  command.add_option("--epochs", flags.epochs, "epochs of each group")->capture_default_str();
  command.add_option("--policy", flags.policy, "tuner: best, paper or off [best]");
  command.add_option("--set", flags.overrides, "tuner parameter KEY=VALUE; repeatable")
      ->type_name("KEY=VALUE");
  command.add_option("--params", flags.parameters_file, "tuner parameters, TOML");
  command.add_option("--interleave", flags.interleave, "epochs of one group before the other's turn")
      ->capture_default_str();
  command.add_option("--timeout", flags.timeout_s, "seconds until a silent peer ends a collective")
      ->capture_default_str();
  command
      .add_option("--repeat", flags.repeat, "runs; the one with the median ratio is reported, all are listed")
      ->capture_default_str()
      ->check(CLI::Range(1, 1000));
}

void add_run_flags(CLI::App& command, LabFlags& flags) {
  command
      .add_option("--collective", flags.collective, "allreduce, allgather, reduce-scatter, reduce, broadcast")
      ->capture_default_str();
  command.add_option("--algorithm", flags.algorithm, "as in 'react pattern generate'")->capture_default_str();
  command.add_option("--pattern", flags.pattern_file, "a pattern file instead of an algorithm");
  command.add_option("--root", flags.root, "reduce, broadcast: the root")->capture_default_str();
  command
      .add_option("--slices", flags.slices,
                  "pipelining units per chunk graph; 1: store and forward; 0: by size")
      ->capture_default_str();
  command.add_option("--from-epoch", flags.from_epoch, "first epoch with external flows")
      ->capture_default_str();
  command.add_option("--until-epoch", flags.until_epoch, "first epoch without them again [never]");
  command.add_option("--cut-control", flags.cut_control, "a rank's control link goes down before an epoch")
      ->type_name("RANK:EPOCH");
  command.add_option("--fail", flags.fail, "a link's rate drops before an epoch and stays low")
      ->type_name("RANK:RATE:EPOCH");
  command.add_option("--pause-ms", flags.pause_ms, "pause between epochs, as if the job computed")
      ->capture_default_str();
  command.add_flag("--oracle", flags.oracle, "measure also the best single or double swaps (minutes)");
  command.add_flag("--oracle-singles-all", flags.oracle_singles_all,
                   "with --oracle: measure every distinct single swap");
  command.add_option("--trace", flags.trace, "write the tuner's trace here (for 'react replay')");
  command.add_option("--timeline", flags.timeline, "draw epoch times over epochs here (SVG)");
}

Result<lab::ExperimentConfig> experiment_from(const LabFlags& flags) {
  lab::ExperimentConfig config;
  auto pattern = pattern_from(flags);
  if (!pattern) return tl::unexpected(pattern.error());
  config.pattern = std::move(*pattern);
  config.cluster.hosts = flags.pattern_file.empty() ? flags.hosts : config.pattern.ranks;
  auto topology = lab::topology_from_name(flags.topology);
  if (!topology) return blame("--topology", topology.error());
  config.cluster.topology = *topology;
  auto control = lab::available_congestion_control(flags.congestion_control);
  if (!control) return blame("--congestion", control.error());
  config.cluster.congestion_control = *control;
  if (auto filled = fill_amounts(flags, config); !filled) return tl::unexpected(filled.error());
  config.slices = flags.slices;
  config.epochs = flags.epochs;
  config.block_epochs = flags.interleave;
  config.congestion = {flags.external, flags.into, flags.out_of, flags.from_epoch, flags.until_epoch};
  if (!flags.cut_control.empty()) {
    auto cut = control_cut_from(flags.cut_control);
    if (!cut) return tl::unexpected(cut.error());
    config.control_cut = *cut;
  }
  if (!flags.fail.empty()) {
    auto failure = failure_from(flags.fail);
    if (!failure) return tl::unexpected(failure.error());
    config.failure = *failure;
  }
  auto parameters = parameters_from(flags);
  if (!parameters) return tl::unexpected(parameters.error());
  config.parameters = *parameters;
  config.trace_path = flags.trace;
  config.seed = flags.seed;
  if (auto fine = lab::validate(config); !fine) return tl::unexpected(fine.error());
  return config;
}

std::optional<lab::OracleOptions> oracle_from(const LabFlags& flags) {
  if (!flags.oracle && !flags.oracle_singles_all) return std::nullopt;
  lab::OracleOptions options;
  options.all_singles = flags.oracle_singles_all;
  return options;
}

}  // namespace react::cli
