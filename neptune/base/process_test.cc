// Child processes: streams, settings, ends.

#include "neptune/base/process.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>

#include "neptune/base/descriptor.h"
#include "neptune/base/strings.h"

namespace neptune {
namespace {

std::string ReadAll(const Descriptor& from) {
  std::string text;
  char block[4096];
  while (true) {
    const ssize_t size = read(from.number(), block, sizeof(block));
    if (size < 0 && errno == EINTR) continue;
    if (size <= 0) return text;
    text.append(block, static_cast<size_t>(size));
  }
}

ProcessOptions Shell(const std::string& script) { return {.command = {"sh", "-c", script}}; }

// Runs it to its end and returns its standard output.
std::string OutputOf(ProcessOptions options) {
  Pipe output = MakePipe().value();
  options.output = output.writing.number();
  StatusOr<Process> process = Process::Start(options);
  output.writing.Close();
  if (!process.ok()) return process.status().ToString();
  const std::string text = ReadAll(output.reading);
  (void)process->Wait();
  return text;
}

TEST(ProcessTest, ReadsItsInputAndWritesItsOutput) {
  Pipe input = MakePipe().value();
  ASSERT_EQ(write(input.writing.number(), "hello", 5), 5);
  input.writing.Close();
  ProcessOptions options{.command = {"cat"}};
  options.input = input.reading.number();
  EXPECT_EQ(OutputOf(options), "hello");
}

TEST(ProcessTest, AddsAndReplacesVariables) {
  ASSERT_EQ(setenv("NEPTUNE_KEPT", "kept", 1), 0);
  ASSERT_EQ(setenv("NEPTUNE_REPLACED", "old", 1), 0);
  ProcessOptions options =
      Shell("echo $NEPTUNE_KEPT $NEPTUNE_REPLACED $NEPTUNE_ADDED; env | grep -c NEPTUNE_REPLACED=");
  options.environment = {"NEPTUNE_REPLACED=new", "NEPTUNE_ADDED=added"};
  EXPECT_EQ(OutputOf(options), "kept new added\n1\n");
}

TEST(ProcessTest, ReturnsHowItEnded) {
  EXPECT_EQ(Process::Start(Shell("exit 7"))->Wait().exit_status, 7);
  EXPECT_EQ(Process::Start(Shell("kill -TERM $$"))->Wait().signal, SIGTERM);
  Process process = Process::Start(Shell("exec tail -f /dev/null")).value();
  EXPECT_TRUE(process.running());
  EXPECT_EQ(process.Kill().signal, SIGKILL);
  EXPECT_FALSE(process.running());
}

TEST(ProcessTest, TakesAnEndOnlyOnceThereIsOne) {
  Pipe input = MakePipe().value();
  ProcessOptions options{.command = {"cat"}};
  options.input = input.reading.number();
  Process process = Process::Start(options).value();
  EXPECT_FALSE(process.TakeEnd().has_value());
  input.writing.Close();
  siginfo_t how{};
  ASSERT_EQ(waitid(P_PID, static_cast<id_t>(process.id()), &how, WEXITED | WNOWAIT), 0);
  const auto end = process.TakeEnd();
  ASSERT_TRUE(end.has_value());
  EXPECT_EQ(end->exit_status, 0);
  EXPECT_EQ(end->signal, 0);
  EXPECT_FALSE(process.running());
}

TEST(ProcessTest, NamesAProgramThatDoesNotStart) {
  const auto start = [](ProcessOptions options) { return Process::Start(options).status(); };
  EXPECT_EQ(start({.command = {"no-such-program"}}).code(), StatusCode::kNotFound);
  EXPECT_EQ(start({.command = {"/dev/null"}}).code(), StatusCode::kFailedPrecondition);
  ProcessOptions elsewhere = Shell("true");
  elsewhere.folder = "/no/such/folder";
  EXPECT_EQ(start(elsewhere).code(), StatusCode::kNotFound);
  ProcessOptions other_network = Shell("true");
  Pipe no_network = MakePipe().value();
  other_network.network = no_network.reading.number();
  EXPECT_EQ(start(other_network).code(), StatusCode::kFailedPrecondition);
}

TEST(ProcessTest, RunsInItsFolder) {
  ProcessOptions options{.command = {"pwd"}};
  options.folder = "/usr";
  EXPECT_EQ(OutputOf(options), "/usr\n");
}

TEST(ProcessTest, GetsNoOtherDescriptor) {
  const Descriptor open_here(open("/dev/null", O_RDONLY));  // not closed on exec by its own flag
  ASSERT_GT(open_here.number(), 2);
  const std::string name = std::to_string(open_here.number());
  EXPECT_EQ(OutputOf(Shell("[ -e /proc/self/fd/" + name + " ] || echo closed")), "closed\n");
}

TEST(ProcessTest, GetsDefaultHandlersAndNoBlockedSignals) {
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  const auto old_handler = signal(SIGUSR1, SIG_IGN);
  pthread_sigmask(SIG_BLOCK, &all, &before);
  const std::string masks = OutputOf(Shell("grep -E 'Sig(Blk|Ign)' /proc/self/status"));
  sigset_t after;
  pthread_sigmask(SIG_SETMASK, &before, &after);
  signal(SIGUSR1, old_handler);
  uint64_t blocked = 1;
  uint64_t ignored = 1;
  ASSERT_EQ(std::sscanf(masks.c_str(), "SigBlk: %" SCNx64 " SigIgn: %" SCNx64, &blocked, &ignored),
            2)
      << masks;
  constexpr uint64_t kOfLibrary = 3ULL << 31;  // signals 32 and 33, which programs cannot set
  EXPECT_EQ(blocked, 0u);
  EXPECT_EQ(ignored & ~kOfLibrary, 0u);
  EXPECT_EQ(sigismember(&after, SIGUSR2), 1) << "the caller's mask is restored";
}

TEST(ProcessTest, KillEndsDescendantsInItsGroup) {
  Pipe output = MakePipe().value();
  // The descendant holds the pipe open for as long as it lives.
  ProcessOptions options = Shell("tail -f /dev/null & echo started; wait");
  options.output = output.writing.number();
  options.in_own_group = true;
  Process process = Process::Start(options).value();
  output.writing.Close();
  char first;
  ASSERT_EQ(read(output.reading.number(), &first, 1), 1);
  EXPECT_EQ(process.Kill().signal, SIGKILL);
  EXPECT_EQ(ReadAll(output.reading), "tarted\n");
}

TEST(ProcessTest, DescendantsInItsGroupEndWithIt) {
  ProcessOptions options = Shell("tail -f /dev/null & echo started");
  options.in_own_group = true;
  Pipe output = MakePipe().value();
  options.output = output.writing.number();
  Process process = Process::Start(options).value();
  output.writing.Close();
  EXPECT_EQ(process.Wait().exit_status, 0);
  EXPECT_EQ(ReadAll(output.reading), "started\n");
}

TEST(ProcessTest, IsKilledWithItsOwner) {
  pid_t id = 0;
  {
    Process process = Process::Start(Shell("exec tail -f /dev/null")).value();
    id = process.id();
    Process moved = std::move(process);
    EXPECT_EQ(moved.id(), id);
  }
  EXPECT_EQ(kill(id, 0), -1);
  EXPECT_EQ(errno, ESRCH);
}

TEST(ProcessTest, RunsOnOneProcessor) {
  cpu_set_t allowed;
  ASSERT_EQ(sched_getaffinity(0, sizeof(allowed), &allowed), 0);
  int last = CPU_SETSIZE - 1;
  while (!CPU_ISSET(last, &allowed)) --last;
  ProcessOptions options = Shell("grep Cpus_allowed_list /proc/self/status");
  options.processor = last;
  EXPECT_EQ(OutputOf(options), StrCat("Cpus_allowed_list:\t", last, "\n"));
}

}  // namespace
}  // namespace neptune
