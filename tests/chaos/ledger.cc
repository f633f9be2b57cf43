#include "tests/chaos/ledger.h"

#include <algorithm>

namespace neptune::chaos {
namespace {

using Kind = ChaosFault::Kind;

bool IsOfLinks(const ChaosFault& chaos_fault) {
  return chaos_fault.kind == Kind::kFault &&
         (chaos_fault.span.fault.kind == Fault::Kind::kCut ||
          chaos_fault.span.fault.kind == Fault::Kind::kCutOneWay ||
          chaos_fault.span.fault.kind == Fault::Kind::kLossOneWay);
}

bool IsOfNode(const ChaosFault& chaos_fault, const std::string& node) {
  if (IsOfLinks(chaos_fault) || !chaos_fault.span.fault.hosts.contains(node)) return false;
  return chaos_fault.span.fault.kind != Fault::Kind::kClockOffset ||
         chaos_fault.kind != Kind::kFault;
}

bool Removes(const ChaosFault& chaos_fault) {
  return chaos_fault.kind == Kind::kLeave ||
         (chaos_fault.kind == Kind::kFault && (chaos_fault.span.fault.kind == Fault::Kind::kCrash ||
                                               chaos_fault.span.fault.kind == Fault::Kind::kPause));
}

bool Divides(const Fault& fault, const std::string& a, const std::string& b) {
  return (fault.hosts.contains(a) && fault.others.contains(b)) ||
         (fault.hosts.contains(b) && fault.others.contains(a));
}

}  // namespace

bool Ledger::Any(TimePoint from, TimePoint to,
                 const std::function<bool(const ChaosFault&)>& of) const {
  return std::any_of(
      chaos_faults_.begin(), chaos_faults_.end(), [&](const ChaosFault& chaos_fault) {
        return chaos_fault.span.begin <= to && chaos_fault.span.end >= from && of(chaos_fault);
      });
}

bool Ledger::NodeQuiet(const std::string& node, TimePoint from, TimePoint to) const {
  return !Any(from, to, [&](const ChaosFault& chaos_fault) { return IsOfNode(chaos_fault, node); });
}

bool Ledger::QuietOrLeaving(const std::string& node, TimePoint from, TimePoint to) const {
  return !Any(from, to, [&](const ChaosFault& chaos_fault) {
    return chaos_fault.kind != Kind::kLeave && IsOfNode(chaos_fault, node);
  });
}

bool Ledger::LinkQuiet(const std::string& a, const std::string& b, TimePoint from,
                       TimePoint to) const {
  return !Any(from, to, [&](const ChaosFault& chaos_fault) {
    return IsOfLinks(chaos_fault) && Divides(chaos_fault.span.fault, a, b);
  });
}

bool Ledger::NetworkQuiet(TimePoint from, TimePoint to) const {
  return !Any(from, to, [&](const ChaosFault& chaos_fault) {
    return chaos_fault.kind == Kind::kFault && chaos_fault.span.fault.hosts.empty();
  });
}

bool Ledger::PairQuiet(const std::string& a, const std::string& b, TimePoint from,
                       TimePoint to) const {
  return NodeQuiet(a, from, to) && NodeQuiet(b, from, to) && LinkQuiet(a, b, from, to);
}

bool Ledger::Away(const std::string& node, TimePoint from, TimePoint to) const {
  return Any(from, to, [&](const ChaosFault& chaos_fault) {
    return Removes(chaos_fault) && chaos_fault.node() == node && chaos_fault.span.begin <= from &&
           chaos_fault.span.end >= to;
  });
}

bool Ledger::Left(const std::string& node, TimePoint from, TimePoint to) const {
  return Any(from, to, [&](const ChaosFault& chaos_fault) {
    return chaos_fault.kind == Kind::kLeave && chaos_fault.node() == node &&
           chaos_fault.span.begin <= from && chaos_fault.span.end >= to;
  });
}

bool Ledger::Hangs(const std::string& node, TimePoint from, TimePoint to) const {
  return Any(from, to, [&](const ChaosFault& chaos_fault) {
    return chaos_fault.kind == Kind::kHang && chaos_fault.node() == node;
  });
}

}  // namespace neptune::chaos
