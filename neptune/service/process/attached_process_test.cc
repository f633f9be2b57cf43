// Programs as a user-level thread's request: what they answer, how they fail, and that nothing of
// them is left.

#include "neptune/service/process/attached_process.h"

#include <dirent.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>

#include <cerrno>
#include <fstream>
#include <functional>

#include "neptune/base/notification.h"
#include "neptune/base/strings.h"
#include "neptune/thread/synchronization.h"
#include "neptune/thread/user_thread.h"
#include "neptune/thread/work_meter.h"
#include "neptune/wire/incoming_call.h"
#include "neptune/world/random_source.h"
#include "neptune/world/real/real_world.h"
#include "neptune/world/sim/simulator.h"

namespace neptune {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

AttachedProgram Shell(const std::string& script) { return {"sh", {"-c", script}, ""}; }
// Far longer than any test; a test that waits for its end fails by the test's own time limit.
AttachedProgram Endless() { return {"sleep", {"100000"}, ""}; }

bool ChildExists() {
  siginfo_t any{};
  return waitid(P_ALL, 0, &any, WEXITED | WNOHANG | WNOWAIT) == 0 || errno != ECHILD;
}

int OpenDescriptorCount() {
  DIR* const folder = opendir("/proc/self/fd");
  int count = 0;
  while (readdir(folder) != nullptr) ++count;
  closedir(folder);
  return count;
}

// True if the process is gone, or dead and not yet reaped by its parent.
bool Ended(const std::string& pid) {
  std::ifstream file(StrCat("/proc/", pid, "/stat"));
  std::string number, name, state;
  return !(file >> number >> name >> state) || state == "Z";
}

class AttachedProcessTest : public testing::Test {
 protected:
  AttachedProcessTest() : world_(MakeRealWorld({})), loop_(*world_->StartLoop({.name = "test"})) {
    OnLoop([this] { scheduler_ = std::make_unique<ThreadScheduler>(*loop_); });
  }
  ~AttachedProcessTest() override {
    OnLoop([this] { scheduler_.reset(); });
    world_->Stop();
    EXPECT_FALSE(ChildExists());
  }

  void OnLoop(std::function<void()> work) {
    Notification done;
    loop_->Post([&] {
      work();
      done.Notify();
    });
    done.WaitForNotification();
  }

  // Runs `body` on a user-level thread to its end.
  void OnThread(std::function<void()> body) {
    Notification done;
    loop_->Post([&] {
      ASSERT_TRUE(scheduler_
                      ->Spawn([&] {
                        body();
                        done.Notify();
                      })
                      .ok());
    });
    done.WaitForNotification();
  }

  StatusOr<std::string> Run(AttachedProgram program, TimePoint deadline = kNever) {
    StatusOr<std::string> output = Internal("did not run");
    OnThread([&] { output = processes_.Run(std::move(program), deadline); });
    return output;
  }

  void ExpectError(AttachedProgram program, StatusCode code, const std::string& part) {
    const StatusOr<std::string> output = Run(std::move(program));
    EXPECT_EQ(output.status().code(), code) << output.status();
    EXPECT_NE(ToStd(output.status().message()).find(part), std::string::npos) << output.status();
  }

  RequestContext Request(const std::shared_ptr<IncomingCall>& call) {
    return RequestContext({.partition = PartitionId(0)}, call, *world_);
  }

  // Waits, on a user-level thread, until `done` holds.
  void AwaitTrue(const std::function<bool()>& done) {
    while (!done()) this_thread::SleepFor(milliseconds(1));
  }

  AttachedProcesses processes_{{.running_count_max = 4, .output_size_max = 8 << 20}};
  std::unique_ptr<World> world_;
  Loop* loop_;
  std::unique_ptr<ThreadScheduler> scheduler_;
};

TEST_F(AttachedProcessTest, FeedsInputAndCollectsOutput) {
  RandomSource random(1);
  std::string text(3'000'001, ' ');
  for (char& c : text) c = static_cast<char>(random.Below(256));
  const StatusOr<std::string> output = Run({"cat", {}, text});
  ASSERT_TRUE(output.ok()) << output.status();
  EXPECT_TRUE(*output == text) << output->size() << " bytes";
}

TEST_F(AttachedProcessTest, ItsProcessorTimeIsWorkOfTheThread) {
  Duration working{0};
  Duration idle{0};
  OnThread([&] {
    const WorkMeter idle_meter;
    EXPECT_TRUE(processes_.Run(Shell("sleep 0.3"), kNever).ok());
    idle = idle_meter.Read();
    const WorkMeter meter;
    EXPECT_TRUE(
        processes_.Run(Shell("i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done"), kNever).ok());
    working = meter.Read();
  });
  EXPECT_LT(idle, milliseconds(300)) << "it slept";
  EXPECT_GT(working, idle);
}

TEST_F(AttachedProcessTest, PassesArgumentsUnchanged) {
  const StatusOr<std::string> output = Run({"printf", {"%s|%s|%s", "a b", "", "'\"$x*"}, ""});
  ASSERT_TRUE(output.ok()) << output.status();
  EXPECT_EQ(*output, "a b||'\"$x*");
}

TEST_F(AttachedProcessTest, ProgramNeedNotReadItsInput) {
  const StatusOr<std::string> output = Run({"true", {}, std::string(1 << 20, 'x')});
  EXPECT_TRUE(output.ok()) << output.status();
}

TEST_F(AttachedProcessTest, ProgramGetsItsStreamsAndNothingElse) {
  const StatusOr<std::string> output = Run(Shell("ls /proc/self/fd | tr '\\n' ' '"));
  ASSERT_TRUE(output.ok()) << output.status();
  EXPECT_EQ(*output, "0 1 2 3 ");  // the last is the folder that ls reads
}

TEST_F(AttachedProcessTest, OutputOverTheLimitEndsTheProgram) {
  ExpectError({"yes", {}, ""}, StatusCode::kResourceExhausted, "exceeds 8388608 bytes");
}

TEST_F(AttachedProcessTest, OutputAtTheLimitIsKept) {
  const StatusOr<std::string> output = Run({"head", {"-c", "8388608", "/dev/zero"}, ""});
  ASSERT_TRUE(output.ok()) << output.status();
  EXPECT_EQ(output->size(), 8u << 20);
}

TEST_F(AttachedProcessTest, CrashIsAnErrorOfThisRunOnly) {
  StatusOr<std::string> other = Internal("did not run");
  OnThread([&] {
    const auto beside = ThreadScheduler::Current()->Spawn(
        [&] { other = processes_.Run(Shell("sleep 0.1; echo still here"), kNever); });
    const StatusOr<std::string> crashed = processes_.Run(Shell("kill -SEGV $$"), kNever);
    EXPECT_EQ(crashed.status().code(), StatusCode::kInternal);
    EXPECT_NE(ToStd(crashed.status().message()).find("Segmentation fault"), std::string::npos)
        << crashed.status();
    ThreadScheduler::Current()->Join(*beside->get(), kNever);
  });
  ASSERT_TRUE(other.ok()) << other.status();
  EXPECT_EQ(*other, "still here\n");
}

TEST_F(AttachedProcessTest, ExitStatusComesWithTheFirstLineOfStandardError) {
  ExpectError(Shell("echo all is lost >&2; echo more >&2; exit 3"), StatusCode::kInternal,
              "status 3: all is lost");
}

TEST_F(AttachedProcessTest, EndlessStandardErrorIsReadAndCut) {
  const StatusOr<std::string> output = Run(Shell("head -c 1000000 /dev/zero >&2; echo done"));
  ASSERT_TRUE(output.ok()) << output.status();
  EXPECT_EQ(*output, "done\n");
}

TEST_F(AttachedProcessTest, MissingProgramIsNotFound) {
  ExpectError({"no-such-program-anywhere", {}, ""}, StatusCode::kNotFound, "no-such-program");
  ExpectError({"/no/such/folder/program", {}, ""}, StatusCode::kNotFound, "/no/such/folder");
}

TEST_F(AttachedProcessTest, FileThatIsNoProgramIsRefused) {
  ExpectError({"/etc/passwd", {}, ""}, StatusCode::kFailedPrecondition, "/etc/passwd");
}

TEST_F(AttachedProcessTest, DeadlineKills) {
  const StatusOr<std::string> output = Run(Endless(), loop_->Now() + milliseconds(20));
  EXPECT_EQ(output.status().code(), StatusCode::kDeadlineExceeded) << output.status();
  EXPECT_FALSE(ChildExists());
}

// The loop serves the thread that cancels while the other one waits for its program.
TEST_F(AttachedProcessTest, CancellationKills) {
  const auto call = std::make_shared<IncomingCall>();
  const RequestContext request = Request(call);
  StatusOr<std::string> output = Internal("did not run");
  OnThread([&] {
    const auto running =
        ThreadScheduler::Current()->Spawn([&] { output = processes_.Run(request, Endless()); });
    AwaitTrue([&] { return processes_.running_count() == 1; });
    call->Cancel();
    ThreadScheduler::Current()->Join(*running->get(), kNever);
  });
  EXPECT_EQ(output.status().code(), StatusCode::kCancelled) << output.status();
  EXPECT_FALSE(ChildExists());
}

TEST_F(AttachedProcessTest, CallThatWasCancelledBeforeRunsNothingToItsEnd) {
  const auto call = std::make_shared<IncomingCall>();
  call->Cancel();
  const RequestContext request = Request(call);
  StatusOr<std::string> output = Internal("did not run");
  OnThread([&] { output = processes_.Run(request, Endless()); });
  EXPECT_EQ(output.status().code(), StatusCode::kCancelled) << output.status();
}

TEST_F(AttachedProcessTest, StopOfTheLoopsThreadsKills) {
  StatusOr<std::string> output = Internal("did not run");
  OnThread([&] {
    (void)ThreadScheduler::Current()->Spawn([&] { ThreadScheduler::Current()->Stop(); });
    output = processes_.Run(Endless(), kNever);
  });
  EXPECT_EQ(output.status().code(), StatusCode::kCancelled) << output.status();
  EXPECT_FALSE(ChildExists());
}

TEST_F(AttachedProcessTest, WhatTheProgramStartedEndsWithIt) {
  const StatusOr<std::string> output = Run(Shell("sleep 100000 & echo $!"));
  ASSERT_TRUE(output.ok()) << output.status();
  const std::string left_behind = output->substr(0, output->size() - 1);
  OnThread([&] { AwaitTrue([&] { return Ended(left_behind); }); });
}

TEST_F(AttachedProcessTest, SeveralRunAtOnceAndOneMoreIsRefused) {
  const auto call = std::make_shared<IncomingCall>();
  const RequestContext request = Request(call);
  int cancelled_count = 0;
  OnThread([&] {
    std::vector<ThreadRef> running;
    for (int i = 0; i < 4; ++i) {
      running.push_back(*ThreadScheduler::Current()->Spawn([&] {
        if (processes_.Run(request, Endless()).status().code() == StatusCode::kCancelled) {
          ++cancelled_count;
        }
      }));
    }
    AwaitTrue([&] { return processes_.running_count() == 4; });
    EXPECT_EQ(processes_.Run({"true", {}, ""}, kNever).status().code(),
              StatusCode::kResourceExhausted);
    call->Cancel();
    for (const ThreadRef& thread : running) {
      ThreadScheduler::Current()->Join(*thread.get(), kNever);
    }
    EXPECT_TRUE(processes_.Run({"true", {}, ""}, kNever).ok());
  });
  EXPECT_EQ(cancelled_count, 4);
}

TEST_F(AttachedProcessTest, FiveHundredRunsLeaveNothing) {
  ASSERT_TRUE(Run({"true", {}, ""}).ok());
  const int before = OpenDescriptorCount();
  OnThread([&] {
    const std::vector<std::pair<AttachedProgram, bool>> programs = {
        {{"cat", {}, "x"}, true}, {{"false", {}, ""}, false}, {{"no-such-program", {}, ""}, false}};
    for (size_t i = 0; i < 500; ++i) {
      const auto& [program, succeeds] = programs[i % programs.size()];
      ASSERT_EQ(processes_.Run(program, kNever).ok(), succeeds) << "run " << i;
    }
  });
  EXPECT_EQ(OpenDescriptorCount(), before);
  EXPECT_FALSE(ChildExists());
  EXPECT_EQ(processes_.running_count(), 0);
}

TEST(AttachedProcessSimulationTest, SimulatedWorldHasNoPrograms) {
  Simulator simulator(1);
  World& world = simulator.AddHost({.name = "host"});
  Loop* const loop = *world.StartLoop({.name = "loop"});
  AttachedProcesses processes;
  StatusOr<std::string> output = Internal("did not run");
  std::unique_ptr<ThreadScheduler> scheduler;
  loop->Post([&] {
    scheduler = std::make_unique<ThreadScheduler>(*loop);
    (void)scheduler->Spawn([&] { output = processes.Run({"true", {}, ""}, kNever); });
  });
  simulator.RunFor(seconds(1));
  EXPECT_EQ(output.status().code(), StatusCode::kUnimplemented) << output.status();
}

}  // namespace
}  // namespace neptune
