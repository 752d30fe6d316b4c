#include "tuner/fluid_simulator.h"

#include <algorithm>
#include <limits>

#include "base/check.h"

namespace react::tuner {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();
// A slice with less than this part of it left is done: rounding must not make events of its own.
constexpr double kDone = 1e-6;

}  // namespace

const Prediction& FluidSimulator::run(const FluidProgram& program, const Network& network,
                                      double give_up_after) {
  reset(program, network);
  for (std::size_t c = 0; c < program.chains.size(); ++c)
    for (std::int32_t s = 0; s < program.slices; ++s) advance_chain(static_cast<std::int32_t>(c), s);
  while (!active_.empty() && now_ <= give_up_after) {
    if (active_changed_) share();
    progress(next_completion());
    prediction_.work += active_.size();
    for (const std::int32_t task : finished_) complete(task);
    std::erase_if(active_,
                  [&](std::int32_t c) { return connections_[static_cast<std::size_t>(c)].task < 0; });
  }
  REACT_CHECK(completed_ == program.tasks() || now_ > give_up_after,
              "the program's dependencies have a cycle");
  collect();
  return prediction_;
}

void FluidSimulator::reset(const FluidProgram& program, const Network& network) {
  program_ = &program;
  now_ = 0;
  completed_ = 0;
  active_changed_ = false;
  const auto slices = static_cast<std::size_t>(program.slices);
  chain_states_.resize(program.chains.size() * slices);
  for (std::size_t c = 0; c < program.chains.size(); ++c)
    std::fill_n(chain_states_.begin() + static_cast<std::ptrdiff_t>(c * slices), slices,
                ChainState{program.chains[c].first, 0});
  arrived_.assign(program.tasks(), 0);
  queue_.resize(program.tasks());
  connections_.assign(program.connections.size(), {});
  std::int32_t first = 0;
  for (std::size_t c = 0; c < program.connections.size(); ++c) {
    connections_[c].first = first;
    connections_[c].cap = network.path_factor(program.connections[c].src, program.connections[c].dst);
    first += program.connections[c].messages * program.slices;
  }
  const auto ranks = static_cast<std::size_t>(program.ranks);
  links_.assign(2 * ranks, {});
  for (std::size_t r = 0; r < ranks; ++r) {
    links_[r].foreign = network.foreign_in[r];
    links_[ranks + r].foreign = network.foreign_out[r];
  }
  active_.clear();
  edge_active_.assign(program.edge_connection.size(), 0);
  edge_bytes_.assign(program.edge_connection.size(), 0);
  prediction_.work = 0;
}

// Starts whatever of the chain no longer waits.
void FluidSimulator::advance_chain(std::int32_t chain, std::int32_t slice) {
  const FluidProgram& program = *program_;
  ChainState& state = chain_states_[static_cast<std::size_t>(chain * program.slices + slice)];
  while (state.cursor < program.chains[static_cast<std::size_t>(chain)].last) {
    const FluidProgram::Use use = program.uses[static_cast<std::size_t>(state.cursor)];
    if (use.run == 0) {
      if (arrived_[static_cast<std::size_t>(use.message * program.slices + slice)] == 0) return;
      ++state.cursor;
      continue;
    }
    state.pending = use.run;
    const std::int32_t first = state.cursor;
    state.cursor += use.run;
    for (std::int32_t u = first; u < first + use.run; ++u)
      make_ready(program.uses[static_cast<std::size_t>(u)].message * program.slices + slice);
    return;
  }
}

void FluidSimulator::make_ready(std::int32_t task) {
  const auto& message = program_->messages[static_cast<std::size_t>(task / program_->slices)];
  ConnectionState& connection = connections_[static_cast<std::size_t>(message.connection)];
  queue_[static_cast<std::size_t>(connection.first + connection.tail++)] = task;
  if (connection.task >= 0) return;
  serve_next(message.connection);
  const auto at = std::lower_bound(active_.begin(), active_.end(), message.connection);
  // A connection that has just run dry is still listed.
  if (at == active_.end() || *at != message.connection) active_.insert(at, message.connection);
  active_changed_ = true;
}

void FluidSimulator::serve_next(std::int32_t connection) {
  ConnectionState& state = connections_[static_cast<std::size_t>(connection)];
  state.task = queue_[static_cast<std::size_t>(state.first + state.head++)];
  state.remaining = program_->messages[static_cast<std::size_t>(state.task / program_->slices)].slice_bytes;
  state.started = now_;
}

void FluidSimulator::complete(std::int32_t task) {
  const std::int32_t slices = program_->slices;
  const std::int32_t slice = task % slices;
  const auto& message = program_->messages[static_cast<std::size_t>(task / slices)];
  ConnectionState& connection = connections_[static_cast<std::size_t>(message.connection)];
  const double span = now_ - connection.started;
  edge_active_[static_cast<std::size_t>(message.edge)] += span;
  edge_bytes_[static_cast<std::size_t>(message.edge)] += message.slice_bytes;
  connection.active += span;
  ++completed_;
  connection.task = -1;
  if (connection.head < connection.tail) {
    serve_next(message.connection);
  } else {
    active_changed_ = true;
  }

  arrived_[static_cast<std::size_t>(task)] = 1;
  ChainState& sender = chain_states_[static_cast<std::size_t>(message.src_chain * slices + slice)];
  if (--sender.pending == 0) advance_chain(message.src_chain, slice);
  if (chain_states_[static_cast<std::size_t>(message.dst_chain * slices + slice)].pending == 0)
    advance_chain(message.dst_chain, slice);
}

double FluidSimulator::next_completion() const {
  double span = kNever;
  for (const std::int32_t c : active_) {
    const ConnectionState& state = connections_[static_cast<std::size_t>(c)];
    span = std::min(span, state.remaining / state.rate);
  }
  return span;
}

void FluidSimulator::progress(double span) {
  now_ += span;
  finished_.clear();
  for (const std::int32_t c : active_) {
    ConnectionState& state = connections_[static_cast<std::size_t>(c)];
    state.remaining -= state.rate * span;
    const auto& message = program_->messages[static_cast<std::size_t>(state.task / program_->slices)];
    if (state.remaining <= kDone * message.slice_bytes) finished_.push_back(state.task);
  }
}

void FluidSimulator::share() {
  active_changed_ = false;
  used_links_.clear();
  for (const std::int32_t c : active_) {
    const FluidProgram::Connection& connection = program_->connections[static_cast<std::size_t>(c)];
    for (const std::int32_t link : {connection.dst, program_->ranks + connection.src}) {
      LinkState& state = links_[static_cast<std::size_t>(link)];
      if (state.flows++ > 0) continue;
      state.left = 1;
      used_links_.push_back(link);
    }
  }
  unfrozen_ = active_;
  while (!unfrozen_.empty()) share_round();
}

// Freezes at least the flows of the tightest link. Frozen flows only ever leave more to the others.
void FluidSimulator::share_round() {
  for (const std::int32_t link : used_links_) {
    LinkState& state = links_[static_cast<std::size_t>(link)];
    if (state.flows == 0) continue;
    state.fair = std::max(state.left, 1e-12) / (state.flows + state.foreign);
    state.least = kNever;
  }
  const auto sides = [this](std::int32_t c) {
    const FluidProgram::Connection& connection = program_->connections[static_cast<std::size_t>(c)];
    return std::pair<LinkState&, LinkState&>(
        links_[static_cast<std::size_t>(connection.dst)],
        links_[static_cast<std::size_t>(program_->ranks + connection.src)]);
  };
  for (const std::int32_t c : unfrozen_) {
    auto [in, out] = sides(c);
    ConnectionState& state = connections_[static_cast<std::size_t>(c)];
    state.level = std::min({in.fair, out.fair, state.cap});
    in.least = std::min(in.least, state.level);
    out.least = std::min(out.least, state.level);
  }
  std::erase_if(unfrozen_, [&](std::int32_t c) {
    auto [in, out] = sides(c);
    return freeze(connections_[static_cast<std::size_t>(c)], in, out);
  });
}

bool FluidSimulator::freeze(ConnectionState& state, LinkState& in, LinkState& out) {
  const double level = state.level;
  const bool tightest = state.cap == level || (in.fair == level && in.least == level) ||
                        (out.fair == level && out.least == level);
  if (!tightest) return false;
  state.rate = level;
  for (LinkState* link : {&in, &out}) {
    link->left -= level;
    --link->flows;
  }
  return true;
}

void FluidSimulator::collect() {
  prediction_.time = now_;
  prediction_.throughput.assign(edge_active_.size(), 0);
  for (std::size_t e = 0; e < edge_active_.size(); ++e)
    if (edge_active_[e] > 0) prediction_.throughput[e] = edge_bytes_[e] / edge_active_[e];
  prediction_.connection_throughput.assign(connections_.size(), 0);
  for (std::size_t c = 0; c < connections_.size(); ++c)
    if (connections_[c].active > 0)
      prediction_.connection_throughput[c] = program_->connections[c].bytes / connections_[c].active;
}

}  // namespace react::tuner
