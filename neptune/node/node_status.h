// The sections of /statusz that show a node.
//
// Threads: constructed on the control loop; the sections are rendered on the admin loop.
// Errors: AddTo: a section of that name exists.

#pragma once

#include <string_view>
#include <vector>

#include "neptune/base/status.h"
#include "neptune/base/status_section.h"

namespace neptune {

class Aggregator;
class Client;
class HostedServices;
class LoopWatch;
class NodeBudgets;
class NodeCapsules;
class NodeMembership;
class NodeSecurity;
class Replication;
class SpanLog;

class NodeStatus {
 public:
  // Parts of the node; they outlive this.
  struct Sources {
    const NodeSecurity& security;
    const NodeMembership& membership;
    Client& client;
    const Aggregator& aggregator;
    const NodeCapsules& capsules;
    const HostedServices& services;
    SpanLog& spans;
    const Replication& replication;
    const LoopWatch& loops;
    const NodeBudgets& budgets;
  };
  explicit NodeStatus(const Sources& sources) : sources_(sources) {}

  Status AddTo(StatusSections& sections);

 private:
  void ShowYellowPage(StatusReport* report) const;
  void ShowHostedServices(StatusReport* report) const;

  const Sources sources_;
  std::vector<StatusSection> sections_;
};

}  // namespace neptune
