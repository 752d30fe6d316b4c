#include "runtime/ucx/ucx_port.h"

#include <cstdint>
#include <utility>

#include "runtime/messaging/piece.h"

namespace react::runtime::ucx {
namespace {

constexpr unsigned kMessageId = 1;
// Calls of ucp_worker_progress() in a row: one handles a batch of what has come.
constexpr int kProgressCalls = 16;

tl::unexpected<Error> ucx_failure(const std::string& call, ucs_status_t status, int rank = -1) {
  return fail(rank < 0 ? ErrorCode::kSystem : ErrorCode::kPeerFailed,
              "UCX: " + call + ": " + ucs_status_string(status), rank);
}

Result<ucp_context_h> open_context() {
  ucp_config_t* config = nullptr;
  if (const ucs_status_t status = ucp_config_read(nullptr, nullptr, &config); status != UCS_OK)
    return ucx_failure("reading its configuration", status);
  ucp_params_t params{};
  params.field_mask = UCP_PARAM_FIELD_FEATURES | UCP_PARAM_FIELD_MT_WORKERS_SHARED | UCP_PARAM_FIELD_NAME;
  params.features = UCP_FEATURE_AM | UCP_FEATURE_WAKEUP;
  params.mt_workers_shared = 1;
  params.name = "react";
  ucp_context_h context = nullptr;
  const ucs_status_t status = ucp_init(&params, config, &context);
  ucp_config_release(config);
  if (status != UCS_OK) return ucx_failure("opening a context", status);
  return context;
}

// Lives as long as the process.
const Result<ucp_context_h>& process_context() {
  static const Result<ucp_context_h> context = open_context();
  return context;
}

}  // namespace

Result<std::unique_ptr<UcxPort>> UcxPort::open() {
  const auto& context = process_context();
  if (!context) return tl::unexpected(context.error());
  std::unique_ptr<UcxPort> port(new UcxPort);
  ucp_worker_params_t params{};
  params.field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE;
  params.thread_mode = UCS_THREAD_MODE_SERIALIZED;
  if (const ucs_status_t status = ucp_worker_create(*context, &params, &port->worker_); status != UCS_OK)
    return ucx_failure("creating a worker", status);
  if (const ucs_status_t status = ucp_worker_get_efd(port->worker_, &port->descriptor_); status != UCS_OK)
    return ucx_failure("a descriptor to wait on", status);
  ucp_am_handler_param_t handler{};
  handler.field_mask = UCP_AM_HANDLER_PARAM_FIELD_ID | UCP_AM_HANDLER_PARAM_FIELD_FLAGS |
                       UCP_AM_HANDLER_PARAM_FIELD_CB | UCP_AM_HANDLER_PARAM_FIELD_ARG;
  handler.id = kMessageId;
  handler.flags = UCP_AM_FLAG_WHOLE_MSG | UCP_AM_FLAG_PERSISTENT_DATA;
  handler.cb = &UcxPort::on_message;
  handler.arg = port.get();
  if (const ucs_status_t status = ucp_worker_set_am_recv_handler(port->worker_, &handler); status != UCS_OK)
    return ucx_failure("setting the receiver", status);
  return port;
}

UcxPort::~UcxPort() { close(); }

Result<messaging::Contact> UcxPort::contact() const {
  ucp_address_t* address = nullptr;
  std::size_t bytes = 0;
  if (const ucs_status_t status = ucp_worker_get_address(worker_, &address, &bytes); status != UCS_OK)
    return ucx_failure("asking for the worker's address", status);
  const auto* begin = reinterpret_cast<const std::byte*>(address);
  messaging::Contact contact(begin, begin + bytes);
  ucp_worker_release_address(worker_, address);
  return contact;
}

Result<void> UcxPort::connect(Rank rank, const std::vector<messaging::Contact>& contacts) {
  endpoints_.resize(contacts.size());
  for (std::size_t peer = 0; peer < contacts.size(); ++peer) {
    if (static_cast<Rank>(peer) == rank) continue;
    auto endpoint = std::make_unique<Endpoint>();
    endpoint->port = this;
    endpoint->peer = static_cast<Rank>(peer);
    ucp_ep_params_t params{};
    params.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS | UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE |
                        UCP_EP_PARAM_FIELD_ERR_HANDLER;
    params.address = reinterpret_cast<const ucp_address_t*>(contacts[peer].data());
    params.err_mode = UCP_ERR_HANDLING_MODE_PEER;
    params.err_handler = {&UcxPort::on_lost, endpoint.get()};
    if (const ucs_status_t status = ucp_ep_create(worker_, &params, &endpoint->handle); status != UCS_OK)
      return ucx_failure("an endpoint to rank " + std::to_string(peer), status, static_cast<int>(peer));
    endpoints_[peer] = std::move(endpoint);
  }
  return {};
}

Result<void> UcxPort::send(Rank peer, std::span<const std::byte> bytes, std::uint32_t slot) {
  ucp_request_param_t params{};
  params.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA | UCP_OP_ATTR_FIELD_FLAGS;
  params.flags = UCP_AM_SEND_FLAG_EAGER;
  params.cb.send = &UcxPort::on_sent;
  while (sendings_.size() <= slot) sendings_.push_back({this, static_cast<std::uint32_t>(sendings_.size())});
  params.user_data = &sendings_[slot];
  const Endpoint& endpoint = *endpoints_.at(static_cast<std::size_t>(peer));
  const ucs_status_ptr_t request =
      ucp_am_send_nbx(endpoint.handle, kMessageId, nullptr, 0, bytes.data(), bytes.size(), &params);
  sent_since_flush_ = true;
  if (UCS_PTR_IS_PTR(request)) return {};
  if (UCS_PTR_IS_ERR(request)) news_.lost.push_back(peer);
  news_.sent.push_back(slot);
  return {};
}

void UcxPort::on_sent(void* request, ucs_status_t, void* user_data) {
  // A failure is the endpoint's, which on_lost() hears of.
  const auto* sending = static_cast<Sending*>(user_data);
  sending->port->news_.sent.push_back(sending->slot);
  ucp_request_free(request);
}

ucs_status_t UcxPort::on_message(void* port, const void*, std::size_t, void* data, std::size_t bytes,
                                 const ucp_am_recv_param_t* how) {
  const bool stays = (how->recv_attr & UCP_AM_RECV_ATTR_FLAG_DATA) != 0;
  if (!stays || bytes > messaging::kLargestMessage) return UCS_OK;  // no message of ours: dropped
  static_cast<UcxPort*>(port)->news_.arrived.push_back({{static_cast<const std::byte*>(data), bytes}, data});
  return UCS_INPROGRESS;
}

void UcxPort::on_lost(void* endpoint, ucp_ep_h, ucs_status_t) {
  auto* lost = static_cast<Endpoint*>(endpoint);
  lost->port->news_.lost.push_back(lost->peer);
}

Result<void> UcxPort::progress(messaging::Progress& news) {
  for (int call = 0; call < kProgressCalls && ucp_worker_progress(worker_) != 0; ++call) {
  }
  const auto hand_over = [](auto& from, auto& to) {
    to.insert(to.end(), from.begin(), from.end());
    from.clear();
  };
  hand_over(news_.sent, news.sent);
  hand_over(news_.arrived, news.arrived);
  hand_over(news_.lost, news.lost);
  return {};
}

void UcxPort::release(const messaging::Arrival& arrival) { ucp_am_data_release(worker_, arrival.owner); }

void UcxPort::flush() {
  sent_since_flush_ = false;
  ucp_request_param_t params{};
  const ucs_status_ptr_t request = ucp_worker_flush_nbx(worker_, &params);
  // A failure is some endpoint's, which on_lost() hears of.
  flush_ = UCS_PTR_IS_PTR(request) ? request : nullptr;
}

// A send is over once UCX has a copy, which may still wait for room in a socket: only a flush tells.
bool UcxPort::handed_over() {
  if (flush_ == nullptr && sent_since_flush_) flush();
  if (flush_ == nullptr) return true;
  if (ucp_request_check_status(flush_) == UCS_INPROGRESS) return false;
  ucp_request_free(std::exchange(flush_, nullptr));
  return !sent_since_flush_;
}

Result<bool> UcxPort::arm() {
  // UCX may have called back within a send or a flush, and its descriptor speaks of what it has not looked at yet only.
  if (ucp_worker_progress(worker_) != 0 || !news_.sent.empty() || !news_.arrived.empty() ||
      !news_.lost.empty())
    return false;
  const ucs_status_t status = ucp_worker_arm(worker_);
  if (status == UCS_OK) return true;
  if (status == UCS_ERR_BUSY) return false;
  return ucx_failure("waiting", status);
}

void UcxPort::wait_for(ucs_status_ptr_t request) {
  if (!UCS_PTR_IS_PTR(request)) return;
  while (ucp_request_check_status(request) == UCS_INPROGRESS) ucp_worker_progress(worker_);
  ucp_request_free(request);
}

// Endpoints are closed by force, which waits for no peer and ends every message under way.
bool UcxPort::close() {
  if (worker_ == nullptr) return false;
  std::vector<ucs_status_ptr_t> closing;
  for (const auto& endpoint : endpoints_) {
    if (!endpoint) continue;
    ucp_request_param_t params{};
    params.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS;
    params.flags = UCP_EP_CLOSE_FLAG_FORCE;
    closing.push_back(ucp_ep_close_nbx(endpoint->handle, &params));
  }
  for (const ucs_status_ptr_t request : closing) wait_for(request);
  wait_for(std::exchange(flush_, nullptr));
  for (const messaging::Arrival& arrival : news_.arrived) release(arrival);
  ucp_worker_destroy(std::exchange(worker_, nullptr));
  return false;
}

Result<messaging::Contact> UcxLibrary::own_contact() {
  auto port = UcxPort::open();
  if (!port) return tl::unexpected(port.error());
  port_ = std::move(*port);
  return port_->contact();
}

Result<std::unique_ptr<messaging::MessagePort>> UcxLibrary::open_port(
    Rank rank, const std::vector<messaging::Contact>& contacts) {
  if (auto connected = port_->connect(rank, contacts); !connected) return tl::unexpected(connected.error());
  return std::unique_ptr<messaging::MessagePort>(std::move(port_));
}

}  // namespace react::runtime::ucx

extern "C" [[gnu::visibility("default")]] void react_open_library_1(
    react::Result<std::unique_ptr<react::runtime::messaging::Library>>& library) {
  library = std::make_unique<react::runtime::ucx::UcxLibrary>();
}
