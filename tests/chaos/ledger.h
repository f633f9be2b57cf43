// What is known of a chaos run's troubles: who was disturbed when, so that a checker can say what
// must have worked.
//
// An independent ledger, as the design asks of fault tests.
// Threads: immutable.

#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tests/chaos/chaos_fault.h"

namespace neptune::chaos {

class Ledger {
 public:
  explicit Ledger(std::vector<ChaosFault> chaos_faults) : chaos_faults_(std::move(chaos_faults)) {}

  // Nothing at all happened to the node itself in [from, to].
  bool NodeQuiet(const std::string& node, TimePoint from, TimePoint to) const;
  // Nothing but perhaps graceful leaves.
  bool QuietOrLeaving(const std::string& node, TimePoint from, TimePoint to) const;
  // Nothing between the two nodes, either way.
  bool LinkQuiet(const std::string& a, const std::string& b, TimePoint from, TimePoint to) const;
  // No trouble of all links together that loses or delays messages.
  bool NetworkQuiet(TimePoint from, TimePoint to) const;
  // Both nodes and what is between them.
  bool PairQuiet(const std::string& a, const std::string& b, TimePoint from, TimePoint to) const;
  // Crashed, paused or left during all of [from, to].
  bool Away(const std::string& node, TimePoint from, TimePoint to) const;
  // Left gracefully at `from` or before, and away until `to`.
  bool Left(const std::string& node, TimePoint from, TimePoint to) const;
  bool Hangs(const std::string& node, TimePoint from, TimePoint to) const;

  const std::vector<ChaosFault>& chaos_faults() const { return chaos_faults_; }

 private:
  bool Any(TimePoint from, TimePoint to, const std::function<bool(const ChaosFault&)>& of) const;

  const std::vector<ChaosFault> chaos_faults_;
};

}  // namespace neptune::chaos
