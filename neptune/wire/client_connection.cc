#include "neptune/wire/client_connection.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "neptune/base/strings.h"

namespace neptune {

ClientConnection::ClientConnection(std::unique_ptr<Stream> stream,
                                   const ClientConnectionOptions& options)
    : stream_(std::move(stream)),
      options_(options),
      peer_(stream_->peer()),
      memory_(MemoryShare::Of(options.memory.budget)),
      unsent_charge_(memory_, MemoryUse::kCalls),
      decoder_(options.frames, memory_ == nullptr ? nullptr : this),
      alive_(std::make_shared<bool>(true)) {}

ClientConnection::~ClientConnection() {
  *alive_ = false;
  on_closed_ = nullptr;
  End(Unavailable("connection to ", peer_.ToString(), " was closed by this node"));
}

void ClientConnection::Start(absl::AnyInvocable<void(const Status&)> on_closed) {
  on_closed_ = std::move(on_closed);
  stream_->Start(this);
}

StatusOr<uint64_t> ClientConnection::Call(const RequestHeader& header, std::string_view payload,
                                          AnswerSink* sink) {
  const bool may_call = usable() && sinks_.size() < options_.call_count_max &&
                        stream_->unsent_size() <= options_.unsent_size_max &&
                        payload.size() <= options_.frames.payload_size_max;
  if (!may_call) return WhyNotCall(payload.size());
  if (memory_ != nullptr && payload.size() >= kLargePayloadSize) {
    NEPTUNE_RETURN_IF_ERROR(ChargeCall(header, payload.size()));
  }
  const uint64_t call = next_call_++;
  std::optional<NameNumber> names;
  if (numbers_names_) {
    names = names_.NumberOf(header.service, header.method, header.service_class);
  }
  stream_->WriteWith([&](std::string* out) { AppendRequest(call, header, names, payload, out); });
  sinks_.Add(call, sink);
  return call;
}

Status ClientConnection::WhyNotCall(size_t payload_size) const {
  if (!usable()) return Unavailable("connection to ", peer_.ToString(), " is ending");
  if (sinks_.size() >= options_.call_count_max) {
    return ResourceExhausted(sinks_.size(), " calls to ", peer_.ToString(), " are in flight");
  }
  if (stream_->unsent_size() > options_.unsent_size_max) {
    return ResourceExhausted(stream_->unsent_size(), " bytes to ", peer_.ToString(), " are unsent");
  }
  return ResourceExhausted("request payload of ", payload_size, " bytes is over ",
                           options_.frames.payload_size_max);
}

Status ClientConnection::ChargeCall(const RequestHeader& header, size_t payload_size) {
  const size_t unsent_size = stream_->unsent_size();
  if (unsent_size == 0) unsent_charge_.Settle(0);
  const size_t size = unsent_size + payload_size;
  if (unsent_charge_.Cover(size, WireMemory::RankOf(size))) return OkStatus();
  if (options_.memory.IsControl(header) && unsent_charge_.Cover(size, MemoryRank::kControl)) {
    return OkStatus();
  }
  memory_->budget().NoteRefusal(MemoryUse::kCalls);
  return ResourceExhausted("a request of ", payload_size, " bytes to ", peer_.ToString(),
                           " does not fit this node's memory budget");
}

bool ClientConnection::Admit(const FrameView& head, size_t payload_size) {
  const MemoryRank rank = WireMemory::RankOf(payload_size);
  if (memory_->TryCharge(MemoryUse::kCalls, payload_size, rank, &arriving_charge_)) return true;
  memory_->budget().NoteRefusal(MemoryUse::kCalls);
  return false;
}

void ClientConnection::Forget(uint64_t call, bool tell_server) {
  if (sinks_.Remove(call) == nullptr || !tell_server || !open_) return;
  std::string bytes;
  if (AppendFrame(FrameType::kCancel, call, "", "", &bytes).ok()) stream_->Write(std::move(bytes));
  HangUpIfDrained();
}

void ClientConnection::HangUpIfDrained() {
  if (draining_ && sinks_.empty()) End(Unavailable("the server is draining"));
}

void ClientConnection::SendOnStream(FrameType type, uint64_t call, std::string_view section,
                                    std::string_view payload) {
  if (!open_ || sinks_.Find(call) == nullptr) return;
  std::string bytes;
  const Status status = AppendFrame(type, call, section, payload, &bytes);
  if (status.ok()) stream_->Write(std::move(bytes));  // a message is far below the limit
}

void ClientConnection::SendMessage(uint64_t call, std::string message) {
  SendOnStream(FrameType::kMessage, call, "", message);
}

void ClientConnection::SendGrant(uint64_t call, uint32_t size) {
  SendOnStream(FrameType::kGrant, call, EncodeGrant(size), "");
}

void ClientConnection::SendEnd(uint64_t call) { SendOnStream(FrameType::kEnd, call, "", ""); }

void ClientConnection::OnData(std::string_view bytes) {
  received_ = true;
  decoder_.Lend(bytes);
  const std::shared_ptr<bool> alive = alive_;  // a sink may destroy this connection
  FrameView frame;
  while (*alive && open_) {
    if (!decoder_.FindNext(&frame)) {
      decoder_.Keep();
      if (decoder_.error().ok()) return;
      return End(Annotate(decoder_.error(), "answers of " + peer_.ToString()));
    }
    // Held until the answer was handed over, which may destroy this connection.
    const MemoryCharge charge = std::move(arriving_charge_);
    HandleFrame(frame);
  }
}

void ClientConnection::HandleSkipped(const FrameView& frame) {
  AnswerSink* const sink = sinks_.Find(frame.call);
  if (sink == nullptr) return;  // forgotten
  const Status status = ResourceExhausted("an answer of ", peer_.ToString(),
                                          " does not fit this node's memory budget");
  if (frame.type == FrameType::kResponse) {
    sinks_.Remove(frame.call);
    HangUpIfDrained();
  } else {
    Forget(frame.call, /*tell_server=*/true);
  }
  sink->OnAnswer(status);
}

void ClientConnection::HandleFrame(const FrameView& frame) {
  const bool is_answer = frame.type == FrameType::kResponse || frame.type == FrameType::kMessage;
  if (frame.skipped && is_answer) return HandleSkipped(frame);
  switch (frame.type) {
    case FrameType::kResponse:
      return HandleAnswer(frame);
    case FrameType::kAccepted:
      return HandleAccepted(frame);
    case FrameType::kDrain:
      draining_ = true;
      return HangUpIfDrained();
    case FrameType::kMessage:
    case FrameType::kGrant:
      return HandleStreamFrame(frame);
    case FrameType::kRequest:
    case FrameType::kCancel:
    case FrameType::kEnd:
      break;
  }
  End(DataLoss(peer_.ToString(), " sent a frame that only callers send"));
}

void ClientConnection::HandleStreamFrame(const FrameView& frame) {
  AnswerSink* const sink = sinks_.Find(frame.call);
  if (sink == nullptr) return;  // forgotten
  const std::shared_ptr<MessageStream> stream = sink->stream();
  const Status status = stream == nullptr
                            ? DataLoss("a stream message for a call without a stream")
                            : DeliverToStream(frame, decoder_.TakePayload(frame), *stream);
  if (!status.ok()) End(Annotate(status, "messages of " + peer_.ToString()));
}

void ClientConnection::HandleAnswer(const FrameView& frame) {
  AnswerSink* const sink = sinks_.Remove(frame.call);
  if (sink == nullptr) {  // the call was forgotten before its answer arrived
    if (options_.late_answers != nullptr) options_.late_answers->Increment();
    return;
  }
  StatusOr<CallAnswer> answer(absl::in_place);
  Status decoded = DecodeResponseHeader(frame.section, &answer->header);
  if (decoded.ok()) {
    answer->payload = decoder_.TakePayload(frame);
  } else {
    answer = std::move(decoded);
  }
  HangUpIfDrained();
  sink->OnAnswer(std::move(answer));
}

void ClientConnection::HandleAccepted(const FrameView& frame) {
  if (frame.call == kConnectionItself) {
    numbers_names_ = (DecodeFeatures(frame.section) & kFeatureNameNumbers) != 0;
    return;
  }
  AnswerSink* const sink = sinks_.Find(frame.call);
  if (sink != nullptr) sink->OnAccepted();
}

void ClientConnection::OnClosed(const Status& reason) { End(reason); }

void ClientConnection::End(const Status& reason) {
  if (!open_) return;
  open_ = false;
  stream_.reset();
  const Status status = Unavailable(
      "connection to ", peer_.ToString(),
      " ended before the answer: ", reason.ok() ? "closed by the peer" : ToStd(reason.message()));
  auto on_closed = std::exchange(on_closed_, nullptr);
  // Sinks are called in the order of their calls, so that simulated runs are deterministic. A sink
  // may forget other calls, and may destroy this connection once no call is left.
  const std::shared_ptr<bool> alive = alive_;
  const bool destroying = !*alive;
  for (const uint64_t call : sinks_.Calls()) {
    AnswerSink* const sink = sinks_.Remove(call);
    if (sink == nullptr) continue;
    sink->OnAnswer(status);
    if (!destroying && !*alive) break;
  }
  if (on_closed) on_closed(reason);
}

}  // namespace neptune
