// Messages over UCX (https://openucx.org, UCP's active messages): InfiniBand, RoCE, shared memory or TCP, whichever UCX finds.
//
// One UCP context per process, one worker per port, one endpoint per peer. Messages go eagerly, since a transport's window
// bounds them, and stay where UCX has put them until they are released.
//
// UCX reads its own variables (UCX_TLS, UCX_NET_DEVICES, ...).
#pragma once

#include <ucp/api/ucp.h>

#include <deque>
#include <memory>
#include <vector>

#include "runtime/messaging/message_port.h"

namespace react::runtime::ucx {

class UcxPort final : public messaging::MessagePort {
 public:
  static Result<std::unique_ptr<UcxPort>> open();
  ~UcxPort() override;

  Result<messaging::Contact> contact() const;
  // Before the first send.
  Result<void> connect(Rank rank, const std::vector<messaging::Contact>& contacts);

  Result<void> send(Rank peer, std::span<const std::byte> bytes, std::uint32_t slot) override;
  Result<void> progress(messaging::Progress& news) override;
  void release(const messaging::Arrival& arrival) override;
  bool handed_over() override;
  bool close() override;
  int descriptor() const override { return descriptor_; }
  Result<bool> arm() override;
  std::string name() const override { return "UCX"; }

 private:
  UcxPort() = default;
  struct Endpoint {
    UcxPort* port = nullptr;
    Rank peer = 0;
    ucp_ep_h handle = nullptr;
  };
  // What a send's callback needs to know.
  struct Sending {
    UcxPort* port = nullptr;
    std::uint32_t slot = 0;
  };
  void flush();
  void wait_for(ucs_status_ptr_t request);

  static ucs_status_t on_message(void* port, const void* header, std::size_t header_bytes, void* data,
                                 std::size_t bytes, const ucp_am_recv_param_t* how);
  static void on_sent(void* request, ucs_status_t status, void* port);
  static void on_lost(void* endpoint, ucp_ep_h handle, ucs_status_t status);

  ucp_worker_h worker_ = nullptr;
  int descriptor_ = -1;
  std::vector<std::unique_ptr<Endpoint>> endpoints_;  // by rank; the own one is null
  std::deque<Sending> sendings_;                      // by slot
  messaging::Progress news_;                          // since the last progress()
  ucs_status_ptr_t flush_ = nullptr;                  // under way
  bool sent_since_flush_ = false;
};

// What react's loader asks for.
class UcxLibrary final : public messaging::Library {
 public:
  Result<messaging::Contact> own_contact() override;
  Result<std::unique_ptr<messaging::MessagePort>> open_port(
      Rank rank, const std::vector<messaging::Contact>& contacts) override;

 private:
  std::unique_ptr<UcxPort> port_;
};

}  // namespace react::runtime::ucx
