// Warnings for the person who runs the job: on stderr, since stdout belongs to the program that uses the library.
//
// Thread-safe. For what went wrong and does not end the job; what ends a call is its Error.
#pragma once

#include <string>

namespace react::runtime {

void log_warning(const std::string& message);
// For whoever debugs the runtime itself; off unless the level in log.cpp is lowered.
void log_debug(const std::string& message);

}  // namespace react::runtime
