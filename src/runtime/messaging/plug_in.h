// Message libraries that are not everywhere (UCX, MPI) come as plug-ins: shared objects that are loaded when a group asks for
// their transport. A plug-in needs nothing of the program that loads it but this folder's headers.
//
// Plug-ins lie in the folder that REACT_PLUG_INS names, beside the program or library that holds this code, or in lib/react or
// ../lib/react from there. They stay loaded.
//
// Thread-safe.
#pragma once

#include <memory>
#include <string_view>

#include "base/result.h"
#include "runtime/messaging/message_port.h"

namespace react::runtime::messaging {

// What a plug-in exports, with C linkage under the name kOpenLibrary. The number grows with every change to message_port.h.
using OpenLibrary = void (*)(Result<std::unique_ptr<Library>>& library);
inline constexpr char kOpenLibrary[] = "react_open_library_1";

// name: "ucx" or "mpi". The error says where was looked and what was missing.
Result<std::unique_ptr<Library>> load_library(std::string_view name);

}  // namespace react::runtime::messaging
