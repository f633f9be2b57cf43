#include "tools/replay/neptune_target.h"

#include <deque>
#include <utility>

#include "index/tier/tier.pb.h"

namespace search::tools {

using neptune::CallAnswer;
using neptune::ClientConnection;
using neptune::Status;
using neptune::StatusCode;
using neptune::StatusOr;
using neptune::Stream;

// The connection to one node, and the requests that wait for it to be made.
struct NeptuneTarget::Server {
  neptune::Endpoint endpoint;
  std::unique_ptr<ClientConnection> connection;
  bool connecting = false;
  std::deque<uint32_t> waiting;
};

class NeptuneTarget::Call final : public neptune::AnswerSink {
 public:
  Call(NeptuneTarget* target, uint32_t request, size_t server)
      : target(target), request(request), server(server) {}
  void OnAnswer(StatusOr<CallAnswer>&& answer) override { target->Answered(this, answer); }

  NeptuneTarget* const target;
  const uint32_t request;
  const size_t server;
  uint64_t number = 0;  // of the call on its connection; 0: not called yet
};

static std::unique_ptr<neptune::Network> Secured(
    neptune::Loop& loop, const std::shared_ptr<const neptune::ClusterKeys>& keys) {
  if (keys == nullptr) return nullptr;
  return std::make_unique<neptune::SecureNetwork>(loop,
                                                  neptune::SecureNetworkOptions{.keys = keys});
}

NeptuneTarget::NeptuneTarget(neptune::Loop& loop, const ReplayPlan& plan,
                             NeptuneTargetOptions options)
    : loop_(loop),
      plan_(plan),
      options_(std::move(options)),
      secured_(Secured(loop, options_.keys)) {
  for (const std::string& query : plan.queries) {
    index::TierQuery question;
    question.set_query(query);
    question.set_hit_count_max(options_.hit_count);
    payloads_.push_back(options_.payload == NeptunePayload::kText ? query
                                                                  : question.SerializeAsString());
  }
  for (const std::string& name : plan.classes) {
    headers_.push_back(
        {.service = options_.service,
         .partition = options_.partition,
         .method = options_.method,
         .time_left = std::chrono::duration_cast<std::chrono::microseconds>(options_.timeout),
         .service_class = name});
  }
  for (const neptune::Endpoint& endpoint : options_.servers) {
    servers_.push_back(std::make_unique<Server>(Server{.endpoint = endpoint}));
  }
}

// Destroying the connections fails the requests in flight; their callbacks are no longer needed.
NeptuneTarget::~NeptuneTarget() {
  *alive_ = false;
  sink_ = nullptr;
  servers_.clear();
}

bool NeptuneTarget::Send(uint32_t request, const PlannedRequest& planned, RequestSink* sink) {
  sink_ = sink;
  const size_t index = std::exchange(next_server_, (next_server_ + 1) % servers_.size());
  Server& server = *servers_[index];
  Call* const call =
      calls_.emplace(request, std::make_unique<Call>(this, request, index)).first->second.get();
  if (server.connection != nullptr && server.connection->usable()) {
    CallOn(server, call);
    return true;
  }
  server.waiting.push_back(request);
  if (!server.connecting) Connect(index);
  return true;
}

void NeptuneTarget::CallOn(Server& server, Call* call) {
  const PlannedRequest& planned = plan_.requests[call->request];
  const StatusOr<uint64_t> number =
      server.connection->Call(headers_[planned.service_class], payloads_[planned.query], call);
  if (number.ok()) {
    call->number = *number;
    return;
  }
  // Not inside Send.
  loop_.Post([this, alive = alive_, request = call->request] {
    if (*alive) Fail(request, Outcome::kConnection);
  });
}

void NeptuneTarget::Connect(size_t index) {
  Server& server = *servers_[index];
  server.connecting = true;
  neptune::Network& network = secured_ == nullptr ? loop_.network() : *secured_;
  network.Connect(server.endpoint, loop_.Now() + options_.timeout,
                  [this, alive = alive_, index](StatusOr<std::unique_ptr<Stream>> stream) {
                    if (*alive) Connected(index, std::move(stream));
                  });
}

void NeptuneTarget::Connected(size_t index, StatusOr<std::unique_ptr<Stream>> stream) {
  Server& server = *servers_[index];
  server.connecting = false;
  std::deque<uint32_t> waiting = std::exchange(server.waiting, {});
  if (!stream.ok()) {
    for (const uint32_t request : waiting) Fail(request, Outcome::kConnection);
    return sink_->Refused(stream.status());
  }
  server.connection =
      std::make_unique<ClientConnection>(*std::move(stream), neptune::ClientConnectionOptions{});
  server.connection->Start([this, alive = alive_, index](const Status&) {
    // The connection is not to be destroyed inside its own call.
    loop_.Post([this, alive, index] {
      if (*alive) Lost(index);
    });
  });
  for (const uint32_t request : waiting) {
    const auto call = calls_.find(request);
    if (call != calls_.end()) CallOn(server, call->second.get());
  }
}

void NeptuneTarget::Lost(size_t index) {
  Server& server = *servers_[index];
  if (server.connection != nullptr && !server.connection->usable()) server.connection.reset();
}

void NeptuneTarget::Answered(Call* call, const StatusOr<CallAnswer>& answer) {
  if (sink_ == nullptr) return;
  const uint32_t request = call->request;
  AnswerFacts facts;
  const Outcome outcome = answer.ok() ? Read(*answer, &facts) : Outcome::kConnection;
  // The sink lives until it was called, so the call itself goes later.
  loop_.Post([owned = std::shared_ptr<Call>(std::move(calls_[request]))] {});
  calls_.erase(request);
  sink_->Done(request, outcome, facts);
}

void NeptuneTarget::Fail(uint32_t request, Outcome outcome) {
  if (calls_.erase(request) > 0) sink_->Done(request, outcome, {});
}

Outcome NeptuneTarget::Read(const CallAnswer& received, AnswerFacts* facts) const {
  const StatusCode code = received.header.status.code();
  facts->terminated = code == StatusCode::kAborted;
  if (code == StatusCode::kResourceExhausted) return Outcome::kRejected;
  if (code == StatusCode::kDeadlineExceeded) return Outcome::kTimedOut;
  if (code != StatusCode::kOk) return Outcome::kError;
  if (options_.payload == NeptunePayload::kText) return Outcome::kAnswered;
  index::TierAnswer answer;
  if (!answer.ParseFromString(received.payload)) return Outcome::kError;
  facts->terminated = !answer.evaluated_completely();
  return Outcome::kAnswered;
}

void NeptuneTarget::Abandon(uint32_t request) {
  const auto entry = calls_.find(request);
  if (entry == calls_.end()) return;
  Call& call = *entry->second;
  Server& server = *servers_[call.server];
  if (call.number != 0 && server.connection != nullptr) {
    server.connection->Forget(call.number, /*tell_server=*/true);
  }
  calls_.erase(entry);
}

}  // namespace search::tools
