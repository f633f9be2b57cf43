#include "tests/chaos/ledger.h"

#include <algorithm>

namespace neptune::chaos {
namespace {

using Kind = Fault::Kind;

bool Disturbs(const FaultSpan& span, const std::string& node) {
  return span.traits().effect != HostEffect::kNone && span.fault.hosts.contains(node);
}

bool IsAwayDuring(const FaultSpan& span, const std::string& node, TimePoint from, TimePoint to) {
  return span.traits().effect == HostEffect::kAway && span.fault.hosts.contains(node) &&
         span.begin <= from && span.end >= to;
}

bool Divides(const Fault& fault, const std::string& a, const std::string& b) {
  return (fault.hosts.contains(a) && fault.others.contains(b)) ||
         (fault.hosts.contains(b) && fault.others.contains(a));
}

}  // namespace

bool Ledger::Any(TimePoint from, TimePoint to,
                 const std::function<bool(const FaultSpan&)>& has) const {
  return std::any_of(schedule_.begin(), schedule_.end(), [&](const FaultSpan& span) {
    return span.begin <= to && span.end >= from && has(span);
  });
}

bool Ledger::NodeQuiet(const std::string& node, TimePoint from, TimePoint to) const {
  return !Any(from, to, [&](const FaultSpan& span) { return Disturbs(span, node); });
}

bool Ledger::QuietOrLeaving(const std::string& node, TimePoint from, TimePoint to) const {
  return !Any(from, to, [&](const FaultSpan& span) {
    return span.fault.kind != Kind::kLeave && Disturbs(span, node);
  });
}

bool Ledger::LinkQuiet(const std::string& a, const std::string& b, TimePoint from,
                       TimePoint to) const {
  return !Any(from, to, [&](const FaultSpan& span) { return Divides(span.fault, a, b); });
}

bool Ledger::NetworkQuiet(TimePoint from, TimePoint to) const {
  return !Any(from, to,
              [](const FaultSpan& span) { return span.traits().scope == FaultScope::kNetwork; });
}

bool Ledger::PairQuiet(const std::string& a, const std::string& b, TimePoint from,
                       TimePoint to) const {
  return NodeQuiet(a, from, to) && NodeQuiet(b, from, to) && LinkQuiet(a, b, from, to);
}

bool Ledger::Away(const std::string& node, TimePoint from, TimePoint to) const {
  return Any(from, to, [&](const FaultSpan& span) { return IsAwayDuring(span, node, from, to); });
}

bool Ledger::Left(const std::string& node, TimePoint from, TimePoint to) const {
  return Any(from, to, [&](const FaultSpan& span) {
    return span.fault.kind == Kind::kLeave && IsAwayDuring(span, node, from, to);
  });
}

bool Ledger::Hangs(const std::string& node, TimePoint from, TimePoint to) const {
  return Any(from, to, [&](const FaultSpan& span) {
    return span.traits().effect == HostEffect::kUnresponsive && span.fault.hosts.contains(node);
  });
}

}  // namespace neptune::chaos
