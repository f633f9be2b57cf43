// Two servers in the simulated world, of which one fails: what becomes of the requests.

#include "tools/replay/failover_target.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>

#include "neptune/world/sim/simulator.h"
#include "tools/replay/null_server.h"
#include "tools/replay/open_loop.h"

namespace search::tools {
namespace {

using neptune::Endpoint;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr uint16_t kPort = 8080;
constexpr uint32_t kFirstAddress = 0x0a010001;
constexpr int64_t kGapNs = 10'000'000;
constexpr int kCount = 1000;

class Recorder final : public LoadObserver {
 public:
  void HandleFinished(std::vector<Measurement> finished, const LoadProgress&) override {
    measurements.insert(measurements.end(), finished.begin(), finished.end());
  }
  void HandleEnd(const neptune::Status& status) override {
    ended = true;
    end = status;
  }
  std::vector<Measurement> measurements;
  bool ended = false;
  neptune::Status end;
};

class FailoverTargetTest : public testing::Test {
 protected:
  FailoverTargetTest() {
    AddServer("first", kFirstAddress);
    AddServer("second", kFirstAddress + 1);
    simulator_.RunFor(milliseconds(1));
    for (int i = 0; i < kCount; ++i) plan_.requests.push_back({.at_ns = i * kGapNs});
  }
  ~FailoverTargetTest() override {
    run_.reset();
    target_.reset();
  }

  void AddServer(const std::string& name, uint32_t address) {
    simulator_.AddHost(
        {.name = name, .address = address, .boot = [name, address, this](neptune::World& world) {
           return Boot(name, address, world);
         }});
  }

  std::shared_ptr<void> Boot(const std::string& name, uint32_t address, neptune::World& world) {
    neptune::Loop* const loop = *world.StartLoop({.name = name});
    auto holder = std::make_shared<std::unique_ptr<NullServer>>();
    loop->Post([this, loop, holder, name, address] {
      *holder = *NullServer::Listen(*loop, {address, kPort}, {.delay = milliseconds(5)});
      servers_[name] = holder->get();
    });
    return holder;
  }

  // Sends everything while `fault` happens at 2 s and `end` at 5 s.
  void Run(const std::function<void()>& fault, const std::function<void()>& end) {
    neptune::Loop* const loop =
        *simulator_.AddHost({.name = "generator"}).StartLoop({.name = "generator"});
    loop->Post([this, loop] {
      FailoverOptions options;
      options.http.servers = {{kFirstAddress, kPort}, {kFirstAddress + 1, kPort}};
      options.http.read_facts = false;
      target_ = std::make_unique<FailoverTarget>(*loop, plan_, options);
      run_ = std::make_unique<OpenLoop>(*loop, plan_, *target_,
                                        OpenLoopOptions{.timeout = seconds(3)}, recorder_);
      run_->Start();
    });
    simulator_.At(simulator_.now() + seconds(2), fault);
    simulator_.At(simulator_.now() + seconds(5), end);
    ASSERT_TRUE(simulator_.RunUntilTrue([this] { return recorder_.ended; },
                                        simulator_.now() + seconds(30)));
    EXPECT_TRUE(recorder_.end.ok()) << recorder_.end;
    EXPECT_EQ(recorder_.measurements.size(), static_cast<size_t>(kCount));
  }

  int64_t CountOf(const std::function<bool(const Measurement&)>& wanted) const {
    return std::count_if(recorder_.measurements.begin(), recorder_.measurements.end(), wanted);
  }
  int64_t LostCount() const {
    return CountOf([](const Measurement& one) { return one.outcome != Outcome::kAnswered; });
  }
  // Counts the requests that were due from then on.
  int64_t SlowCount(double from_s) const {
    return CountOf([&](const Measurement& one) {
      return static_cast<double>(one.intended_ns) >= from_s * 1e9 && one.latency_ns() > 50'000'000;
    });
  }

  neptune::Simulator simulator_{7};
  std::map<std::string, NullServer*> servers_;
  ReplayPlan plan_{.classes = {""}, .queries = {"a"}};
  Recorder recorder_;
  std::unique_ptr<FailoverTarget> target_;
  std::unique_ptr<OpenLoop> run_;
};

TEST_F(FailoverTargetTest, AServerThatDiesCostsNoRequest) {
  Run([this] { simulator_.Crash("first", neptune::CrashKind::kProcess); },
      [this] { simulator_.Restart("first"); });
  EXPECT_EQ(LostCount(), 0);
  EXPECT_EQ(SlowCount(0), 0);
}

TEST_F(FailoverTargetTest, AServerThatHangsCostsTheRequestsOfOnePatience) {
  Run([this] { simulator_.Pause("first"); }, [this] { simulator_.Resume("first"); });
  EXPECT_EQ(LostCount(), 0);
  EXPECT_NEAR(static_cast<double>(SlowCount(0)), 50, 3);  // every second one for 1 s
  EXPECT_EQ(SlowCount(3.2), 0);
}

TEST_F(FailoverTargetTest, AServerThatIsBackGetsItsShareAgain) {
  uint64_t answered_before = 0;
  Run([this] { simulator_.Pause("first"); },
      [&] {
        answered_before = servers_["first"]->answered_count();
        simulator_.Resume("first");
      });
  EXPECT_GT(servers_["first"]->answered_count() - answered_before, 220u);
}

TEST_F(FailoverTargetTest, WhereNobodyServesRequestsAreLost) {
  Run(
      [this] {
        simulator_.Crash("first", neptune::CrashKind::kProcess);
        simulator_.Crash("second", neptune::CrashKind::kProcess);
      },
      [this] { simulator_.Restart("second"); });
  EXPECT_NEAR(static_cast<double>(LostCount()), 300, 5);
}

}  // namespace
}  // namespace search::tools
