// What transport.h promises, over every transport: TCP, shared memory between processes and between threads, both mixed, the
// message libraries that are there, the simulated network.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <thread>

#include "runtime/open_transport.h"
#include "runtime/simulated/simulated_network.h"

namespace react::runtime {
namespace {

constexpr std::int32_t kLanes = 2;
constexpr Nanoseconds kLong = std::chrono::seconds(20);

// kThreads: shared memory, told that the ranks are threads; kSomeThreads: only some of them are.
enum class Over { kTcp, kShm, kThreads, kSomeThreads, kMixed, kUcx, kMpi, kSimulated };

using Body = std::function<void(Rank, std::span<Transport* const>)>;

// Runs body(rank, all transports) on every rank at once. A rank whose body returns closes its links.
class TransportContract : public testing::TestWithParam<Over> {
 protected:
  void run(Rank ranks, const Body& body) const {
    if (GetParam() == Over::kSimulated) return run_simulated(ranks, body);
    // One rank more, that only takes part in the opening, so that every rank has links of both kinds.
    const bool both_kinds = GetParam() == Over::kMixed || GetParam() == Over::kSomeThreads;
    const Rank all = both_kinds ? ranks + 1 : ranks;
    const auto kind = [&](Rank rank) {
      if (GetParam() == Over::kTcp) return TransportKind::kTcp;
      if (GetParam() == Over::kUcx) return TransportKind::kUcx;
      if (GetParam() == Over::kMpi) return TransportKind::kMpi;
      if (GetParam() != Over::kMixed) return TransportKind::kShm;
      return rank >= 2 ? TransportKind::kTcp : TransportKind::kAuto;
    };
    const auto threads = std::make_shared<shm::ThreadRanks>();
    const auto threads_of = [&](Rank rank) {
      return GetParam() == Over::kThreads || (GetParam() == Over::kSomeThreads && rank < 2) ? threads
                                                                                            : nullptr;
    };
    std::vector<DataListeners> listeners;
    std::vector<SocketAddress> addresses;
    for (Rank rank = 0; rank < all; ++rank) {
      auto opened = DataListeners::open(*SocketAddress::parse("127.0.0.1:0"), kind(rank), threads_of(rank));
      ASSERT_TRUE(opened) << opened.error().message;
      addresses.push_back(opened->address);
      listeners.push_back(std::move(*opened));
    }
    std::vector<std::unique_ptr<Transport>> owned(static_cast<std::size_t>(all));
    on_all(all, [&](Rank rank) {
      TransportOptions options;
      options.kind = kind(rank);
      options.mesh.rank = rank;
      options.mesh.addresses = addresses;
      options.mesh.lanes = kLanes;
      options.mesh.session = 77;
      options.mesh.deadline = std::chrono::steady_clock::now() + kLong;
      auto opened = open_transport(options, std::move(listeners[static_cast<std::size_t>(rank)]));
      ASSERT_TRUE(opened) << opened.error().message;
      owned[static_cast<std::size_t>(rank)] = std::move(*opened);
    });
    std::vector<Transport*> transports;
    for (const auto& transport : owned) transports.push_back(transport.get());
    ASSERT_EQ(std::count(transports.begin(), transports.end(), nullptr), 0);
    on_all(ranks, [&](Rank rank) {
      body(rank, transports);
      owned[static_cast<std::size_t>(rank)].reset();
    });
  }

 private:
  static void on_all(Rank ranks, const std::function<void(Rank)>& body) {
    std::vector<std::thread> threads;
    for (Rank rank = 0; rank < ranks; ++rank) threads.emplace_back(body, rank);
    for (std::thread& thread : threads) thread.join();
  }

  static void run_simulated(Rank ranks, const Body& body) {
    simulated::SimulatedNetwork network({ranks, kLanes, 4096, 1500, 1});
    std::vector<Transport*> transports;
    for (Rank rank = 0; rank < ranks; ++rank) transports.push_back(&network.transport(rank));
    network.run([&](Rank rank) { body(rank, transports); });
  }
};

// Waits until `wanted` is true of an event of this link.
template <class Wanted>
void wait_for(Transport& transport, std::int32_t link, const Wanted& wanted) {
  std::vector<LinkEvent> events;
  while (std::none_of(events.begin(), events.end(),
                      [&](const LinkEvent& event) { return event.link == link && wanted(event); })) {
    events.clear();
    ASSERT_TRUE(transport.wait(kLong, events));
  }
}

void write_all(Transport& transport, Rank peer, std::int32_t lane, std::span<const std::byte> bytes) {
  Link& link = transport.link(peer, lane);
  while (!bytes.empty()) {
    const std::size_t header = std::min<std::size_t>(bytes.size(), 32);
    const auto taken = link.write(bytes.first(header), bytes.subspan(header), Timing::kEnds);
    ASSERT_TRUE(taken) << taken.error().message;
    bytes = bytes.subspan(*taken);
    if (*taken == 0)
      wait_for(transport, peer * kLanes + lane, [](const LinkEvent& event) { return event.writable; });
  }
}

void read_all(Transport& transport, Rank peer, std::int32_t lane, std::span<std::byte> into) {
  Link& link = transport.link(peer, lane);
  while (!into.empty()) {
    const auto got = link.read(into);
    ASSERT_TRUE(got) << got.error().message;
    into = into.subspan(*got);
    if (*got == 0)
      wait_for(transport, peer * kLanes + lane, [](const LinkEvent& event) { return event.readable; });
  }
}

std::vector<std::byte> numbered(std::size_t size, std::size_t salt) {
  std::vector<std::byte> bytes(size);
  for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<std::byte>((i * 31 + i / 251 + salt) & 255);
  return bytes;
}

TEST_P(TransportContract, KeepsOrderOnEveryLink) {
  constexpr std::size_t kSize = 5'000'011;  // more than any link's buffer
  const std::size_t size = GetParam() == Over::kSimulated ? 50'021 : kSize;
  run(3, [&](Rank rank, std::span<Transport* const> transports) {
    Transport& own = *transports[static_cast<std::size_t>(rank)];
    const Rank next = (rank + 1) % 3, before = (rank + 2) % 3;
    for (std::int32_t lane = 0; lane < kLanes; ++lane) {
      // The ranks write one after the other, or full links would form a cycle.
      if (rank != 2) write_all(own, next, lane, numbered(size, static_cast<std::size_t>(rank * 2 + lane)));
      std::vector<std::byte> bytes(size);
      read_all(own, before, lane, bytes);
      EXPECT_EQ(bytes, numbered(size, static_cast<std::size_t>(before * 2 + lane)));
      if (rank == 2) write_all(own, next, lane, numbered(size, static_cast<std::size_t>(rank * 2 + lane)));
    }
  });
}

// Reads by turns from where bytes lie, an uneven part at a time, and by copying.
TEST_P(TransportContract, LendsWhatAReadWouldCopy) {
  constexpr std::size_t kSize = 3'000'017;
  const std::size_t size = GetParam() == Over::kSimulated ? 30'017 : kSize;
  run(2, [size](Rank rank, std::span<Transport* const> transports) {
    Transport& own = *transports[static_cast<std::size_t>(rank)];
    if (rank == 0) return write_all(own, 1, 0, numbered(size, 3));
    Link& link = own.link(0, 0);
    std::vector<std::byte> bytes;
    while (bytes.size() < size) {
      std::byte copied[5];
      const auto got = link.read(std::span(copied).first(std::min<std::size_t>(5, size - bytes.size())));
      ASSERT_TRUE(got) << got.error().message;
      bytes.insert(bytes.end(), copied, copied + *got);
      std::span<const std::byte> lent;
      if (bytes.size() < size) {
        const auto lending = link.lent();
        ASSERT_TRUE(lending) << lending.error().message;
        if (!link.lends()) {
          EXPECT_TRUE(lending->empty());
        }
        lent = lending->first(lending->size() - lending->size() / 3);
        bytes.insert(bytes.end(), lent.begin(), lent.end());
        if (!lent.empty()) link.taken(lent.size());
      }
      if (*got == 0 && lent.empty())
        wait_for(own, 0 * kLanes + 0, [](const LinkEvent& event) { return event.readable; });
    }
    EXPECT_EQ(bytes, numbered(size, 3));
  });
}

TEST_P(TransportContract, AFullLinkTakesNothingUntilItIsRead) {
  run(2, [](Rank rank, std::span<Transport* const> transports) {
    Transport& own = *transports[static_cast<std::size_t>(rank)];
    Link& link = own.link(1 - rank, 0);
    std::uint64_t total = 0;
    if (rank == 0) {
      const auto piece = numbered(100'000, 0);
      while (true) {
        const auto taken = link.write({}, piece, Timing::kContinues);
        ASSERT_TRUE(taken);
        ASSERT_LE(*taken, piece.size());
        if (*taken == 0) break;
        total += *taken;
      }
      // The other lane is free.
      write_all(own, 1, 1, std::as_bytes(std::span(&total, 1)));
      wait_for(own, 1 * kLanes + 0, [](const LinkEvent& event) { return event.writable; });
      const auto taken = link.write({}, piece, Timing::kContinues);
      ASSERT_TRUE(taken);
      EXPECT_GT(*taken, 0u);
      std::byte end{};
      read_all(own, 1, 1, {&end, 1});
    } else {
      read_all(own, 0, 1, std::as_writable_bytes(std::span(&total, 1)));
      std::vector<std::byte> bytes(total);
      read_all(own, 0, 0, bytes);
      write_all(own, 0, 1, {bytes.data(), 1});
      // Leaves only once the peer has read that: a TCP link that is closed with bytes unread takes back what it sent.
      const auto got = own.link(0, 1).read(bytes);
      if (got && *got == 0)
        wait_for(own, 0 * kLanes + 1, [](const LinkEvent& event) { return event.readable; });
    }
  });
}

// Takes what a fresh transport has to say.
void drain_events(Transport& transport) {
  std::vector<LinkEvent> events;
  do {
    events.clear();
    ASSERT_TRUE(transport.wait(Nanoseconds(0), events));
  } while (!events.empty());
}

TEST_P(TransportContract, WakeFromAnotherThreadEndsAWait) {
  std::atomic<bool> waking{false};
  run(2, [&](Rank rank, std::span<Transport* const> transports) {
    Transport& own = *transports[static_cast<std::size_t>(rank)];
    std::byte byte{};
    if (rank == 1) {
      waking = true;
      transports[0]->wake();
      read_all(own, 0, 0, {&byte, 1});
      write_all(own, 0, 0, {&byte, 1});
      return;
    }
    drain_events(own);
    const auto start = std::chrono::steady_clock::now();
    std::vector<LinkEvent> events;
    while (!waking) ASSERT_TRUE(own.wait(kLong, events));
    EXPECT_LT(std::chrono::steady_clock::now() - start, kLong / 2);
    write_all(own, 1, 0, {&byte, 1});
    read_all(own, 1, 0, {&byte, 1});
  });
}

TEST_P(TransportContract, WakeBeforeAWaitEndsIt) {
  run(2, [](Rank rank, std::span<Transport* const> transports) {
    Transport& own = *transports[static_cast<std::size_t>(rank)];
    drain_events(own);
    std::vector<LinkEvent> events;
    own.wake();
    const auto start = std::chrono::steady_clock::now();
    ASSERT_TRUE(own.wait(kLong, events));
    EXPECT_LT(std::chrono::steady_clock::now() - start, kLong / 2);
  });
}

TEST_P(TransportContract, ClosingIsAnErrorAfterWhatWasWritten) {
  run(2, [](Rank rank, std::span<Transport* const> transports) {
    Transport& own = *transports[static_cast<std::size_t>(rank)];
    if (rank == 0) return write_all(own, 1, 0, numbered(3000, 5));
    // First until the peer has closed its links.
    for (int closed = 0; closed == 0;) {
      std::byte byte;
      const auto got = own.link(0, 1).read({&byte, 1});
      if (!got) {
        EXPECT_EQ(got.error().code, ErrorCode::kPeerFailed);
        closed = 1;
      } else {
        wait_for(own, 0 * kLanes + 1, [](const LinkEvent& event) { return event.readable; });
      }
    }
    std::vector<std::byte> bytes(3000);
    read_all(own, 0, 0, bytes);
    EXPECT_EQ(bytes, numbered(3000, 5));
    EXPECT_FALSE(own.link(0, 0).read(bytes));
    EXPECT_FALSE(own.link(0, 0).peer_address().empty());
  });
}

TEST_P(TransportContract, SaysReadableOnceUntilAReadWouldBlock) {
  run(2, [](Rank rank, std::span<Transport* const> transports) {
    Transport& own = *transports[static_cast<std::size_t>(rank)];
    const auto readable = [](const LinkEvent& event) { return event.readable; };
    std::byte byte{};
    if (rank == 0) {
      write_all(own, 1, 0, numbered(1000, 0));
      read_all(own, 1, 1, {&byte, 1});
      write_all(own, 1, 0, numbered(1000, 0));
      read_all(own, 1, 1, {&byte, 1});
      return;
    }
    wait_for(own, 0, readable);
    const auto expect_silence = [&] {
      std::vector<LinkEvent> events;
      ASSERT_TRUE(own.wait(std::chrono::milliseconds(5), events));
      EXPECT_TRUE(std::none_of(events.begin(), events.end(),
                               [&](const LinkEvent& event) { return event.link == 0 && readable(event); }));
    };
    // The simulated network tells of every write, which comes in pieces. The kernel may say the same edge twice.
    drain_events(own);
    if (GetParam() != Over::kSimulated) expect_silence();
    std::vector<std::byte> bytes(1000);
    read_all(own, 0, 0, bytes);
    ASSERT_EQ(*own.link(0, 0).read(bytes), 0u);
    write_all(own, 0, 1, {&byte, 1});
    wait_for(own, 0, readable);
    read_all(own, 0, 0, bytes);
    write_all(own, 0, 1, {&byte, 1});
  });
}

TEST_P(TransportContract, StatisticsCountWhatArrived) {
  run(2, [](Rank rank, std::span<Transport* const> transports) {
    Transport& own = *transports[static_cast<std::size_t>(rank)];
    std::vector<std::byte> bytes(40'000);
    if (rank == 1) {
      read_all(own, 0, 0, bytes);
      write_all(own, 0, 1, {bytes.data(), 1});
      return;
    }
    const SendStatistics before = own.link(1, 0).statistics();
    write_all(own, 1, 0, bytes);
    read_all(own, 1, 1, {bytes.data(), 1});
    const SendStatistics after = own.link(1, 0).statistics();
    EXPECT_EQ((after.acknowledged - before.acknowledged).count, 40'000);
    EXPECT_GT(after.active, before.active);
  });
}

std::string name_of_case(const testing::TestParamInfo<Over>& test) {
  switch (test.param) {
    case Over::kTcp:
      return "Tcp";
    case Over::kShm:
      return "Shm";
    case Over::kThreads:
      return "Threads";
    case Over::kSomeThreads:
      return "SomeThreads";
    case Over::kMixed:
      return "Mixed";
    case Over::kUcx:
      return "Ucx";
    case Over::kMpi:
      return "Mpi";
    case Over::kSimulated:
      return "Simulated";
  }
  return "";
}

std::vector<Over> transports_here() {
  std::vector<Over> here{Over::kTcp,         Over::kShm,   Over::kThreads,
                         Over::kSomeThreads, Over::kMixed, Over::kSimulated};
#ifdef REACT_HAS_UCX
  here.push_back(Over::kUcx);
#endif
#ifdef REACT_HAS_MPI
  here.push_back(Over::kMpi);
#endif
  return here;
}

INSTANTIATE_TEST_SUITE_P(Over, TransportContract, testing::ValuesIn(transports_here()), name_of_case);

}  // namespace
}  // namespace react::runtime
