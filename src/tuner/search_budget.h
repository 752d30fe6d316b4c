// How often to search: Emax rounds, then as many of rest (paper section 5.4); Amax in one state of
// congestion; and after each roll-back in a row a rest twice as long, so that a network in which nothing
// helps is left alone.
#pragma once

#include <algorithm>
#include <cstdint>

#include "tuner/parameters.h"

namespace react::tuner {

class SearchBudget {
 public:
  SearchBudget(const Parameters& parameters, bool back_off)
      : rounds_at_most_(parameters.search_rounds),
        attempts_at_most_(parameters.search_attempts),
        back_off_(back_off) {}

  // Once per batch with congestion. False: rest.
  bool open() {
    if (rest_ > 0) {
      --rest_;
      return false;
    }
    return attempts_ < attempts_at_most_;
  }
  // A search took place.
  void searched() {
    ++attempts_;
    if (++rounds_ < rounds_at_most_) return;
    rounds_ = 0;
    rest_ = rounds_at_most_;
  }
  void kept() { rounds_ = attempts_ = rest_ = roll_backs_ = 0; }
  void rolled_back() {
    if (!back_off_) return;
    roll_backs_ = std::min(roll_backs_ + 1, kMostDoublings);
    rest_ = std::max(rest_, std::int32_t{1} << (roll_backs_ - 1));
  }
  // Another state of congestion: search at once.
  void new_state() { rounds_ = attempts_ = rest_ = roll_backs_ = 0; }

  std::int32_t round() const { return rounds_ + 1; }
  std::int32_t rest_left() const { return rest_; }
  bool used_up() const { return attempts_ >= attempts_at_most_; }

 private:
  static constexpr std::int32_t kMostDoublings = 10;
  std::int32_t rounds_at_most_, attempts_at_most_;
  bool back_off_;
  std::int32_t rounds_ = 0, attempts_ = 0, rest_ = 0, roll_backs_ = 0;
};

}  // namespace react::tuner
