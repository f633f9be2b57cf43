// Any sequence of announcements, connection failures, unanswered calls and silences: the yellow
// page shows known nodes only, each replica on a node that may be called, and has no work that is
// due once its work is done.
//
// An operation is three bytes: what, which node, and how much.

#include <glog/logging.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "neptune/base/strings.h"
#include "neptune/membership/service_yellow_page.h"
#include "tools/bazel/fuzz/place.h"

namespace neptune {
namespace {

constexpr uint8_t kNodes = 6;

FuzzPlace silent_node("a node is found silent");
FuzzPlace replica_to_call("a replica may be called");

NodeId NodeOf(uint8_t which) { return NodeId(StrCat("n", which % kNodes)); }

Endpoint EndpointOf(uint8_t which, uint16_t port) { return {0x7f000001u + which % kNodes, port}; }

Announcement AnnouncementOf(uint8_t which, uint8_t how_much) {
  Announcement announcement;
  announcement.node = NodeOf(which);
  announcement.incarnation = 1 + how_much % 3;
  announcement.sequence = how_much / 3;
  announcement.goodbye = which >= 240;
  announcement.draining = (which & 32) != 0;
  announcement.load_index = how_much;
  announcement.call_endpoint = EndpointOf(which, 1);
  announcement.control_endpoint = EndpointOf(which, 2);
  announcement.probe_endpoint = EndpointOf(which, 3);
  if ((which & 64) == 0) {
    HostedService& service = announcement.services.emplace_back();
    service.service = ServiceName("s");
    service.is_control = (how_much & 1) != 0;
    service.partitions = {PartitionId(which % 3), PartitionId(which % 2 + 3)};
  }
  return announcement;
}

void CheckView(const ServiceYellowPage& page) {
  const auto view = page.View();
  CHECK_EQ(view->nodes().size(), page.node_count());
  CHECK_LE(page.node_count(), size_t{kNodes});
  for (const auto& [place, replicas] : view->all()) {
    for (size_t i = 0; i < replicas.size(); ++i) {
      replica_to_call.Reach();
      const auto announcement = view->Find(replicas[i].node);
      CHECK(announcement != nullptr && !announcement->draining);
      CHECK(!page.IsSilent(replicas[i].call_endpoint)) << replicas[i].node;
      if (i > 0) CHECK(replicas[i - 1].node < replicas[i].node);
    }
  }
}

void Work(ServiceYellowPage& page, TimePoint now) {
  for (const ServiceYellowPage::Probe& probe : page.Suspect(now)) {
    CHECK(page.View()->Find(probe.node) != nullptr);
  }
  if (!page.Expire(now).empty()) silent_node.Reach();
  CHECK(page.NextEvent() > now) << "work is due after it was done";
}

void Run(const uint8_t* data, size_t size) {
  ServiceYellowPage page;
  TimePoint now{std::chrono::seconds(1)};
  for (size_t i = 0; i + 2 < size && i < 1500; i += 3) {
    const uint8_t which = data[i + 1];
    const uint8_t how_much = data[i + 2];
    const Announcement announcement = AnnouncementOf(which, how_much);
    switch (data[i] % 7) {
      case 0:
        page.Receive(announcement, now, Via::kChannel);
        break;
      case 1:
        page.Receive(announcement, now, Via::kProbe);
        break;
      case 2:
        page.Exclude(NodeOf(which), now);
        break;
      case 3:
        page.Quarantine(EndpointOf(which, 1 + how_much % 2), now);
        break;
      case 4:
        if (const auto stored = page.Outranks(announcement, now)) {
          CHECK_GE(*stored, announcement.incarnation);
        }
        break;
      case 5:
        now += std::chrono::milliseconds(how_much) * (1 + which % 40);
        [[fallthrough]];
      default:
        Work(page, now);
    }
    CheckView(page);
  }
}

}  // namespace
}  // namespace neptune

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  neptune::Run(data, size);
  return 0;
}
