// A method that is registered as short although it takes long delays the requests of its loop only
// until that is noticed.

#include <gtest/gtest.h>
#include <pthread.h>
#include <time.h>

#include <array>
#include <chrono>
#include <memory>
#include <string>

#include "neptune/base/strings.h"
#include "neptune/base/unique_port.h"
#include "neptune/node/cluster_spec.h"
#include "neptune/service/client.h"
#include "neptune/testing/real_node.h"
#include "neptune/thread/user_thread.h"

namespace neptune {
namespace {

using std::chrono::seconds;

const ServiceName kService("spin");

std::string ThreadName() {
  std::array<char, 16> name{};
  pthread_getname_np(pthread_self(), name.data(), name.size());
  return name.data();
}

double ProcessorMs() {
  timespec used{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
  return static_cast<double>(used.tv_sec) * 1e3 + static_cast<double>(used.tv_nsec) / 1e6;
}

// Spin: uses its kernel thread for the given number of milliseconds, and answers the thread's name.
class SpinModule final : public ServiceModule {
 public:
  Status Start(ModuleContext& context) override {
    context.registrar.Method(MethodName("Spin"), {},
                             [](RequestContext&, const Data& request, Data* response) {
                               const double end = ProcessorMs() + std::stoi(request.bytes());
                               while (ProcessorMs() < end) continue;
                               *response = Data(ThreadName());
                               return OkStatus();
                             });
    return OkStatus();
  }
  std::string implementation() const override { return "spin"; }
};

TEST(MisjudgedMethodTest, IsServedByTheWorkersFromThenOn) {
  const UniquePort port;
  const auto spec = ParseClusterSpec(
      StrCat("name: 'spin-", port.number(), "' multicast_group: '239.192.7.32:", port.number(),
             "' services { name: 'spin' module: 'spin' } nodes { name: 's' worker_threads: 1 ",
             "hosts { service: 'spin' } }"),
      "test");
  ASSERT_TRUE(spec.ok()) << spec.status();
  NodeOptions options;
  options.spec = *spec;
  options.name = NodeId("s");
  options.modules = [](const std::string&) -> StatusOr<std::unique_ptr<ServiceModule>> {
    return std::make_unique<SpinModule>();
  };
  const auto node = StartRealNode(std::move(options));
  const auto spin = [&](int ms) {
    Data response;
    node->Run([&] {
      while (node->node().View()->Replicas(kService, PartitionId(0)).empty()) {
        this_thread::SleepFor(std::chrono::milliseconds(10));
      }
      ClientSession session(node->node().client());
      const Status status =
          Call(session, {kService, PartitionId(0), MethodName("Spin"), AccessMode::kRead},
               Data(StrCat(ms)), &response, {.deadline = this_thread::Now() + seconds(30)});
      EXPECT_TRUE(status.ok()) << status;
    });
    return response.bytes();
  };
  EXPECT_EQ(spin(0), "serve-0");
  EXPECT_EQ(spin(20), "serve-0");
  EXPECT_EQ(spin(20), "serve-0") << "one long run may be the system's fault";
  EXPECT_EQ(spin(20), "work-0");
  EXPECT_EQ(spin(20), "work-0");
  int count = 0;
  while (spin(0) == "work-0") ASSERT_LT(++count, 50) << "it is short again";
}

}  // namespace
}  // namespace neptune
