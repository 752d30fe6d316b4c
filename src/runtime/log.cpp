#include "runtime/log.h"

#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

namespace react::runtime {
namespace {

spdlog::logger& logger() {
  static spdlog::logger instance("react", std::make_shared<spdlog::sinks::stderr_sink_mt>());
  return instance;
}

}  // namespace

void log_warning(const std::string& message) { logger().warn(message); }
void log_debug(const std::string& message) { logger().debug(message); }

}  // namespace react::runtime
