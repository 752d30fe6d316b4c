#include "runtime/messaging/plug_in.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

namespace react::runtime::messaging {
namespace {

namespace fs = std::filesystem;

struct PlugIn {
  const char* file;
  const char* needs;  // Debian's package without which it is not built
};

constexpr PlugIn kUcx{"libreact-ucx.so", "libucx-dev"};
constexpr PlugIn kOpenMpi{"libreact-openmpi.so", "libopenmpi-dev"};
constexpr PlugIn kMpich{"libreact-mpich.so", "libmpich-dev"};

bool is_loaded(const char* library) { return dlopen(library, RTLD_LAZY | RTLD_NOLOAD) != nullptr; }

bool is_set(const char* variable) { return std::getenv(variable) != nullptr; }

// The MPI that the program uses already; otherwise the one whose launcher started it; otherwise whichever there is.
std::vector<PlugIn> plug_ins_for(std::string_view name) {
  if (name == "ucx") return {kUcx};
  if (is_loaded("libmpi.so.40")) return {kOpenMpi};
  if (is_loaded("libmpich.so.12")) return {kMpich};
  if (is_set("OMPI_COMM_WORLD_SIZE")) return {kOpenMpi};
  if (is_set("PMI_RANK")) return {kMpich};
  return {kOpenMpi, kMpich};
}

std::vector<fs::path> folders() {
  std::vector<fs::path> found;
  if (const char* named = std::getenv("REACT_PLUG_INS"); named != nullptr && *named != '\0') return {named};
  Dl_info self{};
  std::error_code ignored;
  fs::path own = fs::read_symlink("/proc/self/exe", ignored);
  // In a shared library the code's own file is known by its full name.
  if (dladdr(reinterpret_cast<const void*>(&folders), &self) != 0 && self.dli_fname != nullptr &&
      fs::path(self.dli_fname).is_absolute())
    own = self.dli_fname;
  const fs::path folder = own.parent_path();
  return {folder, folder / "lib/react", folder.parent_path() / "lib/react"};
}

}  // namespace

Result<std::unique_ptr<Library>> load_library(std::string_view name) {
  std::string missing;
  for (const PlugIn& plug_in : plug_ins_for(name)) {
    for (const fs::path& folder : folders()) {
      const fs::path path = folder / plug_in.file;
      if (std::error_code ignored; !fs::exists(path, ignored)) continue;
      void* loaded = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
      if (loaded == nullptr)
        return fail(ErrorCode::kSystem,
                    fmt::format("transport \"{}\" cannot be used here: {}", name, dlerror()));
      const auto open = reinterpret_cast<OpenLibrary>(dlsym(loaded, kOpenLibrary));
      if (open == nullptr)
        return fail(
            ErrorCode::kSystem,
            fmt::format("transport \"{}\" cannot be used here: {} belongs to another version of REACT", name,
                        path.string()));
      Result<std::unique_ptr<Library>> library = fail(ErrorCode::kSystem, "the plug-in did nothing");
      open(library);
      return library;
    }
    missing += fmt::format("{}{} (built where Debian's {} is installed)", missing.empty() ? "" : " or ",
                           plug_in.file, plug_in.needs);
  }
  std::string where;
  for (const fs::path& folder : folders()) where += (where.empty() ? "" : ", ") + folder.string();
  return fail(
      ErrorCode::kSystem,
      fmt::format("transport \"{}\" is not there: no {} in {}; REACT_PLUG_INS may name another folder", name,
                  missing, where));
}

}  // namespace react::runtime::messaging
