// The calling side of one connection: many calls in flight, answers in any order.
//
// Source: [Shen02] 2.4; [Chu03] 4.5 (connection cache).
// Threads: the loop of its stream only.
// Errors: kUnavailable the connection ended before the answer; kResourceExhausted too many calls in
//   flight, too many unsent bytes, a payload over the limit, or a request or answer that does not
//   fit the memory budget; the connection stays open.
// Limits: ClientConnectionOptions.

#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include "absl/functional/any_invocable.h"
#include "neptune/base/metrics.h"
#include "neptune/wire/call_channel.h"
#include "neptune/wire/frame.h"
#include "neptune/wire/message_stream.h"
#include "neptune/wire/name_numbers.h"
#include "neptune/wire/sink_table.h"
#include "neptune/wire/wire_memory.h"
#include "neptune/world/network.h"

namespace neptune {

struct ClientConnectionOptions {
  FrameLimits frames;
  // Maximum number of calls in flight. Default: 10,000, many more than a server queues.
  size_t call_count_max = 10000;
  // Maximum number of unsent bytes. Default: 16 MiB.
  size_t unsent_size_max = 16 << 20;
  // Memory of the node. Default: none, and only the limits above bound what is buffered.
  WireMemory memory = {};
  // Counts answers to forgotten calls; may be null.
  Counter* late_answers = nullptr;
};

class ClientConnection final : public CallChannel, private StreamHandler, private PayloadGate {
 public:
  ClientConnection(std::unique_ptr<Stream> stream, const ClientConnectionOptions& options);
  // Completes every call in flight with kUnavailable.
  ~ClientConnection() override;

  // Starts delivery; `on_closed` runs once if the connection ends by itself.
  void Start(absl::AnyInvocable<void(const Status&)> on_closed);

  StatusOr<uint64_t> Call(const RequestHeader& header, std::string_view payload,
                          AnswerSink* sink) override;
  void Forget(uint64_t call, bool tell_server) override;
  void SendMessage(uint64_t call, std::string message) override;
  void SendGrant(uint64_t call, uint32_t size) override;
  void SendEnd(uint64_t call) override;

  // Ends the connection and completes every call in flight with kUnavailable and `reason`.
  void Close(const Status& reason) { End(reason); }
  // True if anything was received since the last call.
  bool ConsumeHeard() { return std::exchange(received_, false); }

  bool usable() const override { return open_ && !draining_; }
  size_t in_flight_count() const { return sinks_.size(); }
  const Endpoint& peer() const { return peer_; }

 private:
  void OnData(std::string_view bytes) override;
  void OnClosed(const Status& reason) override;
  void OnDrained() override { unsent_charge_.Settle(0); }
  // Charges a large answer or message before it is received.
  bool Admit(const FrameView& head, size_t payload_size) override;
  // Errors: kUnavailable, kResourceExhausted.
  Status WhyNotCall(size_t payload_size) const;
  Status ChargeCall(const RequestHeader& header, size_t payload_size);
  void SendOnStream(FrameType type, uint64_t call, std::string_view section,
                    std::string_view payload);
  void HandleFrame(const FrameView& frame);
  void HandleAnswer(const FrameView& frame);
  void HandleAccepted(const FrameView& frame);
  void HandleStreamFrame(const FrameView& frame);
  // Ends a call whose answer or message was not received.
  void HandleSkipped(const FrameView& frame);
  // Closes the connection to a draining server after the last answer; the server waits for that.
  void HangUpIfDrained();
  void End(const Status& reason);

  std::unique_ptr<Stream> stream_;
  const ClientConnectionOptions options_;
  const Endpoint peer_;
  const std::shared_ptr<MemoryShare> memory_;  // null: bytes are not charged
  MemoryCharge arriving_charge_;               // the large payload that is arriving
  SteppedCharge unsent_charge_;
  FrameDecoder decoder_;
  absl::AnyInvocable<void(const Status&)> on_closed_;
  SinkTable sinks_;
  uint64_t next_call_ = 1;
  SentNames names_;
  bool numbers_names_ = false;  // the server has said that it understands numbers
  bool open_ = true;
  bool draining_ = false;
  bool received_ = false;
  std::shared_ptr<bool> alive_;
};

}  // namespace neptune
