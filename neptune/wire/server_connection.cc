#include "neptune/wire/server_connection.h"

#include <glog/logging.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "neptune/base/strings.h"
#include "neptune/wire/call_table.h"
#include "neptune/wire/frame_input.h"
#include "neptune/wire/frame_output.h"

namespace neptune {
namespace {

// Minimum time between two searches for a connection to be closed because memory is short.
constexpr Duration kRelievePause = std::chrono::milliseconds(100);

// Maximum size of a payload whose buffer a connection keeps for the next request.
constexpr size_t kKeptPayloadSizeMax = 1024;

}  // namespace

// One accepted connection. Its server owns it; replies hold weak references.
class ServerConnection final : public StreamHandler,
                               public ReplyTaker,
                               private PayloadGate,
                               public std::enable_shared_from_this<ServerConnection> {
 public:
  ServerConnection(FrameServer& server, uint64_t id, std::unique_ptr<Stream> stream,
                   ConnectionSlot slot)
      : server_(server),
        id_(id),
        slot_(std::move(slot)),
        memory_(MemoryShare::Of(server.options_.memory.budget)),
        waiting_charge_(memory_, MemoryUse::kRequests),
        input_(server.options_.frames, &server.unfinished_size_, server.loop_.Now(),
               memory_ == nullptr ? nullptr : this),
        output_(std::move(stream), server.loop_,
                {.unsent_size_max = server.options_.unsent_size_max,
                 .payload_size_max = server.options_.frames.payload_size_max},
                memory_),
        calls_({.in_flight_count_max = server.options_.in_flight_count_max,
                .stream_count_max = server.options_.stream_count_max}) {
    if (auto name = output_.stream().peer_name()) {
      caller_ = std::make_shared<const std::string>(*std::move(name));
    }
  }

  void Start() { output_.stream().Start(this); }

  void HandleReply(uint64_t call, const ResponseHeader& header, std::string&& payload) override {
    if (!calls_.Answered(call) || !output_.open()) return;
    SettleWaiting();
    const size_t size = payload.size();
    if (size > server_.options_.frames.payload_size_max ||
        output_.Reserve(FrameOutput::HeldBy(payload))) {
      if (!features_sent_) SendFeatures();
      return output_.WriteAnswer(call, header, std::move(payload));
    }
    server_.RelieveSoon();
    memory_->budget().NoteRefusal(MemoryUse::kAnswers);
    std::string().swap(payload);
    output_.WriteRefusal(call, header, NoMemory("the answer", size));
  }

  std::weak_ptr<ReplyTaker> WeakSelf() override { return weak_from_this(); }

  void HandleAccepted(uint64_t call) override {
    if (calls_.Contains(call)) output_.WriteFrame(FrameType::kAccepted, call, "", "");
  }

  // What this server understands goes with the first answer, so that it costs no write of its own.
  // A caller that does not know the frame takes it for an acceptance of a call that has ended.
  void SendFeatures() {
    features_sent_ = true;
    output_.WriteFrame(FrameType::kAccepted, kConnectionItself, EncodeFeatures(kFeatureNameNumbers),
                       "");
  }

  void SendDrain() { output_.WriteFrame(FrameType::kDrain, 0, "", ""); }

  // Sends a frame of an open stream; drops it after the stream's answer.
  void SendOnStream(FrameType type, uint64_t call, std::string_view section,
                    std::string_view payload) {
    if (calls_.Find(call) != nullptr) output_.WriteFrame(type, call, section, payload);
  }

  // Ends the connection if it is stalled or idle.
  void Maintain(TimePoint now) {
    if (!output_.open()) return;
    const FrameServerOptions& options = server_.options_;
    output_.NoteProgress(now);
    if (output_.paused()) {
      if (output_.is_drained()) return OnDrained();
      if (now - output_.paused_at() <= options.stall_timeout) return;
      return EndBroken("it does not read its answers");
    }
    if (input_.UnfinishedFor(now) > options.stall_timeout) {
      return EndBroken("a frame stays incomplete");
    }
    if (calls_.size() > 0) return;
    const Duration idle = now - input_.last_frame_at();
    if (idle > options.idle_timeout + options.stall_timeout) return End();
    if (idle > options.idle_timeout && !std::exchange(drain_sent_, true)) SendDrain();
  }

  size_t in_flight_count() const { return calls_.size(); }

  ConnectionStanding Standing() const {
    return {.is_idle = calls_.size() == 0 && !input_.is_mid_frame() && output_.is_drained(),
            .was_used = input_.was_used(),
            .last_frame_at = input_.last_frame_at(),
            .unsent_size = output_.charged_size(),
            .progress_at = output_.progress_at()};
  }

  // Ends an idle connection, so that its peer knows that no call was lost.
  void Evict() {
    const auto self = shared_from_this();
    SendDrain();
    output_.CloseWhenSent();
    Ended();
  }

  void EndForMemory() {
    if (output_.open()) EndBroken("it does not read its answers, and memory is short");
  }

 private:
  // Charges the payload of a request or message before it is buffered.
  bool Admit(const FrameView& head, size_t payload_size) override {
    if (TryCharge(head, payload_size)) return true;
    server_.RelieveSoon();
    memory_->budget().NoteRefusal(UseOf(head));
    return false;
  }

  static MemoryUse UseOf(const FrameView& head) {
    return head.type == FrameType::kRequest ? MemoryUse::kRequests : MemoryUse::kStreams;
  }

  bool TryCharge(const FrameView& head, size_t payload_size) {
    const MemoryUse use = UseOf(head);
    if (use == MemoryUse::kRequests) {
      return server_.options_.memory.TryChargeRequest(
          *memory_, use, head.section, &headers_.names(), payload_size, &arriving_charge_);
    }
    return memory_->TryCharge(use, payload_size, WireMemory::RankOf(payload_size),
                              &arriving_charge_);
  }

  static Status NoMemory(std::string_view what, size_t size) {
    return ResourceExhausted(what, " of ", size, " bytes does not fit the node's memory budget");
  }

  // Gives back what answered and cancelled requests were charged.
  void SettleWaiting() { waiting_charge_.Settle(calls_.size() * kLargePayloadSize); }

  // Charges what a request holds while it is unanswered. Errors: kResourceExhausted.
  Status ChargeRequest(bool opens_stream, IncomingRequest* request) {
    if (memory_ == nullptr) return OkStatus();
    const size_t waiting_size = (calls_.size() + 1) * kLargePayloadSize;
    if (!waiting_charge_.Cover(waiting_size, MemoryRank::kSmall)) {
      memory_->budget().NoteRefusal(MemoryUse::kRequests);
      return NoMemory("the unanswered requests", waiting_size);
    }
    if (!opens_stream) return OkStatus();
    constexpr size_t kWindows = 2 * kMessageWindowSize;
    request->charge.Release();  // the opening is within the windows
    if (memory_->TryCharge(MemoryUse::kStreams, kWindows, MemoryRank::kOrdinary,
                           &request->charge)) {
      return OkStatus();
    }
    memory_->budget().NoteRefusal(MemoryUse::kStreams);
    return NoMemory("the stream", kWindows);
  }

  void OnData(std::string_view bytes) override {
    const auto self = shared_from_this();
    input_.Lend(bytes, server_.loop_.Now());
    HandleFrames();
  }

  void OnClosed(const Status&) override { End(); }

  void OnDrained() override {
    output_.NoteDrained();
    if (!output_.paused()) return;
    const auto self = shared_from_this();
    output_.Unpause();
    input_.Resume(server_.loop_.Now());
    HandleFrames();
    if (output_.open() && !output_.paused()) output_.stream().SetReading(true);
  }

  // Handles received frames, and stops while the peer does not read its answers. Answers that are
  // ready at once are sent in one write.
  void HandleFrames() {
    output_.BeginGathering();
    while (output_.open() && !output_.paused() && HandleNextFrame()) {
    }
    output_.EndGathering();
    input_.Keep();
    if (!output_.open()) return;
    const size_t unfinished_size = input_.CountUnfinished();
    if (unfinished_size <= server_.options_.unfinished_size_max) return;
    EndBroken(StrCat(unfinished_size, " bytes of incomplete frames are buffered"));
  }

  bool HandleNextFrame() {
    FrameView frame;
    if (!input_.Next(&frame)) {
      if (!input_.error().ok()) EndBroken(input_.error().ToString());
      return false;
    }
    HandleFrame(frame);
    arriving_charge_.Release();
    return true;
  }

  void HandleFrame(const FrameView& frame) {
    switch (frame.type) {
      case FrameType::kRequest:
        return HandleRequest(frame);
      case FrameType::kCancel:
        calls_.Cancel(frame.call);
        return SettleWaiting();
      case FrameType::kMessage:
      case FrameType::kGrant:
      case FrameType::kEnd:
        return HandleStreamFrame(frame);
      case FrameType::kResponse:
      case FrameType::kDrain:
      case FrameType::kAccepted:
        break;  // only servers send them
    }
    EndBroken("it sent a frame of a server");
  }

  void HandleStreamFrame(const FrameView& frame) {
    IncomingCall* const call = calls_.Find(frame.call);
    if (call == nullptr) return;  // it was in flight when the answer was sent
    if (frame.skipped) {
      calls_.Cancel(frame.call);
      SettleWaiting();
      if (!output_.open()) return;
      return output_.WriteRefusal(
          frame.call, {}, ResourceExhausted("a message does not fit the node's memory budget"));
    }
    const Status status = call->stream() == nullptr
                              ? DataLoss("a stream message for a call without a stream")
                              : DeliverToStream(frame, input_.TakePayload(frame), *call->stream());
    if (!status.ok()) EndBroken(status.ToString());
  }

  // The request is read into an object that is used again: most are answered inside the handler,
  // which then moves nothing out of it.
  void HandleRequest(const FrameView& frame) {
    const uint64_t number = frame.call;
    if (!calls_.IsNext(number)) return EndBroken("it used the number of a call again");
    const Status decoded = headers_.Decode(frame.section, &request_.header);
    const bool opens_stream = decoded.ok() && request_.header.stream;
    request_.reply.Lend(&server_.loop_, this, number);
    request_.charge = std::move(arriving_charge_);
    Status refused =
        decoded.ok() ? calls_.CheckLimits(opens_stream) : InvalidArgument(ToStd(decoded.message()));
    if (refused.ok() && frame.skipped) {
      refused = ResourceExhausted("the request's payload does not fit the node's memory budget");
    }
    if (refused.ok()) refused = ChargeRequest(opens_stream, &request_);
    if (refused.ok()) {
      TakeRequest(frame);
      HandOver(number, opens_stream);
    } else {
      calls_.Begin(number);
      request_.reply.Send({.status = std::move(refused)}, "");
    }
    request_.charge.Release();
  }

  void TakeRequest(const FrameView& frame) {
    if (frame.payload.size() <= kKeptPayloadSizeMax) {
      request_.payload = frame.payload;
    } else {
      request_.payload = input_.TakePayload(frame);
    }
    request_.caller = caller_;
    request_.note = headers_.note();
    request_.received = input_.now();
    const auto& time_left = request_.header.time_left;
    request_.deadline = time_left ? AddSaturated(request_.received, *time_left) : kNever;
  }

  // Most calls are answered inside the handler. A stream is in the table before, because its
  // messages may follow at once.
  void HandOver(uint64_t number, bool opens_stream) {
    std::shared_ptr<IncomingCall> call;
    if (opens_stream) {
      call = calls_.BeginStream(number, MakeOutlet(number));
    } else {
      calls_.Begin(number);
      call = calls_.MakeCall();
    }
    request_.call = call;
    server_.handler_(std::move(request_));
    // What the handler has not moved is the connection's again.
    request_.reply.Drop();
    request_.call.reset();
    if (request_.payload.capacity() > kKeptPayloadSizeMax) std::string().swap(request_.payload);
    if (!opens_stream) calls_.Returned(number, std::move(call), output_.open());
  }

  std::unique_ptr<StreamOutlet> MakeOutlet(uint64_t call);

  void EndBroken(std::string_view why) {
    LOG_EVERY_T(WARNING, 1) << "closing connection of " << output_.stream().peer() << ": " << why;
    if (Counter* const broken = server_.options_.broken_connections) broken->Increment();
    End();
  }

  void End() {
    if (!output_.open()) return;
    const auto self = shared_from_this();
    output_.Close();
    Ended();
  }

  void Ended() {
    slot_.Release();
    calls_.CancelAll();
    input_.Discount();
    arriving_charge_.Release();
    waiting_charge_.Settle(0);
    server_.Remove(id_);
  }

  FrameServer& server_;
  const uint64_t id_;
  ConnectionSlot slot_;
  const std::shared_ptr<MemoryShare> memory_;  // null: bytes are not charged
  MemoryCharge arriving_charge_;               // the large payload that is arriving
  // Unanswered requests without a large payload, each counted as one of kLargePayloadSize.
  SteppedCharge waiting_charge_;
  FrameInput input_;
  FrameOutput output_;
  CallTable calls_;
  RequestDecoder headers_;
  IncomingRequest request_;                    // that is being handed over
  std::shared_ptr<const std::string> caller_;  // see IncomingRequest
  bool features_sent_ = false;
  bool drain_sent_ = false;
};

// Sends the handler's half of a stream from any loop.
class ServerStreamOutlet final : public StreamOutlet {
 public:
  ServerStreamOutlet(Loop& loop, std::weak_ptr<ServerConnection> connection, uint64_t call)
      : loop_(loop), connection_(std::move(connection)), call_(call) {}

  void SendMessage(std::string message) override {
    Send(FrameType::kMessage, "", std::move(message));
  }
  void SendGrant(uint32_t size) override { Send(FrameType::kGrant, EncodeGrant(size), ""); }
  void SendEnd() override {}  // the server's end is its answer

 private:
  void Send(FrameType type, std::string section, std::string payload) {
    if (Loop::Current() == &loop_) {
      if (const auto open = connection_.lock()) open->SendOnStream(type, call_, section, payload);
      return;
    }
    loop_.Post([connection = connection_, type, call = call_, section = std::move(section),
                payload = std::move(payload)] {
      if (const auto open = connection.lock()) open->SendOnStream(type, call, section, payload);
    });
  }

  Loop& loop_;
  const std::weak_ptr<ServerConnection> connection_;
  const uint64_t call_;
};

std::unique_ptr<StreamOutlet> ServerConnection::MakeOutlet(uint64_t call) {
  return std::make_unique<ServerStreamOutlet>(server_.loop_, weak_from_this(), call);
}

FrameServer::FrameServer(Loop& loop, const FrameServerOptions& options, RequestHandler handler)
    : loop_(loop), options_(options), handler_(std::move(handler)) {}

FrameServer::~FrameServer() {
  if (maintenance_timer_ != 0) loop_.CancelTimer(maintenance_timer_);
  listener_.reset();
  for (auto& [id, connection] : std::exchange(connections_, {})) connection.reset();
}

Status FrameServer::Listen(const Endpoint& at, bool share_port) {
  Network& network = options_.network == nullptr ? loop_.network() : *options_.network;
  ListenOptions listening;
  listening.share_port = share_port;
  listening.spare_count = kServerSpareDescriptorCount;
  listening.on_exhausted = [this] {
    NoteRefused();
    EvictIdle();  // the next one finds a descriptor
  };
  NEPTUNE_ASSIGN_OR_RETURN(listener_,
                           network.Listen(at, listening, [this](std::unique_ptr<Stream> stream) {
                             Accept(std::move(stream));
                           }));
  return OkStatus();
}

void FrameServer::NoteRefused() const {
  if (options_.refused_connections != nullptr) options_.refused_connections->Increment();
  if (options_.slots != nullptr) options_.slots->NoteRefused();
}

void FrameServer::Accept(std::unique_ptr<Stream> stream) {
  ConnectionSlot slot;
  const auto has_place = [&] {
    return connections_.size() < options_.connection_count_max && slot.TryTake(options_.slots);
  };
  const auto borrows_place = [&] {
    return connections_.size() < options_.connection_count_max && options_.slots != nullptr &&
           slot.TryBorrow(options_.slots, nullptr);
  };
  if (!has_place() && !(EvictIdle() && has_place()) && !borrows_place()) {
    NoteRefused();
    return;  // the destructor of `stream` closes it
  }
  const uint64_t id = next_id_++;
  auto connection =
      std::make_shared<ServerConnection>(*this, id, std::move(stream), std::move(slot));
  connections_.emplace(id, connection);
  connection->Start();
  ScheduleMaintenance();
}

std::vector<ConnectionStanding> FrameServer::Standings(Ids* ids) const {
  std::vector<ConnectionStanding> all;
  for (const auto& [id, connection] : connections_) {
    all.push_back(connection->Standing());
    ids->push_back(id);
  }
  return all;
}

bool FrameServer::EvictIdle() {
  Ids ids;
  const std::optional<size_t> idle = ChooseIdle(Standings(&ids));
  if (!idle) return false;
  if (options_.slots != nullptr) options_.slots->NoteEvicted();
  connections_.at(ids[*idle])->Evict();
  return true;
}

void FrameServer::RelieveSoon() {
  const TimePoint now = loop_.Now();
  // Each search visits all connections; most refusals come in bursts.
  if (now - relieved_at_ < kRelievePause) return;
  relieved_at_ = now;
  Ids ids;
  const std::optional<size_t> stalled =
      ChooseStalled(Standings(&ids), now, options_.pressure_grace);
  if (!stalled) return;
  // Not now, because the end of a connection cancels its calls, and this may be inside of one.
  loop_.Post([stalled = std::weak_ptr(connections_.at(ids[*stalled]))] {
    if (const auto connection = stalled.lock()) connection->EndForMemory();
  });
}

void FrameServer::ScheduleMaintenance() {
  if (maintenance_timer_ != 0 || connections_.empty()) return;
  Duration interval = std::min(options_.stall_timeout, options_.idle_timeout) / 4;
  if (options_.memory.budget != nullptr) interval = std::min(interval, options_.pressure_grace / 2);
  maintenance_timer_ = loop_.RunAt(AddSaturated(loop_.Now(), interval), [this] {
    maintenance_timer_ = 0;
    Maintain();
    ScheduleMaintenance();
  });
}

void FrameServer::Maintain() {
  std::vector<std::shared_ptr<ServerConnection>>
      all;  // a copy, because a connection that ends is removed from the map
  for (const auto& [id, connection] : connections_) all.push_back(connection);
  const TimePoint now = loop_.Now();
  for (const auto& connection : all) connection->Maintain(now);
  const auto& budget = options_.memory.budget;
  if (budget != nullptr && budget->under_pressure()) RelieveSoon();
}

void FrameServer::Remove(uint64_t id) { connections_.erase(id); }

void FrameServer::Drain() {
  listener_.reset();
  for (const auto& [id, connection] : connections_) connection->SendDrain();
}

size_t FrameServer::in_flight_count() const {
  size_t count = 0;
  for (const auto& [id, connection] : connections_) count += connection->in_flight_count();
  return count;
}

}  // namespace neptune
