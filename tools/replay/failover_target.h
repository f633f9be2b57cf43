// Sends requests to several servers like a load balancer with failover.
//
//   Send ─► servers in turn that serve ─► answered? done
//                │ no connection, or no answer for `patience`
//                ├─► the same request to another one, each asked once
//                └─► the server gets no more, until it says that it serves (ServerCheck)
//
// Threads: its loop's own.
// Limits: those of HttpTarget, for each server. An answer with any status counts as an answer. If
//   no server is ready, all of them are used.

#pragma once

#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "tools/replay/http_target.h"
#include "tools/replay/server_check.h"

namespace search::tools {

struct FailoverOptions {
  // Its servers are used in turn.
  HttpTargetOptions http;
  // Larger: a server that hangs costs its requests more time; smaller: requests to a merely slow
  // server are given up needlessly. Default: 1 s, twice what a search's first tier may take.
  neptune::Duration patience = std::chrono::seconds(1);
  std::string check_path = "/readyz";
  neptune::Duration check_interval = std::chrono::milliseconds(250);
};

class FailoverTarget final : public LoadTarget {
 public:
  // REQUIRES: `plan` outlives the target; at least one server.
  FailoverTarget(neptune::Loop& loop, const ReplayPlan& plan, const FailoverOptions& options);
  ~FailoverTarget() override;

  bool Send(uint32_t request, const PlannedRequest& planned, RequestSink* sink) override;
  void Abandon(uint32_t request) override;

 private:
  class Server;
  struct Try {
    size_t server = 0;
    size_t try_count = 0;
    neptune::TimerId patience_timer = 0;
  };

  size_t NextServer();
  bool Ask(uint32_t request, size_t server);
  void LosePatience(uint32_t request);
  // Returns false if all servers have been tried.
  bool AskElsewhere(uint32_t request);
  void Done(uint32_t request, Outcome outcome, const AnswerFacts& facts);

  neptune::Loop& loop_;
  const ReplayPlan& plan_;
  const neptune::Duration patience_;
  std::vector<std::unique_ptr<Server>> servers_;
  std::unordered_map<uint32_t, Try> tries_;
  RequestSink* sink_ = nullptr;
  size_t last_server_ = 0;
};

}  // namespace search::tools
