#include "tools/replay/failover_target.h"

#include <utility>

namespace search::tools {

class FailoverTarget::Server final : public RequestSink {
 public:
  Server(FailoverTarget* owner, const FailoverOptions& options, const neptune::Endpoint& endpoint)
      : owner_(owner),
        target_(owner->loop_, owner->plan_, Alone(options.http, endpoint)),
        check_(owner->loop_, {endpoint, options.check_path, options.check_interval},
               [this] { serves_ = true; }) {}

  bool serves() const { return serves_; }

  bool Send(uint32_t request) {
    return target_.Send(request, owner_->plan_.requests[request], this);
  }
  void Abandon(uint32_t request) { target_.Abandon(request); }
  void BeginToCheck() {
    serves_ = false;
    check_.Begin();
  }

 private:
  static HttpTargetOptions Alone(HttpTargetOptions options, const neptune::Endpoint& endpoint) {
    options.servers = {endpoint};
    return options;
  }

  // The send time of a second try would make the generator appear late.
  void Sent(uint32_t request) override {
    if (owner_->tries_[request].try_count == 1) owner_->sink_->Sent(request);
  }
  void Done(uint32_t request, Outcome outcome, const AnswerFacts& facts) override {
    if (outcome != Outcome::kConnection) return owner_->Done(request, outcome, facts);
    BeginToCheck();
    if (!owner_->AskElsewhere(request)) owner_->Done(request, outcome, facts);
  }
  void Refused(const neptune::Status& why) override { owner_->sink_->Refused(why); }

  FailoverTarget* const owner_;
  HttpTarget target_;
  ServerCheck check_;
  bool serves_ = true;
};

FailoverTarget::FailoverTarget(neptune::Loop& loop, const ReplayPlan& plan,
                               const FailoverOptions& options)
    : loop_(loop), plan_(plan), patience_(options.patience) {
  for (const neptune::Endpoint& server : options.http.servers) {
    servers_.push_back(std::make_unique<Server>(this, options, server));
  }
}

FailoverTarget::~FailoverTarget() {
  for (const auto& [request, attempt] : tries_) loop_.CancelTimer(attempt.patience_timer);
}

size_t FailoverTarget::NextServer() {
  for (size_t i = 1; i <= servers_.size(); ++i) {
    const size_t server = (last_server_ + i) % servers_.size();
    if (servers_[server]->serves()) return last_server_ = server;
  }
  return last_server_ = (last_server_ + 1) % servers_.size();
}

bool FailoverTarget::Send(uint32_t request, const PlannedRequest&, RequestSink* sink) {
  sink_ = sink;
  return Ask(request, NextServer());
}

bool FailoverTarget::Ask(uint32_t request, size_t server) {
  Try& attempt = tries_[request];
  attempt.server = server;
  ++attempt.try_count;
  attempt.patience_timer =
      loop_.RunAt(loop_.Now() + patience_, [this, request] { LosePatience(request); });
  return servers_[server]->Send(request);
}

void FailoverTarget::LosePatience(uint32_t request) {
  Server& server = *servers_[tries_[request].server];
  server.BeginToCheck();
  if (tries_[request].try_count == servers_.size()) return;  // it continues to wait there
  server.Abandon(request);
  AskElsewhere(request);
}

bool FailoverTarget::AskElsewhere(uint32_t request) {
  const Try attempt = tries_[request];
  loop_.CancelTimer(attempt.patience_timer);
  if (attempt.try_count == servers_.size()) return false;
  Ask(request, (attempt.server + 1) % servers_.size());
  return true;
}

void FailoverTarget::Done(uint32_t request, Outcome outcome, const AnswerFacts& facts) {
  loop_.CancelTimer(tries_[request].patience_timer);
  tries_.erase(request);
  sink_->Done(request, outcome, facts);
}

void FailoverTarget::Abandon(uint32_t request) {
  const auto entry = tries_.find(request);
  if (entry == tries_.end()) return;
  loop_.CancelTimer(entry->second.patience_timer);
  servers_[entry->second.server]->Abandon(request);
  tries_.erase(entry);
}

}  // namespace search::tools
