#include "lab/worker_config.h"

#include <nlohmann/json.hpp>

#include "pattern/json.h"

namespace react::lab {
namespace {

using nlohmann::json;

json embed(const pattern::Pattern& pattern) { return json::parse(pattern::to_json(pattern)); }

// Field access that refuses instead of throwing past this file.
template <class T>
T field(const json& object, const char* key) {
  return object.at(key).get<T>();
}

Result<pattern::Pattern> pattern_in(const json& object) {
  return pattern::from_json(object.at("pattern").dump());
}

Result<WorkerConfig> read_config(const json& root) {
  WorkerConfig config;
  auto pattern = pattern_in(root);
  if (!pattern) return tl::unexpected(pattern.error());
  config.pattern = std::move(*pattern);
  config.rank = field<pattern::Rank>(root, "rank");
  config.leader_host = field<std::string>(root, "leader_host");
  config.data_interface = field<std::string>(root, "data_interface");
  config.control_interface = field<std::string>(root, "control_interface");
  config.congestion_control = field<std::string>(root, "congestion_control");
  config.size = Bytes{field<std::int64_t>(root, "size_bytes")};
  config.slices = field<std::int32_t>(root, "slices");
  config.epochs = field<std::int64_t>(root, "epochs");
  config.block_epochs = field<std::int64_t>(root, "block_epochs");
  config.gates = field<std::vector<std::int64_t>>(root, "gates");
  config.pause = Nanoseconds(field<std::int64_t>(root, "pause_ns"));
  config.timeout = Nanoseconds(field<std::int64_t>(root, "timeout_ns"));
  for (const json& group : root.at("groups")) {
    config.groups.push_back({field<std::string>(group, "name"), field<std::uint16_t>(group, "port"),
                             field<std::string>(group, "parameters"),
                             field<std::string>(group, "trace_path")});
  }
  for (const json& entry : root.at("script")) {
    auto scripted = pattern_in(entry);
    if (!scripted) return tl::unexpected(scripted.error());
    config.script.push_back({field<std::int64_t>(entry, "epoch"), std::move(*scripted)});
  }
  if (config.rank < 0 || config.rank >= config.pattern.ranks) return invalid("rank out of range");
  if (config.epochs < 1 || config.block_epochs < 1 || config.size.count < 4) return invalid("nothing to run");
  return config;
}

}  // namespace

std::string to_json(const WorkerConfig& config) {
  json root = {{"rank", config.rank},
               {"pattern", embed(config.pattern)},
               {"leader_host", config.leader_host},
               {"data_interface", config.data_interface},
               {"control_interface", config.control_interface},
               {"congestion_control", config.congestion_control},
               {"size_bytes", config.size.count},
               {"slices", config.slices},
               {"epochs", config.epochs},
               {"block_epochs", config.block_epochs},
               {"gates", config.gates},
               {"pause_ns", config.pause.count()},
               {"timeout_ns", config.timeout.count()},
               {"groups", json::array()},
               {"script", json::array()}};
  for (const WorkerGroup& group : config.groups) {
    root["groups"].push_back({{"name", group.name},
                              {"port", group.port},
                              {"parameters", group.parameters},
                              {"trace_path", group.trace_path}});
  }
  for (const ScriptedPattern& entry : config.script) {
    root["script"].push_back({{"epoch", entry.epoch}, {"pattern", embed(entry.pattern)}});
  }
  return root.dump();
}

Result<WorkerConfig> worker_config_from_json(std::string_view text) {
  const json root = json::parse(text, nullptr, false);
  if (root.is_discarded()) return invalid("the worker's configuration is not JSON");
  try {
    return read_config(root);
  } catch (const json::exception& error) {
    return invalid(std::string("the worker's configuration: ") + error.what());
  }
}

}  // namespace react::lab
