#include "neptune/replication/agent/node_pulses.h"

#include <glog/logging.h>

#include <utility>

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
  if (timer_ != 0) control_.loop->CancelTimer(timer_);
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
  if (timer_ == 0) CheckSilence();
}

void NodePulses::Run(const NodeId& to, Peer& peer) {
  peer.thread = ThreadRef(UserThread::Current());
  while (!stopping_) {
    if (MayLead() && !peer.known.IsFresh(this_thread::Now())) Call(to);
    const TimePoint next = this_thread::Now() + kPulseInterval;
    while (!stopping_ && this_thread::Now() < next) {
      if (this_thread::Park(next) == ParkResult::kStopping) return;
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
}

void NodePulses::CheckSilence() {
  timer_ = 0;
  if (stopping_) return;
  const TimePoint now = control_.loop->Now();
  for (auto& [name, peer] : peers_) {
    if (peer.known.CheckSilence(now)) hooks_.on_silent(name, peer.known.heard_at());
  }
  timer_ = control_.loop->RunAt(now + kPulseInterval / 2, [this] { CheckSilence(); });
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
  if (timer_ != 0) control_.loop->CancelTimer(std::exchange(timer_, 0));
  for (auto& [name, peer] : peers_) {
    if (peer.thread) peer.thread->Wake();
  }
}

}  // namespace neptune
