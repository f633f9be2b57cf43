// Runs programs as they are, with and without the preload library, for tests.
//
// Threads: thread-compatible.
// Limits: a program that runs for longer than kProgramTimeSecondsMax is ended by SIGALRM.

#pragma once

#include <string>
#include <vector>

namespace neptune::interpose {

inline constexpr int kProgramTimeSecondsMax = 60;

struct ProgramEnd {
  int exit_status = -1;  // -1: it was ended by a signal
  int signal = 0;
  std::string output;
  std::string errors;
};

// `environment` holds NAME=VALUE and is added to the caller's.
ProgramEnd RunProgram(const std::vector<std::string>& command,
                      const std::vector<std::string>& environment = {});

// The absolute name of a file of the tree, as `neptune/...`, in a test that names it as its data.
std::string TreeFile(const std::string& path);
// A new file in the test's folder.
std::string WriteTestFile(const std::string& name, const std::string& contents);

// What a program is started with to have its threads on so many kernel threads, and the capsules of that text.
std::vector<std::string> PreloadEnvironment(const std::string& capsules, int kernel_thread_count);

}  // namespace neptune::interpose
