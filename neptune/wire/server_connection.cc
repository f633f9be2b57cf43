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

// One accepted connection. Its server owns it; replies hold weak references.
class ServerConnection final : public StreamHandler,
                               public ReplyTaker,
                               public std::enable_shared_from_this<ServerConnection> {
 public:
  ServerConnection(FrameServer& server, uint64_t id, std::unique_ptr<Stream> stream)
      : server_(server),
        id_(id),
        input_(server.options_.frames, &server.unfinished_size_, server.loop_.Now()),
        output_(std::move(stream), server.loop_,
                {.unsent_size_max = server.options_.unsent_size_max,
                 .payload_size_max = server.options_.frames.payload_size_max}),
        calls_({.in_flight_count_max = server.options_.in_flight_count_max,
                .stream_count_max = server.options_.stream_count_max}) {}

  void Start() { output_.stream().Start(this); }

  void HandleReply(uint64_t call, const ResponseHeader& header, std::string payload) override {
    if (calls_.Answered(call) && output_.open()) output_.WriteAnswer(call, header, payload);
  }

  void HandleAccepted(uint64_t call) override {
    if (calls_.Contains(call)) output_.WriteFrame(FrameType::kAccepted, call, "", "");
  }

  void SendDrain() { output_.WriteFrame(FrameType::kDrain, 0, "", ""); }

  // Sends a frame of an open stream; drops it after the stream's answer.
  void SendOnStream(FrameType type, uint64_t call, std::string_view section,
                    std::string_view payload) {
    if (calls_.Find(call) != nullptr) output_.WriteFrame(type, call, section, payload);
  }

  // Ends the connection if it is stalled or idle.
  void Maintain(TimePoint now) {
    const FrameServerOptions& options = server_.options_;
    if (output_.paused()) {
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

 private:
  void OnData(std::string_view bytes) override {
    const auto self = shared_from_this();
    input_.Feed(bytes, server_.loop_.Now());
    HandleFrames();
  }

  void OnClosed(const Status&) override { End(); }

  void OnDrained() override {
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
    if (!output_.open()) return;
    const size_t unfinished_size = input_.CountUnfinished();
    if (unfinished_size <= server_.options_.unfinished_size_max) return;
    EndBroken(StrCat(unfinished_size, " bytes of incomplete frames are buffered"));
  }

  bool HandleNextFrame() {
    const StatusOr<std::optional<FrameView>> frame = input_.Next();
    if (!frame.ok()) {
      EndBroken(frame.status().ToString());
      return false;
    }
    if (!frame->has_value()) return false;
    HandleFrame(**frame);
    return true;
  }

  void HandleFrame(const FrameView& frame) {
    switch (frame.type) {
      case FrameType::kRequest:
        return HandleRequest(frame);
      case FrameType::kCancel:
        return calls_.Cancel(frame.call);
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
    const Status status = call->stream() == nullptr
                              ? DataLoss("a stream message for a call without a stream")
                              : DeliverToStream(frame.Copy(), *call->stream());
    if (!status.ok()) EndBroken(status.ToString());
  }

  void HandleRequest(const FrameView& frame) {
    if (!calls_.IsNext(frame.call)) return EndBroken("it used the number of a call again");
    IncomingRequest request;
    const Status decoded = DecodeRequestHeader(frame.section, &request.header);
    const bool opens_stream = decoded.ok() && request.header.stream;
    request.reply = Reply(&server_.loop_, weak_from_this(), frame.call);
    Status refused =
        decoded.ok() ? calls_.CheckLimits(opens_stream) : InvalidArgument(ToStd(decoded.message()));
    if (!refused.ok()) {
      calls_.Begin(frame.call);
      return request.reply.Send({.status = std::move(refused)}, "");
    }
    request.payload = frame.payload;
    request.received = input_.now();
    if (request.header.time_left) {
      request.deadline = AddSaturated(request.received, *request.header.time_left);
    }
    if (opens_stream) {
      request.call = calls_.BeginStream(frame.call, MakeOutlet(frame.call));
      return server_.handler_(std::move(request));
    }
    HandOver(frame.call, std::move(request));
  }

  // Most calls are answered inside the handler.
  void HandOver(uint64_t number, IncomingRequest&& request) {
    calls_.Begin(number);
    std::shared_ptr<IncomingCall> call = request.call = calls_.MakeCall();
    server_.handler_(std::move(request));
    calls_.Returned(number, std::move(call), output_.open());
  }

  std::unique_ptr<StreamOutlet> MakeOutlet(uint64_t call);

  void EndBroken(std::string_view why) {
    LOG_EVERY_N(WARNING, 100) << "closing connection of " << output_.stream().peer() << ": " << why;
    if (Counter* const broken = server_.options_.broken_connections) broken->Increment();
    End();
  }

  void End() {
    if (!output_.open()) return;
    const auto self = shared_from_this();
    output_.Close();
    calls_.CancelAll();
    input_.Discount();
    server_.Remove(id_);
  }

  FrameServer& server_;
  const uint64_t id_;
  FrameInput input_;
  FrameOutput output_;
  CallTable calls_;
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
