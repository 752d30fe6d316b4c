#include "lab/worker_lines.h"

#include <nlohmann/json.hpp>

namespace react::lab {
namespace {

using nlohmann::json;

json as_json(const EpochLine& line) {
  return {{"group", line.group},
          {"rank", line.rank},
          {"epoch", line.epoch},
          {"start_ns", line.start.since_start.count()},
          {"end_ns", line.end.since_start.count()},
          {"version", line.version}};
}
json as_json(const GateLine& line) { return {{"gate", line.epoch}}; }
json as_json(const ReportLine& line) { return {{"report", line.report}, {"group", line.group}}; }
json as_json(const WarningLine& line) { return {{"warning", line.message}}; }
json as_json(const ErrorLine& line) { return {{"error", line.message}, {"culprit", line.culprit}}; }
json as_json(const DoneLine&) { return {{"done", true}}; }

WorkerLine read_line(const json& root) {
  if (root.contains("gate")) return GateLine{root.at("gate").get<std::int64_t>()};
  if (root.contains("report")) return ReportLine{root.at("group"), root.at("report")};
  if (root.contains("warning")) return WarningLine{root.at("warning")};
  if (root.contains("error")) return ErrorLine{root.at("error"), root.at("culprit").get<int>()};
  if (root.contains("done")) return DoneLine{};
  EpochLine line;
  line.group = root.at("group");
  line.rank = root.at("rank");
  line.epoch = root.at("epoch");
  line.start.since_start = Nanoseconds(root.at("start_ns").get<std::int64_t>());
  line.end.since_start = Nanoseconds(root.at("end_ns").get<std::int64_t>());
  line.version = root.at("version");
  return line;
}

}  // namespace

std::string to_text(const WorkerLine& line) {
  return std::visit(
      [](const auto& each) { return as_json(each).dump(-1, ' ', false, json::error_handler_t::replace); },
      line);
}

Result<WorkerLine> worker_line_from_text(std::string_view text) {
  const json root = json::parse(text, nullptr, false);
  if (!root.is_object()) return invalid("a rank wrote a line that is no JSON object");
  try {
    return read_line(root);
  } catch (const json::exception& error) {
    return invalid(std::string("a rank wrote a line with a wrong field: ") + error.what());
  }
}

}  // namespace react::lab
