// Sessions that append texts to replicated registers, or insert them, and read them, one call at a
// time, and record what they saw.
//
// Threads: sessions run on user-level threads of their nodes' control loops. All nodes of a load
//   belong to one kernel thread: to one simulation, or to one node of the real world. history() may
//   be called after all sessions have ended.
// Limits: a call takes at most kRegisterTimeout.

#pragma once

#include <atomic>
#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "neptune/node/node.h"
#include "neptune/replication/client/replica_session.h"
#include "tools/history/register_history.h"

namespace search::history {

// The service of neptune/node/register_module.h.
inline constexpr char kRegisterService[] = "registers";
inline constexpr neptune::Duration kRegisterTimeout = std::chrono::seconds(3);

struct RegisterLoadOptions {
  uint64_t seed = 1;
  uint32_t partition_count = 1;
  // Registers in use at a time in each partition. New ones replace them after `calls_until_new`
  // calls of each session, so that values remain small: an answer over kAnswerSizeMax is not kept
  // for retries.
  int register_count = 4;
  int calls_until_new = 1000;
  // Mean of the exponential pause between the calls of a session.
  neptune::Duration pause_mean = std::chrono::milliseconds(30);
  // "Append", or "Insert" for services of level 1, whose writes commute.
  std::string write_method = "Append";
};

class RegisterLoad {
 public:
  explicit RegisterLoad(const RegisterLoadOptions& options) : options_(options) {}

  // Starts a session. REQUIRES: the node outlives the load, or crashes.
  void Begin(neptune::Node& node, int session);
  // Each session ends after its current call.
  void End() { is_over_ = true; }
  int active_count() const { return active_count_; }
  const std::vector<RegisterOperation>& history() const { return history_; }
  // Returns partition and key of all registers used.
  std::set<std::pair<uint32_t, std::string>> Registers() const;

 private:
  void Run(neptune::Node& node, int session);
  void Do(neptune::ReplicaSession& session, RegisterOperation operation);

  const RegisterLoadOptions options_;
  std::atomic<bool> is_over_{false};
  std::atomic<int> active_count_{0};
  std::vector<RegisterOperation> history_;
};

}  // namespace search::history
