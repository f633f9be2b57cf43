#include <utility>

#include "neptune/membership/announcement_channel.h"

namespace neptune {
namespace {

class MulticastChannel final : public AnnouncementChannel {
 public:
  MulticastChannel(const Endpoint& group, std::unique_ptr<DatagramSocket> socket)
      : group_(group), socket_(std::move(socket)) {}

  void Publish(std::string_view bytes) override { (void)socket_->SendTo(group_, bytes); }

 private:
  const Endpoint group_;
  const std::unique_ptr<DatagramSocket> socket_;
};

}  // namespace

StatusOr<std::unique_ptr<AnnouncementChannel>> OpenMulticastChannel(
    Network& network, const Endpoint& group, uint32_t interface_address,
    AnnouncementChannel::Handler on_message) {
  DatagramOptions options;
  options.multicast_group = group;
  options.multicast_interface = interface_address;
  NEPTUNE_ASSIGN_OR_RETURN(
      auto socket,
      network.OpenDatagram(
          options, [on_message = std::move(on_message)](
                       const Endpoint&, std::string_view bytes) mutable { on_message(bytes); }));
  return std::make_unique<MulticastChannel>(group, std::move(socket));
}

}  // namespace neptune
