// Sends requests over persistent HTTP/1.1 connections, one request at a time on each.
//
// Source: RFC 9112.
// Threads: its loop's own.
// Limits: HttpTargetOptions. A request that finds no free connection is held back and counts as
//   late. If the server closes a reused connection before the first byte of an answer, the request
//   is retried once on a new connection, as browsers do.

#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "neptune/world/loop.h"
#include "neptune/world/network.h"
#include "tools/replay/answer_facts.h"
#include "tools/replay/load_target.h"

namespace search::tools {

struct HttpTargetOptions {
  std::vector<neptune::Endpoint> servers;  // used in turn
  // Path of a request, to which the encoded query is appended.
  std::string path = "/search?format=json&q=";
  // Header lines of every request, each with its line break.
  std::string headers;
  // If true, sends the request's class in the header Neptune-Service-Class.
  bool send_class = true;
  // If true, parses bodies for AnswerFacts; otherwise every answer counts as complete.
  bool read_facts = true;
  // Called with each answer of status 200 and its body; may be empty.
  std::function<void(uint32_t request, std::string_view body)> on_answer;
  // Called with each answer of another status; may be empty.
  std::function<void(uint32_t request, int status, std::string_view body)> on_refusal;
  // Larger: more requests to a slow server are in flight before the generator is the bottleneck.
  //   Default: 8,192; each takes a descriptor at both ends.
  size_t connection_count_max = 8192;
  neptune::Duration connect_timeout = std::chrono::seconds(5);
};

class HttpTarget final : public LoadTarget {
 public:
  // REQUIRES: `plan` outlives the target; at least one server.
  HttpTarget(neptune::Loop& loop, const ReplayPlan& plan, HttpTargetOptions options);
  ~HttpTarget() override;

  bool Send(uint32_t request, const PlannedRequest& planned, RequestSink* sink) override;
  void Abandon(uint32_t request) override;

 private:
  class Connection;
  friend class Connection;

  std::string RequestText(const PlannedRequest& planned, size_t server) const;
  Connection* FreeConnection(size_t server);
  void Begin(uint32_t request, const PlannedRequest& planned);
  void Ended(Connection* connection, uint32_t request, Outcome outcome, const AnswerFacts& facts);
  void Retry(uint32_t request, size_t server);
  void Remove(Connection* connection);
  void SendHeld();

  neptune::Loop& loop_;
  const ReplayPlan& plan_;
  const HttpTargetOptions options_;
  std::vector<std::string> encoded_queries_;
  std::vector<std::string> heads_;              // request head per server, up to the query
  std::vector<std::string> tails_;              // one per class
  std::vector<std::vector<Connection*>> idle_;  // per server; most recently used first
  std::unordered_map<Connection*, std::shared_ptr<Connection>> connections_;
  std::unordered_map<uint32_t, Connection*> busy_;
  std::deque<uint32_t> held_;
  AnswerFactsReader facts_reader_;
  RequestSink* sink_ = nullptr;
  size_t next_server_ = 0;
};

}  // namespace search::tools
