#include "tools/lab/real_node.h"

#include <unistd.h>

#include <atomic>

#include "neptune/base/notification.h"
#include "neptune/base/strings.h"

namespace search::lab {

using neptune::Notification;
using neptune::Status;
using neptune::StrCat;

void SetOwnGroup(neptune::ClusterSpec* spec) {
  static std::atomic<int> run_count{0};
  const int run = ++run_count;
  spec->set_name(StrCat("lab-", getpid(), "-", run));
  spec->set_multicast_group(StrCat("239.192.7.3:", 20'000 + (getpid() * 31 + run) % 20'000));
}

RealNode::~RealNode() {
  Notification stopped;
  node_.Stop(std::chrono::seconds(1), [&] { stopped.Notify(); });
  stopped.WaitForNotification();
  world_->Stop();
}

Status RealNode::Start() {
  Status outcome;
  Notification started;
  node_.Start([&](const Status& status) {
    outcome = status;
    started.Notify();
  });
  started.WaitForNotification();
  return outcome;
}

}  // namespace search::lab
