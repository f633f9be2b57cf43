// Which writes cannot be repetitions: a filter over the ids of the latest writes, so that no answer
// is looked for in the store to a write that comes for the first time, as nearly all do.
//
//   ids in the order of their log ──► Bloom filters of kept / 16 ids each ── too old ──► dropped
//
// Source: B. H. Bloom, "Space/Time Trade-offs in Hash Coding with Allowable Errors", CACM 13(7),
//   1970, with all bits of an id in one cache line. Hashes do not differ between processes, so that
//   simulated runs repeat.
// Threads: thread-compatible.
// Limits: 2 bytes of memory for each remembered id, allocated for kept / 16 ids at a time. At most
//   one of twenty ids that never came is taken for one that may have come.

#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include "neptune/replication/log/log_entry.h"

namespace neptune {

class AnswerFilter {
 public:
  // Answers are remembered for `kept` log sequence numbers.
  explicit AnswerFilter(Lsn kept);

  // Forgets all ids. Writes up to `lsn` may have been there; 0: none were.
  void Begin(Lsn lsn);
  // REQUIRES: `lsn` is larger than that of every write added before.
  void Add(Lsn lsn, const RequestId& id);
  // False: at `lsn` no answer to an earlier write with this id is remembered.
  bool MayHave(Lsn lsn, const RequestId& id) const;

 private:
  // The ids of consecutive writes.
  struct Generation {
    Lsn last = 0;
    size_t count = 0;
    std::vector<uint64_t> bits;
  };

  const Lsn kept_;
  const size_t count_max_;  // ids of a generation
  Lsn unknown_ = 0;         // the last write that was not added
  std::deque<Generation> generations_;
};

}  // namespace neptune
