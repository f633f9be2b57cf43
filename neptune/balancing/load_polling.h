// Load polls: one datagram asks a server for its load, one answers.
//
//   PollingAgent (each loop of the caller) ──'L' number service──► LoadIndexServer (the node's probe
//                                                                  endpoint)
//                                          ◄──'l' number load silence pending──
//
//                                          ──'H' number service──►   also asks what the server has heard of others
//                                          ◄──'h' number load silence pending heard, to the end──
//
// Poll waits for its answers; Probe does not, its answer goes to the agent's hook.
//
// Each server is asked over a socket of its own that is connected to it: the system lets nobody else answer, and tells
// at once when nobody listens there any more, so that a poll does not wait for a server that has just died. Servers
// over kConnectedServerCountMax are asked over one socket for all.
//
// Source: [Shen02] 2.2 (polling agent, load index server), 3.3 (asynchronous UDP polls, slow
//   polls discarded after 10 ms).
// Threads: each on its own loop; Poll on a user-level thread of that loop.
// Units: load index = active + queued requests; silence and pending in microseconds on the wire.
// Limits: at most kPollSizeMax targets a poll; answers after PollingOptions::discard_after are
//   dropped; of probes the last kProbeCountMax are remembered.

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
#include "neptune/base/ids.h"
#include "neptune/thread/user_thread.h"
#include "neptune/world/network.h"
#include "neptune/world/world.h"

namespace neptune {

struct PollingOptions {
  // Servers asked for each call. Larger: better choice, more messages. Default: 3 (4.3).
  size_t poll_size = 3;
  // Answers slower than this are not waited for. Default: 10 ms (3.3.2).
  Duration discard_after = std::chrono::milliseconds(10);
  // An idle server's answer ends the poll. Default: true; the papers' policy waits for the others.
  bool stop_at_idle = true;
};

struct PollOutcome {
  // Index of the least loaded target that answered; nullopt if none did.
  std::optional<size_t> best;
  std::bitset<kPollSizeMax> answered;
  // Nobody listens there.
  std::bitset<kPollSizeMax> refused;
  // The wait ended before all had answered or one was idle.
  bool timed_out = false;
};

inline constexpr size_t kProbeCountMax = 256;
// Of one agent; each has a descriptor. One not asked for kConnectedIdleTime makes room for another.
inline constexpr size_t kConnectedServerCountMax = 256;
inline constexpr Duration kConnectedIdleTime = std::chrono::seconds(10);

class PollingAgent {
 public:
  // Takes the answer to a probe that was sent with `cookie`.
  using OnReport = absl::AnyInvocable<void(uint64_t cookie, const LoadReport& report)>;

  // `on_report` may be null if no probes are sent. `network` outlives the agent; null: the loop's own.
  static StatusOr<std::unique_ptr<PollingAgent>> Open(Loop& loop, const Endpoint& bind,
                                                      OnReport on_report = nullptr,
                                                      Network* network = nullptr);
  ~PollingAgent();

  // Polls the endpoints and waits for answers until one decides, none is left to come, or `deadline`. An
  // answer counts only if it comes from the endpoint that was asked.
  // REQUIRES: at most kPollSizeMax targets.
  PollOutcome Poll(const std::vector<Endpoint>& targets, TimePoint deadline,
                   bool stop_at_idle = true);

  // Asks one server for its load and how `service` gets on there; returns at once.
  void Probe(const Endpoint& target, const ServiceName& service, uint64_t cookie);
  // And for what it has heard of others.
  void ProbeForGossip(const Endpoint& target, const ServiceName& service, uint64_t cookie);

 private:
  struct Pending;
  struct SentProbe {
    uint64_t number = 0;  // 0: none
    Endpoint target;
    uint64_t cookie = 0;
  };
  struct Connected {
    std::unique_ptr<DatagramSocket> socket;
    TimePoint used_at;
  };
  PollingAgent(Loop& loop, const Endpoint& bind, OnReport on_report, Network& network);
  DatagramSocket& SocketTo(const Endpoint& target);
  // False while all sockets are in use.
  bool MakeRoom(TimePoint now);
  uint64_t NextProbe(const Endpoint& target, uint64_t cookie);
  void Ask(const Endpoint& target, uint8_t kind, uint64_t number, std::string_view service);
  void HandleProbeAnswer(const Endpoint& from, uint64_t number, const LoadReport& report);
  void HandleAnswer(const Endpoint& from, std::string_view bytes);
  void HandleRefusal(const Endpoint& target);

  Loop& loop_;
  Network& network_;
  const Endpoint bind_;
  std::unique_ptr<DatagramSocket> socket_;  // for the servers that have none of their own
  std::map<Endpoint, Connected> connected_;
  std::map<uint64_t, Pending*> pending_;  // by number of the poll's first datagram
  // Both begin where nobody can guess, so that answers are not made up, nor kept from another life of the node.
  uint64_t next_number_ = 0;
  OnReport on_report_;
  std::array<SentProbe, kProbeCountMax> probes_;  // by number modulo their count
  uint64_t probe_count_ = 0;
};

// Answers load polls and probes on the node's probe endpoint.
class LoadIndexServer {
 public:
  struct Hooks {
    // The load, and how the service gets on; an empty name asks for the load alone.
    absl::AnyInvocable<LoadReport(std::string_view service)> load;
    // What the node has heard of others; null: nothing.
    absl::AnyInvocable<std::string()> heard;
    // The node's announcement, sent to whoever probes.
    absl::AnyInvocable<StatusOr<std::string>()> announcement;
    // An announcement that answers a probe of this node's own.
    absl::AnyInvocable<void(std::string_view bytes)> on_announcement;
  };

  // `network` outlives the server; null: the loop's own.
  static StatusOr<std::unique_ptr<LoadIndexServer>> Open(Loop& loop, const Endpoint& bind,
                                                         Hooks hooks, Network* network = nullptr);

  Endpoint local() const { return socket_->local(); }
  void SendProbe(const Endpoint& to, std::string_view bytes) { (void)socket_->SendTo(to, bytes); }
  uint64_t answered_count() const { return answered_count_; }

 private:
  explicit LoadIndexServer(Hooks hooks) : hooks_(std::move(hooks)) {}
  void Take(const Endpoint& from, std::string_view bytes);

  Hooks hooks_;
  std::unique_ptr<DatagramSocket> socket_;
  uint64_t answered_count_ = 0;
};

}  // namespace neptune
