// Result<T>: the outcome of anything that input, a peer or the system can make fail.
//
// An Error carries one line for a person: what went wrong, where, and how to mend it.
#pragma once

#include <string>
#include <tl/expected.hpp>
#include <utility>

namespace react {

enum class ErrorCode {
  kInvalidInput,  // a file, flag or message is not what it claims to be
  kSystem,        // the operating system refused
  kPeerFailed,    // another rank died, closed or went silent; Error::rank names it
  kTimeout,       // a bounded wait ran out
  kAborted,       // the group was aborted before or during the call
};

struct Error {
  ErrorCode code = ErrorCode::kInvalidInput;
  std::string message;
  int rank = -1;  // the rank at fault where there is one
};

template <class T>
using Result = tl::expected<T, Error>;

inline tl::unexpected<Error> fail(ErrorCode code, std::string message, int rank = -1) {
  return tl::unexpected<Error>(Error{code, std::move(message), rank});
}

inline tl::unexpected<Error> invalid(std::string message) {
  return fail(ErrorCode::kInvalidInput, std::move(message));
}

}  // namespace react
