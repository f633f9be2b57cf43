// What clients saw of replicated registers that texts are appended to, and what may never have happened to them.
//
//   an acknowledged text is in its register, once; none is there twice, or was not written · an answer is how the register
//   begins, so all sessions saw one order, and has no text that was begun after it · a text that was acknowledged before
//   another one was begun stands before it · a session reads what it wrote, and never less than it has read · a read is not
//   staler than it says
//
//   Inserted at level 1: an acknowledged text is in its register; none is there twice, nor in an answer, or was not written ·
//   what was answered is there in the end
//
// Source: [Shen02] 5.2.1. Threads: pure function.
// Shapes: a text ends with ';', has no other one, and is appended or inserted once in a history.

#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "neptune/base/time.h"
#include "neptune/replication/replica_extension.h"

namespace search::lab {

// One call, as its client saw it, in the order in which they were begun.
struct RegisterOperation {
  int session = 0;
  uint32_t partition = 0;
  std::string key;
  bool is_write = false;
  std::string text;  // appended
  neptune::TimePoint begin{};
  neptune::TimePoint end = neptune::kNever;
  bool is_acknowledged = false;
  std::string value;  // answered: of a write, the register after it
  neptune::ReplicaReport report;
};

// What the registers hold in the end, by partition and key.
using RegisterContents = std::map<std::pair<uint32_t, std::string>, std::string>;

// The first thing that is wrong; empty: nothing is. `progressive`: sessions see no older version than they have seen.
std::string JudgeRegisters(const std::vector<RegisterOperation>& history,
                           const RegisterContents& contents, bool progressive);
// The same where texts were inserted, at level 1.
std::string JudgeInserts(const std::vector<RegisterOperation>& history,
                         const RegisterContents& contents);

}  // namespace search::lab
