#include <fmt/format.h>

#include <iterator>
#include <nlohmann/json.hpp>

#include "pattern/json.h"
#include "tuner/outcome.h"
#include "tuner/parameter_fields.h"
#include "tuner/trace.h"

namespace react::tuner {
namespace {

using OrderedJson = nlohmann::ordered_json;

// One line, whatever the strings hold: text that is not UTF-8 is replaced, doubles are written shortest such
// that they read back exactly.
std::string line_of(const OrderedJson& json) {
  return json.dump(-1, ' ', false, OrderedJson::error_handler_t::replace);
}

OrderedJson json_of(const Parameters& parameters) {
  OrderedJson json;
  json["policy"] = name_of(parameters.policy);
  for (const IntegerField& field : kIntegerFields) json[field.name] = parameters.*field.member;
  for (const RealField& field : kRealFields) json[field.name] = parameters.*field.member;
  json["deterministic"] = parameters.deterministic;
  json["seed"] = parameters.seed;
  return json;
}

OrderedJson json_of(const Workload& workload) {
  return {{"size_bytes", workload.size.count}, {"slices", workload.slices}, {"lanes", workload.lanes}};
}

OrderedJson json_of(const pattern::Swap& swap) {
  return {{"kind", static_cast<int>(swap.kind)},
          {"chunk_graph", swap.chunk_graph},
          {"a", {swap.a.step, swap.a.rank}},
          {"b", {swap.b.step, swap.b.rank}}};
}

}  // namespace

std::string header_line(const TraceHeader& header) {
  OrderedJson json;
  json["schema"] = "react.trace/1";
  json["parameters"] = json_of(header.parameters);
  json["workload"] = json_of(header.workload);
  json["pattern"] = OrderedJson::parse(pattern::to_json(header.initial));
  return line_of(json);
}

std::string epoch_line(const EpochRecord& record) {
  std::string line =
      fmt::format(R"({{"epoch":{},"version":{},"durations_ns":[)", record.epoch, record.version);
  for (std::size_t r = 0; r < record.durations.size(); ++r)
    fmt::format_to(std::back_inserter(line), "{}{}", r == 0 ? "" : ",", record.durations[r].count());
  line += R"(],"flows":[)";
  for (std::size_t f = 0; f < record.flows.size(); ++f)
    fmt::format_to(std::back_inserter(line), "{}[{},{}]", f == 0 ? "" : ",", record.flows[f].size.count,
                   record.flows[f].active.count());
  return line + "]}";
}

std::string report_line(const Report& report) {
  OrderedJson json;
  json["report"] = report.epoch;
  json["outcome"] = name_of(report.outcome);
  json["reason"] = report.reason;
  json["mean_time_ns"] = report.mean_time.count();
  json["congested_flows"] = report.congested_flows;
  json["swaps"] = OrderedJson::array();
  for (const pattern::Swap& swap : report.swaps) json["swaps"].push_back(json_of(swap));
  json["estimated_gain"] = report.estimated_gain;
  if (report.proposed_version) json["proposed_version"] = *report.proposed_version;
  if (report.proposal) json["proposal"] = OrderedJson::parse(pattern::to_json(report.proposal->pattern()));
  return line_of(json);
}

std::string workload_line(const Workload& workload) { return line_of({{"workload", json_of(workload)}}); }

}  // namespace react::tuner
