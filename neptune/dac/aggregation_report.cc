#include "neptune/dac/aggregation_report.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <optional>
#include <utility>

#include "neptune/base/strings.h"

namespace neptune {
namespace {

bool IsGivenUp(const Status& reason) { return reason.code() == StatusCode::kCancelled; }

// Returns the plan's servers, parents before children.
std::vector<AggregationServer> ServersOf(const CallPlan& plan) {
  const std::vector<TreeMember>& members = plan.placement.members;
  std::vector<AggregationServer> servers;
  std::vector<int> place(members.size());
  for (size_t i = 0; i < plan.tree.order.size(); ++i) {
    const size_t member = plan.tree.order[i];
    place[member] = static_cast<int>(i);
    const int parent = plan.tree.servers[member].parent;
    servers.push_back({members[member].node, parent < 0 ? -1 : place[static_cast<size_t>(parent)],
                       members[member].partitions, plan.loads[member].load, std::nullopt});
  }
  return servers;
}

void AddRecords(std::vector<MemberRecord> records, AggregationReport* report) {
  std::map<NodeId, AggregationServer*> server_of_node;
  for (AggregationServer& server : report->servers) server_of_node[server.node] = &server;
  for (MemberRecord& record : records) {
    report->queue_time_max = std::max(report->queue_time_max, record.queue_time);
    report->run_time_max = std::max(report->run_time_max, record.local_end - record.queue_time);
    const auto server = server_of_node.find(record.node);
    if (server != server_of_node.end()) server->second->record = std::move(record);
  }
}

}  // namespace

size_t NeededCount(double quality_min, size_t all) {
  return static_cast<size_t>(std::ceil(quality_min * static_cast<double>(all) - 1e-9));
}

uint16_t MissingCountMax(double quality_min, const Placement& placement) {
  const size_t all = placement.partition_count();
  const size_t spare = all - NeededCount(quality_min, all);
  return static_cast<uint16_t>(spare - std::min(spare, placement.missing.size()));
}

Status JudgeQuality(const AggregationRequest& request, const AggregationReport& report) {
  const size_t there = report.contributing_partitions.size();
  const size_t all = there + report.missing.size();
  const size_t needed = NeededCount(request.aggregation_quality_min, all);
  if (there >= needed) return OkStatus();
  // A cancelled partition is the least informative reason, because others caused it.
  const auto reason = std::min_element(
      report.missing.begin(), report.missing.end(),
      [](const auto& a, const auto& b) { return !IsGivenUp(a.reason) && IsGivenUp(b.reason); });
  return Unavailable(there, " of ", all, " partitions of ", request.service, " contributed, ",
                     needed, " are required; first reason: ", ToStd(reason->reason.message()));
}

AggregationReport ReportOf(const CallPlan& plan, const Status& abandoned,
                           AggregationAnswer answer) {
  AggregationReport report;
  report.scheme = plan.scheme;
  report.contributing_partitions = std::move(answer.contributing);
  report.ended_early = std::move(answer.ended_early);
  report.missing = plan.placement.missing;
  std::move(answer.missing.begin(), answer.missing.end(), std::back_inserter(report.missing));
  report.servers = ServersOf(plan);
  for (const AggregationServer& server : report.servers) {
    if (abandoned.ok()) break;
    for (const PartitionId& partition : server.partitions) {
      report.missing.push_back({partition, abandoned});
    }
  }
  std::sort(report.contributing_partitions.begin(), report.contributing_partitions.end());
  std::sort(report.missing.begin(), report.missing.end(),
            [](const auto& a, const auto& b) { return a.partition < b.partition; });
  AddRecords(std::move(answer.records), &report);
  return report;
}

}  // namespace neptune
