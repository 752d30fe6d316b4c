#include "runtime/simulated/simulated_network.h"

#include <algorithm>
#include <string>
#include <thread>

#include "base/check.h"

namespace react::runtime::simulated {

class SimulatedClock final : public Clock {
 public:
  explicit SimulatedClock(const SimulatedNetwork& network) : network_(network) {}
  TimePoint now() const override { return {network_.now_}; }

 private:
  const SimulatedNetwork& network_;
};

class SimulatedLink final : public Link {
 public:
  SimulatedLink(SimulatedNetwork& network, Rank own, Rank peer, std::int32_t lane)
      : network_(network), own_(own), peer_(peer), lane_(lane) {}

  Result<std::size_t> write(std::span<const std::byte> header, std::span<const std::byte> payload,
                            Timing) override {
    auto& pipe = network_.pipe(own_, peer_, lane_);
    if (pipe.closed) return fail(ErrorCode::kPeerFailed, "broken pipe");
    const std::size_t room = network_.options_.buffer_bytes - pipe.bytes.size();
    const std::size_t taken = piece(std::min(room, header.size() + payload.size()));
    for (std::size_t i = 0; i < taken; ++i)
      pipe.bytes.push_back(i < header.size() ? header[i] : payload[i - header.size()]);
    if (taken > 0) network_.notify(peer_, own_, lane_, true, false);
    return taken;
  }

  Result<std::size_t> read(std::span<std::byte> into) override {
    auto& pipe = network_.pipe(peer_, own_, lane_);
    if (pipe.bytes.empty() && pipe.closed) return fail(ErrorCode::kPeerFailed, "connection closed");
    const std::size_t got = piece(std::min(pipe.bytes.size(), into.size()));
    std::copy_n(pipe.bytes.begin(), got, into.begin());
    pipe.bytes.erase(pipe.bytes.begin(), pipe.bytes.begin() + static_cast<std::ptrdiff_t>(got));
    pipe.read_in_all += static_cast<std::int64_t>(got);
    if (got > 0) network_.notify(peer_, own_, lane_, false, true);
    return got;
  }

  SendStatistics statistics() override {
    const std::int64_t bytes = network_.pipe(own_, peer_, lane_).read_in_all;
    return {Bytes{bytes}, Nanoseconds(bytes)};  // as if every link gave one gigabyte per second
  }

  std::string peer_address() const override { return "simulated:" + std::to_string(peer_); }

 private:
  std::size_t piece(std::size_t possible) {
    const std::size_t most = std::min(possible, network_.options_.largest_piece);
    return most == 0 ? 0 : 1 + static_cast<std::size_t>(network_.random_.below(most));
  }

  SimulatedNetwork& network_;
  Rank own_, peer_;
  std::int32_t lane_;
};

class SimulatedTransport final : public Transport {
 public:
  SimulatedTransport(SimulatedNetwork& network, Rank own) : network_(network), own_(own) {}

  std::int32_t lanes() const override { return network_.options_.lanes; }

  Link& link(Rank peer, std::int32_t lane) override {
    return *network_.ranks_[static_cast<std::size_t>(own_)].links.at(
        static_cast<std::size_t>(peer * lanes() + lane));
  }

  Result<void> wait(Nanoseconds limit, std::vector<LinkEvent>& events) override {
    auto& state = network_.ranks_[static_cast<std::size_t>(own_)];
    std::unique_lock lock(network_.mutex_);
    state.waiting = true;
    state.wait_until = network_.now_ + limit;
    network_.pass_baton();
    network_.wait_for_baton(own_, lock);
    state.waiting = state.woken = false;
    events.insert(events.end(), state.events.begin(), state.events.end());
    state.events.clear();
    return {};
  }

  void wake() override { network_.ranks_[static_cast<std::size_t>(own_)].woken = true; }

 private:
  SimulatedNetwork& network_;
  Rank own_;
};

SimulatedNetwork::SimulatedNetwork(const NetworkOptions& options)
    : options_(options),
      random_(options.seed),
      clock_(std::make_unique<SimulatedClock>(*this)),
      ranks_(static_cast<std::size_t>(options.ranks)),
      pipes_(static_cast<std::size_t>(options.ranks * options.ranks * options.lanes)) {
  for (Rank rank = 0; rank < options.ranks; ++rank) {
    RankState& state = ranks_[static_cast<std::size_t>(rank)];
    state.transport = std::make_unique<SimulatedTransport>(*this, rank);
    for (Rank peer = 0; peer < options.ranks; ++peer)
      for (std::int32_t lane = 0; lane < options.lanes; ++lane)
        state.links.push_back(std::make_unique<SimulatedLink>(*this, rank, peer, lane));
  }
}

SimulatedNetwork::~SimulatedNetwork() = default;

Transport& SimulatedNetwork::transport(Rank rank) {
  return *ranks_[static_cast<std::size_t>(rank)].transport;
}
const Clock& SimulatedNetwork::clock() const { return *clock_; }

SimulatedNetwork::Pipe& SimulatedNetwork::pipe(Rank from, Rank to, std::int32_t lane) {
  return pipes_[static_cast<std::size_t>((from * options_.ranks + to) * options_.lanes + lane)];
}

void SimulatedNetwork::notify(Rank rank, Rank peer, std::int32_t lane, bool readable, bool writable) {
  ranks_[static_cast<std::size_t>(rank)].events.push_back({peer * options_.lanes + lane, readable, writable});
}

void SimulatedNetwork::kill(Rank rank) { close_links_of(rank); }

void SimulatedNetwork::close_links_of(Rank rank) {
  for (Rank peer = 0; peer < options_.ranks; ++peer)
    for (std::int32_t lane = 0; lane < options_.lanes && peer != rank; ++lane) {
      pipe(rank, peer, lane).closed = pipe(peer, rank, lane).closed = true;
      notify(peer, rank, lane, true, true);
    }
}

void SimulatedNetwork::run(const std::function<void(Rank)>& body) {
  std::vector<std::thread> threads;
  for (RankState& state : ranks_) state.waiting = state.woken = true;
  for (Rank rank = 0; rank < options_.ranks; ++rank)
    threads.emplace_back([this, rank, &body] {
      {
        std::unique_lock lock(mutex_);
        wait_for_baton(rank, lock);
        ranks_[static_cast<std::size_t>(rank)].waiting = false;
      }
      body(rank);
      const std::lock_guard lock(mutex_);
      close_links_of(rank);
      ranks_[static_cast<std::size_t>(rank)].finished = true;
      pass_baton();
    });
  {
    const std::lock_guard lock(mutex_);
    pass_baton();
  }
  for (std::thread& thread : threads) thread.join();
}

void SimulatedNetwork::pass_baton() {
  std::vector<Rank> runnable;
  Rank next_to_wake = -1;
  for (Rank rank = 0; rank < options_.ranks; ++rank) {
    const RankState& state = ranks_[static_cast<std::size_t>(rank)];
    if (state.finished || !state.waiting) continue;
    if (state.woken || !state.events.empty()) runnable.push_back(rank);
    if (next_to_wake < 0 || state.wait_until < ranks_[static_cast<std::size_t>(next_to_wake)].wait_until)
      next_to_wake = rank;
  }
  if (!runnable.empty()) {
    running_ = runnable[static_cast<std::size_t>(random_.below(runnable.size()))];
  } else {
    running_ = next_to_wake;
    if (running_ >= 0) now_ = std::max(now_, ranks_[static_cast<std::size_t>(running_)].wait_until);
  }
  baton_.notify_all();
}

void SimulatedNetwork::wait_for_baton(Rank rank, std::unique_lock<std::mutex>& lock) {
  baton_.wait(lock, [&] { return running_ == rank; });
}

}  // namespace react::runtime::simulated
