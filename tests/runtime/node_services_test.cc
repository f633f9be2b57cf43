// The services of a node as its administration shows and changes them.

#include "neptune/node/node_services.h"

#include <glog/logging.h>
#include <google/protobuf/text_format.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "neptune/base/strings.h"
#include "neptune/node/cluster_spec.h"
#include "neptune/service/client.h"
#include "neptune/testing/call_test_module.h"
#include "neptune/thread/user_thread.h"

namespace neptune {
namespace {

using Json = nlohmann::json;
using std::chrono::milliseconds;
using std::chrono::seconds;

class NodeServicesTest : public testing::Test {
 protected:
  NodeServicesTest() {
    SimulatedClusterOptions options;
    options.spec = EchoSpec(1, 1);
    CHECK(google::protobuf::TextFormat::MergeFromString(
        "service_classes { name: 'gold' guarantee: 0.25 } service_classes { name: 'bronze' }",
        &options.spec));
    options.spec.mutable_services(0)->set_concurrency(2);
    CHECK(CompleteClusterSpec(&options.spec).ok());
    options.modules = CallTestModules(&records_);
    cluster_ = std::make_unique<SimulatedCluster>(std::move(options));
  }

  const ServiceHosts& hosts() { return cluster_->node("s0").services(); }
  void Begin(const std::string& service_class, const std::string& ms) {
    cluster_->SpawnOnClient([=](ClientSession& session) {
      session.service_class = service_class;
      Data response;
      (void)Call(session,
                 {ServiceName("echo"), PartitionId(0), MethodName("Sleep"), AccessMode::kRead},
                 Data(ms), &response, {.deadline = this_thread::Now() + seconds(30)});
    });
    RunFor(milliseconds(2));
  }
  void RunFor(Duration time) { cluster_->simulator().RunFor(time); }
  // What is shown of the class.
  Json Shown(const std::string& service_class) {
    const Json all = Json::parse(ShowServices(hosts()).body);
    for (const Json& one : all["services"][0]["classes"]) {
      if (one["name"] == service_class) return one;
    }
    return {};
  }
  HttpResponse Put(const std::string& body) {
    HttpRequest request;
    request.body = body;
    return PutThreads(request, hosts().at("echo").get());
  }

  HostRecords records_;
  std::unique_ptr<SimulatedCluster> cluster_;
};

TEST_F(NodeServicesTest, WhatIsShown) {
  Begin("gold", "50");
  Begin("bronze", "1000");
  Begin("bronze", "1000");
  RunFor(milliseconds(60));
  const HttpResponse response = ShowServices(hosts());
  EXPECT_EQ(response.status, 200);
  EXPECT_EQ(response.headers.Get("Content-Type"), "application/json");
  const Json echo = Json::parse(response.body)["services"][0];
  EXPECT_EQ(echo["name"], "echo");
  EXPECT_EQ(echo["concurrency"], 2);
  EXPECT_EQ(echo["busy"], 2);
  EXPECT_EQ(echo["scheduling"], "adaptive");
  const Json gold = Shown("gold");
  EXPECT_EQ(gold["threads"], Json());
  EXPECT_EQ(gold["guarantee"], 0.25);
  EXPECT_EQ(gold["arrived"], 1);
  EXPECT_EQ(gold["served"], 1);
  EXPECT_NEAR(gold["run_s"].get<double>(), 0.05, 0.001);
  EXPECT_GE(gold["response_s"].get<double>(), gold["run_s"].get<double>());
  EXPECT_EQ(Shown("bronze")["busy"], 2);
}

TEST_F(NodeServicesTest, ThreadsChangeWhileRequestsWait) {
  for (int i = 0; i < 4; ++i) Begin("bronze", "1000");
  EXPECT_EQ(Shown("bronze")["busy"], 2);
  EXPECT_EQ(Shown("bronze")["waiting"], 2);
  const HttpResponse response = Put(R"({"concurrency": 5, "classes": {"gold": 2}})");
  ASSERT_EQ(response.status, 200) << response.body;
  EXPECT_EQ(Json::parse(response.body)["concurrency"], 5);
  RunFor(milliseconds(1));
  EXPECT_EQ(Shown("gold")["threads"], 2);
  EXPECT_EQ(Shown("bronze")["busy"], 3) << "at once, not when the next one ends";
  EXPECT_EQ(Shown("bronze")["waiting"], 1);
}

TEST_F(NodeServicesTest, FewerThreadsLetWhatRunsGoOn) {
  for (int i = 0; i < 3; ++i) Begin("bronze", "100");
  ASSERT_EQ(Put(R"({"concurrency": 1})").status, 200);
  RunFor(milliseconds(1));
  EXPECT_EQ(Shown("bronze")["busy"], 2);
  RunFor(milliseconds(110));
  EXPECT_EQ(Shown("bronze")["busy"], 1);
  RunFor(milliseconds(200));
  EXPECT_EQ(Shown("bronze")["served"], 3);
}

TEST_F(NodeServicesTest, WhatCannotBeIsRefusedAndChangesNothing) {
  for (const char* body :
       {"", "[]", "{", R"({"concurrency": 0})", R"({"concurrency": -1})", R"({"concurrency": 1.5})",
        R"({"concurrency": 18446744073709551615})", R"({"threads": 1})", R"({"classes": 1})",
        R"({"classes": {"platinum": 1}})", R"({"classes": {"gold": 0}})",
        R"({"classes": {"gold": 2}})", R"({"classes": {"gold": 1, "bronze": 2}})"}) {
    const HttpResponse response = Put(body);
    EXPECT_EQ(response.status, 400) << body << response.body;
    EXPECT_NE(response.body.find("detail"), std::string::npos);
  }
  EXPECT_EQ(Put(std::string(kThreadsBodySizeMax + 1, ' ')).status, 400);
  EXPECT_EQ(hosts().at("echo")->threads().all, 2u);
  EXPECT_EQ(Shown("gold")["threads"], Json());
}

// Keeps the context of its start, as modules do which open partitions later.
class ContextKeeper final : public ServiceModule {
 public:
  explicit ContextKeeper(std::vector<const ModuleContext*>* contexts) : contexts_(contexts) {}
  Status Start(ModuleContext& context) override {
    contexts_->push_back(&context);
    return OkStatus();
  }
  std::string implementation() const override { return "keeper"; }

 private:
  std::vector<const ModuleContext*>* const contexts_;
};

TEST(ModuleContextTest, StaysAsLongAsTheModule) {
  std::vector<const ModuleContext*> contexts;
  SimulatedClusterOptions options;
  const StatusOr<ClusterSpec> spec = ParseClusterSpec(
      "name: 'test' multicast_group: '239.192.7.1:7400' "
      "services { name: 'first' module: 'keeper' } services { name: 'second' module: 'keeper' } "
      "nodes { name: 'c' hosts { service: 'first' } hosts { service: 'second' } }",
      "test");
  ASSERT_TRUE(spec.ok()) << spec.status();
  options.spec = *spec;
  options.modules = [&](const std::string&) -> StatusOr<std::unique_ptr<ServiceModule>> {
    return std::make_unique<ContextKeeper>(&contexts);
  };
  SimulatedCluster cluster(std::move(options));
  cluster.simulator().RunFor(seconds(1));
  ASSERT_EQ(contexts.size(), 2u);
  EXPECT_EQ(contexts[0]->service, ServiceName("first"));
  EXPECT_EQ(contexts[1]->service, ServiceName("second"));
}

TEST_F(NodeServicesTest, TheStatusPageHasARowForEachClass) {
  StatusReport report;
  DescribeClasses(hosts(), &report);
  ASSERT_EQ(report.tables.size(), 1u);
  ASSERT_EQ(report.tables[0].rows.size(), 2u);
  EXPECT_EQ(report.tables[0].rows[0].size(), report.tables[0].columns.size());
}

}  // namespace
}  // namespace neptune
