// Service classes on whole nodes: who is of which, in which order they are served, and on how many
// threads.

#include <google/protobuf/text_format.h>
#include <gtest/gtest.h>

#include "neptune/base/strings.h"
#include "neptune/dac/dac.h"
#include "neptune/node/cluster_spec.h"
#include "neptune/service/client.h"
#include "neptune/testing/call_test_module.h"
#include "neptune/thread/user_thread.h"

namespace neptune {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr char kClasses[] = R"(
  service_classes { name: 'gold' yield { form: 'hybrid' full: 4 at_deadline: 2 } queue_length_max: 5 }
  service_classes { name: 'bronze' yield { form: 'hybrid' full: 1 at_deadline: 0.5 } queue_length_max: 2 }
)";

class ServiceClassTest : public testing::Test {
 protected:
  void Start(const std::string& echo_fields, const std::string& classes = kClasses,
             int node_count = 1) {
    SimulatedClusterOptions options;
    options.spec = EchoSpec(node_count, node_count);
    Merge(classes, &options.spec);
    Merge(echo_fields, options.spec.mutable_services(0));
    ASSERT_EQ(options.spec.services(0).name(), "echo");
    ASSERT_TRUE(CompleteClusterSpec(&options.spec).ok());
    options.modules = CallTestModules(&records_);
    cluster_ = std::make_unique<SimulatedCluster>(std::move(options));
  }

  struct Outcome {
    Status status = Unavailable("not done");
    bool done = false;
  };
  // Begins a call of as many milliseconds, and lets it arrive.
  std::unique_ptr<Outcome> Begin(const std::string& service_class, const std::string& ms = "100",
                                 const std::string& method = "Sleep", uint32_t partition = 0) {
    auto outcome = std::make_unique<Outcome>();
    cluster_->SpawnOnClient([=, out = outcome.get()](ClientSession& session) {
      session.service_class = service_class;
      Data response;
      out->status = Call(
          session,
          {ServiceName("echo"), PartitionId(partition), MethodName(method), AccessMode::kRead},
          Data(ms), &response, {.deadline = this_thread::Now() + seconds(30), .attempts_max = 1});
      out->done = true;
    });
    RunFor(milliseconds(2));
    return outcome;
  }
  void RunFor(Duration time) { cluster_->simulator().RunFor(time); }
  // Requests of the class that ended so.
  int64_t Ended(const std::string& service_class, const std::string& outcome,
                const std::string& node = "s0") {
    return static_cast<int64_t>(*cluster_->node(node).metrics().Value(
        "neptune_class_requests_total",
        {{"service", "echo"}, {"class", service_class}, {"outcome", outcome}}));
  }

  HostRecords records_;
  std::unique_ptr<SimulatedCluster> cluster_;

 private:
  static void Merge(const std::string& text, google::protobuf::Message* message) {
    ASSERT_TRUE(google::protobuf::TextFormat::MergeFromString(text, message)) << text;
  }
};

TEST_F(ServiceClassTest, WhatYieldsMoreIsServedFirst) {
  Start("concurrency: 1");
  const auto first = Begin("bronze");
  const auto bronze = Begin("bronze");
  const auto gold = Begin("gold");
  RunFor(milliseconds(250));
  EXPECT_TRUE(first->done);
  EXPECT_TRUE(gold->done);
  EXPECT_FALSE(bronze->done);
}

TEST_F(ServiceClassTest, FirstComeFirstServedIfTheServiceSaysSo) {
  Start("concurrency: 1 scheduling: 'fifo'");
  const auto first = Begin("bronze");
  const auto bronze = Begin("bronze");
  const auto gold = Begin("gold");
  RunFor(milliseconds(250));
  EXPECT_TRUE(bronze->done);
  EXPECT_FALSE(gold->done);
}

TEST_F(ServiceClassTest, AFullQueueRefusesItsOwnClassOnly) {
  Start("concurrency: 1");
  std::vector<std::unique_ptr<Outcome>> bronze;
  for (int i = 0; i < 4; ++i) bronze.push_back(Begin("bronze"));
  EXPECT_EQ(bronze.back()->status.code(), StatusCode::kResourceExhausted) << bronze.back()->status;
  EXPECT_NE(bronze.back()->status.message().find("class bronze holds 2"), absl::string_view::npos)
      << bronze.back()->status;
  const auto gold = Begin("gold");
  RunFor(seconds(2));
  EXPECT_TRUE(gold->status.ok()) << gold->status;
  EXPECT_EQ(Ended("bronze", "refused"), 1);
  EXPECT_EQ(Ended("bronze", "ok"), 3);
  EXPECT_EQ(Ended("gold", "ok"), 1);
}

TEST_F(ServiceClassTest, WhatWouldYieldNothingIsDropped) {
  Start("concurrency: 1");
  const auto first = Begin("gold", "1900");
  const auto late = Begin("gold", "1900");
  RunFor(milliseconds(1950));
  EXPECT_TRUE(first->done);
  ASSERT_TRUE(late->done) << "it would end after 3.8 s, and yields nothing from 2 s on";
  EXPECT_EQ(late->status.code(), StatusCode::kResourceExhausted) << late->status;
  EXPECT_EQ(Ended("gold", "refused"), 1);
}

TEST_F(ServiceClassTest, AnUnknownClassIsTheDefaultOne) {
  Start("");
  const auto unknown = Begin("platinum", "1");
  const auto none = Begin("", "1");
  RunFor(seconds(1));
  EXPECT_TRUE(unknown->status.ok()) << unknown->status;
  EXPECT_EQ(Ended("bronze", "ok"), 2);
  Start("", StrCat(kClasses, "default_service_class: 'gold'"));
  const auto gold = Begin("platinum", "1");
  RunFor(seconds(1));
  EXPECT_EQ(Ended("gold", "ok"), 1);
}

TEST_F(ServiceClassTest, RulesKnowClassesByWhatIsAsked) {
  Start(
      "class_rules { service_class: 'gold' partitions: 1 } "
      "class_rules { service_class: 'bronze' method: 'Doze' always: true }",
      StrCat(kClasses, "default_service_class: 'bronze'"), 2);
  std::vector<std::unique_ptr<Outcome>> all;
  all.push_back(Begin("", "1", "Sleep", 1));        // by its partition
  all.push_back(Begin("bronze", "1", "Sleep", 1));  // by its name
  all.push_back(Begin("gold", "1", "Doze", 1));     // always
  RunFor(seconds(1));
  for (const auto& one : all) EXPECT_TRUE(one->status.ok()) << one->status;
  EXPECT_EQ(Ended("gold", "ok", "s1"), 1);
  EXPECT_EQ(Ended("bronze", "ok", "s1"), 2);
}

TEST_F(ServiceClassTest, ThreadsOfOneClassAreNoOthers) {
  Start("concurrency: 2 threads { service_class: 'gold' count: 1 }");
  const auto first = Begin("bronze");
  const auto second = Begin("bronze");
  const auto gold = Begin("gold", "50");
  RunFor(milliseconds(60));
  EXPECT_TRUE(gold->done);
  EXPECT_FALSE(second->done);
  RunFor(milliseconds(100));
  EXPECT_TRUE(first->done);
  EXPECT_FALSE(second->done) << "gold's thread is free, and stays so";
}

TEST_F(ServiceClassTest, TheClassGoesWithTheRequestThroughTheTree) {
  Start("", kClasses, 4);
  cluster_->RunOnClient([&](ClientSession& session) {
    session.service_class = "gold";
    AggregationRequest request;
    request.service = ServiceName("echo");
    for (uint32_t p = 0; p < 4; ++p) request.partitions.emplace_back(p);
    request.local = MethodName("Sum");
    request.reduce = MethodName("AddNumbers");
    request.deadline = this_thread::Now() + seconds(10);
    Data result;
    AggregationReport report;
    const Status status = Aggregate(session, request, &result, &report);
    EXPECT_TRUE(status.ok()) << status;
  });
  for (const char* node : {"s0", "s1", "s2", "s3"}) {
    EXPECT_EQ(Ended("gold", "ok", node), 1) << node;
    EXPECT_EQ(Ended("bronze", "ok", node), 0) << node;
  }
}

}  // namespace
}  // namespace neptune
