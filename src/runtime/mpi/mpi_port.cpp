#include "runtime/mpi/mpi_port.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>

#include "runtime/messaging/piece.h"
#include "runtime/mpi/mpi_session.h"

namespace react::runtime::mpi {
namespace {

// Messages matched and not complete, at most; more wait in MPI.
constexpr std::size_t kMostArriving = 64;

// Differs from those of this process's other ports: after billions of groups from those that are still open.
int next_tag(int largest) {
  static std::atomic<std::uint32_t> next{0};
  return static_cast<int>(next.fetch_add(1) % static_cast<std::uint32_t>(largest)) + 1;
}

Result<std::vector<Place>> read(const std::vector<messaging::Contact>& contacts, const Session& session) {
  std::vector<Place> places(contacts.size());
  for (std::size_t rank = 0; rank < contacts.size(); ++rank) {
    Place& place = places[rank];
    bool valid = contacts[rank].size() == sizeof place;
    if (valid) std::memcpy(&place, contacts[rank].data(), sizeof place);
    valid = valid && place.world_rank >= 0 && place.world_rank < session.world_size && place.tag > 0 &&
            place.tag <= session.largest_tag;
    if (!valid)
      return fail(ErrorCode::kPeerFailed,
                  "rank " + std::to_string(rank) + " is no rank of this MPI world; does it use the same MPI?",
                  static_cast<int>(rank));
  }
  return places;
}

}  // namespace

MpiPort::MpiPort(Rank rank, MPI_Comm among, bool shared, std::vector<Place> places)
    : own_tag_(places.at(static_cast<std::size_t>(rank)).tag),
      among_(among),
      shared_(shared),
      places_(std::move(places)) {}

std::string MpiPort::name() const {
  std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> text{};
  int length = 0;
  MPI_Get_library_version(text.data(), &length);
  std::string first(text.data());
  first = first.substr(0, first.find_first_of(",\n"));
  std::replace(first.begin(), first.end(), '\t', ' ');
  return first;
}

Result<void> MpiPort::send(Rank peer, std::span<const std::byte> bytes, std::uint32_t slot) {
  if (sending_.size() <= slot) sending_.resize(slot + 1, MPI_REQUEST_NULL);
  const Place& to = places_.at(static_cast<std::size_t>(peer));
  const int outcome = MPI_Isend(bytes.data(), static_cast<int>(bytes.size()), MPI_BYTE, to.world_rank, to.tag,
                                among_, &sending_[slot]);
  if (outcome != MPI_SUCCESS) return mpi_failure("MPI_Isend", outcome, peer);
  return {};
}

Result<void> MpiPort::progress(messaging::Progress& news) {
  if (!sending_.empty()) {
    sent_.resize(sending_.size());
    int done = 0;
    const int outcome = MPI_Testsome(static_cast<int>(sending_.size()), sending_.data(), &done, sent_.data(),
                                     MPI_STATUSES_IGNORE);
    if (outcome != MPI_SUCCESS) return mpi_failure("MPI_Testsome", outcome);
    if (done != MPI_UNDEFINED)
      for (int i = 0; i < done; ++i)
        news.sent.push_back(static_cast<std::uint32_t>(sent_[static_cast<std::size_t>(i)]));
  }
  if (auto looked = look_for_messages(); !looked) return looked;
  return hand_over_arrived(news);
}

Result<void> MpiPort::look_for_messages() {
  while (arriving_.size() < kMostArriving) {
    int found = 0;
    MPI_Message message = MPI_MESSAGE_NULL;
    MPI_Status status;
    int outcome = MPI_Improbe(MPI_ANY_SOURCE, own_tag_, among_, &found, &message, &status);
    if (outcome != MPI_SUCCESS) return mpi_failure("MPI_Improbe", outcome);
    if (found == 0) return {};
    int bytes = 0;
    MPI_Get_count(&status, MPI_BYTE, &bytes);
    Arriving arriving{MPI_REQUEST_NULL, status.MPI_SOURCE, nullptr};
    if (!free_.empty()) {
      arriving.buffer = std::move(free_.back());
      free_.pop_back();
    } else {
      arriving.buffer = std::make_unique<Buffer>();
      arriving.buffer->reserve(messaging::kLargestMessage);
    }
    arriving.buffer->resize(static_cast<std::size_t>(std::max(bytes, 0)));
    outcome = MPI_Imrecv(arriving.buffer->data(), bytes, MPI_BYTE, &message, &arriving.request);
    if (outcome != MPI_SUCCESS) return mpi_failure("MPI_Imrecv", outcome);
    arriving_.push_back(std::move(arriving));
  }
  return {};
}

// A large message may complete after a small one that was sent later: from one source, in order.
Result<void> MpiPort::hand_over_arrived(messaging::Progress& news) {
  std::vector<int> waits_for;
  for (auto arriving = arriving_.begin(); arriving != arriving_.end();) {
    int complete = 0;
    if (std::find(waits_for.begin(), waits_for.end(), arriving->source) == waits_for.end()) {
      const int outcome = MPI_Test(&arriving->request, &complete, MPI_STATUS_IGNORE);
      if (outcome != MPI_SUCCESS) return mpi_failure("MPI_Test", outcome);
    }
    if (complete == 0) {
      waits_for.push_back(arriving->source);
      ++arriving;
      continue;
    }
    Buffer* buffer = arriving->buffer.release();
    news.arrived.push_back({*buffer, buffer});
    arriving = arriving_.erase(arriving);
  }
  return {};
}

void MpiPort::release(const messaging::Arrival& arrival) {
  free_.emplace_back(static_cast<Buffer*>(arrival.owner));
}

// Sends cannot be taken back: if some are under way, MPI keeps their memory and the process does not finalise MPI.
bool MpiPort::close() {
  if (among_ == MPI_COMM_NULL) return false;
  const bool under_way = std::any_of(sending_.begin(), sending_.end(),
                                     [](MPI_Request request) { return request != MPI_REQUEST_NULL; });
  for (Arriving& arriving : arriving_) {
    MPI_Cancel(&arriving.request);
    static_cast<void>(arriving.buffer.release());  // MPI may still write to it
  }
  if (under_way || !arriving_.empty())
    leave_unfinalised();
  else if (!shared_)
    MPI_Comm_free(&among_);
  arriving_.clear();
  among_ = MPI_COMM_NULL;
  return under_way;
}

Result<messaging::Contact> MpiLibrary::own_contact() {
  const auto& own = session();
  if (!own) return tl::unexpected(own.error());
  const Place place{own->world_rank, next_tag(own->largest_tag), own->process};
  messaging::Contact contact(sizeof place);
  std::memcpy(contact.data(), &place, sizeof place);
  return contact;
}

Result<std::unique_ptr<messaging::MessagePort>> MpiLibrary::open_port(
    Rank rank, const std::vector<messaging::Contact>& contacts) {
  const auto& own = session();
  if (!own) return tl::unexpected(own.error());
  auto places = read(contacts, *own);
  if (!places) return tl::unexpected(places.error());
  const bool all_here = std::all_of(places->begin(), places->end(),
                                    [&](const Place& place) { return place.process == own->process; });
  if (all_here) {
    const auto among = own_communicator();
    if (!among) return tl::unexpected(among.error());
    for (Place& place : *places) place.world_rank = 0;
    return std::make_unique<MpiPort>(rank, *among, true, std::move(*places));
  }
  std::vector<int> world_ranks;
  for (const Place& place : *places) world_ranks.push_back(place.world_rank);
  auto distinct = world_ranks;
  std::sort(distinct.begin(), distinct.end());
  if (std::adjacent_find(distinct.begin(), distinct.end()) != distinct.end())
    return fail(ErrorCode::kInvalidInput,
                "transport \"mpi\" takes ranks that are processes of one MPI world, one each, or all threads "
                "of one process; "
                "start them with one mpirun");
  // Two groups may meet at the same time: the first rank and its tag tell them apart.
  const std::int64_t first = std::int64_t{places->front().tag} * own->world_size + world_ranks.front();
  const auto among = communicator_of(world_ranks, static_cast<int>(first % own->largest_tag));
  if (!among) return tl::unexpected(among.error());
  for (std::size_t i = 0; i < places->size(); ++i) (*places)[i].world_rank = static_cast<int>(i);
  return std::make_unique<MpiPort>(rank, *among, false, std::move(*places));
}

}  // namespace react::runtime::mpi

extern "C" [[gnu::visibility("default")]] void react_open_library_1(
    react::Result<std::unique_ptr<react::runtime::messaging::Library>>& library) {
  library = std::make_unique<react::runtime::mpi::MpiLibrary>();
}
