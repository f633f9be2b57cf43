#include "neptune/wire/local_calls.h"

#include <glog/logging.h>

#include <algorithm>
#include <utility>

#include "neptune/wire/message_stream.h"

namespace neptune {
namespace {

// Passes the server's messages to the caller's end of the stream. Both ends are of this process, so
// neither violates the protocol.
class OutletToCaller final : public StreamOutlet {
 public:
  explicit OutletToCaller(std::weak_ptr<MessageStream> caller) : caller_(std::move(caller)) {}

  void SendMessage(std::string message) override {
    const auto caller = caller_.lock();
    if (caller == nullptr) return;  // the caller has dropped the stream
    const Status status = caller->OnMessage(std::move(message));
    CHECK(status.ok()) << status;
  }
  void SendGrant(uint32_t size) override {
    const auto caller = caller_.lock();
    if (caller == nullptr) return;
    const Status status = caller->OnGrant(size);
    CHECK(status.ok()) << status;
  }
  void SendEnd() override {}  // the server's end is its answer

 private:
  const std::weak_ptr<MessageStream> caller_;
};

std::vector<Loop*> ServingFor(Loop& loop, std::vector<Loop*> serving) {
  CHECK(!serving.empty()) << "a node without serving loops";
  if (std::find(serving.begin(), serving.end(), &loop) == serving.end()) return serving;
  return {&loop};
}

}  // namespace

LocalCalls::LocalCalls(Loop& loop, std::vector<Loop*> serving, const LocalHandler& handler,
                       const LocalCallsOptions& options)
    : loop_(loop),
      serving_(ServingFor(loop, std::move(serving))),
      handler_(handler),
      options_(options),
      memory_(MemoryShare::Of(options.memory.budget)),
      waiting_charge_(memory_, MemoryUse::kRequests) {}

Status LocalCalls::CheckLimits(const RequestHeader& header, size_t payload_size) const {
  if (!open_) return Unavailable("this node stops");
  if (calls_.size() >= options_.call_count_max) {
    return ResourceExhausted(calls_.size(), " calls within this node are in flight");
  }
  if (header.stream && stream_count_ >= options_.stream_count_max) {
    return ResourceExhausted(stream_count_, " streams within this node are open");
  }
  if (payload_size > options_.frames.payload_size_max) {
    return ResourceExhausted("request payload of ", payload_size, " bytes is over ",
                             options_.frames.payload_size_max);
  }
  return OkStatus();
}

// The same rules as on a connection: large payloads by their size, others by their number, streams
// by their windows.
Status LocalCalls::Charge(const RequestHeader& header, size_t payload_size, MemoryCharge* charge) {
  if (memory_ == nullptr) return OkStatus();
  bool fits = waiting_charge_.Cover((calls_.size() + 1) * kLargePayloadSize, MemoryRank::kSmall);
  MemoryUse use = MemoryUse::kRequests;
  size_t size = payload_size;
  if (fits && header.stream) {
    use = MemoryUse::kStreams;
    size = 2 * kMessageWindowSize;
    fits = memory_->TryCharge(use, size, MemoryRank::kOrdinary, charge);
  } else if (fits && payload_size >= kLargePayloadSize) {
    fits = options_.memory.TryChargeRequest(*memory_, use, header, size, charge);
  }
  if (fits) return OkStatus();
  memory_->budget().NoteRefusal(use);
  return ResourceExhausted("a request of ", size,
                           " bytes to a service of this node does not fit its memory budget");
}

Loop& LocalCalls::NextServing() {
  if (next_serving_ == serving_.size()) next_serving_ = 0;
  return *serving_[next_serving_++];
}

StatusOr<uint64_t> LocalCalls::Call(const RequestHeader& header, std::string_view payload,
                                    AnswerSink* sink) {
  NEPTUNE_RETURN_IF_ERROR(CheckLimits(header, payload.size()));
  auto request = std::make_unique<IncomingRequest>();
  NEPTUNE_RETURN_IF_ERROR(Charge(header, payload.size(), &request->charge));
  const uint64_t call = next_call_++;
  request->header = header;
  request->payload = payload;
  if (header.time_left) request->deadline = AddSaturated(loop_.Now(), *header.time_left);
  request->call =
      header.stream
          ? std::make_shared<IncomingCall>(std::make_unique<OutletToCaller>(sink->stream()))
          : std::make_shared<IncomingCall>();
  request->reply = Reply(&loop_, weak_from_this(), call);
  calls_.emplace(call, CallInFlight{sink, request->call});
  if (header.stream) ++stream_count_;
  in_flight_count_.store(calls_.size(), std::memory_order_relaxed);
  NextServing().Post([&handler = handler_, request = std::move(request)] {
    request->received = Loop::Current()->Now();
    handler(std::move(*request));
  });
  return call;
}

LocalCalls::CallInFlight LocalCalls::Remove(uint64_t call) {
  auto node = calls_.extract(call);
  if (node.empty()) return {};
  if (node.mapped().request->stream() != nullptr) --stream_count_;
  in_flight_count_.store(calls_.size(), std::memory_order_relaxed);
  waiting_charge_.Settle(calls_.size() * kLargePayloadSize);
  return std::move(node.mapped());
}

void LocalCalls::Forget(uint64_t call, bool tell_server) {
  const CallInFlight forgotten = Remove(call);
  if (forgotten.sink != nullptr && tell_server) forgotten.request->Cancel();
}

void LocalCalls::HandleReply(uint64_t call, const ResponseHeader& header, std::string&& payload) {
  const CallInFlight answered = Remove(call);
  if (answered.sink == nullptr) return;  // the call was forgotten before its answer arrived
  CallAnswer answer{header, std::move(payload)};
  if (answer.payload.size() > options_.frames.payload_size_max) {
    answer.header.status = ResourceExhausted("the answer of ", answer.payload.size(),
                                             " bytes is over ", options_.frames.payload_size_max);
    answer.payload.clear();
  }
  answered.sink->OnAnswer(std::move(answer));
}

void LocalCalls::HandleAccepted(uint64_t call) {
  const auto found = calls_.find(call);
  if (found != calls_.end()) found->second.sink->OnAccepted();
}

MessageStream* LocalCalls::ServersEnd(uint64_t call) const {
  const auto found = calls_.find(call);
  return found == calls_.end() ? nullptr : found->second.request->stream();
}

void LocalCalls::SendMessage(uint64_t call, std::string message) {
  MessageStream* const server = ServersEnd(call);
  if (server == nullptr) return;
  const Status status = server->OnMessage(std::move(message));
  CHECK(status.ok()) << status;
}

void LocalCalls::SendGrant(uint64_t call, uint32_t size) {
  MessageStream* const server = ServersEnd(call);
  if (server == nullptr) return;
  const Status status = server->OnGrant(size);
  CHECK(status.ok()) << status;
}

void LocalCalls::SendEnd(uint64_t call) {
  MessageStream* const server = ServersEnd(call);
  if (server == nullptr) return;
  const Status status = server->OnEnd();
  CHECK(status.ok()) << status;
}

// Sinks are called in the order of their calls, so that simulated runs are deterministic. A sink
// may forget other calls.
void LocalCalls::Close() {
  open_ = false;
  std::vector<uint64_t> calls;
  calls.reserve(calls_.size());
  for (const auto& [call, in_flight] : calls_) calls.push_back(call);
  std::sort(calls.begin(), calls.end());
  for (const uint64_t call : calls) {
    const CallInFlight closed = Remove(call);
    if (closed.sink == nullptr) continue;
    closed.request->Cancel();
    closed.sink->OnAnswer(Unavailable("this node stops"));
  }
}

}  // namespace neptune
