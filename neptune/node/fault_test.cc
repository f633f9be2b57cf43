// Random faults against a cluster under load: what was answered is right, every call ends in time, no
// queue grows over its limit, and once the faults end all views are whole again.

#include <gtest/gtest.h>

#include "neptune/base/strings.h"
#include "neptune/node/simulated_cluster.h"
#include "neptune/thread/user_thread.h"
#include "neptune/world/random_source.h"
#include "neptune/world/sim/fault_plan.h"

namespace neptune {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr int kServerCount = 5;
constexpr uint32_t kPartitionCount = 2;
constexpr int kCallerCount = 20;
constexpr Duration kTimeout = milliseconds(500);
// A timer fires at its time; the rest is the turn of the loop.
constexpr Duration kLateness = milliseconds(5);
constexpr TimePoint kFaultsEnd = TimePoint(seconds(30));

// How often each write was done, over all hosts and their lives.
using WriteCounts = std::map<std::string, int>;

class EchoUnderFaults final : public ServiceModule {
 public:
  EchoUnderFaults(WriteCounts* writes, bool with_bug) : writes_(*writes), with_bug_(with_bug) {}
  std::string implementation() const override { return "echo"; }

  Status Start(ModuleContext& context) override {
    context.registrar.Method(MethodName("Echo"), {.grain = Grain::kLong},
                             [this](RequestContext& request, const Data& input, Data* output) {
                               latest_ = input.bytes();
                               this_thread::Consume(request.world().processors(), milliseconds(2));
                               // The planted bug: what all requests share is read after a wait.
                               *output = with_bug_ ? Data(latest_) : input;
                               return OkStatus();
                             });
    context.registrar.Method(MethodName("Write"),
                             {.access = AccessMode::kWrite, .stateless = false},
                             [this](RequestContext&, const Data& input, Data* output) {
                               ++writes_[input.bytes()];
                               *output = input;
                               return OkStatus();
                             });
    return OkStatus();
  }

 private:
  WriteCounts& writes_;
  const bool with_bug_;
  std::string latest_;
};

struct Findings {
  int ok_count = 0;
  int failed_count = 0;
  std::vector<std::string> wrong;
  uint64_t trace_hash = 0;
};

class FaultRun {
 public:
  FaultRun(uint64_t seed, bool with_bug)
      : random_(seed), cluster_(Options(seed, with_bug)), plan_(PlanFaults()) {}

  Findings Run() {
    ScheduleFaults(simulator(), plan_);
    for (int i = 0; i < kCallerCount; ++i) {
      cluster_.SpawnOnClient([this, i](ClientSession& session) { Load(session, i); });
    }
    while (simulator().now() < kFaultsEnd) {
      simulator().RunFor(milliseconds(10));
      CheckQueues();
    }
    simulator().RunFor(seconds(8));
    ending_ = true;
    simulator().RunFor(seconds(2));
    CheckWholeness();
    for (const auto& [text, count] : writes_) {
      if (count > 1) Wrong(StrCat("write ", text, " was done ", count, " times"));
    }
    findings_.trace_hash = simulator().trace_hash();
    return findings_;
  }

 private:
  SimulatedClusterOptions Options(uint64_t seed, bool with_bug) {
    SimulatedClusterOptions options;
    options.seed = seed;
    options.spec = EchoSpec(kServerCount, kPartitionCount);
    options.modules = [this, with_bug](const std::string&) {
      return std::make_unique<EchoUnderFaults>(&writes_, with_bug);
    };
    return options;
  }

  FaultPlan PlanFaults() {
    RandomFaultOptions options;
    for (int i = 0; i < kServerCount; ++i) options.hosts.push_back(StrCat("s", i));
    options.begin = TimePoint(seconds(1));
    options.horizon = kFaultsEnd;
    options.interval_mean = seconds(1);
    options.duration_mean = seconds(2);
    options.hosts_down_max = 2;
    FaultPlan plan = DrawFaultPlan(random_, options);
    plan.push_back({TimePoint(seconds(10)), {Fault::Kind::kCutOneWay, {"c"}, {"s0", "s1"}}});
    plan.push_back({TimePoint(seconds(14)), {Fault::Kind::kHeal, {"c"}, {"s0", "s1"}}});
    return plan;
  }

  Simulator& simulator() { return cluster_.simulator(); }

  void Wrong(const std::string& what) {
    findings_.wrong.push_back(
        StrCat(ToSeconds(simulator().now().time_since_epoch()), " s: ", what));
  }

  // One caller: a call, a pause, the next call.
  void Load(ClientSession& session, int caller) {
    for (int i = 0; !ending_; ++i) {
      const bool write = i % 4 == 0;
      CallOnce(session, StrCat("caller ", caller, " call ", i), (caller + i) % kPartitionCount,
               write);
      this_thread::SleepFor(milliseconds(20));
    }
  }

  void CallOnce(ClientSession& session, const std::string& text, uint32_t partition, bool write) {
    const TimePoint begin = this_thread::Now();
    CallOptions options;
    options.deadline = begin + kTimeout;
    Data answer;
    const Status status = Call(
        session, ServiceName("echo"), PartitionId(partition), MethodName(write ? "Write" : "Echo"),
        write ? AccessMode::kWrite : AccessMode::kRead, Data(text), &answer, options);
    const Duration took = this_thread::Now() - begin;
    ++(status.ok() ? findings_.ok_count : findings_.failed_count);
    if (took > kTimeout + kLateness) Wrong(StrCat(text, " took ", ToMillis(took), " ms"));
    if (!status.ok()) return;
    if (answer.bytes() != text) Wrong(StrCat(text, " was answered with ", answer.bytes()));
    if (write && writes_[text] != 1) Wrong(StrCat(text, " is acknowledged and not done once"));
  }

  void CheckQueues() {
    for (int i = 0; i < kServerCount; ++i) {
      const std::string name = StrCat("s", i);
      if (!cluster_.lives(name)) continue;
      const auto load =
          cluster_.node(name).metrics().Value("neptune_load_index", {{"service", "echo"}});
      // 40 wait, 8 run; short ones are over within the turn in which they came.
      if (load.ok() && *load > 48) Wrong(StrCat(name, " has ", *load, " requests"));
    }
  }

  void CheckWholeness() {
    std::set<std::string> all = {"c"};
    for (int i = 0; i < kServerCount; ++i) all.insert(StrCat("s", i));
    for (const std::string& name : all) {
      if (!cluster_.lives(name)) {
        Wrong(name + " is not alive");
        continue;
      }
      if (cluster_.KnownNodes(name) != all) Wrong(name + " does not know all nodes");
      const auto load =
          cluster_.node(name).metrics().Value("neptune_load_index", {{"service", "echo"}});
      if (load.ok() && *load != 0) Wrong(StrCat(name, " still counts ", *load, " requests"));
    }
  }

  RandomSource random_;
  WriteCounts writes_;
  Findings findings_;
  bool ending_ = false;
  SimulatedCluster cluster_;
  const FaultPlan plan_;
};

class FaultTest : public testing::TestWithParam<uint64_t> {};

TEST_P(FaultTest, NothingGoesWrong) {
  const Findings findings = FaultRun(GetParam(), /*with_bug=*/false).Run();
  for (const std::string& what : findings.wrong)
    ADD_FAILURE() << "seed " << GetParam() << ", " << what;
  EXPECT_GT(findings.ok_count, 10'000);
  EXPECT_GT(findings.failed_count, 0) << "the plan had no faults that anybody noticed";
}

INSTANTIATE_TEST_SUITE_P(Seeds, FaultTest, testing::Range<uint64_t>(1, 11));

TEST(FaultCanaryTest, PlantedBugIsFound) {
  EXPECT_FALSE(FaultRun(1, /*with_bug=*/true).Run().wrong.empty());
}

TEST(FaultReplayTest, TheSameSeedGivesTheSameRun) {
  EXPECT_EQ(FaultRun(3, false).Run().trace_hash, FaultRun(3, false).Run().trace_hash);
}

}  // namespace
}  // namespace neptune
