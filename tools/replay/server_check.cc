#include "tools/replay/server_check.h"

#include <utility>

namespace search::tools {
namespace {

ReplayPlan OneQuestion() { return {.classes = {""}, .queries = {""}, .requests = {{}}}; }

HttpTargetOptions TargetOf(const ServerCheckOptions& options) {
  HttpTargetOptions http;
  http.servers = {options.server};
  http.path = options.path;
  http.send_class = false;
  http.read_facts = false;
  http.connect_timeout = options.interval;
  return http;
}

}  // namespace

ServerCheck::ServerCheck(neptune::Loop& loop, const ServerCheckOptions& options,
                         std::function<void()> serves)
    : loop_(loop),
      interval_(options.interval),
      serves_(std::move(serves)),
      question_(OneQuestion()),
      target_(loop, question_, TargetOf(options)) {}

ServerCheck::~ServerCheck() { loop_.CancelTimer(timer_); }

void ServerCheck::Begin() {
  if (timer_ == 0) Ask();
}

void ServerCheck::Ask() {
  if (std::exchange(waits_for_answer_, true)) target_.Abandon(0);
  timer_ = loop_.RunAt(loop_.Now() + interval_, [this] { Ask(); });
  target_.Send(0, question_.requests[0], this);
}

void ServerCheck::Done(uint32_t, Outcome outcome, const AnswerFacts&) {
  waits_for_answer_ = false;
  if (outcome != Outcome::kAnswered) return;
  loop_.CancelTimer(std::exchange(timer_, 0));
  serves_();
}

}  // namespace search::tools
