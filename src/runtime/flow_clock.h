// The flow completion times of one rank's sends: what each link delivered since the last reading, told to the flows
// that used it.
//
// Reading happens when the next epoch begins, when all but the last bytes have been acknowledged; what was not is
// found in the next reading. Flows that shared a link (same peer, same lane) get its time in proportion to their sizes.
// One thread.
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/messages.h"
#include "runtime/program.h"
#include "runtime/transport.h"

namespace react::runtime {

class FlowClock {
 public:
  FlowClock(Transport& transport, Rank ranks);

  // Starts an epoch of `program`: from here on, links are read for its flows.
  void begin(const Program& program, const Layout& layout);
  // What the links did since begin().
  std::vector<messages::FlowReport::Flow> read();

 private:
  struct Use {
    std::uint32_t edge;
    std::int64_t elements;
  };
  Transport& transport_;
  std::vector<std::vector<Use>> uses_;  // per link: peer * lanes + lane
  std::vector<std::int32_t> used_;      // links with uses
  std::vector<SendStatistics> before_;
};

}  // namespace react::runtime
