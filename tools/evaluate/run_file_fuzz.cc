// Reads any bytes as a run file: refused, or written and read back with the same lists.

#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "tools/evaluate/run_file.h"

namespace {

// In the folder that the test runner gives, else the system's.
std::string PathOf(const char* name) {
  const char* const folder = std::getenv("TEST_TMPDIR");
  const std::filesystem::path base = folder == nullptr ? "/tmp" : folder;
  return (base / (std::string(name) + "." + std::to_string(getpid()))).string();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const std::string given = PathOf("given.run");
  static const std::string written = PathOf("written.run");
  std::ofstream(given, std::ios::binary | std::ios::trunc)
      .write(reinterpret_cast<const char*>(data), static_cast<std::streamsize>(size));
  auto run = search::tools::ReadRun(given);
  if (!run.ok()) return 0;
  if (!search::tools::WriteRun(written, *run, "fuzz").ok()) std::abort();
  const auto again = search::tools::ReadRun(written);
  if (!again.ok()) std::abort();
  for (auto& [query, entries] : *run) search::tools::SortForJudging(&entries);
  if (*again != *run) std::abort();
  return 0;
}
