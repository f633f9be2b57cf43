// Any datagrams to both ends of load polls, from the endpoint that was asked and from another: the
// server answers well-formed polls only, and the caller's agent reports each probe at most once,
// with what its own server answered.
//
// The input is a sequence of datagrams: a byte for what it is, a byte for its size, its bytes. A
// datagram to the agent is an answer, whose number is that of a probe unless the byte says
// otherwise.

#include <glog/logging.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "neptune/balancing/load_polling.h"
#include "neptune/base/byte_order.h"
#include "neptune/world/sim/simulator.h"
#include "tools/bazel/fuzz/place.h"

namespace neptune {
namespace {

using std::chrono::milliseconds;

constexpr size_t kDatagramCountMax = 64;

FuzzPlace answered_poll("a poll is answered");
FuzzPlace reported_probe("the answer to a probe is reported");
FuzzPlace handed_announcement("an announcement is handed on");

class Ends {
 public:
  Ends() {
    SimWorld& server = simulator_.AddHost({.name = "server"});
    LoadIndexServer::Hooks hooks;
    hooks.load = [](std::string_view service) {
      CHECK_LE(service.size(), 255u);
      return LoadReport{7, milliseconds(1), milliseconds(2)};
    };
    hooks.gossip = [] { return std::string("gossip"); };
    hooks.announcement = [] { return std::string("announcement"); };
    hooks.on_announcement = [](std::string_view) { handed_announcement.Reach(); };
    server_ = *LoadIndexServer::Open(**server.StartLoop({.name = "loop"}), {server.address(), 0},
                                     std::move(hooks));
    SimWorld& peer = simulator_.AddHost({.name = "peer"});
    peer_loop_ = *peer.StartLoop({.name = "loop"});
    peer_ = *peer_loop_->network().OpenDatagram(
        {.bind = {peer.address(), 0}},
        [this](const Endpoint& from, std::string_view bytes) { TakeAtPeer(from, bytes); });
    SimWorld& caller = simulator_.AddHost({.name = "caller"});
    caller_loop_ = *caller.StartLoop({.name = "loop"});
    caller_loop_->Post([this, address = caller.address()] {
      agent_ = *PollingAgent::Open(*caller_loop_, {address, 0},
                                   [this](uint64_t cookie, const LoadReport&) { Report(cookie); });
    });
    simulator_.RunFor(milliseconds(5));
  }

  // Sends the bytes to the server as they are.
  void SendToServer(std::string_view bytes) {
    const uint64_t before = server_->answered_count();
    (void)peer_->SendTo(server_->local(), bytes);
    simulator_.RunFor(milliseconds(5));
    if (server_->answered_count() == before) return;
    CHECK(bytes.starts_with('L') || bytes.starts_with('H'));
    answered_poll.Reach();
  }

  // Lets the agent probe the peer, which answers with the kind, the probe's number and the bytes.
  void AnswerProbe(uint8_t what, std::string_view bytes) {
    caller_loop_->Post([this, what] {
      const ServiceName service("s");
      reported_.push_back(0);
      const uint64_t cookie = reported_.size() - 1;
      if ((what & 4) != 0) return agent_->ProbeForGossip(peer_->local(), service, cookie);
      agent_->Probe(peer_->local(), service, cookie);
    });
    simulator_.RunFor(milliseconds(5));
    std::string answer;
    ByteWriter out(&answer);
    out.Number(static_cast<uint8_t>((what & 4) != 0 ? 'h' : 'l'));
    out.Number((what & 8) != 0 ? asked_number_ + 1 : asked_number_);
    out.Bytes(bytes);
    for (int i = 0; i <= (what >> 4) % 3; ++i) (void)peer_->SendTo(asker_, answer);
    simulator_.RunFor(milliseconds(5));
    // A datagram without a number of its own.
    (void)peer_->SendTo(asker_, bytes);
    simulator_.RunFor(milliseconds(5));
  }

 private:
  void TakeAtPeer(const Endpoint& from, std::string_view bytes) {
    ByteReader in(bytes);
    const uint8_t kind = in.Number<uint8_t>();
    const uint64_t number = in.Number<uint64_t>();
    if (in.failed() || (kind != 'L' && kind != 'H')) return;
    asker_ = from;
    asked_number_ = number;
  }

  void Report(uint64_t cookie) {
    CHECK_LT(cookie, reported_.size());
    CHECK_EQ(++reported_[cookie], 1) << "a probe is reported twice";
    reported_probe.Reach();
  }

  Simulator simulator_{1};
  Loop* peer_loop_ = nullptr;
  Loop* caller_loop_ = nullptr;
  std::unique_ptr<LoadIndexServer> server_;
  std::unique_ptr<DatagramSocket> peer_;
  std::unique_ptr<PollingAgent> agent_;
  Endpoint asker_;
  uint64_t asked_number_ = 0;
  std::vector<int> reported_;  // by cookie
};

}  // namespace
}  // namespace neptune

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace neptune;
  Ends ends;
  ByteReader in({reinterpret_cast<const char*>(data), size});
  for (size_t i = 0; i < kDatagramCountMax && in.remaining() > 0; ++i) {
    const uint8_t what = in.Number<uint8_t>();
    const std::string_view bytes = in.Counted<uint8_t>();
    if ((what & 1) == 0) {
      ends.SendToServer(bytes);
    } else {
      ends.AnswerProbe(what, bytes);
    }
  }
  return 0;
}
