// The lines that `ip -batch` and `tc -batch` understand, and the two calls that run them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/units.h"
#include "lab/network_namespace.h"

namespace react::lab {

// One end of a veth pair: an interface name in a namespace.
struct LinkEnd {
  const NetworkNamespace* space = nullptr;
  std::string device;
};

// Runs the lines inside `space`; `others` are namespaces that they name through in_namespace().
Result<void> run_ip(const NetworkNamespace& space, const std::string& lines,
                    const std::vector<const NetworkNamespace*>& others = {});
Result<void> run_tc(const NetworkNamespace& space, const std::string& lines);

// A pair with one queue a side; run where `near` is, with far.space among the others.
std::string veth_line(const LinkEnd& near, const LinkEnd& far);

// HTB with one class of `rate` over a FIFO of `queue`, as the device's root.
std::string shaping_lines(const std::string& device, std::int64_t rate_bits_per_second, Bytes queue);
std::string reshaping_line(const std::string& device, std::int64_t rate_bits_per_second);

}  // namespace react::lab
