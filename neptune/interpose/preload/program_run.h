// Runs unmodified programs with and without the preload library, for tests.
//
// Threads: thread-compatible.
// Limits: a program that runs longer than kProgramTimeSecondsMax is killed by SIGALRM.

#pragma once

#include <string>
#include <vector>

namespace neptune::interpose {

inline constexpr int kProgramTimeSecondsMax = 60;

struct ProgramEnd {
  int exit_status = -1;  // -1: killed by a signal
  int signal = 0;
  std::string output;
  std::string errors;
};

// `environment` has entries NAME=VALUE, which are added to the caller's environment.
ProgramEnd RunProgram(const std::vector<std::string>& command,
                      const std::vector<std::string>& environment = {});

// The absolute path of a file of the source tree, e.g. `neptune/...`; it must be in the test's
// data.
std::string TreeFile(const std::string& path);
// A new file in the test's folder.
std::string WriteTestFile(const std::string& name, const std::string& contents);

// Environment that preloads the library with these capsules and this number of kernel threads.
std::vector<std::string> PreloadEnvironment(const std::string& capsules, int kernel_thread_count);

}  // namespace neptune::interpose
