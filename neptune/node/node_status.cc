#include "neptune/node/node_status.h"

#include <string>
#include <utility>

#include "neptune/base/strings.h"
#include "neptune/dac/aggregator.h"
#include "neptune/node/hosted_services.h"
#include "neptune/node/loop_watch.h"
#include "neptune/node/node_budgets.h"
#include "neptune/node/node_capsules.h"
#include "neptune/node/node_membership.h"
#include "neptune/node/node_security.h"
#include "neptune/replication/agent/replication.h"
#include "neptune/service/call_statistics.h"
#include "neptune/service/client.h"
#include "neptune/service/span_log.h"

namespace neptune {

Status NodeStatus::AddTo(StatusSections& sections) {
  const Sources& from = sources_;
  const std::pair<std::string_view, StatusSections::RenderFunction> all[] = {
      {"security", [&from](StatusReport* report) { from.security.Show(report); }},
      {"yellow page", [this](StatusReport* report) { ShowYellowPage(report); }},
      {"loops",
       [&from](StatusReport* report) { from.loops.Describe(Loop::Current()->Now(), report); }},
      {"calls", [&from](StatusReport* report) { from.client.statistics().Describe(report); }},
      {"aggregations", [&from](StatusReport* report) { from.aggregator.Describe(report); }},
      {"budgets", [&from](StatusReport* report) { from.budgets.Describe(report); }},
      {"capsules", [&from](StatusReport* report) { from.capsules.Describe(report); }},
      {"service classes",
       [&from](StatusReport* report) {
         if (from.services.published()) DescribeClasses(from.services.all(), report);
       }},
      {"replicas",
       [&from](StatusReport* report) {
         if (from.services.published()) from.replication.Describe(report);
       }},
      {"traces", [&from](StatusReport* report) { from.spans.Describe(report); }},
      {"hosted services", [this](StatusReport* report) { ShowHostedServices(report); }},
  };
  for (const auto& [name, render] : all) {
    NEPTUNE_ASSIGN_OR_RETURN(StatusSection section, sections.Add(name, render));
    sections_.push_back(std::move(section));
  }
  return OkStatus();
}

void NodeStatus::ShowYellowPage(StatusReport* report) const {
  const auto view = sources_.membership.View();
  StatusTable nodes{"Nodes",
                    {"node", "calls at", "control at", "status at", "load index", "cpu permille",
                     "io permille", "draining", "sequence"},
                    {}};
  for (const auto& said : view->nodes()) {
    nodes.AddRow(said->node, said->call_endpoint.ToString(), said->control_endpoint.ToString(),
                 said->admin_endpoint.ToString(), said->load_index, said->cpu_load_permille,
                 said->io_load_permille, said->draining, said->sequence);
  }
  StatusTable services{"Services", {"service", "partition", "node", "implementation"}, {}};
  for (const auto& [key, replicas] : view->all()) {
    for (const Replica& replica : replicas) {
      services.AddRow(key.first, key.second.value(), replica.node, replica.implementation);
    }
  }
  report->tables = {std::move(nodes), std::move(services)};
}

void NodeStatus::ShowHostedServices(StatusReport* report) const {
  StatusTable table{
      "Services on this node",
      {"service", "implementation", "module", "partitions", "waiting", "load index", "time limit"},
      {}};
  if (sources_.services.published()) {
    for (const auto& [name, host] : sources_.services.all()) {
      std::string partitions;
      for (const PartitionId& p : host->partitions()) StrAppend(&partitions, p, " ");
      const TimeLimit* const limit = host->time_limit();
      table.AddRow(name, host->implementation(), sources_.services.ModuleOf(name), partitions,
                   host->queue_length(), host->load_index(),
                   limit == nullptr ? "none" : StrCat(ToMillis(limit->threshold()), " ms"));
    }
  }
  report->tables.push_back(std::move(table));
}

}  // namespace neptune
