#include "runtime/messaging/contacts.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>
#include <system_error>

namespace react::runtime::messaging {
namespace {

constexpr std::uint32_t kLargestContact = 64 * 1024;

tl::unexpected<Error> said_nothing(Rank peer, const std::string& why) {
  return fail(ErrorCode::kPeerFailed,
              fmt::format("rank {} did not say how it is reached: {}; do all ranks have the same transport?",
                          peer, why),
              peer);
}

Result<void> receive_within(int socket, std::span<std::byte> into, Deadline deadline) {
  while (!into.empty()) {
    const ssize_t got = recv(socket, into.data(), into.size(), MSG_DONTWAIT);
    if (got > 0) {
      into = into.subspan(static_cast<std::size_t>(got));
      continue;
    }
    if (got == 0) return fail(ErrorCode::kPeerFailed, "connection closed");
    if (errno != EAGAIN && errno != EINTR)
      return fail(ErrorCode::kPeerFailed, std::generic_category().message(errno));
    pollfd waiting{socket, POLLIN, 0};
    if (poll(&waiting, 1, poll_milliseconds(deadline)) == 0) return fail(ErrorCode::kTimeout, "timed out");
  }
  return {};
}

Result<Contact> receive_contact(int socket, Deadline deadline) {
  std::uint32_t size = 0;
  if (auto got = receive_within(socket, std::as_writable_bytes(std::span(&size, 1)), deadline); !got)
    return tl::unexpected(got.error());
  if (size > kLargestContact)
    return fail(ErrorCode::kPeerFailed,
                fmt::format("sent {} bytes, at most {} are taken", size, kLargestContact));
  Contact contact(size);
  if (auto got = receive_within(socket, contact, deadline); !got) return tl::unexpected(got.error());
  return contact;
}

}  // namespace

Result<std::vector<Contact>> exchange_contacts(Rank rank, const std::vector<FileDescriptor>& channels,
                                               const Contact& own, Deadline deadline) {
  if (own.size() > kLargestContact)
    return fail(ErrorCode::kSystem, fmt::format("an own contact of {} bytes is too large", own.size()));
  const auto size = static_cast<std::uint32_t>(own.size());
  Contact message(sizeof size + own.size());
  std::memcpy(message.data(), &size, sizeof size);
  std::memcpy(message.data() + sizeof size, own.data(), own.size());
  // All send before they receive: a fresh connection's buffers take a contact whole.
  for (std::size_t peer = 0; peer < channels.size(); ++peer)
    if (channels[peer])
      if (auto sent = send_within(channels[peer].get(), message, deadline); !sent)
        return said_nothing(static_cast<Rank>(peer), sent.error().message);
  std::vector<Contact> contacts(channels.size());
  contacts[static_cast<std::size_t>(rank)] = own;
  for (std::size_t peer = 0; peer < channels.size(); ++peer) {
    if (!channels[peer]) continue;
    auto contact = receive_contact(channels[peer].get(), deadline);
    if (!contact) return said_nothing(static_cast<Rank>(peer), contact.error().message);
    contacts[peer] = std::move(*contact);
  }
  return contacts;
}

}  // namespace react::runtime::messaging
