// The frontend in the real world: a whole cluster in one process, asked over a loopback port.

#include <gtest/gtest.h>

#include <future>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "frontend/frontend_module.h"
#include "frontend/testing/fake_services.h"
#include "frontend/testing/http_user.h"
#include "neptune/node/node.h"
#include "neptune/world/real/real_world.h"

namespace search::frontend {
namespace {

using neptune::HttpResponse;
using neptune::Status;
using neptune::StatusOr;

// One node that hosts everything, each service in one partition.
constexpr char kSpec[] = R"(
  name: 'frontend-real-test' multicast_group: '239.192.7.3:7403'
  services { name: 'tier1' module: 'fake_tier' }
  services { name: 'tier2' module: 'fake_tier' }
  services { name: 'docs' module: 'fake_documents' }
  services { name: 'cache' module: 'fake_cache' }
  services { name: 'frontend' module: 'frontend' PARAMETERS }
  nodes {
    name: 'all'
    serving_threads: 2
    hosts { service: 'tier1' } hosts { service: 'tier2' } hosts { service: 'docs' }
    hosts { service: 'cache' } hosts { service: 'frontend' }
  })";

class RealNode {
 public:
  explicit RealNode(const std::string& parameters) : world_(neptune::MakeRealWorld({})) {
    std::string text = kSpec;
    text.replace(text.find("PARAMETERS"), 10, parameters);
    neptune::NodeOptions options;
    options.spec = neptune::ParseClusterSpec(text, "test").value();
    options.name = neptune::NodeId("all");
    options.modules =
        [this](const std::string& name) -> StatusOr<std::unique_ptr<neptune::ServiceModule>> {
      if (name != "frontend") return MakeFakeService(name);
      auto module = std::make_unique<FrontendModule>();
      module_ = module.get();
      return module;
    };
    node_ = std::make_unique<neptune::Node>(*world_, std::move(options));
    std::promise<Status> started;
    node_->Start([&](const Status& status) { started.set_value(status); });
    status_ = started.get_future().get();
  }
  ~RealNode() {
    if (status_.ok()) {
      std::promise<void> stopped;
      node_->Stop(std::chrono::seconds(1), [&] { stopped.set_value(); });
      stopped.get_future().wait();
    }
    world_->Stop();
  }

  const Status& status() const { return status_; }

  StatusOr<HttpResponse> Get(const std::string& target) {
    if (user_loop_ == nullptr) user_loop_ = *world_->StartLoop({.name = "user"});
    std::promise<StatusOr<HttpResponse>> promise;
    std::unique_ptr<HttpUser> user;
    user_loop_->Post([&] {
      user = std::make_unique<HttpUser>(*user_loop_, [&](StatusOr<HttpResponse> answer) {
        // Posted, because the user is in the middle of its own work.
        user_loop_->Post([&, answer = std::move(answer)]() mutable {
          user.reset();
          promise.set_value(std::move(answer));
        });
      });
      user->Send(module_->http_endpoint(), "GET", target, {});
    });
    return promise.get_future().get();
  }

 private:
  std::unique_ptr<neptune::World> world_;
  FrontendModule* module_ = nullptr;
  std::unique_ptr<neptune::Node> node_;
  neptune::Loop* user_loop_ = nullptr;
  Status status_;
};

TEST(FrontendRealTest, AnswersOverALoopbackPort) {
  RealNode node(
      "parameters { key: 'tier_timeout_ms' value: '5000' } "
      "parameters { key: 'document_timeout_ms' value: '5000' }");
  ASSERT_TRUE(node.status().ok()) << node.status();
  // The node hears its own announcement a moment after it has started.
  StatusOr<HttpResponse> ready = neptune::Unavailable("not asked");
  for (int i = 0; i < 100'000; ++i) {
    ready = node.Get("/readyz?complete=1");
    if (ready.ok() && ready->status == 200) break;
  }
  ASSERT_TRUE(ready.ok()) << ready.status();
  ASSERT_EQ(ready->status, 200) << ready->body;
  const StatusOr<HttpResponse> response = node.Get("/search?q=rare&format=json");
  ASSERT_TRUE(response.ok()) << response.status();
  ASSERT_EQ(response->status, 200) << response->body;
  const auto answer = nlohmann::json::parse(response->body);
  EXPECT_EQ(answer["results"].size(), 1u + kTier2HitCount);
  EXPECT_EQ(answer["results"][0]["title"], "Document 10000");
  EXPECT_EQ(answer["partial"], false);
}

TEST(FrontendRealTest, AWrongParameterKeepsTheNodeFromStarting) {
  const auto error = [](const std::string& parameter) {
    return std::string(neptune::ToStd(RealNode(parameter).status().message()));
  };
  EXPECT_NE(error("parameters { key: 'tier1_partitons' value: '2' }").find("'tier1_partitons'"),
            std::string::npos);
  EXPECT_NE(error("parameters { key: 'http_port' value: '70000' }").find("http_port"),
            std::string::npos);
  EXPECT_NE(error("parameters { key: 'http_address' value: 'here' }").find("http_address"),
            std::string::npos);
  EXPECT_NE(error("parameters { key: 'quality_min' value: 'nan' }").find("quality_min"),
            std::string::npos);
}

}  // namespace
}  // namespace search::frontend
