#include <fmt/format.h>

#include <limits>
#include <nlohmann/json.hpp>

#include "pattern/json.h"
#include "tuner/parameter_fields.h"
#include "tuner/trace.h"

namespace react::tuner {
namespace {

using Json = nlohmann::json;

constexpr int kMaxDepth = 16;
constexpr std::int64_t kMaxInteger = std::numeric_limits<std::int64_t>::max();

// Brackets nest no deeper than any line of ours; checked before parsing so that no hostile line costs memory.
bool too_deep(std::string_view line) {
  int depth = 0;
  bool in_string = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (in_string) {
      if (c == '\\') ++i;
      if (c == '"') in_string = false;
    } else if (c == '"') {
      in_string = true;
    } else if (c == '[' || c == '{') {
      if (++depth > kMaxDepth) return true;
    } else if (c == ']' || c == '}') {
      --depth;
    }
  }
  return false;
}

Result<Json> parse_object(std::string_view line) {
  if (line.size() > kMaxTraceLineBytes)
    return invalid(fmt::format("longer than {} bytes", kMaxTraceLineBytes));
  if (too_deep(line)) return invalid(fmt::format("brackets nest deeper than {}", kMaxDepth));
  Json json = Json::parse(line, nullptr, false);
  if (json.is_discarded()) return invalid("not JSON");
  if (!json.is_object()) return invalid("not a JSON object");
  return json;
}

bool fits(const Json& value, std::int64_t least, std::int64_t most) {
  if (!value.is_number_integer()) return false;
  if (value.is_number_unsigned() && value.get<std::uint64_t>() > static_cast<std::uint64_t>(kMaxInteger))
    return false;
  const auto number = value.get<std::int64_t>();
  return number >= least && number <= most;
}

Result<std::int64_t> integer(const Json& object, const char* key, std::int64_t least, std::int64_t most) {
  const auto at = object.find(key);
  if (at == object.end()) return invalid(fmt::format("\"{}\" is missing", key));
  if (!fits(*at, least, most))
    return invalid(fmt::format("\"{}\" must be an integer in [{}, {}]", key, least, most));
  return at->get<std::int64_t>();
}

Result<Workload> workload_of(const Json& json) {
  if (!json.is_object()) return invalid("\"workload\" must be an object");
  const auto size = integer(json, "size_bytes", 0, std::int64_t{1} << 50);
  if (!size) return tl::unexpected(size.error());
  const auto slices = integer(json, "slices", 1, 1 << 20);
  if (!slices) return tl::unexpected(slices.error());
  const auto lanes = integer(json, "lanes", 0, pattern::kMaxChunkGraphs);
  if (!lanes) return tl::unexpected(lanes.error());
  return Workload{{*size}, static_cast<std::int32_t>(*slices), static_cast<std::int32_t>(*lanes)};
}

Result<Parameters> parameters_of(const Json& json) {
  if (!json.is_object()) return invalid("\"parameters\" must be an object");
  Parameters parameters;
  for (const IntegerField& field : kIntegerFields) {
    const auto value = integer(json, field.name, field.least, field.most);
    if (!value) return tl::unexpected(value.error());
    parameters.*field.member = static_cast<std::int32_t>(*value);
  }
  for (const RealField& field : kRealFields) {
    const auto at = json.find(field.name);
    if (at == json.end() || !at->is_number())
      return invalid(fmt::format("\"{}\" must be a number", field.name));
    parameters.*field.member = at->get<double>();
  }
  const auto policy = json.find("policy"), deterministic = json.find("deterministic"),
             seed = json.find("seed");
  if (policy == json.end() || !policy->is_string()) return invalid("\"policy\" must be a string");
  if (deterministic == json.end() || !deterministic->is_boolean())
    return invalid("\"deterministic\" must be true or false");
  if (seed == json.end() || !seed->is_number_unsigned())
    return invalid("\"seed\" must be an unsigned integer");
  const auto chosen = policy_from_name(policy->get<std::string>());
  if (!chosen) return tl::unexpected(chosen.error());
  parameters.policy = *chosen;
  parameters.deterministic = deterministic->get<bool>();
  parameters.seed = seed->get<std::uint64_t>();
  if (auto valid = validate(parameters); !valid) return tl::unexpected(valid.error());
  return parameters;
}

const Json* array_of(const Json& object, const char* key) {
  const auto at = object.find(key);
  return at == object.end() || !at->is_array() ? nullptr : &*at;
}

Result<EpochRecord> epoch_of(const Json& json) {
  EpochRecord record;
  const auto epoch = integer(json, "epoch", 0, kMaxInteger);
  if (!epoch) return tl::unexpected(epoch.error());
  const auto version = integer(json, "version", 0, std::numeric_limits<std::uint32_t>::max());
  if (!version) return tl::unexpected(version.error());
  record.epoch = *epoch;
  record.version = static_cast<std::uint32_t>(*version);

  const Json* durations = array_of(json, "durations_ns");
  if (durations == nullptr || durations->size() > static_cast<std::size_t>(pattern::kMaxRanks))
    return invalid(
        fmt::format("\"durations_ns\" must be an array of at most {} integers", pattern::kMaxRanks));
  for (const Json& value : *durations) {
    if (!fits(value, 0, kMaxInteger))
      return invalid("\"durations_ns\" holds something else than a time in nanoseconds");
    record.durations.emplace_back(value.get<std::int64_t>());
  }
  const Json* flows = array_of(json, "flows");
  if (flows == nullptr || flows->size() > static_cast<std::size_t>(pattern::kMaxEdges))
    return invalid(fmt::format("\"flows\" must be an array of at most {} pairs", pattern::kMaxEdges));
  for (const Json& value : *flows) {
    if (!value.is_array() || value.size() != 2 || !fits(value[0], 0, kMaxInteger) ||
        !fits(value[1], 0, kMaxInteger))
      return invalid("\"flows\" holds something else than a pair of bytes and nanoseconds");
    record.flows.push_back({{value[0].get<std::int64_t>()}, Nanoseconds{value[1].get<std::int64_t>()}});
  }
  return record;
}

}  // namespace

Result<TraceHeader> parse_header(std::string_view line) {
  const auto json = parse_object(line);
  if (!json) return tl::unexpected(json.error());
  const auto schema = json->find("schema");
  if (schema == json->end() || *schema != "react.trace/1")
    return invalid("not a trace: the first line must say \"schema\":\"react.trace/1\"");
  for (const char* key : {"parameters", "workload", "pattern"})
    if (!json->contains(key)) return invalid(fmt::format("\"{}\" is missing", key));
  auto parameters = parameters_of((*json)["parameters"]);
  if (!parameters) return tl::unexpected(parameters.error());
  auto workload = workload_of((*json)["workload"]);
  if (!workload) return tl::unexpected(workload.error());
  auto initial = pattern::from_json((*json)["pattern"].dump());
  if (!initial) return tl::unexpected(initial.error());
  return TraceHeader{*parameters, *workload, std::move(*initial)};
}

Result<TraceEntry> parse_entry(std::string_view line) {
  const auto json = parse_object(line);
  if (!json) return tl::unexpected(json.error());
  if (json->contains("report")) return TraceEntry(RecordedReport{std::string(line)});
  if (json->contains("workload")) {
    auto workload = workload_of((*json)["workload"]);
    if (!workload) return tl::unexpected(workload.error());
    return Result<TraceEntry>(tl::in_place, std::in_place_type<Workload>, *workload);
  }
  if (!json->contains("epoch")) return invalid("neither an epoch nor a workload nor a report");
  auto record = epoch_of(*json);
  if (!record) return tl::unexpected(record.error());
  return Result<TraceEntry>(tl::in_place, std::in_place_type<EpochRecord>, std::move(*record));
}

}  // namespace react::tuner
