#include "lab/cluster.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <sstream>

#include "lab/link_commands.h"

// Addresses, none of which leave the namespaces: data 10.77.T.H (T: ToR, 0 in a star; external hosts from
// .101 on), control 10.78.0.H, spine links 10.79.T.2S/31.

namespace react::lab {
namespace {

constexpr std::int64_t kHostQueueBytes = 4 << 20;  // below a few 64 KB buffers flows stall
constexpr std::size_t kTors = 2;
constexpr int kSpines = 2;
// As data centres set it: after the default of 200 ms a lost tail would cost more than a whole epoch.
constexpr int kLeastRetransmitMs = 10;

Result<NetworkNamespace> create_quiet_namespace(const std::string& name) {
  auto space = NetworkNamespace::create(name);
  if (!space) return space;
  // Absent where the kernel has no IPv6 at all, so a refusal is no failure.
  (void)space->set_sysctl("net/ipv6/conf/all/disable_ipv6", "1");
  (void)space->set_sysctl("net/ipv6/conf/default/disable_ipv6", "1");
  return space;
}

// A collective pauses between epochs: its connections shall neither forget their window then, nor start from
// what an earlier connection of another experiment met.
Result<void> settle_transport(const NetworkNamespace& space) {
  if (auto set = space.set_sysctl("net/ipv4/tcp_slow_start_after_idle", "0"); !set) return set;
  return space.set_sysctl("net/ipv4/tcp_no_metrics_save", "1");
}

Result<void> make_router(const NetworkNamespace& space, std::uint32_t seed) {
  const std::pair<const char*, std::string> settings[] = {
      {"net/ipv4/ip_forward", "1"},
      {"net/ipv4/conf/all/rp_filter", "0"},
      {"net/ipv4/conf/default/rp_filter", "0"},
      // 5-tuple by explicit fields: policy 1 scatters one and the same 5-tuple on some kernels.
      {"net/ipv4/fib_multipath_hash_policy", "3"},
      {"net/ipv4/fib_multipath_hash_fields", "55"},
      {"net/ipv4/fib_multipath_hash_seed", std::to_string(seed)},
  };
  for (const auto& [key, value] : settings) {
    if (auto set = space.set_sysctl(key, value); !set) return set;
  }
  return {};
}

Result<void> refuse_bad(const ClusterConfig& config) {
  if (config.hosts < 1 || config.hosts > kMaxHosts) {
    return invalid(fmt::format("a cluster has 1 to {} hosts, not {}", kMaxHosts, config.hosts));
  }
  if (config.external_hosts < 0 || config.external_hosts > kMaxExternalHosts) {
    return invalid(fmt::format("a cluster has 0 to {} external hosts, not {}", kMaxExternalHosts,
                               config.external_hosts));
  }
  if (config.rate_bits_per_second < kMinRate || config.rate_bits_per_second > kMaxRate) {
    return invalid(fmt::format("a link's rate is 1M to 100G bit/s, not {}", config.rate_bits_per_second));
  }
  if (config.topology == Topology::kLeafSpine && config.hosts < 2)
    return invalid("leaf-spine needs at least 2 hosts");
  return {};
}

}  // namespace

Result<Topology> topology_from_name(const std::string& name) {
  if (name == "star") return Topology::kStar;
  if (name == "leaf-spine") return Topology::kLeafSpine;
  return invalid("unknown topology '" + name + "'; there are star and leaf-spine");
}

std::string name_of(Topology topology) { return topology == Topology::kStar ? "star" : "leaf-spine"; }

Result<std::string> available_congestion_control(const std::string& wanted) {
  std::ifstream file("/proc/sys/net/ipv4/tcp_available_congestion_control");
  std::string have, name, fallback;
  std::getline(file, have);
  for (std::istringstream names(have); names >> name;) {
    if (name == wanted) return name;
    if (name == "reno") fallback = name;
  }
  if (wanted == "cubic" && !fallback.empty()) return fallback;
  return invalid("this kernel has no congestion control '" + wanted + "'; it has: " + have);
}

Result<Cluster> Cluster::create(const ClusterConfig& config) {
  if (auto fine = refuse_bad(config); !fine) return tl::unexpected(fine.error());
  Cluster cluster;
  cluster.config_ = config;
  auto control = available_congestion_control(config.congestion_control);
  if (!control) return tl::unexpected(control.error());
  cluster.config_.congestion_control = *control;
  if (config.queue.count <= 0) {
    cluster.config_.queue.count = std::max<std::int64_t>(64'000, config.rate_bits_per_second / 8 / 400);
  }
  if (auto built = cluster.build(); !built) {
    return fail(built.error().code, "cannot build the emulated cluster: " + built.error().message);
  }
  return cluster;
}

Result<void> Cluster::build() {
  for (int i = 0; i < config_.hosts; ++i) hosts_.push_back(plan_machine(false, i));
  for (int i = 0; i < config_.external_hosts; ++i) externals_.push_back(plan_machine(true, i));
  if (auto done = build_switches(); !done) return done;
  if (auto done = build_machines(); !done) return done;
  if (config_.topology == Topology::kLeafSpine) {
    if (auto done = build_spine_links(); !done) return done;
  }
  return build_control_network();
}

Cluster::Machine Cluster::plan_machine(bool is_external, int index) const {
  Machine machine;
  if (config_.topology == Topology::kLeafSpine) {
    const int half = (config_.hosts + 1) / 2;
    machine.switch_index = is_external ? static_cast<std::size_t>(index) % kTors : (index < half ? 0 : 1);
    machine.gateway = fmt::format("10.77.{}.254", machine.switch_index);
  }
  machine.data_address = fmt::format("10.77.{}.{}", machine.switch_index, index + (is_external ? 101 : 1));
  machine.switch_port = fmt::format("{}{}", is_external ? "x" : "h", index);
  return machine;
}

std::string Cluster::control_address(int host) const { return fmt::format("10.78.0.{}", host + 1); }

Result<void> Cluster::build_switches() {
  std::vector<std::string> names{"switch"};
  if (config_.topology == Topology::kLeafSpine) names = {"tor0", "tor1", "spine0", "spine1"};
  for (std::size_t i = 0; i < names.size(); ++i) {
    auto space = create_quiet_namespace(names[i]);
    if (!space) return tl::unexpected(space.error());
    std::string lines = "link set lo up\n";
    if (i < kTors) {
      lines += "link add br0 type bridge stp_state 0 mcast_snooping 0\nlink set br0 up\n";
    }
    if (config_.topology == Topology::kLeafSpine) {
      if (auto done = make_router(*space, config_.path_seed); !done) return done;
      if (i < kTors) lines += fmt::format("addr add 10.77.{}.254/24 dev br0\n", i);
    }
    if (auto done = run_ip(*space, lines); !done) return done;
    switches_.push_back(std::move(*space));
  }
  return {};
}

Result<void> Cluster::build_machines() {
  for (auto* group : {&hosts_, &externals_}) {
    for (Machine& machine : *group) {
      if (auto done = connect(machine); !done) return done;
    }
  }
  for (std::size_t i = 0; i < std::min(switches_.size(), kTors); ++i) {
    if (auto done = open_ports(i); !done) return done;
  }
  return {};
}

Result<void> Cluster::connect(Machine& machine) {
  auto space = create_quiet_namespace("machine " + machine.switch_port);
  if (!space) return tl::unexpected(space.error());
  machine.space = std::move(*space);
  if (auto done = settle_transport(machine.space); !done) return done;
  const NetworkNamespace& its_switch = switches_[machine.switch_index];
  const std::string how = fmt::format("dev data0 src {} congctl {} rto_min {}ms\n", machine.data_address,
                                      config_.congestion_control, kLeastRetransmitMs);
  std::string lines =
      "link set lo up\n" + veth_line({&machine.space, "data0"}, {&its_switch, machine.switch_port}) +
      fmt::format("addr add {}/24 dev data0 noprefixroute\nlink set data0 up\n", machine.data_address) +
      fmt::format("route replace 10.77.{}.0/24 {}", machine.switch_index, how);
  if (!machine.gateway.empty())
    lines += fmt::format("route replace 10.77.0.0/16 via {} {}", machine.gateway, how);
  if (auto done = run_ip(machine.space, lines, {&its_switch}); !done) return done;
  return run_tc(machine.space, shaping_lines("data0", config_.rate_bits_per_second, Bytes{kHostQueueBytes}));
}

// The switch's side of all links to machines: into the bridge, and shaped.
Result<void> Cluster::open_ports(std::size_t switch_index) {
  std::string lines, shaping;
  for (const auto* group : {&hosts_, &externals_}) {
    for (const Machine& machine : *group) {
      if (machine.switch_index != switch_index) continue;
      lines += fmt::format("link set {} master br0 up\n", machine.switch_port);
      shaping += shaping_lines(machine.switch_port, config_.rate_bits_per_second, config_.queue);
    }
  }
  if (auto done = run_ip(switches_[switch_index], lines); !done) return done;
  return run_tc(switches_[switch_index], shaping);
}

Result<void> Cluster::build_spine_links() {
  for (std::size_t tor = 0; tor < kTors; ++tor) {
    const NetworkNamespace& leaf = switches_[tor];
    std::string leaf_lines, leaf_shaping, hops;
    for (int spine = 0; spine < kSpines; ++spine) {
      const NetworkNamespace& top = switches_[kTors + static_cast<std::size_t>(spine)];
      const std::string up = fmt::format("s{}", spine), down = fmt::format("t{}", tor);
      leaf_lines += veth_line({&leaf, up}, {&top, down}) +
                    fmt::format("addr add 10.79.{}.{}/31 dev {}\nlink set {} up\n", tor, 2 * spine, up, up);
      hops += fmt::format(" nexthop via 10.79.{}.{}", tor, 2 * spine + 1);
      leaf_shaping += shaping_lines(up, config_.rate_bits_per_second, config_.queue);
    }
    std::vector<const NetworkNamespace*> tops;
    for (std::size_t i = kTors; i < switches_.size(); ++i) tops.push_back(&switches_[i]);
    if (auto done = run_ip(leaf, leaf_lines, tops); !done) return done;
    if (auto done = run_tc(leaf, leaf_shaping); !done) return done;
    for (int spine = 0; spine < kSpines; ++spine) {
      const NetworkNamespace& top = *tops[static_cast<std::size_t>(spine)];
      const std::string down = fmt::format("t{}", tor);
      const std::string lines = fmt::format(
          "addr add 10.79.{}.{}/31 dev {}\nlink set {} up\nroute add 10.77.{}.0/24 via 10.79.{}.{}\n", tor,
          2 * spine + 1, down, down, tor, tor, 2 * spine);
      if (auto done = run_ip(top, lines); !done) return done;
      if (auto done = run_tc(top, shaping_lines(down, config_.rate_bits_per_second, config_.queue)); !done)
        return done;
    }
    const std::string far = fmt::format("route add 10.77.{}.0/24{}\n", 1 - tor, hops);
    if (auto done = run_ip(leaf, far); !done) return done;
  }
  return {};
}

Result<void> Cluster::build_control_network() {
  auto space = create_quiet_namespace("control switch");
  if (!space) return tl::unexpected(space.error());
  control_switch_ = std::move(*space);
  std::string lines = "link add br0 type bridge stp_state 0 mcast_snooping 0\nlink set br0 up\n";
  std::vector<const NetworkNamespace*> others;
  for (std::size_t i = 0; i < hosts_.size(); ++i) {
    const std::string port = fmt::format("h{}", i);
    lines += veth_line({&control_switch_, port}, {&hosts_[i].space, "ctl0"}) +
             fmt::format("link set {} master br0 up\n", port);
    others.push_back(&hosts_[i].space);
  }
  if (auto done = run_ip(control_switch_, lines, others); !done) return done;
  for (int i = 0; i < config_.hosts; ++i) {
    const std::string address = control_address(i);
    const std::string host_lines = fmt::format(
        "addr add {}/24 dev ctl0 noprefixroute\nlink set ctl0 up\nroute replace 10.78.0.0/24 dev ctl0 src {} "
        "congctl {}\n",
        address, address, config_.congestion_control);
    if (auto done = run_ip(host(i), host_lines); !done) return done;
  }
  return {};
}

Result<void> Cluster::set_rate(int host, std::int64_t rate_bits_per_second) {
  if (host < 0 || host >= config_.hosts) return invalid(fmt::format("there is no host {}", host));
  if (rate_bits_per_second < kMinRate || rate_bits_per_second > kMaxRate) {
    return invalid(fmt::format("a link's rate is 1M to 100G bit/s, not {}", rate_bits_per_second));
  }
  const Machine& machine = hosts_[static_cast<std::size_t>(host)];
  auto near = run_tc(machine.space, reshaping_line("data0", rate_bits_per_second));
  if (!near) return near;
  return run_tc(switches_[machine.switch_index], reshaping_line(machine.switch_port, rate_bits_per_second));
}

Result<void> Cluster::set_control_link(int host, bool up) {
  if (host < 0 || host >= config_.hosts) return invalid(fmt::format("there is no host {}", host));
  // Routes of an interface go with it, so they come back with it.
  const std::string address = control_address(host);
  return run_ip(hosts_[static_cast<std::size_t>(host)].space,
                up ? fmt::format("link set ctl0 up\nroute replace 10.78.0.0/24 dev ctl0 src {} congctl {}\n",
                                 address, config_.congestion_control)
                   : std::string("link set ctl0 down\n"));
}

}  // namespace react::lab
