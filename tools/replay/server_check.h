// Polls a server until it reports that it serves.
//
// Equivalent to a load balancer's health check.
// Threads: its loop's own.
// Limits: one poll at a time; a poll without an answer within the interval is abandoned.

#pragma once

#include <functional>
#include <memory>
#include <string>

#include "neptune/world/loop.h"
#include "tools/replay/http_target.h"

namespace search::tools {

struct ServerCheckOptions {
  neptune::Endpoint server;
  // Answered with status 200 by a server that is ready.
  std::string path = "/readyz";
  // Interval between polls.
  neptune::Duration interval = std::chrono::milliseconds(250);
};

class ServerCheck final : private RequestSink {
 public:
  // `serves` is called once for each Begin, when the server is ready; it may call Begin again.
  ServerCheck(neptune::Loop& loop, const ServerCheckOptions& options, std::function<void()> serves);
  ~ServerCheck() override;

  // Starts polling. No effect if polling is already in progress.
  void Begin();

 private:
  void Ask();
  void Sent(uint32_t) override {}
  void Done(uint32_t, Outcome outcome, const AnswerFacts&) override;
  void Refused(const neptune::Status&) override {}

  neptune::Loop& loop_;
  const neptune::Duration interval_;
  const std::function<void()> serves_;
  const ReplayPlan question_;
  HttpTarget target_;
  bool waits_for_answer_ = false;
  neptune::TimerId timer_ = 0;  // set while polling
};

}  // namespace search::tools
