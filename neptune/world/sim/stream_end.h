// One end of a modelled stream: the state an operating system keeps for a TCP connection.
//
// It outlives the Stream the node holds: after Close it still sends what is queued, and pending
// events keep it alive. Segments arrive in order, and loss appears as delay; a cut link holds
// segments until it heals; a crashed peer answers the next segment with a reset.
//
// Source: RFC 9293, as far as a program can observe it.
// Departs from source: acknowledgements are free and instantaneous; only a writer that waits for
//   the window pays a latency for its opening.
// Threads: the simulation's thread; handler calls happen on the end's loop.
// Limits: kStreamWindowSize bytes in flight or unread; bytes queued beyond that belong to the
//   writer.

#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "neptune/world/network.h"
#include "neptune/world/sim/link_model.h"
#include "neptune/world/sim/sim_kernel.h"

namespace neptune {

class StreamEnd : public std::enable_shared_from_this<StreamEnd> {
 public:
  struct Place {
    LoopState* loop;
    Endpoint peer;
  };
  // Called once, when the end may be destroyed.
  using Forget = std::function<void(StreamEnd&)>;

  StreamEnd(SimKernel& kernel, LinkModel& links, const Place& place, uint64_t id, Forget forget);

  // Connects the two ends of one stream. Nothing sent by `accepted` arrives before `open_at`, when
  // the other side learns that the stream is open.
  static void Join(const std::shared_ptr<StreamEnd>& connecting,
                   const std::shared_ptr<StreamEnd>& accepted, TimePoint open_at);

  uint64_t id() const { return id_; }
  const Endpoint& peer_endpoint() const { return place_.peer; }
  size_t unsent_size() const { return unsent_size_; }
  bool unanswered() const { return in_flight_ > 0; }

  // See Stream.
  void Start(StreamHandler* handler);
  void Write(std::string bytes);
  void SetReading(bool on);
  void Close();
  // The owner is gone: queued bytes are dropped, bytes in flight arrive.
  void Abandon();

  // The host of this end crashed: the end falls silent. With `tell_peer` the peer is reset at once,
  // otherwise when it has unacknowledged bytes or next sends.
  void Crash(bool tell_peer);
  // Call it when the links have changed: sends what a cut held back.
  void RetryHeld();

 private:
  struct Segment {
    std::string bytes;
    bool end = false;
  };

  int host() const { return place_.loop->host->index; }
  void Pump();
  void PumpAgain();
  void Transmit(Segment segment, Duration extra);
  void Hold(Segment segment);
  std::string PopSegment();
  void DropQueued();
  void Arrive(Segment segment);
  void ReceiveEnd();
  void Deliver(std::string_view bytes);
  bool Offer(std::string_view bytes);
  void DeliverUnread();
  void WakeReader();
  void Acknowledge(size_t size);
  void PeerCrashed(bool notify);
  void ResetSoon();
  void Finish(const Status& reason);
  void Retire();
  Duration DelayBack();

  SimKernel& kernel_;
  LinkModel& links_;
  const Place place_;
  const uint64_t id_;
  Forget forget_;
  std::weak_ptr<StreamEnd> peer_;
  int peer_host_ = 0;

  StreamHandler* handler_ = nullptr;
  bool owned_ = true;  // the node has neither closed nor destroyed the stream
  bool over_ = false;  // nothing more is sent or received
  bool reading_ = true;
  bool wake_planned_ = false;
  bool end_received_ = false;
  std::string unread_;
  Status reason_;  // why the stream ended, for a handler that starts late

  std::deque<std::string> queue_;
  size_t front_taken_ = 0;  // bytes of queue_.front() that are already in flight
  size_t unsent_size_ = 0;
  size_t in_flight_ = 0;
  bool end_sent_ = false;
  bool peer_crashed_ = false;
  bool pump_planned_ = false;
  TimePoint last_arrival_{};
  std::deque<Segment> held_;
  EventId silence_timer_ = 0;
  bool reset_planned_ = false;
};

}  // namespace neptune
