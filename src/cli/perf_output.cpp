#include "cli/perf_output.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "cli/output.h"
#include "pattern/generators.h"

namespace react::cli {
namespace {

using nlohmann::ordered_json;

std::string op_name(const perf::Case& what) {
  return what.op ? std::string(runtime::name_of(*what.op)) : "none";
}

int printed_root(const perf::Job& job) { return perf::has_root(job.collective) ? job.root : -1; }

std::string or_else(const std::string& text, const char* otherwise) {
  return text.empty() ? otherwise : text;
}

std::string algorithm_name(const PerfPlan& plan) {
  return plan.pattern ? plan.pattern->pattern().algorithm : "by size";
}

std::string steps(const perf::SizeRange& range) {
  return range.factor > 1 ? fmt::format("{}(factor)", range.factor)
                          : fmt::format("{}(bytes)", range.step.count);
}

void print_head(const PerfPlan& plan) {
  const perf::Job& job = plan.job;
  print("# react perf {}: {}, algorithm {}, {} ranks\n", REACT_VERSION, pattern::name_of(job.collective),
        algorithm_name(plan), plan.group.ranks);
  print("# transport: {} policy: {} slices: {} congestion control: {}\n", plan.group.transport,
        tuner::name_of(plan.group.parameters.policy),
        plan.group.slices == 0 ? "by size" : std::to_string(plan.group.slices),
        or_else(plan.group.congestion_control, "the fastest"));
  print("# minBytes {} maxBytes {} step: {} warmup iters: {} iters: {} validation: {}\n#\n",
        plan.range.least.count, plan.range.most.count, steps(plan.range), job.warmup_iterations,
        job.iterations, job.check ? 1 : 0);
  print("# {:>64}  {:^36}   {:>22}\n", "", "out-of-place", "in-place");
  const std::string figures = fmt::format("  {:>9} {:>8} {:>8} {:>8}", "time", "algbw", "busbw", "#wrong");
  print("# {:>12} {:>14} {:>12} {:>8} {:>8}   {}  {}\n", "size", "count", "type", "redop", "root", figures,
        figures);
  const std::string units = fmt::format("  {:>9} {:>8} {:>8} {:>8}", "(us)", "(GB/s)", "(GB/s)", "");
  print("# {:>12} {:>14} {:>12} {:>8} {:>8}   {}  {}\n", "(B)", "(elements)", "", "", "", units,
        units.substr(0, units.find_last_not_of(' ') + 1));
}

std::string mebibytes(Bytes size) {
  return fmt::format("{:.1f} MiB", static_cast<double>(size.count) / (1 << 20));
}

std::string figures(const perf::Timing& timing) {
  const int digits = timing.time_us >= 10'000 ? 0 : timing.time_us >= 1'000 ? 1 : 2;
  return fmt::format("  {:>9.{}f} {:>8.3f} {:>8.3f} {:>8}", timing.time_us, digits, timing.algbw_gbytes_per_s,
                     timing.busbw_gbytes_per_s, timing.wrong ? std::to_string(*timing.wrong) : "N/A");
}

ordered_json to_json(const perf::Timing& timing) {
  return {{"time_us", timing.time_us},
          {"algbw_gbytes_per_s", timing.algbw_gbytes_per_s},
          {"busbw_gbytes_per_s", timing.busbw_gbytes_per_s},
          {"wrong", timing.wrong ? ordered_json(*timing.wrong) : ordered_json(nullptr)}};
}

ordered_json to_json(const perf::Row& row, const PerfPlan& plan) {
  return {{"size_bytes", row.size.count},
          {"count", row.count},
          {"type", runtime::name_of(row.what.type)},
          {"op", op_name(row.what)},
          {"root", printed_root(plan.job)},
          {"out_of_place", to_json(row.out_of_place)},
          {"in_place", to_json(row.in_place)},
          {"pattern_version", plan.pattern ? ordered_json(row.pattern_version) : ordered_json(nullptr)}};
}

ordered_json to_json(const PerfPlan& plan, const std::vector<perf::Row>& rows, const perf::Totals& totals) {
  ordered_json json;
  json["version"] = REACT_VERSION;
  json["collective"] = pattern::name_of(plan.job.collective);
  json["algorithm"] = algorithm_name(plan);
  json["ranks"] = plan.group.ranks;
  json["policy"] = tuner::name_of(plan.group.parameters.policy);
  json["slices"] = plan.group.slices;
  json["transport"] = plan.group.transport;
  json["iterations"] = plan.job.iterations;
  json["warmup_iterations"] = plan.job.warmup_iterations;
  json["check"] = plan.job.check;
  json["rows"] = ordered_json::array();
  for (const perf::Row& row : rows) json["rows"].push_back(to_json(row, plan));
  json["wrong"] = totals.wrong;
  json["average_busbw_gbytes_per_s"] = totals.average_busbw_gbytes_per_s;
  json["ok"] = totals.wrong == 0;
  return json;
}

}  // namespace

Result<void> PerfOutput::begin() const {
  if (plan_.json) return {};
  print_head(plan_);
  return finish_output();
}

Result<void> PerfOutput::add(const perf::Row& row) {
  rows_.push_back(row);
  if (plan_.json) return {};
  print("  {:>12} {:>14} {:>12} {:>8} {:>8}   {}  {}\n", row.size.count, row.count,
        runtime::name_of(row.what.type), op_name(row.what), printed_root(plan_.job),
        figures(row.out_of_place), figures(row.in_place));
  return finish_output();
}

Result<void> PerfOutput::finish(const perf::Totals& totals, const runtime::ProcessGroup& group) const {
  const std::string congestion_control = group.congestion_control();
  const runtime::MemoryUse memory = group.memory();
  if (plan_.json) {
    ordered_json json = to_json(plan_, rows_, totals);
    json["congestion_control"] = congestion_control;
    json["memory_bytes"] = {{"slices", memory.slices.count},
                            {"copies", memory.copies.count},
                            {"transport", memory.transport.count}};
    print("{}\n", json.dump(2));
  } else {
    if (!congestion_control.empty()) print("# Congestion control   : {}\n", congestion_control);
    print("# Memory of rank 0     : slices {}, copies {}, buffers of the transport {} (as touched)\n",
          mebibytes(memory.slices), mebibytes(memory.copies), mebibytes(memory.transport));
    print("# Out of bounds values : {} {}\n", totals.wrong, totals.wrong == 0 ? "OK" : "FAILED");
    print("# Avg bus bandwidth    : {:.3f}\n#\n", totals.average_busbw_gbytes_per_s);
  }
  return finish_output();
}

}  // namespace react::cli
