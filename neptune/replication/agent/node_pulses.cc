#include "neptune/replication/agent/node_pulses.h"

#include <glog/logging.h>

#include <algorithm>
#include <utility>

#include "neptune/base/time_grid.h"

namespace neptune {

NodePulses::NodePulses(Client& client, NodeLoop& control, NodeId self, ServiceName service,
                       Hooks hooks)
    : client_(client),
      control_(control),
      self_(std::move(self)),
      service_(std::move(service)),
      hooks_(std::move(hooks)),
      incarnation_(control.loop->random().Next() | 1) {}

NodePulses::~NodePulses() {
  if (call_timer_ != 0) control_.loop->CancelTimer(call_timer_);
  if (silence_timer_ != 0) control_.loop->CancelTimer(silence_timer_);
}

void NodePulses::Watch(const NodeId& to) {
  if (to == self_ || stopping_ || peers_.contains(to)) return;
  Peer& peer = peers_[to];
  const auto started = control_.scheduler->Spawn(
      [this, to, &peer] {
        Run(to, peer);
        peer.thread = ThreadRef();
        --threads_alive_;
      },
      "pulse");
  if (!started.ok()) {  // the next replica that is started retries
    LOG(WARNING) << "no pulses to node " << to << ": " << started.status();
    peers_.erase(to);
    return;
  }
  ++threads_alive_;
  if (call_timer_ == 0) CallDue();
}

void NodePulses::CallDue() {
  const TimePoint now = control_.loop->Now();
  for (auto& [name, peer] : peers_) {
    const bool is_due = MayLead() && peer.known.MustCall(TurnTo(name), now);
    if (!is_due || peer.is_called) continue;
    peer.is_due = true;
    if (peer.thread) peer.thread->Wake();
  }
  call_timer_ = control_.loop->RunAt(NextOnGrid(now, kPulseInterval), [this] { CallDue(); });
}

void NodePulses::Run(const NodeId& to, Peer& peer) {
  peer.thread = ThreadRef(UserThread::Current());
  while (!stopping_) {
    if (std::exchange(peer.is_due, false) && MayLead()) {
      peer.is_called = true;
      Call(to);
      peer.is_called = false;
    } else if (this_thread::Park() == ParkResult::kStopping) {
      return;
    }
  }
}

void NodePulses::Call(const NodeId& to) {
  ClientSession session(client_);
  CallOptions options;
  options.deadline = this_thread::Now() + kPulseTimeout;
  options.attempts_max = 1;
  options.only = to;
  Data response;
  // Called as a write, so that it is not hedged: a second copy would be wasted.
  const Status status = neptune::Call(
      session, {service_, PartitionId(0), MethodName(kPulseMethod), AccessMode::kWrite},
      Data(EncodeNodePulse(Make())), &response, options);
  if (!status.ok()) return;
  const StatusOr<NodePulse> answer = DecodeNodePulse(response.bytes());
  if (answer.ok() && answer->from == to) Hear(*answer);
}

StatusOr<std::string> NodePulses::Answer(std::string_view bytes) {
  NEPTUNE_ASSIGN_OR_RETURN(const NodePulse pulse, DecodeNodePulse(bytes));
  Hear(pulse);
  if (stopping_ || !MayLead()) return Unavailable("node ", self_, " is not to lead partitions");
  return EncodeNodePulse(Make());
}

void NodePulses::Hear(const NodePulse& pulse) {
  const auto found = peers_.find(pulse.from);
  if (found == peers_.end() || stopping_) return;
  const PulsePeer::News news = found->second.known.Hear(pulse, control_.loop->Now());
  if (news.have_all_ended) hooks_.on_end(pulse.from, nullptr);
  for (const LeadEnd& end : news.ends) hooks_.on_end(pulse.from, &end);
  if (news.is_heard) hooks_.on_heard(pulse.from);
  if (silence_timer_ == 0) AwaitSilence();
}

void NodePulses::AwaitSilence() {
  TimePoint next = kNever;
  for (const auto& [name, peer] : peers_) next = std::min(next, peer.known.silent_at());
  if (next == kNever || stopping_) return;
  silence_timer_ = control_.loop->RunAt(next, [this] {
    silence_timer_ = 0;
    CheckSilence();
    AwaitSilence();
  });
}

// Most were heard again since the timer was set.
void NodePulses::CheckSilence() {
  const TimePoint now = control_.loop->Now();
  for (auto& [name, peer] : peers_) {
    if (peer.known.CheckSilence(now)) hooks_.on_silent(name, peer.known.heard_at());
  }
}

bool NodePulses::Hears(const NodeId& node) const {
  const auto found = peers_.find(node);
  return found != peers_.end() && found->second.known.is_heard();
}

void NodePulses::NoteEnd(const ServiceName& service, PartitionId partition) {
  ++end_count_;
  ends_.push_back({{service, partition}, control_.loop->Now()});
  if (ends_.size() > kPulseEndCountMax) ends_.pop_front();
}

NodePulse NodePulses::Make() {
  const TimePoint now = control_.loop->Now();
  while (!ends_.empty() && now - ends_.front().at > kPulseEndTime) ends_.pop_front();
  NodePulse pulse{.from = self_, .incarnation = incarnation_, .end_count = end_count_};
  for (const NumberedEnd& one : ends_) pulse.ends.push_back(one.end);
  return pulse;
}

void NodePulses::Stop() {
  stopping_ = true;
  control_.loop->CancelTimer(std::exchange(call_timer_, 0));
  control_.loop->CancelTimer(std::exchange(silence_timer_, 0));
  for (auto& [name, peer] : peers_) {
    if (peer.thread) peer.thread->Wake();
  }
}

}  // namespace neptune
