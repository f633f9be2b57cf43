// The admin server over the simulated world, and over the real one while the node is stuck.

#include "neptune/admin/admin_server.h"

#include <gtest/gtest.h>

#include <future>
#include <memory>
#include <stdexcept>
#include <string>

#include "neptune/wire/http/http_test_client.h"
#include "neptune/world/real/real_world.h"
#include "neptune/world/sim/simulator.h"

namespace neptune {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr uint16_t kPort = 9100;
constexpr char kToken[] = "0123456789abcdef";

bool Contains(const std::string& text, std::string_view piece) {
  return text.find(piece) != std::string::npos;
}

class AdminServerTest : public testing::Test {
 protected:
  AdminServerTest() {
    World& world = simulator_.AddHost({.name = "node"});
    admin_loop_ = *world.StartLoop({.name = "admin"});
    client_loop_ = *simulator_.AddHost({.name = "client"}).StartLoop({.name = "loop"});
    requests_ = *metrics_.AddCounter("test_requests_total", "Requests.");
    requests_->Increment(3);
    section_ = *sections_.Add("queue", [](StatusReport* report) { report->AddFact("length", 5); });
    other_ = *sections_.Add("other", [](StatusReport* report) { report->AddFact("x", 1); });
    admin_ = std::make_unique<AdminServer>(
        world, *admin_loop_,
        AdminSources{.node_name = "node-1",
                     .metrics = &metrics_,
                     .sections = &sections_,
                     .readiness = [this] { return not_ready_reasons_; },
                     .health = [this] { return hung_; },
                     .token = kToken,
                     .for_network = true});
    admin_->AddAction("POST", "/change", [](const HttpRequest& request) {
      return HttpResponse::Text(200, "changed to " + request.body);
    });
    admin_->AddPage("/extra", "a page of the test",
                    [](const HttpRequest&) { return HttpResponse::Text(200, "extra"); });
    admin_->Start({0, kPort}, [this](StatusOr<Endpoint> at) { started_ = at.ok(); });
    simulator_.RunFor(milliseconds(1));
    EXPECT_TRUE(started_);
  }
  ~AdminServerTest() override {
    bool stopped = false;
    admin_->Stop([&] { stopped = true; });
    simulator_.RunFor(seconds(1));
    EXPECT_TRUE(stopped);
  }

  HttpResponse Fetch(std::string_view target, std::string_view method = "GET",
                     const HttpHeaders& headers = {}, std::string_view body = {},
                     uint16_t port = kPort) {
    HttpTestClient client(*client_loop_);
    client.Connect({simulator_.host("node").address(), port});
    client.Send(method, target, headers, body);
    simulator_.RunFor(milliseconds(10));
    EXPECT_EQ(client.responses().size(), 1u) << target;
    return client.responses().empty() ? HttpResponse() : client.responses()[0];
  }

  MetricsRegistry metrics_;
  StatusSections sections_;
  Simulator simulator_{1};
  Loop* admin_loop_;
  Loop* client_loop_;
  Counter* requests_;
  StatusSection section_;
  StatusSection other_;
  std::vector<std::string> not_ready_reasons_;
  std::vector<std::string> hung_;
  uint32_t member_address_ = 0;
  bool started_ = false;
  std::unique_ptr<AdminServer> admin_;
};

TEST_F(AdminServerTest, HealthIsOk) {
  EXPECT_EQ(Fetch("/healthz").body, "ok\n");
  EXPECT_EQ(Fetch("/healthz", "HEAD").status, 200);
}

TEST_F(AdminServerTest, HealthNamesWhatHangs) {
  hung_ = {"loop serve-0 has not answered for 2.1 s"};
  const HttpResponse response = Fetch("/healthz");
  EXPECT_EQ(response.status, 503);
  EXPECT_TRUE(Contains(response.body, "loop serve-0 has not answered for 2.1 s"));
  EXPECT_EQ(Fetch("/readyz").status, 200);
}

TEST_F(AdminServerTest, ReadinessListsReasons) {
  EXPECT_EQ(Fetch("/readyz").body, "ready\n");
  not_ready_reasons_ = {"partition 1 is loading", "no cache"};
  const HttpResponse response = Fetch("/readyz");
  EXPECT_EQ(response.status, 503);
  EXPECT_EQ(response.headers.Get("Content-Type"), "application/problem+json; charset=utf-8");
  EXPECT_TRUE(Contains(response.body, "partition 1 is loading; no cache"));
}

TEST_F(AdminServerTest, MetricsIncludeThoseOfTheServerItself) {
  Fetch("/healthz");
  const HttpResponse response = Fetch("/metrics");
  EXPECT_EQ(response.headers.Get("Content-Type"), "text/plain; version=0.0.4; charset=utf-8");
  EXPECT_TRUE(Contains(response.body, "test_requests_total 3\n"));
  EXPECT_TRUE(
      Contains(response.body, "neptune_http_responses_total{server=\"admin\",status=\"2xx\"} 1\n"));
}

TEST_F(AdminServerTest, StatusIsHtmlOrJsonOfAllSectionsOrOne) {
  const HttpResponse html = Fetch("/statusz");
  EXPECT_EQ(html.headers.Get("Content-Type"), "text/html; charset=utf-8");
  EXPECT_TRUE(html.headers.Has("Content-Security-Policy"));
  EXPECT_TRUE(Contains(html.body, "<dt>length</dt><dd>5</dd>"));
  EXPECT_TRUE(Contains(Fetch("/statusz?format=json").body,
                       R"({"name":"queue","facts":{"length":5},"tables":[]})"));
  const HttpResponse one = Fetch("/statusz?section=other&format=json");
  EXPECT_TRUE(Contains(one.body, "\"x\":1"));
  EXPECT_FALSE(Contains(one.body, "length"));
}

TEST_F(AdminServerTest, StatusRefusesUnknownParameters) {
  EXPECT_EQ(Fetch("/statusz?section=none").status, 404);
  EXPECT_EQ(Fetch("/statusz?format=xml").status, 400);
  EXPECT_EQ(Fetch("/statusz?refresh=0").status, 400);
  EXPECT_EQ(Fetch("/statusz?refresh=5").headers.Get("Refresh"), "5");
}

TEST_F(AdminServerTest, IndexNamesThePagesAndOthersAreNotFound) {
  const HttpResponse index = Fetch("/");
  for (const char* path : {"/statusz", "/metrics", "/readyz", "/healthz", "/extra"}) {
    EXPECT_TRUE(Contains(index.body, path)) << path;
  }
  EXPECT_EQ(Fetch("/extra").body, "extra");
  EXPECT_EQ(Fetch("/none").status, 404);
  EXPECT_EQ(Fetch("/metrics", "POST").status, 405);
}

TEST_F(AdminServerTest, AnActionNeedsTheToken) {
  const auto post = [&](const HttpHeaders& headers) {
    return Fetch("/change", "POST", headers, "x");
  };
  const HttpResponse without = post({});
  EXPECT_EQ(without.status, 401);
  EXPECT_EQ(without.headers.Get("WWW-Authenticate"), "Bearer");
  for (const char* const wrong :
       {"Bearer 0123456789abcdeX", "Bearer 0123456789abcde", "Bearer ", "Bearer 0123456789abcdef0",
        "Basic 0123456789abcdef", "0123456789abcdef"}) {
    EXPECT_EQ(post({{"Authorization", wrong}}).status, 401) << wrong;
  }
  const HttpResponse with = post({{"Authorization", "Bearer 0123456789abcdef"}});
  EXPECT_EQ(with.status, 200);
  EXPECT_EQ(with.body, "changed to x");
}

TEST_F(AdminServerTest, WithoutTrustInTheNetworkStrangersSeeHealthAlone) {
  AdminServer other(
      simulator_.host("node"), *admin_loop_,
      AdminSources{.node_name = "node-1", .token = kToken, .is_member = [this](uint32_t address) {
                     return address == member_address_;
                   }});
  other.AddAction("POST", "/change", [](const HttpRequest&) { return HttpResponse(); });
  other.AddPage(
      "/profile", "a profile", [](const HttpRequest&) { return HttpResponse(); },
      AdminNeed::kProfile);
  other.Start({0, kPort + 1}, [](const StatusOr<Endpoint>&) {});
  simulator_.RunFor(milliseconds(1));
  const auto status = [&](std::string_view target, std::string_view method = "GET",
                          const HttpHeaders& headers = {}) {
    return Fetch(target, method, headers, "", kPort + 1).status;
  };
  EXPECT_EQ(status("/healthz"), 200);
  EXPECT_EQ(status("/readyz"), 200);
  for (const char* const page : {"/", "/statusz", "/metrics", "/profile"}) {
    EXPECT_EQ(status(page), 403) << page;
  }
  EXPECT_EQ(status("/change", "POST", {{"Authorization", "Bearer 0123456789abcdef"}}), 403)
      << "in clear";
  member_address_ = simulator_.host("client").address();
  EXPECT_EQ(status("/statusz"), 200);
  EXPECT_EQ(status("/profile"), 403);
  other.Stop([] {});
  simulator_.RunFor(seconds(2));
}

TEST_F(AdminServerTest, RefusalsAreCountedByReason) {
  Fetch("/change", "POST");
  Fetch("/statusz", "GET", {{"Sec-Fetch-Site", "cross-site"}});
  EXPECT_EQ(metrics_.Value("neptune_admin_refusals_total", {{"reason", "token"}}).value(), 1);
  EXPECT_EQ(metrics_.Value("neptune_admin_refusals_total", {{"reason", "other_site"}}).value(), 1);
}

// The token is looked at while the body is on its way.
TEST_F(AdminServerTest, AnActionIsRefusedBeforeItsBodyIsRead) {
  HttpTestClient client(*client_loop_);
  client.Connect({simulator_.host("node").address(), kPort});
  client.SendBytes("POST /change HTTP/1.1\r\nHost: x\r\nContent-Length: 60000\r\n\r\n");
  simulator_.RunFor(milliseconds(10));
  ASSERT_EQ(client.responses().size(), 1u);
  EXPECT_EQ(client.responses()[0].status, 401);
  client.Close();
}

TEST_F(AdminServerTest, APageThatThrowsIsAnswered500) {
  AdminServer other(simulator_.host("node"), *admin_loop_,
                    AdminSources{.node_name = "node-1", .for_network = true});
  other.AddPage("/throw", "throws",
                [](const HttpRequest&) -> HttpResponse { throw std::runtime_error("a page"); });
  other.Start({0, kPort + 1}, [](const StatusOr<Endpoint>&) {});
  simulator_.RunFor(milliseconds(1));
  EXPECT_EQ(Fetch("/throw", "GET", {}, "", kPort + 1).status, 500);
  other.Stop([] {});
  simulator_.RunFor(seconds(2));
}

TEST_F(AdminServerTest, NoPageShowsTheToken) {
  for (const char* const page : {"/", "/statusz", "/statusz?format=json", "/metrics", "/change"}) {
    EXPECT_FALSE(Contains(Fetch(page).body, kToken)) << page;
  }
  EXPECT_FALSE(Contains(Fetch("/change", "POST").body, kToken));
}

TEST_F(AdminServerTest, WithoutATokenNothingIsChanged) {
  AdminServer other(simulator_.host("node"), *admin_loop_, AdminSources{.node_name = "node-1"});
  other.AddAction("POST", "/change", [](const HttpRequest&) { return HttpResponse(); });
  other.Start({0, kPort + 1}, [](const StatusOr<Endpoint>&) {});
  simulator_.RunFor(milliseconds(1));
  HttpTestClient client(*client_loop_);
  client.Connect({simulator_.host("node").address(), kPort + 1});
  client.Send("POST", "/change", {{"Authorization", "Bearer "}});
  simulator_.RunFor(milliseconds(10));
  ASSERT_EQ(client.responses().size(), 1u);
  EXPECT_EQ(client.responses()[0].status, 403);
  client.Close();
  other.Stop([] {});
  simulator_.RunFor(seconds(2));
}

TEST_F(AdminServerTest, StopEndsWaitingHandlersAndIsIdempotent) {
  AdminServer second(simulator_.host("node"),
                     **simulator_.host("node").StartLoop({.name = "second"}),
                     {.for_network = true});
  ParkResult result = ParkResult::kWoken;
  second.AddPage("/wait", "waits", [&](const HttpRequest&) {
    result = this_thread::SleepFor(seconds(1000));
    return HttpResponse::Text(200, "");
  });
  second.Start({0, kPort + 1}, [](StatusOr<Endpoint> at) { EXPECT_TRUE(at.ok()); });
  HttpTestClient client(*client_loop_);
  client.Connect({simulator_.host("node").address(), kPort + 1});
  client.Get("/wait");
  simulator_.RunFor(milliseconds(10));
  int stopped_count = 0;
  for (int i = 0; i < 2; ++i) second.Stop([&] { ++stopped_count; });
  simulator_.RunFor(seconds(2));
  second.Stop([&] { ++stopped_count; });
  simulator_.RunFor(seconds(1));
  EXPECT_EQ(stopped_count, 3);
  EXPECT_EQ(result, ParkResult::kStopping);
  EXPECT_TRUE(client.closed());
}

TEST_F(AdminServerTest, ATakenPortIsReported) {
  AdminServer second(simulator_.host("node"),
                     **simulator_.host("node").StartLoop({.name = "second"}), {});
  Status status;
  second.Start({0, kPort}, [&](StatusOr<Endpoint> at) { status = at.status(); });
  simulator_.RunFor(milliseconds(1));
  EXPECT_FALSE(status.ok());
  second.Stop([] {});
  simulator_.RunFor(milliseconds(1));
}

// All loops of the node except the admin loop are stuck; the server still answers.
TEST(AdminServerRealTest, AnswersWhileTheNodeIsStuck) {
  MetricsRegistry metrics;
  StatusSections sections;
  const StatusSection section =
      *sections.Add("part", [](StatusReport* report) { report->AddFact("stuck", true); });
  std::unique_ptr<World> world = MakeRealWorld({});
  std::promise<void> unstick;
  const std::shared_future<void> unstuck = unstick.get_future().share();
  for (const char* name : {"main-0", "main-1"}) {
    (*world->StartLoop({.name = name}))->Post([stuck = unstuck] { stuck.wait(); });
  }
  Loop* const admin_loop = *world->StartLoop({.name = "admin"});
  AdminServer admin(*world, *admin_loop,
                    {.node_name = "stuck", .metrics = &metrics, .sections = &sections});
  std::promise<StatusOr<Endpoint>> started;
  admin.Start({kLoopbackAddress, 0},
              [&](StatusOr<Endpoint> where) { started.set_value(std::move(where)); });
  const StatusOr<Endpoint> at = started.get_future().get();
  ASSERT_TRUE(at.ok()) << at.status();

  Loop* const client_loop = *world->StartLoop({.name = "client"});
  HttpTestClient client(*client_loop);
  std::promise<void> answered;
  client_loop->Post([&] {
    client.set_on_response([&] {
      if (client.responses().size() == 3) answered.set_value();
    });
    client.Connect(*at);
    for (const char* path : {"/healthz", "/metrics", "/statusz?format=json"}) client.Get(path);
  });
  EXPECT_EQ(answered.get_future().wait_for(seconds(20)), std::future_status::ready);
  unstick.set_value();
  std::promise<void> stopped;
  admin.Stop([&] { stopped.set_value(); });
  stopped.get_future().wait();
  world->Stop();
  ASSERT_EQ(client.responses().size(), 3u);
  EXPECT_EQ(client.responses()[0].body, "ok\n");
  EXPECT_TRUE(Contains(client.responses()[2].body, "\"stuck\":true"));
  client.Close();
}

}  // namespace
}  // namespace neptune
