// One rank of a timed AllReduce job, the same for every library: arguments, the loop, what rank 0 prints.
//
// A job is `PROGRAM RANK RANKS MEETING ALGORITHM SIZE,... SECONDS`; under an MPI launcher rank and ranks are the launcher's.
// MEETING is where the ranks find each other: HOST:PORT or a folder. Per size: a check of the result, a warm-up, then
// samples for SECONDS; a sample is a run of calls one after another (one call where it is long) divided by their number.
// Rank 0 prints "SIZE MICROSECONDS" per sample. Every rank uses one buffer, in place, and touches it first.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

namespace peers {

struct Job {
  int rank = 0, ranks = 1;
  std::string meeting, algorithm;
  std::vector<std::size_t> sizes;  // bytes, multiples of 4
  double seconds = 1;              // per size
};

inline Job job_from(int argc, char** argv) {
  if (argc != 7) {
    std::fprintf(stderr, "%s: RANK RANKS MEETING ALGORITHM SIZE,... SECONDS\n", argv[0]);
    std::exit(2);
  }
  Job job{std::atoi(argv[1]), std::atoi(argv[2]), argv[3], argv[4], {}, std::atof(argv[6])};
  for (const char* at = argv[5]; *at != '\0';) {
    char* end = nullptr;
    job.sizes.push_back(std::strtoull(at, &end, 10));
    at = *end == ',' ? end + 1 : end;
    if (end == at && *at != '\0') std::exit(2);
  }
  return job;
}

// `sum(buffer, count)`: in place over all ranks. `most(value)`: the greatest of all ranks' values, on every rank.
template <class Sum, class Most>
int run(const Job& job, Sum sum, Most most, bool checks = true) {
  using Clock = std::chrono::steady_clock;
  const auto since = [](Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
  };
  for (const std::size_t size : job.sizes) {
    const std::size_t count = size / sizeof(float);
    std::vector<float> buffer(count);
    // Whole numbers that differ by rank and place: every order of additions gives the same sum.
    for (std::size_t i = 0; i < count; ++i)
      buffer[i] = static_cast<float>(i % 97 + static_cast<std::size_t>(job.rank));
    sum(buffer.data(), count);
    const auto offsets = static_cast<std::size_t>(job.ranks * (job.ranks - 1) / 2);
    for (std::size_t i = 0; checks && i < count; ++i) {
      if (buffer[i] == static_cast<float>(i % 97 * static_cast<std::size_t>(job.ranks) + offsets)) continue;
      std::fprintf(stderr, "rank %d: element %zu of %zu is wrong: %g\n", job.rank, i, count, buffer[i]);
      return 1;
    }
    std::fill(buffer.begin(), buffer.end(), 0.0f);  // stays 0 however often it is summed

    const auto sample = [&](int calls) {
      most(0);  // together
      const auto start = Clock::now();
      for (int i = 0; i < calls; ++i) sum(buffer.data(), count);
      return most(since(start)) / calls;
    };
    const double first = sample(3);
    const int calls = static_cast<int>(std::clamp(0.01 / first, 1.0, 200.0));
    for (int i = 0; i < 3; ++i) sample(calls);
    const auto start = Clock::now();
    for (double spent = 0; spent < job.seconds; spent = most(since(start))) {
      const double seconds = sample(calls);
      if (job.rank == 0) std::printf("%zu %.3f\n", size, seconds * 1e6);
    }
  }
  std::fflush(stdout);
  return 0;
}

}  // namespace peers
