// AllReduce by Gloo over TCP. ALGORITHM: ring, ring-chunked, halving-doubling, bcube. MEETING: an empty folder; REACT_PEERS_ADDRESS is this
// rank's own (127.0.0.1 without it).
#include <gloo/allreduce.h>
#include <gloo/allreduce_halving_doubling.h>
#include <gloo/allreduce_ring_chunked.h>
#include <gloo/math.h>
#include <gloo/rendezvous/context.h>
#include <gloo/rendezvous/file_store.h>
#include <gloo/transport/tcp/device.h>

#include <functional>
#include <map>
#include <memory>

#include "job.h"

namespace {

using Context = std::shared_ptr<gloo::rendezvous::Context>;

// Algorithm objects are bound to a buffer and made once per buffer, outside of what is timed, as Gloo means them to be.
template <template <class> class Algorithm>
class Bound {
 public:
  explicit Bound(Context context) : context_(std::move(context)) {}
  void operator()(float* data, std::size_t count) {
    if (data != data_ || count != count_) {
      algorithm_ =
          std::make_unique<Algorithm<float>>(context_, std::vector<float*>{data}, static_cast<int>(count));
      data_ = data, count_ = count;
    }
    algorithm_->run();
  }

 private:
  Context context_;
  float* data_ = nullptr;
  std::size_t count_ = 0;
  std::unique_ptr<Algorithm<float>> algorithm_;
};

template <class T>
using HalvingDoubling = gloo::AllreduceHalvingDoubling<T>;
template <class T>
using RingChunked = gloo::AllreduceRingChunked<T>;

void direct(const Context& context, gloo::AllreduceOptions::Algorithm algorithm, auto* data,
            std::size_t count, gloo::AllreduceOptions::Func reduce) {
  gloo::AllreduceOptions options(context);
  options.setAlgorithm(algorithm);
  options.setOutput(data, count);
  options.setReduceFunction(std::move(reduce));
  gloo::allreduce(options);
}

}  // namespace

int main(int argc, char** argv) {
  const peers::Job job = peers::job_from(argc, argv);
  gloo::transport::tcp::attr attributes;
  const char* own = std::getenv("REACT_PEERS_ADDRESS");
  attributes.hostname = own != nullptr ? own : "127.0.0.1";
  auto device = gloo::transport::tcp::CreateDevice(attributes);
  auto context = std::make_shared<gloo::rendezvous::Context>(job.rank, job.ranks);
  gloo::rendezvous::FileStore store(job.meeting);
  context->connectFullMesh(store, device);

  using Algorithm = gloo::AllreduceOptions::Algorithm;
  const auto by = [&](Algorithm algorithm) {
    return [&context, algorithm](float* data, std::size_t count) {
      direct(context, algorithm, data, count,
             static_cast<void (*)(void*, const void*, const void*, std::size_t)>(&gloo::sum<float>));
    };
  };
  std::map<std::string, std::function<void(float*, std::size_t)>> algorithms{{"ring", by(Algorithm::RING)},
                                                                             {"bcube", by(Algorithm::BCUBE)}};
  algorithms["ring-chunked"] = [bound = std::make_shared<Bound<RingChunked>>(context)](
                                   float* data, std::size_t count) { (*bound)(data, count); };
  algorithms["halving-doubling"] = [bound = std::make_shared<Bound<HalvingDoubling>>(context)](
                                       float* data, std::size_t count) { (*bound)(data, count); };
  const auto chosen = algorithms.find(job.algorithm);
  if (chosen == algorithms.end()) {
    std::fprintf(stderr, "gloo_job: there is no algorithm %s\n", job.algorithm.c_str());
    return 2;
  }
  return peers::run(job, chosen->second, [&](double value) {
    direct(context, Algorithm::RING, &value, 1,
           static_cast<void (*)(void*, const void*, const void*, std::size_t)>(&gloo::max<double>));
    return value;
  });
}
