// A replicated service on whole simulated nodes under random faults, and everything that may never happen to it.
//
//   sessions append texts to registers and read them ─► history ─► checks
//   servers lose their power, forget what was not synced, hang, are cut off, are slow, have their clocks set
//
//   checks of levels 2 and 3: an acknowledged text is in its register, once; none is there twice · an answer is the register's beginning up
//   to that text, so all sessions saw one order · a text that was acknowledged before another one was begun stands before
//   it · a session reads what it wrote, and never less than it has read · a read says how stale it may be, and is not
//   staler · after the faults writes go on, and all replicas have the same
//   of level 1: those of JudgeInserts, and the last
//
// Source: experiments, repl_chaos. Threads: independent runs may be in several threads.
// Units: virtual time.

#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "neptune/base/time.h"

namespace search::lab {

struct ReplicationChaosOptions {
  uint64_t seed = 1;
  // Of each partition; with an even number there is a witness besides, but not at level 1.
  int replica_count = 3;
  // In the cluster spec's words; of `write_anywhere` texts are inserted.
  std::string level = "staleness_bounded";
  // Servers that are down or hang at one time.
  int servers_down_max = 2;
  neptune::Duration faults = std::chrono::seconds(20);
};

struct ReplicationChaosResult {
  // What went wrong first; empty: nothing.
  std::string wrong;
  uint64_t acknowledged_count = 0;
  uint64_t read_count = 0;
  uint64_t failed_count = 0;  // calls that were not answered in time
  uint64_t primary_count = 0;
  double longest_block_s = 0;  // without an acknowledgement while faults lasted
};

ReplicationChaosResult RunReplicationChaos(const ReplicationChaosOptions& options);

}  // namespace search::lab
