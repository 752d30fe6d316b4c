#include "cli/info_command.h"

#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "cli/host_facts.h"
#include "cli/output.h"

namespace react::cli {
namespace {

using nlohmann::ordered_json;
using Choice = std::optional<Result<runtime::SocketAddress>>;

constexpr const char* kInfoHelp = R"(
Examples:
  react info
  react info --data-interface eth1,10.1.0.0/16 --leader 10.0.0.1:29400
  srun -N 2 react info --json)";

bool is_refused(const Choice& choice) { return choice && !*choice; }

// Host without port, since the port of a chosen address is not chosen yet.
std::string described(const Choice& choice, const char* otherwise) {
  if (!choice) return otherwise;
  if (!*choice) return (*choice).error().message;
  return (*choice)->port() == 0 ? (*choice)->host() : (*choice)->to_string();
}

ordered_json as_json(const Choice& choice) {
  if (!choice) return nullptr;
  return {{*choice ? "address" : "error", described(choice, "")}};
}

ordered_json launcher_json(const HostFacts& facts) {
  ordered_json variables = ordered_json::object();
  for (const auto& [name, value] : facts.launcher_variables) variables[name] = value;
  ordered_json json{{"name", nullptr}, {"variables", variables}};
  if (!facts.identity) {
    json["error"] = facts.identity.error().message;
  } else if (const auto& identity = *facts.identity) {
    json["name"] = name_of(identity->launcher);
    json["rank"] = identity->rank;
    json["ranks"] = identity->ranks;
    json["local_rank"] =
        identity->local_rank < 0 ? ordered_json(nullptr) : ordered_json(identity->local_rank);
    json["leader_address"] = identity->leader_address;
  }
  return json;
}

ordered_json interfaces_json(const HostFacts& facts) {
  if (!facts.interfaces) return {{"error", facts.interfaces.error().message}};
  ordered_json list = ordered_json::array();
  for (const auto& interface : *facts.interfaces) {
    list.push_back({{"name", interface.name},
                    {"address", interface.address.host()},
                    {"prefix_length", interface.prefix_length},
                    {"up", interface.up}});
  }
  return list;
}

ordered_json to_json(const HostFacts& facts) {
  ordered_json json;
  json["version"] = REACT_VERSION;
  json["kernel"] = facts.kernel;
  json["processors"] = facts.processors;
  json["interfaces"] = interfaces_json(facts);
  json["launcher"] = launcher_json(facts);
  json["leader"] = as_json(facts.leader);
  json["data"] = as_json(facts.data_address);
  json["control"] = as_json(facts.control_address);
  json["congestion_control"] = {{"default", facts.congestion_control},
                                {"available", facts.available_congestion_controls}};
  json["network_namespaces"] = {{"possible", facts.namespaces.has_value()}};
  if (!facts.namespaces) json["network_namespaces"]["reason"] = facts.namespaces.error().message;
  return json;
}

std::string launcher_line(const HostFacts& facts) {
  if (!facts.identity) return facts.identity.error().message;
  const auto& identity = *facts.identity;
  if (!identity) return "none";
  std::string line =
      fmt::format("{}: rank {} of {}", name_of(identity->launcher), identity->rank, identity->ranks);
  if (identity->local_rank >= 0) line += fmt::format(", local rank {}", identity->local_rank);
  return line;
}

void print_line(const char* label, const std::string& value) { print("{:<20}{}\n", label, value); }

void print_text(const HostFacts& facts) {
  constexpr const char* kByRoute = "as the routes say, once a leader is known";
  print_line("react", REACT_VERSION);
  print_line("kernel", fmt::format("{}, {} processors", facts.kernel, facts.processors));
  if (!facts.interfaces) print_line("interfaces", facts.interfaces.error().message);
  for (std::size_t i = 0; facts.interfaces && i < facts.interfaces->size(); ++i) {
    print_line(i == 0 ? "interfaces" : "", runtime::to_string((*facts.interfaces)[i]));
  }
  print_line("launcher", launcher_line(facts));
  for (const auto& [name, value] : facts.launcher_variables)
    print_line("", fmt::format("{}={}", name, value));
  print_line("leader", described(facts.leader, "not known"));
  print_line("data address", described(facts.data_address, kByRoute));
  print_line("control address", described(facts.control_address, kByRoute));
  print_line("congestion control", fmt::format("{} (available: {})", facts.congestion_control,
                                               fmt::join(facts.available_congestion_controls, " ")));
  print_line("namespaces", facts.namespaces ? "possible (react lab can run here)"
                                            : "not possible: " + facts.namespaces.error().message);
}

int run_info(const Wishes& wishes, bool json) {
  const HostFacts facts = gather_host_facts(wishes);
  if (json) {
    print("{}\n", to_json(facts).dump(2, ' ', false, ordered_json::error_handler_t::replace));
  } else {
    print_text(facts);
  }
  const bool refused = !facts.identity || is_refused(facts.leader) || is_refused(facts.data_address) ||
                       is_refused(facts.control_address);
  return refused ? 1 : 0;
}

}  // namespace

void add_info_command(CLI::App& app, int& exit_code) {
  auto wishes = std::make_shared<Wishes>();
  auto json = std::make_shared<bool>(false);
  CLI::App* info =
      app.add_subcommand("info", "What was found on this host, and what a process group would choose");
  info->footer(kInfoHelp);
  info->add_option("--leader", wishes->leader_address,
                   "Where rank 0 listens, HOST:PORT; else the launcher's");
  info->add_option("--data-interface", wishes->data_interface,
                   "Interface names or subnets for data, the best first");
  info->add_option("--control-interface", wishes->control_interface, "The same for control connections");
  info->add_flag("--json", *json, "One JSON document on stdout");
  info->callback([wishes, json, &exit_code] { exit_code = run_info(*wishes, *json); });
}

}  // namespace react::cli
