#include "perf/measurement.h"

#include "perf/bandwidth.h"
#include "perf/message_buffers.h"

namespace react::perf {
namespace {

using runtime::ElementType;
using runtime::kInPlace;
using runtime::ReduceOp;

class Measurement {
 public:
  Measurement(const Job& job, runtime::ProcessGroup& group, const runtime::Clock& clock)
      : job_(job),
        group_(group),
        clock_(clock),
        buffers_(job.collective, job.root, group, job.sizes.empty() ? Bytes{0} : job.sizes.back()) {}

  Result<Row> row(const KnownValues& values, Bytes wanted) {
    Row row;
    row.what = {values.type(), values.op()};
    row.count = count_within(wanted, job_.collective, group_.ranks(), values.type());
    row.size = message_size(row.count, job_.collective, group_.ranks(), values.type());
    buffers_.select(values, static_cast<std::size_t>(row.count));
    for (const auto& [placement, timing] : {std::pair{Placement::kOutOfPlace, &row.out_of_place},
                                            std::pair{Placement::kInPlace, &row.in_place}}) {
      if (auto done = take(placement, row.size, *timing); !done) return tl::unexpected(done.error());
    }
    row.pattern_version = group_.version();
    return row;
  }

 private:
  Result<void> repeat_run(Placement placement, std::int64_t times) {
    for (std::int64_t i = 0; i < times; ++i)
      if (auto ran = buffers_.run(group_, placement); !ran) return ran;
    return {};
  }

  Result<void> take(Placement placement, Bytes size, Timing& timing) {
    buffers_.fill(placement);
    if (auto warm = repeat_run(placement, job_.warmup_iterations); !warm) return warm;
    if (auto met = group_.barrier(); !met) return met;
    const TimePoint start = clock_.now();
    if (auto ran = repeat_run(placement, job_.iterations); !ran) return ran;
    const auto passed_ns = static_cast<double>((clock_.now() - start).count());
    timing.time_us = passed_ns / 1e3 / static_cast<double>(job_.iterations);
    auto agreed = group_.allreduce(kInPlace, &timing.time_us, 1, ElementType::kFloat64, ReduceOp::kMax);
    if (!agreed) return agreed;
    timing.algbw_gbytes_per_s = algbw_gbytes_per_s(size, timing.time_us);
    timing.busbw_gbytes_per_s = timing.algbw_gbytes_per_s * busbw_factor(job_.collective, group_.ranks());
    return job_.check ? check(placement, timing) : Result<void>{};
  }

  // What the timed runs have left is not defined: in place they worked on their own results.
  Result<void> check(Placement placement, Timing& timing) {
    buffers_.fill(placement);
    if (auto ran = buffers_.run(group_, placement); !ran) return ran;
    std::int64_t wrong = buffers_.wrong(placement);
    auto summed = group_.allreduce(kInPlace, &wrong, 1, ElementType::kInt64, ReduceOp::kSum);
    if (summed) timing.wrong = wrong;
    return summed;
  }

  const Job& job_;
  runtime::ProcessGroup& group_;
  const runtime::Clock& clock_;
  MessageBuffers buffers_;
};

}  // namespace

Result<Totals> measure(const Job& job, runtime::ProcessGroup& group, const runtime::Clock& clock,
                       const std::function<Result<void>(const Row&)>& on_row) {
  Measurement measurement(job, group, clock);
  Totals totals;
  double busbw_sum = 0;
  for (const Case& what : job.cases) {
    const KnownValues values(what.type, what.op, group.ranks());
    for (const Bytes size : job.sizes) {
      auto row = measurement.row(values, size);
      if (!row) return tl::unexpected(row.error());
      for (const Timing* timing : {&row->out_of_place, &row->in_place}) {
        totals.wrong += timing->wrong.value_or(0);
        busbw_sum += timing->busbw_gbytes_per_s;
      }
      if (auto told = on_row(*row); !told) return tl::unexpected(told.error());
    }
  }
  const auto timings = static_cast<double>(2 * job.cases.size() * job.sizes.size());
  totals.average_busbw_gbytes_per_s = timings > 0 ? busbw_sum / timings : 0;
  return totals;
}

}  // namespace react::perf
