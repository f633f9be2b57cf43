#include "neptune/world/sim/stream_end.h"

#include <glog/logging.h>

#include <algorithm>
#include <utility>

namespace neptune {

StreamEnd::StreamEnd(SimKernel& kernel, LinkModel& links, const Place& place, uint64_t id,
                     Forget forget)
    : kernel_(kernel), links_(links), place_(place), id_(id), forget_(std::move(forget)) {}

void StreamEnd::Join(const std::shared_ptr<StreamEnd>& connecting,
                     const std::shared_ptr<StreamEnd>& accepted, TimePoint open_at) {
  connecting->peer_ = accepted;
  connecting->peer_host_ = accepted->host();
  accepted->peer_ = connecting;
  accepted->peer_host_ = connecting->host();
  accepted->last_arrival_ = open_at;
}

void StreamEnd::Start(StreamHandler* handler) {
  CHECK(handler != nullptr && handler_ == nullptr) << "a stream is started once, with a handler";
  handler_ = handler;
  if (over_ || !unread_.empty() || end_received_) WakeReader();
}

void StreamEnd::Write(std::string bytes) {
  if (!owned_ || over_ || !links_.Pass(Carrier::kStream, &bytes) || bytes.empty()) return;
  unsent_size_ += bytes.size();
  queue_.push_back(std::move(bytes));
  Pump();
}

void StreamEnd::SetReading(bool on) {
  reading_ = on;
  if (on && (!unread_.empty() || end_received_)) WakeReader();
}

void StreamEnd::Close() {
  if (!owned_) return;
  owned_ = false;
  handler_ = nullptr;
  if (over_) return;
  Acknowledge(std::exchange(unread_, {}).size());
  Pump();
}

void StreamEnd::Abandon() {
  if (!owned_) return;
  DropQueued();
  Close();
}

// Hands the network what the window admits, then the end mark if the owner has closed.
void StreamEnd::Pump() {
  while (!over_ && !queue_.empty() && in_flight_ < kStreamWindowSize) {
    std::string bytes = PopSegment();
    unsent_size_ -= bytes.size();
    in_flight_ += bytes.size();
    Transmit({std::move(bytes), false}, Duration(0));
  }
  if (over_ || owned_ || end_sent_ || !queue_.empty()) return;
  end_sent_ = true;
  Transmit({{}, true}, Duration(0));
  if (held_.empty()) Retire();
}

// Removes and returns the next bytes of the queue, at most one segment. REQUIRES: the queue is not
// empty.
std::string StreamEnd::PopSegment() {
  std::string& front = queue_.front();
  const size_t size = std::min(front.size() - front_taken_, kStreamSegmentSizeMax);
  std::string bytes = size == front.size() ? std::move(front) : front.substr(front_taken_, size);
  front_taken_ += size;
  if (front_taken_ >= front.size()) {
    queue_.pop_front();
    front_taken_ = 0;
  }
  return bytes;
}

void StreamEnd::DropQueued() {
  held_.clear();
  queue_.clear();
  front_taken_ = 0;
  unsent_size_ = 0;
  kernel_.Cancel(std::exchange(silence_timer_, 0));
}

// The window opened: resumes sending, and notifies the writer when everything is sent.
void StreamEnd::PumpAgain() {
  pump_planned_ = false;
  const bool waited = unsent_size_ > 0;
  Pump();
  if (waited && unsent_size_ == 0 && owned_ && handler_ != nullptr) handler_->OnDrained();
}

void StreamEnd::Transmit(Segment segment, Duration extra) {
  if (links_.IsCut(host(), peer_host_)) return Hold(std::move(segment));
  if (!held_.empty() && extra == Duration(0)) return Hold(std::move(segment));
  if (peer_crashed_) return ResetSoon();
  std::shared_ptr<StreamEnd> peer = peer_.lock();
  if (peer == nullptr) return;
  const Duration delay =
      extra + links_.StreamDelay(host(), peer_host_, kernel_.now(), segment.bytes.size());
  last_arrival_ = std::max(last_arrival_, kernel_.now() + delay);
  LoopState* loop = peer->place_.loop;
  kernel_.At(last_arrival_, EventKind::kMessage, loop,
             [peer = std::move(peer), segment = std::move(segment)]() mutable {
               peer->Arrive(std::move(segment));
             });
}

void StreamEnd::Hold(Segment segment) {
  if (held_.empty()) {
    silence_timer_ =
        kernel_.At(kernel_.now() + kStreamSilenceMax, EventKind::kModel, place_.loop,
                   [self = shared_from_this()] {
                     self->Finish(Unavailable("stream to ", self->place_.peer.ToString(),
                                              " had no answer for too long"));
                   });
  }
  held_.push_back(std::move(segment));
}

void StreamEnd::RetryHeld() {
  if (held_.empty() || links_.IsCut(host(), peer_host_)) return;
  kernel_.Cancel(std::exchange(silence_timer_, 0));
  for (Segment& segment : std::exchange(held_, {})) {
    if (over_) return;
    Transmit(std::move(segment), kRetransmitTimeout);
  }
  if (end_sent_) Retire();
}

void StreamEnd::Arrive(Segment segment) {
  if (over_) return;
  kernel_.Trace(EventKind::kMessage, place_.loop, segment.bytes);
  if (segment.end) return ReceiveEnd();
  if (!owned_) return Acknowledge(segment.bytes.size());
  if (handler_ != nullptr && reading_ && unread_.empty()) return Deliver(segment.bytes);
  unread_ += segment.bytes;
}

void StreamEnd::ReceiveEnd() {
  end_received_ = true;
  if (!owned_) {
    // Neither side reads any more, so what is still queued is of no use.
    over_ = true;
    DropQueued();
    return Retire();
  }
  if (handler_ != nullptr && reading_ && unread_.empty()) Finish(OkStatus());
}

// Passes `bytes` to the handler, occasionally in two parts: streams have no message boundaries.
void StreamEnd::Deliver(std::string_view bytes) {
  const bool split = bytes.size() > 1 && kernel_.random().Below(16) == 0;
  const size_t first = split ? 1 + kernel_.random().Below(bytes.size() - 1) : bytes.size();
  if (!Offer(bytes.substr(0, first))) return;
  bytes.remove_prefix(first);
  if (bytes.empty()) return;
  if (reading_) {
    Offer(bytes);
  } else {
    unread_.insert(0, bytes);
  }
}

// Calls the handler once; returns false if it closed the stream.
bool StreamEnd::Offer(std::string_view bytes) {
  Acknowledge(bytes.size());
  handler_->OnData(bytes);
  return owned_ && !over_;
}

void StreamEnd::WakeReader() {
  if (wake_planned_) return;
  wake_planned_ = true;
  kernel_.At(kernel_.now(), EventKind::kTask, place_.loop, [self = shared_from_this()] {
    self->wake_planned_ = false;
    self->DeliverUnread();
  });
}

void StreamEnd::DeliverUnread() {
  if (!owned_ || handler_ == nullptr) return;
  if (over_) {
    StreamHandler* handler = std::exchange(handler_, nullptr);
    owned_ = false;
    handler->OnClosed(reason_);
    return;
  }
  if (!reading_) return;
  if (!unread_.empty()) Deliver(std::exchange(unread_, {}));
  if (owned_ && !over_ && reading_ && end_received_ && unread_.empty()) Finish(OkStatus());
}

// `size` bytes left this end's buffer, so the peer may send the same number more.
void StreamEnd::Acknowledge(size_t size) {
  const std::shared_ptr<StreamEnd> peer = peer_.lock();
  if (peer == nullptr || size == 0) return;
  peer->in_flight_ -= std::min(size, peer->in_flight_);
  if (peer->queue_.empty() || peer->pump_planned_ || peer->over_) return;
  peer->pump_planned_ = true;
  kernel_.At(kernel_.now() + DelayBack(), EventKind::kModel, peer->place_.loop,
             [peer] { peer->PumpAgain(); });
}

Duration StreamEnd::DelayBack() { return links_.StreamDelay(host(), peer_host_, kernel_.now(), 0); }

void StreamEnd::Crash(bool tell_peer) {
  over_ = true;
  owned_ = false;
  handler_ = nullptr;
  DropQueued();
  if (const std::shared_ptr<StreamEnd> peer = peer_.lock()) peer->PeerCrashed(tell_peer);
  Retire();
}

void StreamEnd::PeerCrashed(bool notify) {
  if (over_) return;
  peer_crashed_ = true;
  if (links_.IsCut(peer_host_, host())) return;
  if (notify || in_flight_ > 0) ResetSoon();
}

void StreamEnd::ResetSoon() {
  if (std::exchange(reset_planned_, true)) return;
  const Duration delay = links_.StreamDelay(peer_host_, host(), kernel_.now(), 0);
  kernel_.At(kernel_.now() + delay, EventKind::kMessage, place_.loop, [self = shared_from_this()] {
    self->Finish(Unavailable("stream to ", self->place_.peer.ToString(), " reset by the peer"));
  });
}

void StreamEnd::Finish(const Status& reason) {
  if (over_) return;
  over_ = true;
  reason_ = reason;
  const std::shared_ptr<StreamEnd> self = shared_from_this();
  DropQueued();
  Retire();
  if (!owned_ || handler_ == nullptr) return;
  owned_ = false;
  StreamHandler* handler = std::exchange(handler_, nullptr);
  handler->OnClosed(reason);
}

void StreamEnd::Retire() {
  if (forget_) std::exchange(forget_, nullptr)(*this);
}

}  // namespace neptune
