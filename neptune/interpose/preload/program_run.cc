#include "neptune/interpose/preload/program_run.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "neptune/base/file.h"
#include "neptune/base/strings.h"

namespace neptune::interpose {
namespace {

constexpr size_t kOutputSizeMax = 16 << 20;

std::string NewTestFile(const std::string& name) {
  static int count = 0;
  return StrCat(testing::TempDir(), "/", getpid(), ".", ++count, ".", name);
}

std::vector<char*> Pointers(const std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (const std::string& text : texts) pointers.push_back(const_cast<char*>(text.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

void SendTo(const std::string& path, int descriptor) {
  const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  if (file < 0 || dup2(file, descriptor) < 0) _exit(126);
  close(file);
}

std::string Contents(const std::string& path) {
  const StatusOr<std::string> contents = ReadFile(path, kOutputSizeMax);
  EXPECT_TRUE(contents.ok()) << contents.status();
  return contents.value_or("");
}

}  // namespace

ProgramEnd RunProgram(const std::vector<std::string>& command,
                      const std::vector<std::string>& environment) {
  const std::string output = NewTestFile("output");
  const std::string errors = NewTestFile("errors");
  const std::vector<char*> arguments = Pointers(command);
  std::vector<std::string> variables = environment;
  for (char** variable = environ; *variable != nullptr; ++variable) variables.push_back(*variable);
  const std::vector<char*> all_variables = Pointers(variables);
  const pid_t child = fork();
  if (child == 0) {
    SendTo(output, STDOUT_FILENO);
    SendTo(errors, STDERR_FILENO);
    alarm(kProgramTimeSecondsMax);
    execve(arguments[0], arguments.data(), all_variables.data());
    _exit(127);
  }
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  ProgramEnd end{.output = Contents(output), .errors = Contents(errors)};
  if (WIFEXITED(status)) end.exit_status = WEXITSTATUS(status);
  if (WIFSIGNALED(status)) end.signal = WTERMSIG(status);
  return end;
}

std::string TreeFile(const std::string& path) { return std::filesystem::absolute(path); }

std::string WriteTestFile(const std::string& name, const std::string& contents) {
  const std::string path = NewTestFile(name);
  std::ofstream(path) << contents;
  return path;
}

std::vector<std::string> PreloadEnvironment(const std::string& capsules, int kernel_thread_count) {
  return {StrCat("LD_PRELOAD=", TreeFile("neptune/interpose/preload/libneptune_preload.so")),
          StrCat("NEPTUNE_CAPSULES=", WriteTestFile("capsules", capsules)),
          StrCat("NEPTUNE_KERNEL_THREADS=", kernel_thread_count)};
}

}  // namespace neptune::interpose
