// An emulated cluster: hosts, switches and shaped links made of network namespaces on this machine.
//
// Every host has two interfaces: `data0`, shaped to the link rate in both directions, and `ctl0`, an unshaped one on a
// network of its own for control traffic. External hosts stand for other tenants' machines: one `data0`, no rank.
//
//   star        all hosts on one switch; the links between host and switch are the only bottlenecks.
//   leaf-spine  two ToR switches (hosts 0..n/2-1 and the rest; external hosts alternate), two spines, all links at
//               the same rate, flows spread over the spines by 5-tuple: each flow stays on its spine.
//
// Queues are plain FIFOs with tail drop. Nothing outlives the owner, see network_namespace.h. One thread.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/units.h"
#include "lab/network_namespace.h"

namespace react::lab {

enum class Topology { kStar, kLeafSpine };
Result<Topology> topology_from_name(const std::string& name);
std::string name_of(Topology topology);

// More overflow the kernel's neighbour table: one for all namespaces, by default of 1,024 entries, of which each pair of hosts
// takes two (gc_thresh3 of arp(7)).
inline constexpr int kMaxHosts = 28;
inline constexpr int kMaxExternalHosts = 64;
inline constexpr std::int64_t kMinRate = 1'000'000;        // bits per second
inline constexpr std::int64_t kMaxRate = 100'000'000'000;  // bits per second

struct ClusterConfig {
  Topology topology = Topology::kStar;
  int hosts = 8;
  int external_hosts = 0;
  std::int64_t rate_bits_per_second = 500'000'000;  // of every link
  Bytes queue;  // of each switch port toward a host; 0: 2.5 ms of line rate, 64 KB at least
  std::string congestion_control = "reno";  // of every connection, ours and the external ones alike
  std::uint32_t path_seed = 1;              // leaf-spine: which 5-tuple takes which spine
};

class Cluster {
 public:
  // Needs acquire_network_privileges(). Takes about 10 ms a host.
  static Result<Cluster> create(const ClusterConfig& config);

  const ClusterConfig& config() const { return config_; }  // with the defaults filled in
  int hosts() const { return config_.hosts; }
  const NetworkNamespace& host(int index) const { return hosts_[static_cast<std::size_t>(index)].space; }
  const NetworkNamespace& external(int index) const {
    return externals_[static_cast<std::size_t>(index)].space;
  }
  std::string data_address(int host) const { return hosts_[static_cast<std::size_t>(host)].data_address; }
  std::string control_address(int host) const;
  std::string external_address(int index) const {
    return externals_[static_cast<std::size_t>(index)].data_address;
  }

  // Changes both directions of a host's data link while traffic runs (a partial failure).
  Result<void> set_rate(int host, std::int64_t rate_bits_per_second);
  // Takes a host's control interface down or up again; its data link is not touched.
  Result<void> set_control_link(int host, bool up);

 private:
  // A machine with a data link to a switch.
  struct Machine {
    NetworkNamespace space;
    std::string data_address;
    std::string gateway;  // leaf-spine
    std::size_t switch_index = 0;
    std::string switch_port;  // interface name on the switch's side
  };

  Result<void> build();
  Result<void> build_switches();
  Result<void> build_machines();
  Result<void> connect(Machine& machine);
  Result<void> open_ports(std::size_t switch_index);
  Result<void> build_control_network();
  Result<void> build_spine_links();
  Machine plan_machine(bool is_external, int index) const;

  ClusterConfig config_;
  std::vector<Machine> hosts_;
  std::vector<Machine> externals_;
  std::vector<NetworkNamespace> switches_;  // star: one; leaf-spine: ToR 0, ToR 1, spine 0, spine 1
  NetworkNamespace control_switch_;
};

// `wanted`, if this kernel has it; reno stands in for a missing cubic.
Result<std::string> available_congestion_control(const std::string& wanted);

}  // namespace react::lab
