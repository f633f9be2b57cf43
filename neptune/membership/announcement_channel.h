// Transport of announcements: multicast, or a directory for networks without multicast.
//
// Source: [Shen02] 2.2 (publish/subscribe channel).
// Threads: the channel's loop only.
// Limits: a message is at most kAnnouncementSizeMax bytes.

#pragma once

#include <memory>
#include <string_view>

#include "absl/functional/any_invocable.h"
#include "neptune/world/network.h"
#include "neptune/world/world.h"

namespace neptune {

class AnnouncementChannel {
 public:
  // `bytes` is valid during the call only.
  using Handler = absl::AnyInvocable<void(std::string_view bytes)>;

  virtual ~AnnouncementChannel() = default;
  // Sends to all nodes, including this one. A lost message is not an error.
  virtual void Publish(std::string_view bytes) = 0;
};

// The default: IP multicast on the given interface, over `network`, which outlives the channel.
// Errors: kInvalidArgument the group cannot be joined.
StatusOr<std::unique_ptr<AnnouncementChannel>> OpenMulticastChannel(
    Network& network, const Endpoint& group, uint32_t interface_address,
    AnnouncementChannel::Handler on_message);

}  // namespace neptune
