#include "tests/chaos/ledger.h"

#include <algorithm>

namespace neptune::chaos {
namespace {

using Kind = Trouble::Kind;

bool IsOfLinks(const Trouble& trouble) {
  return trouble.kind == Kind::kFault && (trouble.span.fault.kind == Fault::Kind::kCut ||
                                          trouble.span.fault.kind == Fault::Kind::kCutOneWay ||
                                          trouble.span.fault.kind == Fault::Kind::kLossOneWay);
}

bool IsOfNode(const Trouble& trouble, const std::string& node) {
  if (IsOfLinks(trouble) || !trouble.span.fault.hosts.contains(node)) return false;
  return trouble.span.fault.kind != Fault::Kind::kClockOffset || trouble.kind != Kind::kFault;
}

bool Removes(const Trouble& trouble) {
  return trouble.kind == Kind::kLeave ||
         (trouble.kind == Kind::kFault && (trouble.span.fault.kind == Fault::Kind::kCrash ||
                                           trouble.span.fault.kind == Fault::Kind::kPause));
}

bool Divides(const Fault& fault, const std::string& a, const std::string& b) {
  return (fault.hosts.contains(a) && fault.others.contains(b)) ||
         (fault.hosts.contains(b) && fault.others.contains(a));
}

}  // namespace

bool Ledger::Any(TimePoint from, TimePoint to,
                 const std::function<bool(const Trouble&)>& of) const {
  return std::any_of(troubles_.begin(), troubles_.end(), [&](const Trouble& trouble) {
    return trouble.span.begin <= to && trouble.span.end >= from && of(trouble);
  });
}

bool Ledger::NodeQuiet(const std::string& node, TimePoint from, TimePoint to) const {
  return !Any(from, to, [&](const Trouble& trouble) { return IsOfNode(trouble, node); });
}

bool Ledger::QuietOrLeaving(const std::string& node, TimePoint from, TimePoint to) const {
  return !Any(from, to, [&](const Trouble& trouble) {
    return trouble.kind != Kind::kLeave && IsOfNode(trouble, node);
  });
}

bool Ledger::LinkQuiet(const std::string& a, const std::string& b, TimePoint from,
                       TimePoint to) const {
  return !Any(from, to, [&](const Trouble& trouble) {
    return IsOfLinks(trouble) && Divides(trouble.span.fault, a, b);
  });
}

bool Ledger::NetworkQuiet(TimePoint from, TimePoint to) const {
  return !Any(from, to, [&](const Trouble& trouble) {
    return trouble.kind == Kind::kFault && trouble.span.fault.hosts.empty();
  });
}

bool Ledger::PairQuiet(const std::string& a, const std::string& b, TimePoint from,
                       TimePoint to) const {
  return NodeQuiet(a, from, to) && NodeQuiet(b, from, to) && LinkQuiet(a, b, from, to);
}

bool Ledger::Away(const std::string& node, TimePoint from, TimePoint to) const {
  return Any(from, to, [&](const Trouble& trouble) {
    return Removes(trouble) && trouble.node() == node && trouble.span.begin <= from &&
           trouble.span.end >= to;
  });
}

bool Ledger::Left(const std::string& node, TimePoint from, TimePoint to) const {
  return Any(from, to, [&](const Trouble& trouble) {
    return trouble.kind == Kind::kLeave && trouble.node() == node && trouble.span.begin <= from &&
           trouble.span.end >= to;
  });
}

bool Ledger::Hangs(const std::string& node, TimePoint from, TimePoint to) const {
  return Any(from, to, [&](const Trouble& trouble) {
    return trouble.kind == Kind::kHang && trouble.node() == node;
  });
}

}  // namespace neptune::chaos
