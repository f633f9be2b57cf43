#include "neptune/wire/server_connection.h"

#include <glog/logging.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "neptune/base/strings.h"

namespace neptune {

uint64_t IncomingCall::OnCancel(Task action) {
  {
    LeafLock lock(&mutex_);
    if (!cancelled()) {
      actions_.emplace_back(next_action_, std::move(action));
      return next_action_++;
    }
  }
  if (action) action();
  return 0;
}

void IncomingCall::Forget(uint64_t action) {
  Task forgotten;  // destroyed outside the lock
  LeafLock lock(&mutex_);
  const auto found = std::find_if(actions_.begin(), actions_.end(),
                                  [&](const auto& set) { return set.first == action; });
  if (found == actions_.end()) return;
  forgotten = std::move(found->second);
  actions_.erase(found);
}

bool IncomingCall::untouched() const {
  return stream_ == nullptr && next_action_ == kFirstAction && !cancelled();
}

void IncomingCall::Cancel() {
  std::vector<std::pair<uint64_t, Task>> actions;
  {
    LeafLock lock(&mutex_);
    if (cancelled_.exchange(true, std::memory_order_acq_rel)) return;
    actions.swap(actions_);
  }
  if (stream_ != nullptr) {
    stream_->Close(Cancelled("the caller cancelled or is gone"), /*drop_unread=*/true);
  }
  for (auto& [number, action] : actions) action();
}

// One accepted connection. Its server owns it; replies hold weak references.
class ServerConnection final : public StreamHandler,
                               public ReplyTaker,
                               public std::enable_shared_from_this<ServerConnection> {
 public:
  ServerConnection(FrameServer& server, uint64_t id, std::unique_ptr<Stream> stream)
      : server_(server),
        id_(id),
        stream_(std::move(stream)),
        decoder_(server.options_.frames),
        last_frame_at_(server.loop_.Now()) {}
  ~ServerConnection() override { CancelAll(); }

  void Start() { stream_->Start(this); }

  void HandleReply(uint64_t call, const ResponseHeader& header, std::string payload) override {
    if (call == taken_call_) {
      taken_call_ = kNoCall;
    } else {
      const auto found = calls_.find(call);
      if (found == calls_.end()) return;
      Erase(found);
    }
    if (stream_ != nullptr) WriteAnswer(call, header, payload);
  }

  void HandleAccepted(uint64_t call) override {
    if (call == taken_call_ || calls_.contains(call)) {
      WriteFrame(FrameType::kAccepted, call, "", "");
    }
  }

  void SendDrain() { WriteFrame(FrameType::kDrain, 0, "", ""); }

  // Sends a frame of an open stream; drops it after the stream's answer.
  void SendOnStream(FrameType type, uint64_t call, std::string_view section,
                    std::string_view payload) {
    if (calls_.contains(call)) WriteFrame(type, call, section, payload);
  }

  // Ends the connection if it is stalled or idle.
  void Maintain(TimePoint now) {
    const FrameServerOptions& options = server_.options_;
    if (paused_ ? now - paused_at_ > options.stall_timeout
                : decoder_.buffered_size() > 0 && now - frame_begun_at_ > options.stall_timeout) {
      LOG_EVERY_N(WARNING, 100) << "closing connection of " << stream_->peer() << ": "
                                << (paused_ ? "it does not read its answers"
                                            : "a frame stays incomplete");
      return EndBroken();
    }
    if (!calls_.empty() || paused_) return;
    const Duration idle = now - last_frame_at_;
    if (idle > options.idle_timeout + options.stall_timeout) return End();
    if (idle > options.idle_timeout && !std::exchange(told_to_drain_, true)) SendDrain();
  }

  size_t in_flight_count() const { return calls_.size(); }

 private:
  void OnData(std::string_view bytes) override {
    const auto self = shared_from_this();
    now_ = server_.loop_.Now();
    if (decoder_.buffered_size() == 0) frame_begun_at_ = now_;
    decoder_.Feed(bytes);
    HandleFrames();
    CountUnfinished();
  }

  void OnClosed(const Status&) override { End(); }

  void OnDrained() override {
    if (!std::exchange(paused_, false)) return;
    const auto self = shared_from_this();
    frame_begun_at_ = now_ = server_.loop_.Now();
    HandleFrames();
    CountUnfinished();
    if (stream_ != nullptr && !paused_) stream_->SetReading(true);
  }

  // Handles received frames, and stops while the peer does not read its answers. Answers that are
  // ready at once are sent in one write.
  void HandleFrames() {
    gathering_ = true;
    while (stream_ != nullptr && !paused_ && HandleNextFrame()) {
    }
    gathering_ = false;
    if (stream_ != nullptr && !gathered_.empty()) stream_->Write(std::exchange(gathered_, {}));
  }

  bool HandleNextFrame() {
    const StatusOr<std::optional<FrameView>> frame = decoder_.NextView();
    if (!frame.ok()) {
      LOG_EVERY_N(WARNING, 100) << "closing connection of " << stream_->peer() << ": "
                                << frame.status();
      EndBroken();
      return false;
    }
    if (!frame->has_value()) return false;
    last_frame_at_ = frame_begun_at_ = now_;
    HandleFrame(**frame);
    return true;
  }

  void CountUnfinished() {
    if (stream_ == nullptr) return;
    server_.unfinished_size_ += decoder_.buffered_size() - counted_size_;
    counted_size_ = decoder_.buffered_size();
    if (server_.unfinished_size_ <= server_.options_.unfinished_size_max) return;
    LOG_EVERY_N(WARNING, 100) << "closing connection of " << stream_->peer() << ": "
                              << server_.unfinished_size_
                              << " bytes of incomplete frames are buffered";
    EndBroken();
  }

  void HandleFrame(const FrameView& frame) {
    switch (frame.type) {
      case FrameType::kRequest:
        return HandleRequest(frame);
      case FrameType::kCancel:
        return HandleCancel(frame.call);
      case FrameType::kMessage:
      case FrameType::kGrant:
      case FrameType::kEnd:
        return HandleStreamFrame(frame);
      case FrameType::kResponse:
      case FrameType::kDrain:
      case FrameType::kAccepted:
        break;  // only servers send them
    }
    EndBroken();
  }

  // Cancels the work; its answer will be dropped.
  void HandleCancel(uint64_t number) {
    const auto found = calls_.find(number);
    if (found == calls_.end()) return;
    const std::shared_ptr<IncomingCall> call = found->second;
    Erase(found);
    call->Cancel();
  }

  void HandleStreamFrame(const FrameView& frame) {
    const auto found = calls_.find(frame.call);
    if (found == calls_.end()) return;  // it was in flight when the answer was sent
    MessageStream* const stream = found->second->stream();
    const Status status = stream == nullptr
                              ? DataLoss("a stream message for a call without a stream")
                              : DeliverToStream(frame.Copy(), *stream);
    if (status.ok()) return;
    LOG_EVERY_N(WARNING, 100) << "closing connection of " << stream_->peer() << ": " << status;
    EndBroken();
  }

  void HandleRequest(const FrameView& frame) {
    // With a reused number, the answer to the older request would be taken for that of the newer
    // one.
    if (frame.call <= last_call_) return EndBroken();
    last_call_ = frame.call;
    IncomingRequest request;
    const Status decoded = DecodeRequestHeader(frame.section, &request.header);
    const bool opens_stream = decoded.ok() && request.header.stream;
    request.reply = Reply(&server_.loop_, weak_from_this(), frame.call);
    if (Status refused = CheckRequest(decoded, opens_stream); !refused.ok()) {
      taken_call_ = frame.call;
      return request.reply.Send({.status = std::move(refused)}, "");
    }
    request.call =
        opens_stream ? std::make_shared<IncomingCall>(MakeOutlet(frame.call)) : NewCall();
    request.payload = frame.payload;
    request.received = now_;
    if (request.header.time_left) {
      request.deadline = AddSaturated(request.received, *request.header.time_left);
    }
    if (opens_stream) return HandOverStream(frame.call, std::move(request));
    HandOver(frame.call, std::move(request));
  }

  void HandOverStream(uint64_t number, IncomingRequest&& request) {
    ++stream_count_;
    calls_.emplace(number, request.call);
    server_.handler_(std::move(request));
  }

  // Most calls are answered inside the handler, and are then never added to calls_.
  void HandOver(uint64_t number, IncomingRequest&& request) {
    std::shared_ptr<IncomingCall> call = request.call;
    taken_call_ = number;
    server_.handler_(std::move(request));
    if (std::exchange(taken_call_, kNoCall) == kNoCall) return KeepForNext(std::move(call));
    if (stream_ == nullptr) return call->Cancel();  // the connection ended meanwhile
    calls_.emplace(number, std::move(call));
  }

  std::shared_ptr<IncomingCall> NewCall() {
    return spare_call_ != nullptr ? std::move(spare_call_) : std::make_shared<IncomingCall>();
  }

  // Recycles an answered call that has no other references and was never changed.
  void KeepForNext(std::shared_ptr<IncomingCall> call) {
    if (call.use_count() > 1) return;
    std::atomic_thread_fence(
        std::memory_order_acquire);  // pairs with the release of other references
    if (call->untouched()) spare_call_ = std::move(call);
  }

  Status CheckRequest(const Status& decoded, bool opens_stream) const {
    if (!decoded.ok()) return InvalidArgument(ToStd(decoded.message()));
    if (calls_.size() >= server_.options_.in_flight_count_max) {
      return ResourceExhausted(calls_.size(), " requests of this connection are unanswered");
    }
    if (opens_stream && stream_count_ >= server_.options_.stream_count_max) {
      return ResourceExhausted(stream_count_, " streams of this connection are open");
    }
    return OkStatus();
  }

  void WriteAnswer(uint64_t call, const ResponseHeader& header, std::string_view payload) {
    std::string bytes;
    std::string& out = gathering_ ? gathered_ : bytes;
    if (payload.size() <= server_.options_.frames.payload_size_max) {
      AppendResponse(call, header, payload, &out);
    } else {
      ResponseHeader refusal = header;
      refusal.status = ResourceExhausted("the answer of ", payload.size(), " bytes is over ",
                                         server_.options_.frames.payload_size_max);
      AppendResponse(call, refusal, "", &out);
    }
    Send(std::move(bytes));
  }

  void WriteFrame(FrameType type, uint64_t call, std::string_view section,
                  std::string_view payload) {
    if (stream_ == nullptr) return;
    std::string bytes;
    const Status status =
        AppendFrame(type, call, section, payload, gathering_ ? &gathered_ : &bytes);
    CHECK(status.ok()) << status;  // sections are short, and payloads were checked
    Send(std::move(bytes));
  }

  // Sends `bytes` (empty if they were gathered), then pauses reading if the peer does not read.
  void Send(std::string bytes) {
    if (!bytes.empty()) stream_->Write(std::move(bytes));
    const size_t unsent_size = stream_->unsent_size() + gathered_.size();
    if (paused_ || unsent_size <= server_.options_.unsent_size_max) return;
    paused_ = true;
    paused_at_ = server_.loop_.Now();
    stream_->SetReading(false);
  }

  void EndBroken() {
    if (Counter* const broken = server_.options_.broken_connections) broken->Increment();
    End();
  }

  void End() {
    if (stream_ == nullptr) return;
    const auto self = shared_from_this();
    stream_.reset();
    CancelAll();
    server_.unfinished_size_ -= counted_size_;
    server_.Remove(id_);
  }

  std::unique_ptr<StreamOutlet> MakeOutlet(uint64_t call);

  using Calls = absl::flat_hash_map<uint64_t, std::shared_ptr<IncomingCall>>;

  void Erase(Calls::iterator call) {
    if (call->second->stream() != nullptr) --stream_count_;
    calls_.erase(call);
  }

  void CancelAll() {
    stream_count_ = 0;
    // Calls are cancelled in their order, so that simulated runs are deterministic.
    std::vector<std::pair<uint64_t, std::shared_ptr<IncomingCall>>> calls(calls_.begin(),
                                                                          calls_.end());
    calls_.clear();
    std::sort(calls.begin(), calls.end());
    for (const auto& [number, call] : calls) call->Cancel();
  }

  FrameServer& server_;
  const uint64_t id_;
  std::unique_ptr<Stream> stream_;
  FrameDecoder decoder_;
  Calls calls_;
  // Answers to be sent in one write after all frames of a read were handled.
  std::string gathered_;
  bool gathering_ = false;
  TimePoint now_;  // time of the read whose frames are being handled
  uint64_t last_call_ = 0;
  static constexpr uint64_t kNoCall = 0;
  std::shared_ptr<IncomingCall> spare_call_;
  uint64_t taken_call_ = kNoCall;  // in its handler and not answered yet; not in calls_
  size_t stream_count_ = 0;        // streams in calls_
  size_t counted_size_ = 0;        // decoder bytes counted in the server's unfinished_size_
  TimePoint last_frame_at_;
  TimePoint frame_begun_at_;
  TimePoint paused_at_;
  bool paused_ = false;  // not read, because the peer does not read its answers
  bool told_to_drain_ = false;
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

Reply& Reply::operator=(Reply&& other) noexcept {
  loop_ = std::exchange(other.loop_, nullptr);
  taker_ = std::move(other.taker_);
  call_ = other.call_;
  return *this;
}

Reply::~Reply() {
  if (loop_ != nullptr) Send({.status = Internal("the request was dropped without an answer")}, "");
}

void Reply::Accept() const {
  if (loop_ == nullptr) return;
  if (Loop::Current() == loop_) {
    if (const auto taker = taker_.lock()) taker->HandleAccepted(call_);
    return;
  }
  loop_->Post([to = taker_, call = call_] {
    if (const auto taker = to.lock()) taker->HandleAccepted(call);
  });
}

void Reply::Send(const ResponseHeader& header, std::string payload) {
  Loop* const loop = std::exchange(loop_, nullptr);
  if (loop == nullptr) return;
  if (Loop::Current() == loop) {
    if (const auto taker = taker_.lock()) taker->HandleReply(call_, header, std::move(payload));
    return;
  }
  loop->Post(
      [to = std::move(taker_), call = call_, header, payload = std::move(payload)]() mutable {
        if (const auto taker = to.lock()) taker->HandleReply(call, header, std::move(payload));
      });
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
  NEPTUNE_ASSIGN_OR_RETURN(listener_, network.Listen(at, {.share_port = share_port},
                                                     [this](std::unique_ptr<Stream> stream) {
                                                       Accept(std::move(stream));
                                                     }));
  return OkStatus();
}

void FrameServer::Accept(std::unique_ptr<Stream> stream) {
  if (connections_.size() >= options_.connection_count_max) {
    if (options_.refused_connections != nullptr) options_.refused_connections->Increment();
    return;  // the destructor of `stream` closes it
  }
  const uint64_t id = next_id_++;
  auto connection = std::make_shared<ServerConnection>(*this, id, std::move(stream));
  connections_.emplace(id, connection);
  connection->Start();
  ScheduleMaintenance();
}

void FrameServer::ScheduleMaintenance() {
  if (maintenance_timer_ != 0 || connections_.empty()) return;
  const Duration interval = std::min(options_.stall_timeout, options_.idle_timeout) / 4;
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
