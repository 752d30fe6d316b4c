// Names of outcomes, as traces and reports write them.
#pragma once

#include <string_view>

#include "tuner/controller.h"

namespace react::tuner {

constexpr std::string_view name_of(Outcome outcome) {
  switch (outcome) {
    case Outcome::kQuiet:
      return "quiet";
    case Outcome::kResting:
      return "resting";
    case Outcome::kNoBetter:
      return "no-better";
    case Outcome::kChange:
      return "change";
    case Outcome::kKept:
      return "kept";
    case Outcome::kRollBack:
      return "roll-back";
    case Outcome::kRestore:
      return "restore";
    case Outcome::kWaiting:
      return "waiting";
  }
  return "?";
}

}  // namespace react::tuner
