#include "tools/process/real_node.h"

#include "neptune/base/notification.h"
#include "neptune/base/strings.h"

namespace search::lab {

using neptune::Notification;
using neptune::Status;
using neptune::StrCat;

void SetOwnGroup(const neptune::UniquePort& port, neptune::ClusterSpec* spec) {
  spec->set_name(StrCat("lab-", port.number()));
  spec->set_multicast_group(StrCat("239.192.7.3:", port.number()));
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

void RealNode::Run(const std::function<void()>& body) {
  Notification done;
  node_.RunOnControl([&] {
    body();
    done.Notify();
  });
  done.WaitForNotification();
}

}  // namespace search::lab
