// AllReduce by REACT. ALGORITHM: TRANSPORT or TRANSPORT:POLICY, such as "tcp", "shm:off"; the collective's own algorithm is
// chosen by size.
#include "job.h"
#include "runtime/process_group.h"

namespace {

using namespace react;
using runtime::ElementType;
using runtime::kInPlace;
using runtime::ReduceOp;

int failed(const Error& error) {
  std::fprintf(stderr, "react_job: %s\n", error.message.c_str());
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  const peers::Job job = peers::job_from(argc, argv);
  runtime::GroupOptions options;
  options.rank = job.rank;
  options.ranks = job.ranks;
  options.leader_address = job.meeting;
  const auto colon = job.algorithm.find(':');
  options.transport = job.algorithm.substr(0, colon);
  if (colon != std::string::npos) {
    const auto policy = tuner::policy_from_name(job.algorithm.substr(colon + 1));
    if (!policy) return failed(policy.error());
    options.parameters.policy = *policy;
  }
  auto group = runtime::ProcessGroup::create(options);
  if (!group) return failed(group.error());
  const auto must = [](const Result<void>& done) {
    if (!done) std::exit(failed(done.error()));
  };
  const int code = peers::run(
      job,
      [&](float* data, std::size_t count) {
        must((*group)->allreduce(kInPlace, data, count, ElementType::kFloat32, ReduceOp::kSum));
      },
      [&](double value) {
        must((*group)->allreduce(kInPlace, &value, 1, ElementType::kFloat64, ReduceOp::kMax));
        return value;
      });
  must((*group)->barrier());
  return code;
}
