// Sends requests to nodes over Neptune's own protocol, with many concurrent calls on one connection
// per node.
//
// The address names nodes, a service and a method; it bypasses the yellow page and replica
// selection, so that the service itself is measured.
//
// Source: neptune/wire/README.md (frames).
// Threads: its loop's own.
// Limits: those of ClientConnection; the next request replaces a lost connection.

#pragma once

#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "neptune/security/secure_network.h"
#include "neptune/wire/client_connection.h"
#include "neptune/world/loop.h"
#include "tools/replay/load_target.h"

namespace search::tools {

// The payload format of a request.
enum class NeptunePayload {
  kText,       // the query's bytes; any OK answer is complete
  kTierQuery,  // a TierQuery of index/tier; the answer says whether it was evaluated completely
};

struct NeptuneTargetOptions {
  std::vector<neptune::Endpoint> servers;  // used in turn
  neptune::ServiceName service;
  neptune::PartitionId partition;
  neptune::MethodName method;
  NeptunePayload payload = NeptunePayload::kText;
  // Number of hits requested by a TierQuery.
  uint32_t hit_count = 10;
  neptune::Duration timeout = std::chrono::seconds(5);  // sent with the call
  // Keys of the cluster; null if its nodes do not require keys.
  std::shared_ptr<const neptune::ClusterKeys> keys;
};

class NeptuneTarget final : public LoadTarget {
 public:
  // REQUIRES: `plan` outlives the target; at least one server.
  NeptuneTarget(neptune::Loop& loop, const ReplayPlan& plan, NeptuneTargetOptions options);
  ~NeptuneTarget() override;

  bool Send(uint32_t request, const PlannedRequest& planned, RequestSink* sink) override;
  void Abandon(uint32_t request) override;

 private:
  struct Server;
  class Call;
  friend class Call;

  void Connect(size_t server);
  void Connected(size_t server, neptune::StatusOr<std::unique_ptr<neptune::Stream>> stream);
  void Lost(size_t server);
  void CallOn(Server& server, Call* call);
  void Answered(Call* call, const neptune::StatusOr<neptune::CallAnswer>& answer);
  void Fail(uint32_t request, Outcome outcome);
  Outcome Read(const neptune::CallAnswer& received, AnswerFacts* facts) const;

  neptune::Loop& loop_;
  const ReplayPlan& plan_;
  const NeptuneTargetOptions options_;
  const std::unique_ptr<neptune::Network> secured_;  // null without keys
  std::vector<std::string> payloads_;                // one per query
  std::vector<neptune::RequestHeader> headers_;      // one per class
  std::vector<std::unique_ptr<Server>> servers_;
  std::unordered_map<uint32_t, std::unique_ptr<Call>> calls_;
  RequestSink* sink_ = nullptr;
  size_t next_server_ = 0;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace search::tools
