// Pulses between nodes with replicas of the same partitions: which of them live, for all partitions
// at once, so that idle partitions need no heartbeats (safe/primary_rest.h).
//
//   every 100 ms: pulse ─► the other node ─► its answer       either tells both that the other lives
//
// The one of two nodes with the smaller name calls, and the other one only if it is not called. All
// calls of a node begin at the same time, on a grid (time_grid.h). A node that callers of its
// services do not reach (`may_lead`) sends no pulses and answers none, so that the partitions that
// it leads are taken over.
//
// Threads: used on the control loop only; one user-level thread for each node that is called.
// Limits: kPulseTimeout a call; the last kPulseEndCountMax ends of the last kPulseEndTime are sent.

#pragma once

#include <deque>
#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "neptune/replication/agent/node_pulse.h"
#include "neptune/replication/agent/pulse_peer.h"
#include "neptune/service/client.h"
#include "neptune/service/node_loops.h"
#include "neptune/thread/user_thread.h"

namespace neptune {

inline constexpr char kPulseMethod[] = "Pulse";
inline constexpr Duration kPulseTimeout = std::chrono::seconds(1);
inline constexpr Duration kPulseEndTime = std::chrono::seconds(3);

class NodePulses {
 public:
  struct Hooks {
    // A node is heard, for the first time or again.
    std::function<void(const NodeId& peer)> on_heard;
    // It is not heard since `heard_at`.
    std::function<void(const NodeId& peer, TimePoint heard_at)> on_silent;
    // It leads the partition no longer; null: nothing that it led.
    std::function<void(const NodeId& peer, const LeadEnd* end)> on_end;
    // False: this node falls silent. Null: true.
    std::function<bool()> may_lead;
  };
  // The references must outlive this object. `service`: has the method kPulseMethod on all nodes.
  NodePulses(Client& client, NodeLoop& control, NodeId self, ServiceName service, Hooks hooks);
  ~NodePulses();

  // Calls the node from now on. Idempotent.
  void Watch(const NodeId& peer);
  bool Hears(const NodeId& peer) const;
  // A replica ends that led its partition.
  void NoteEnd(const ServiceName& service, PartitionId partition);
  // Takes another node's pulse and returns the answer.
  StatusOr<std::string> Answer(std::string_view pulse);

  // Ends soon; all has ended once in_use() is false.
  void Stop();
  bool in_use() const { return threads_alive_ > 0; }

 private:
  struct Peer {
    PulsePeer known;
    ThreadRef thread;
    bool is_due = true;  // to be called
    bool is_called = false;
  };
  struct NumberedEnd {
    LeadEnd end;
    TimePoint at{};
  };
  void Run(const NodeId& to, Peer& peer);
  void Call(const NodeId& to);
  void Hear(const NodePulse& pulse);
  // Has those called that are due, now and periodically from now on.
  void CallDue();
  // Waits for the next one to fall silent.
  void AwaitSilence();
  void CheckSilence();
  PulseTurn TurnTo(const NodeId& peer) const {
    return self_ < peer ? PulseTurn::kCalls : PulseTurn::kAnswers;
  }
  NodePulse Make();
  bool MayLead() const { return hooks_.may_lead == nullptr || hooks_.may_lead(); }

  Client& client_;
  NodeLoop& control_;
  const NodeId self_;
  const ServiceName service_;
  const Hooks hooks_;
  const uint64_t incarnation_;
  std::map<NodeId, Peer> peers_;  // one per node of the spec
  uint64_t end_count_ = 0;
  std::deque<NumberedEnd> ends_;
  TimerId call_timer_ = 0;  // 0: not set
  TimerId silence_timer_ = 0;
  int threads_alive_ = 0;
  bool stopping_ = false;
};

}  // namespace neptune
