// Aggregations under random faults: whatever dies, hangs, is cut off or loses messages, an answer
// is the sum of exactly the partitions that it names, each partition is named once, and it is there
// in time.

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "neptune/base/strings.h"
#include "neptune/dac/dac.h"
#include "neptune/testing/call_test_module.h"

namespace neptune {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr int kServerCount = 12;
constexpr uint32_t kPartitionCount = 6;
constexpr int kCallCount = 120;

// How calls ended, over all runs: faults that change nothing prove nothing.
struct Ends {
  int complete = 0;
  int partial = 0;
  int failed = 0;
};

class FaultRun {
 public:
  FaultRun(uint64_t seed, Ends* ends) : random_(seed), ends_(*ends) {
    SimulatedClusterOptions options;
    options.seed = seed;
    options.spec = EchoSpec(kServerCount, kPartitionCount);
    options.modules = CallTestModules(&records_);
    cluster_ = std::make_unique<SimulatedCluster>(std::move(options));
  }

  void Run() {
    for (int fault = 0; fault < 25; ++fault) PlanFault();
    for (int call = 0; call < kCallCount; ++call) PlanCall();
    cluster_->simulator().RunFor(seconds(12));
    EXPECT_EQ(ended_, kCallCount);
    Heal();
    cluster_->RunOnClient([&](ClientSession& session) {
      AggregationReport report;
      Data result;
      const Status status = Aggregate(session, RandomRequest(), &result, &report);
      EXPECT_TRUE(status.ok()) << status;
      EXPECT_EQ(report.quality(), 1) << "after everything was healed";
    });
  }

 private:
  Simulator& simulator() { return cluster_->simulator(); }
  TimePoint SometimeSoon() { return simulator().now() + milliseconds(random_.Below(9000)); }
  std::string RandomServer() { return StrCat("s", random_.Below(kServerCount)); }

  void PlanFault() {
    const std::string server = RandomServer();
    const TimePoint begin = SometimeSoon();
    const TimePoint end = begin + milliseconds(50 + random_.Below(2500));
    const uint64_t kind = random_.Below(4);
    simulator().At(begin, [this, server, kind] {
      if (kind == 0 && cluster_->lives(server)) {
        simulator().Crash(server, CrashKind::kProcess);
      } else if (kind == 1) {
        simulator().Pause(server);
      } else if (kind == 2) {
        (void)simulator().Partition({server}, {"c", RandomServer()}, random_.Below(2) == 0);
      } else {
        LinkConditions links;
        links.datagram_loss = 0.3;
        links.datagram_duplicate = 0.2;
        links.stream_loss = 0.05;
        simulator().SetLinks(links);
      }
    });
    simulator().At(end, [this, server] {
      simulator().Resume(server);
      simulator().HealAll();
      simulator().SetLinks(LinkConditions());
      if (!cluster_->lives(server)) simulator().Restart(server);
    });
  }

  void Heal() {
    for (int i = 0; i < kServerCount; ++i) {
      const std::string server = StrCat("s", i);
      simulator().Resume(server);
      if (!cluster_->lives(server)) simulator().Restart(server);
    }
    simulator().HealAll();
    simulator().SetLinks(LinkConditions());
    simulator().RunFor(seconds(10));
  }

  AggregationRequest RandomRequest() {
    AggregationRequest request;
    request.service = ServiceName("echo");
    for (uint32_t p = 0; p < kPartitionCount; ++p) request.partitions.emplace_back(p);
    request.local = MethodName(random_.Below(2) == 0 ? "Sum" : "SlowSum");
    request.reduce = MethodName("AddNumbers");
    request.aggregation_quality_min = random_.Below(3) == 0 ? 1.0 : 0.3;
    request.scheme = static_cast<TreeScheme>(random_.Below(4));
    request.dissemination = static_cast<DisseminationMode>(random_.Below(3));
    request.timeouts = static_cast<TimeoutPolicy>(random_.Below(2));
    return request;
  }

  void PlanCall() {
    const TimePoint at = SometimeSoon();
    AggregationRequest request = RandomRequest();
    request.deadline = at + milliseconds(100 + random_.Below(1500));
    simulator().At(at, [this, request] {
      cluster_->SpawnOnClient([this, request](ClientSession& session) {
        AggregationReport report;
        Data result("untouched");
        const Status status = Aggregate(session, request, &result, &report);
        Check(request, status, result, report);
        ++(!status.ok() ? ends_.failed : report.missing.empty() ? ends_.complete : ends_.partial);
        ++ended_;
      });
    });
  }

  void Check(const AggregationRequest& request, const Status& status, const Data& result,
             const AggregationReport& report) {
    std::set<uint32_t> named;
    uint64_t sum = 0;
    for (const PartitionId& partition : report.contributing_partitions) {
      EXPECT_TRUE(named.insert(partition.value()).second) << Where() << "twice: " << partition;
      sum += partition.value();
    }
    for (const MissingPartition& missing : report.missing) {
      EXPECT_TRUE(named.insert(missing.partition.value()).second)
          << Where() << "there and missing, or twice: " << missing.partition;
      EXPECT_FALSE(missing.reason.ok()) << Where();
    }
    EXPECT_EQ(named.size(), kPartitionCount) << Where() << status;
    if (status.ok()) {
      EXPECT_EQ(result.bytes(), StrCat(sum)) << Where();
      EXPECT_GE(report.quality(), request.aggregation_quality_min - 1e-9) << Where();
    } else {
      EXPECT_EQ(result.bytes(), "untouched") << Where();
      EXPECT_EQ(status.code(), StatusCode::kUnavailable) << Where() << status;
    }
    EXPECT_LE(simulator().now(), request.deadline + milliseconds(5)) << Where() << "too late";
  }

  std::string Where() { return StrCat("seed ", simulator().seed(), ": "); }

  RandomSource random_;
  Ends& ends_;
  HostRecords records_;
  std::unique_ptr<SimulatedCluster> cluster_;
  int ended_ = 0;
};

TEST(AggregationFaultsTest, AnswersAreExactAndInTime) {
  Ends ends;
  for (uint64_t seed = 1; seed <= 40 && !HasFailure(); ++seed) FaultRun(seed, &ends).Run();
  EXPECT_GT(ends.complete, 3000);
  EXPECT_GT(ends.partial, 100);
  EXPECT_GT(ends.failed, 100);
}

}  // namespace
}  // namespace neptune
