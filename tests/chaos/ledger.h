// What a chaos run's faults disturbed when, so that a checker can say what must have worked.
//
// An independent ledger, as the design asks of fault tests: it knows the schedule, not the runtime.
// Threads: immutable.

#pragma once

#include <functional>
#include <string>
#include <utility>

#include "neptune/world/faults/fault.h"

namespace neptune::chaos {

class Ledger {
 public:
  explicit Ledger(FaultSchedule schedule) : schedule_(std::move(schedule)) {}

  // True if no fault of the node itself touches [from, to].
  bool NodeQuiet(const std::string& node, TimePoint from, TimePoint to) const;
  // The same, except that the node may leave gracefully.
  bool QuietOrLeaving(const std::string& node, TimePoint from, TimePoint to) const;
  // True if no fault of the links between the two nodes touches [from, to], either way.
  bool LinkQuiet(const std::string& a, const std::string& b, TimePoint from, TimePoint to) const;
  // True if no fault of all links touches [from, to].
  bool NetworkQuiet(TimePoint from, TimePoint to) const;
  // NodeQuiet of both and LinkQuiet.
  bool PairQuiet(const std::string& a, const std::string& b, TimePoint from, TimePoint to) const;
  // True if one fault keeps the node away during all of [from, to].
  bool Away(const std::string& node, TimePoint from, TimePoint to) const;
  // True if the node left gracefully at `from` or before, and is away until `to`.
  bool Left(const std::string& node, TimePoint from, TimePoint to) const;
  // True if the node does not answer at some time of [from, to], although it is known.
  bool Hangs(const std::string& node, TimePoint from, TimePoint to) const;

  const FaultSchedule& schedule() const { return schedule_; }

 private:
  // True if a fault that touches [from, to] has the property.
  bool Any(TimePoint from, TimePoint to, const std::function<bool(const FaultSpan&)>& has) const;

  const FaultSchedule schedule_;
};

}  // namespace neptune::chaos
