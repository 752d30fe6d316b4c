// The kernel's congestion control of one TCP socket.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace react::runtime::tcp {

// The socket's own first, then what else the system allows to whoever runs this.
std::vector<std::string> congestion_controls_of(int socket);

Result<void> set_congestion_control(int socket, const std::string& name);

}  // namespace react::runtime::tcp
