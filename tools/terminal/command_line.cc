#include "tools/terminal/command_line.h"

#include <gflags/gflags.h>

#include <cstdio>
#include <cstdlib>

#include "neptune/base/strings.h"
#include "neptune/base/version.h"

DECLARE_bool(help);
DECLARE_bool(helpshort);

// How gflags ends the process when a flag does not parse; exported for this, but in no header.
namespace google {
extern void (*gflags_exitfunc)(int status);
}  // namespace google

namespace search::tools {
namespace {

constexpr int kCallersMistake = 2;

void PrintHelp(const std::string& usage, std::string_view source_file) {
  printf("%s\n\nFlags:\n", usage.c_str());
  std::vector<gflags::CommandLineFlagInfo> flags;
  gflags::GetAllFlags(&flags);
  for (const gflags::CommandLineFlagInfo& flag : flags) {
    if (flag.filename != source_file) continue;
    printf("  --%s  (%s, default %s)\n      %s\n", flag.name.c_str(), flag.type.c_str(),
           flag.default_value.empty() ? "none" : flag.default_value.c_str(),
           flag.description.c_str());
  }
}

}  // namespace

std::vector<std::string> ParseCommandLine(int* argc, char*** argv, const std::string& usage,
                                          std::string_view source_file) {
  gflags::SetUsageMessage(usage);
  gflags::SetVersionString(neptune::kVersion);
  google::gflags_exitfunc = [](int status) { exit(status == 0 ? 0 : kCallersMistake); };
  gflags::ParseCommandLineNonHelpFlags(argc, argv, true);
  if (FLAGS_help || FLAGS_helpshort) {
    PrintHelp(usage, source_file);
    exit(0);
  }
  gflags::HandleCommandLineHelpFlags();
  return {*argv + 1, *argv + *argc};
}

int ExitStatus(const neptune::Status& status, std::string_view tool) {
  if (status.ok()) return 0;
  const std::string message(neptune::ToStd(status.message()));
  fprintf(stderr, "%.*s: %s\n", static_cast<int>(tool.size()), tool.data(), message.c_str());
  const bool callers_mistake = status.code() == neptune::StatusCode::kInvalidArgument ||
                               status.code() == neptune::StatusCode::kNotFound;
  return callers_mistake ? kCallersMistake : 1;
}

std::vector<std::string> SplitList(std::string_view list) {
  std::vector<std::string> parts;
  while (!list.empty()) {
    const size_t end = std::min(list.find(','), list.size());
    if (end > 0) parts.emplace_back(list.substr(0, end));
    list.remove_prefix(std::min(end + 1, list.size()));
  }
  return parts;
}

}  // namespace search::tools
