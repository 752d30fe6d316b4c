#include "lab/machine_load.h"

#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <thread>

namespace react::lab {
namespace {

double seconds_of(const timeval& time) {
  return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
}

double own_seconds() {
  double total = 0;
  for (const int who : {RUSAGE_SELF, RUSAGE_CHILDREN}) {
    rusage usage{};
    ::getrusage(who, &usage);
    total += seconds_of(usage.ru_utime) + seconds_of(usage.ru_stime);
  }
  return total;
}

}  // namespace

MachineLoad::MachineLoad() : start_(sample()) {}

MachineLoad::Counters MachineLoad::sample() {
  Counters now;
  now.own = own_seconds();
  now.at = std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
  std::ifstream stat("/proc/stat");
  std::string name;
  double user = 0, nice = 0, system = 0, idle = 0, wait = 0, interrupt = 0, soft = 0, stolen = 0;
  stat >> name >> user >> nice >> system >> idle >> wait >> interrupt >> soft >> stolen;
  const double tick = 1.0 / static_cast<double>(std::max(1L, ::sysconf(_SC_CLK_TCK)));
  now.programs = (user + nice + system) * tick;
  now.interrupts = (interrupt + soft) * tick;
  now.stolen = stolen * tick;
  return now;
}

MachineLoad::Reading MachineLoad::read() const {
  const Counters now = sample();
  Reading reading;
  reading.cores = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
  reading.seconds = now.at - start_.at;
  if (reading.seconds <= 0) return reading;
  const double programs = now.programs - start_.programs, stolen = now.stolen - start_.stolen;
  // The kernel charges what soft interrupts take to no process, so own time is compared with programs alone.
  const double foreign = std::max(0.0, programs - (now.own - start_.own)) + stolen;
  reading.foreign_cores = foreign / reading.seconds;
  reading.busy_cores = (programs + stolen + now.interrupts - start_.interrupts) / reading.seconds;
  return reading;
}

std::string describe(const MachineLoad::Reading& reading) {
  const bool noisy = reading.foreign_cores > MachineLoad::kNoisyForeignCores;
  return fmt::format("{}: {:.1f} of {} cores busy with other work{}", noisy ? "noisy" : "quiet",
                     reading.foreign_cores, reading.cores,
                     noisy ? "; do not trust these times, run again" : "");
}

}  // namespace react::lab
