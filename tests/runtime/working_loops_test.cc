// Long requests on the threads that read requests (serving_threads_work): these go on reading.

#include <gtest/gtest.h>
#include <pthread.h>

#include <array>
#include <atomic>
#include <chrono>
#include <memory>
#include <string>

#include "neptune/base/notification.h"
#include "neptune/base/strings.h"
#include "neptune/base/unique_port.h"
#include "neptune/node/cluster_spec.h"
#include "neptune/service/client.h"
#include "neptune/testing/real_node.h"
#include "neptune/thread/user_thread.h"

namespace neptune {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

const ServiceName kService("hold");

std::string ThreadName() {
  std::array<char, 16> name{};
  pthread_getname_np(pthread_self(), name.data(), name.size());
  return name.data();
}

// Hold: computes, with stop checks, until Release has been called; answers the thread's name.
// Release: answers whether Hold computes now.
class HoldModule final : public ServiceModule {
 public:
  Status Start(ModuleContext& context) override {
    context.registrar.Method(MethodName("Hold"), {.grain = Grain::kLong},
                             [this](RequestContext& request, const Data&, Data* response) {
                               is_held_ = true;
                               while (!is_released_) {
                                 if (request.ShouldStop()) return Cancelled("stopped");
                                 request.GiveWay(1);
                               }
                               *response = Data(ThreadName());
                               return OkStatus();
                             });
    context.registrar.Method(MethodName("Release"), {},
                             [this](RequestContext&, const Data&, Data* response) {
                               is_released_ = is_held_.load();
                               *response = Data(is_held_ ? "held" : "idle");
                               return OkStatus();
                             });
    return OkStatus();
  }
  std::string implementation() const override { return "hold"; }

 private:
  std::atomic<bool> is_held_{false};
  std::atomic<bool> is_released_{false};
};

StatusOr<std::string> Ask(Client& client, const char* method) {
  ClientSession session(client);
  Data response;
  NEPTUNE_RETURN_IF_ERROR(
      Call(session, {kService, PartitionId(0), MethodName(method), AccessMode::kRead}, Data(""),
           &response, {.deadline = this_thread::Now() + seconds(20)}));
  return response.bytes();
}

TEST(WorkingLoopsTest, ALongRequestRunsOnTheThreadThatReadsAndLetsItRead) {
  const UniquePort port;
  const auto spec = ParseClusterSpec(
      StrCat("name: 'hold-", port.number(), "' multicast_group: '239.192.7.33:", port.number(),
             "' services { name: 'hold' module: 'hold' } nodes { name: 's' ",
             "serving_threads_work: true hosts { service: 'hold' } }"),
      "test");
  ASSERT_TRUE(spec.ok()) << spec.status();
  NodeOptions options;
  options.spec = *spec;
  options.name = NodeId("s");
  options.modules = [](const std::string&) -> StatusOr<std::unique_ptr<ServiceModule>> {
    return std::make_unique<HoldModule>();
  };
  const auto node = StartRealNode(std::move(options));
  Client& client = node->node().client();
  StatusOr<std::string> held = Internal("not asked");
  Notification was_held;
  node->Run([&] {
    while (node->node().View()->Replicas(kService, PartitionId(0)).empty()) {
      this_thread::SleepFor(milliseconds(10));
    }
  });
  node->node().RunOnControl([&] {
    held = Ask(client, "Hold");
    was_held.Notify();
  });
  StatusOr<std::string> released = std::string("idle");
  node->Run([&] {
    while (released.ok() && *released == "idle") released = Ask(client, "Release");
  });
  was_held.WaitForNotification();
  ASSERT_TRUE(released.ok()) << released.status();
  ASSERT_TRUE(held.ok()) << held.status();
  EXPECT_EQ(*held, "serve-0");
}

}  // namespace
}  // namespace neptune
