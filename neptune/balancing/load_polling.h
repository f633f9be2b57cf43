// Load polls and probes: one datagram asks a server for its load, one answers.
//
//   PollingAgent        ──'L' number service──►                         LoadIndexServer
//   (each caller loop)  ◄──'l' number load silence pending──            (node's probe endpoint)
//
//                       ──'H' number service──►                         also asks for gossip
//                       ◄──'h' number load silence pending gossip──     gossip extends to the end
//
// Poll waits for its answers; Probe does not, and its answer goes to the agent's callback.
//
// In a cluster without a key anyone may ask in another's name. An answer is then no larger than the
// question, so that a node cannot be used to flood the one that is named: questions end with as
// many zero bytes as the answer may need, and a server sends less gossip, or nothing, to others.
//
// Each server is asked over its own connected socket: the system drops datagrams from other senders
// and reports a closed port at once, so a poll does not wait for a server that has just died.
// Servers beyond kConnectedServerCountMax share one unconnected socket.
//
// Source: [Shen02] 2.2 (polling agent, load index server), 3.3 (asynchronous UDP polls, slow
//   polls discarded after 10 ms).
// Threads: each on its own loop; Poll on a user-level thread of that loop.
// Units: load index = active + queued requests; silence and pending in microseconds on the wire.
// Limits: at most kPollSizeMax targets a poll; answers after PollingOptions::discard_after are
//   dropped; only the last kProbeCountMax probes are remembered.

#pragma once

#include <array>
#include <bitset>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "neptune/balancing/load_report.h"
#include "neptune/balancing/replica_choice.h"
#include "neptune/base/byte_order.h"
#include "neptune/base/ids.h"
#include "neptune/thread/user_thread.h"
#include "neptune/world/network.h"
#include "neptune/world/world.h"

namespace neptune {

struct PollingOptions {
  // Servers polled for each call. Larger: better choice, more messages. Default: 3 (4.3).
  size_t poll_size = 3;
  // Maximum wait for answers. Default: 10 ms (3.3.2).
  Duration discard_after = std::chrono::milliseconds(10);
  // An idle server's answer ends the poll. Default: true; the papers' policy waits for the others.
  bool stop_at_idle = true;
};

struct PollOutcome {
  // Index of the least loaded target that answered; nullopt if none did.
  std::optional<size_t> best;
  std::bitset<kPollSizeMax> answered;
  // Targets whose port is closed.
  std::bitset<kPollSizeMax> refused;
  // True if the wait ended before all had answered or one was idle.
  bool timed_out = false;
};

inline constexpr size_t kProbeCountMax = 256;
// Limit for one agent; each connected socket uses a descriptor. A socket unused for
// kConnectedIdleTime is replaced when another server needs one.
inline constexpr size_t kConnectedServerCountMax = 256;
inline constexpr Duration kConnectedIdleTime = std::chrono::seconds(10);

class PollingAgent {
 public:
  // Handles the answer to a probe that was sent with `cookie`.
  using OnReport = absl::AnyInvocable<void(uint64_t cookie, const LoadReport& report)>;

  // `on_report` may be null if no probes are sent. `network` must outlive the agent; null: the
  // loop's own.
  static StatusOr<std::unique_ptr<PollingAgent>> Open(Loop& loop, const Endpoint& bind,
                                                      OnReport on_report = nullptr,
                                                      Network* network = nullptr);
  ~PollingAgent();

  // Polls the targets and waits until an answer decides, no answer is outstanding, or `deadline`.
  // An answer counts only if it comes from the endpoint that was asked. REQUIRES: at most
  // kPollSizeMax targets.
  PollOutcome Poll(const std::vector<Endpoint>& targets, TimePoint deadline,
                   bool stop_at_idle = true);

  // Asks one server for its load and the progress of `service`; returns at once.
  void Probe(const Endpoint& target, const ServiceName& service, uint64_t cookie);
  // Like Probe, but also asks for the gossip of the server.
  void ProbeForGossip(const Endpoint& target, const ServiceName& service, uint64_t cookie);

 private:
  struct Pending;
  struct SentProbe {
    uint64_t number = 0;  // 0: unused
    Endpoint target;
    uint64_t cookie = 0;
  };
  struct Connected {
    std::unique_ptr<DatagramSocket> socket;
    TimePoint used_at;
  };
  PollingAgent(Loop& loop, const Endpoint& bind, OnReport on_report, Network& network);
  DatagramSocket& SocketTo(const Endpoint& target);
  // Returns false while all sockets are in use.
  bool MakeRoom(TimePoint now);
  uint64_t NextProbe(const Endpoint& target, uint64_t cookie);
  void Ask(const Endpoint& target, uint8_t kind, uint64_t number, std::string_view service);
  void HandleProbeAnswer(const Endpoint& from, uint64_t number, const LoadReport& report);
  void HandleAnswer(const Endpoint& from, std::string_view bytes);
  void HandleRefusal(const Endpoint& target);

  Loop& loop_;
  Network& network_;
  const Endpoint bind_;
  std::unique_ptr<DatagramSocket> socket_;  // for servers without a connected socket
  std::map<Endpoint, Connected> connected_;
  std::map<uint64_t, Pending*> pending_;  // keyed by the number of the poll's first datagram
  // Both start at unpredictable values, so that answers cannot be forged or belong to an earlier
  // life of the node.
  uint64_t next_number_ = 0;
  OnReport on_report_;
  std::array<SentProbe, kProbeCountMax> probes_;  // indexed by number modulo kProbeCountMax
  uint64_t probe_count_ = 0;
};

// Answers load polls and probes on the node's probe endpoint.
class LoadIndexServer {
 public:
  struct Hooks {
    // Returns the load and the progress of the service; an empty name asks for the load alone.
    absl::AnyInvocable<LoadReport(std::string_view service)> load;
    // Returns the gossip of the node; null: it has none.
    absl::AnyInvocable<std::string()> gossip;
    // Returns the node's announcement, which answers a membership probe: 'P', and zero bytes.
    absl::AnyInvocable<StatusOr<std::string>()> announcement;
    // Handles an announcement that answers a probe of this node.
    absl::AnyInvocable<void(std::string_view bytes)> on_announcement;
  };

  // `network` must outlive the server; null: the loop's own.
  static StatusOr<std::unique_ptr<LoadIndexServer>> Open(Loop& loop, const Endpoint& bind,
                                                         Hooks hooks, Network* network = nullptr);

  Endpoint local() const { return socket_->local(); }
  void SendProbe(const Endpoint& to, std::string_view bytes) { (void)socket_->SendTo(to, bytes); }
  uint64_t answered_count() const { return answered_count_; }

 private:
  LoadIndexServer(Hooks hooks, bool knows_senders)
      : hooks_(std::move(hooks)), knows_senders_(knows_senders) {}
  void Take(const Endpoint& from, std::string_view bytes);
  std::string AnswerPoll(bool with_gossip, ByteReader reader, size_t size_max);

  Hooks hooks_;
  const bool knows_senders_;
  std::unique_ptr<DatagramSocket> socket_;
  uint64_t answered_count_ = 0;
};

}  // namespace neptune
