// A tool's command line: flags, `--help` on standard output with status 0, errors with status 2.
//
// Threads: must be called once, before other threads start.

#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "neptune/base/status.h"

namespace search::tools {

// Parses the flags and returns the other arguments. `usage` describes the tool, with examples;
// `source_file` is the main's __FILE__, whose flags --help shows. Ends the process for --help and
// for flags that do not parse.
std::vector<std::string> ParseCommandLine(int* argc, char*** argv, const std::string& usage,
                                          std::string_view source_file);

// Prints an error message; returns the exit status: 0 OK, 2 invalid usage, 1 other errors.
int ExitStatus(const neptune::Status& status, std::string_view tool);

// Splits a list at commas; drops empty parts.
std::vector<std::string> SplitList(std::string_view list);

}  // namespace search::tools
