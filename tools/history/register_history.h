// The history of clients of replicated registers to which they append texts, and the check of its
// guarantees:
//
//   - A register holds every acknowledged text once, no text twice, and only texts that were
//     written.
//   - Every answer is a prefix of the register, so that all sessions saw one order.
//   - Appends and reads of a register are linearizable (log_history.h), where a read that reports a
//     staleness counts as begun that much earlier, and one that reports none as begun at any time.
//     So a text that was acknowledged before the write of another one began precedes it, no answer
//     holds a text whose write began after it, and no read is staler than it reports.
//   - A session reads its own writes, and never less than it has read before (session_history.h).
//
// Texts inserted at level 1:
//
//   - A register holds every acknowledged text, and only texts that were written. Neither a
//     register nor an answer holds a text twice.
//   - The register holds every text of every answer in the end.
//
// Source: [Shen02] 5.2.1.
// Threads: pure function.
// Shapes: a text ends with its only ';' and is appended or inserted once in a history.

#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "neptune/base/time.h"

namespace search::history {

// One call as its client saw it. Histories are in the order in which calls began.
struct RegisterOperation {
  int session = 0;
  uint32_t partition = 0;
  std::string key;
  bool is_write = false;
  std::string text;  // appended
  neptune::TimePoint begin{};
  neptune::TimePoint end = neptune::kNever;
  bool is_acknowledged = false;
  std::string value;  // the answer; for a write, the register after it
  // Version and staleness of the data, as the answer reports them.
  uint64_t version = 0;
  std::optional<neptune::Duration> staleness;
};

// The final contents of the registers, by partition and key.
using RegisterContents = std::map<std::pair<uint32_t, std::string>, std::string>;

// Returns the first violation, or an empty string. `progressive`: also checks that no session sees
// an older version than before.
std::string CheckRegisters(const std::vector<RegisterOperation>& history,
                           const RegisterContents& contents, bool progressive);
// The same for texts that were inserted at level 1.
std::string CheckInserts(const std::vector<RegisterOperation>& history,
                         const RegisterContents& contents);

}  // namespace search::history
