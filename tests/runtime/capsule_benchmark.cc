// Measures the cost of dependency capsules to a caller: processor time of a node for each call that
// it makes, with capsules against without, in turns, so that whatever else the machine does meets
// both alike.
//
//   bazel run //tests/runtime:capsule_benchmark
//
// The servers are a process of their own. The calling process has two nodes, one with capsules (the
// default one, and eight whose rules it asks first) and one without. The figure is the ratio of
// their processor time per call: median of the pairs, and the bound that it is under with 95 %
// confidence.

#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "neptune/base/notification.h"
#include "neptune/base/strings.h"
#include "neptune/base/unique_port.h"
#include "neptune/node/echo_module.h"
#include "neptune/service/client.h"
#include "neptune/testing/real_node.h"
#include "neptune/thread/user_thread.h"

namespace neptune {
namespace {

constexpr int kPairCount = 61;
constexpr int kCallerCount = 32;
constexpr int kCallCount = 20000;  // of each half of a pair

ClusterSpec Spec(uint16_t port) {
  std::string text = StrCat("name: 'capsules-", port, "' multicast_group: '239.192.7.6:", port,
                            "' services { name: 'echo' module: 'echo' queue_length_max: 1000 } "
                            "services { name: 'idle' module: 'echo' } "
                            "nodes { name: 's' hosts { service: 'echo' } } "
                            "nodes { name: 'without' hosts { service: 'idle' } } "
                            "nodes { name: 'with' hosts { service: 'idle' } ");
  for (int i = 0; i < 8; ++i) {
    StrAppend(&text, "capsules { name: 'other-", i, "' match: 'service:other/", i, "' } ");
  }
  const StatusOr<ClusterSpec> spec = ParseClusterSpec(text + "}", "capsule_benchmark");
  CHECK(spec.ok()) << spec.status();
  return *spec;
}

NodeOptions OptionsOf(const ClusterSpec& spec, const char* name, bool with_capsules) {
  NodeOptions options;
  options.spec = spec;
  options.name = NodeId(name);
  options.modules = [](const std::string&) { return std::make_unique<EchoModule>(); };
  options.with_default_capsule = with_capsules;
  return options;
}

// The server process runs until it is killed.
[[noreturn]] void Serve(const ClusterSpec& spec) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  const auto server = StartRealNode(OptionsOf(spec, "s", true));
  while (true) pause();
}

double ProcessorSeconds() {
  timespec used{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
  return static_cast<double>(used.tv_sec) + 1e-9 * static_cast<double>(used.tv_nsec);
}

void AwaitServer(Node& node) {
  Notification found;
  node.RunOnControl([&] {
    while (node.client().View()->Replicas(ServiceName("echo"), PartitionId(0)).empty()) {
      this_thread::SleepFor(std::chrono::milliseconds(1));
    }
    found.Notify();
  });
  found.WaitForNotification();
}

// Processor seconds of this process for kCallCount calls by kCallerCount threads of the node.
double Calls(Node& node) {
  const double begin = ProcessorSeconds();
  Notification done;
  std::atomic<int> left{kCallerCount};
  for (int i = 0; i < kCallerCount; ++i) {
    node.RunOnControl([&] {
      ClientSession session(node.client());
      const Data request(std::string(128, 'x'));
      for (int call = 0; call < kCallCount / kCallerCount; ++call) {
        Data response;
        const Status status = Call(
            session, {ServiceName("echo"), PartitionId(0), MethodName("Echo"), AccessMode::kRead},
            request, &response);
        CHECK(status.ok()) << status;
      }
      if (--left == 0) done.Notify();
    });
  }
  done.WaitForNotification();
  return ProcessorSeconds() - begin;
}

int RunBenchmark() {
  const UniquePort port;
  const ClusterSpec spec = Spec(port.number());
  const pid_t server = fork();  // before any thread is made
  if (server == 0) Serve(spec);
  std::vector<double> ratios;
  std::vector<double> with_us;
  {
    const auto with = StartRealNode(OptionsOf(spec, "with", true));
    const auto without = StartRealNode(OptionsOf(spec, "without", false));
    for (RealNode* const node : {with.get(), without.get()}) {
      AwaitServer(node->node());
      (void)Calls(node->node());
    }
    for (int pair = 0; pair < kPairCount; ++pair) {
      const bool with_first = pair % 2 == 0;
      const double first = Calls((with_first ? with : without)->node());
      const double second = Calls((with_first ? without : with)->node());
      ratios.push_back(with_first ? first / second : second / first);
      with_us.push_back(1e6 * (with_first ? first : second) / kCallCount);
    }
  }
  kill(server, SIGKILL);
  waitpid(server, nullptr, 0);
  std::sort(ratios.begin(), ratios.end());
  std::sort(with_us.begin(), with_us.end());
  // The 38th of 61 values is above the median with a probability of over 95 % (binomial).
  std::printf(
      "%.2f us of processor a call with capsules; with / without: %.4f, under %.4f with 95 %%\n",
      with_us[kPairCount / 2], ratios[kPairCount / 2], ratios[37]);
  return 0;
}

}  // namespace
}  // namespace neptune

int main() { return neptune::RunBenchmark(); }
