#include "neptune/dac/aggregation_log.h"

#include <algorithm>
#include <cstdio>

#include "absl/strings/str_split.h"
#include "neptune/base/strings.h"
#include "neptune/dac/tree_drawing.h"

namespace neptune {
namespace {

std::string Millis(Duration time) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.2f", ToSeconds(time) * 1e3);
  return text;
}

std::string Listed(const std::vector<PartitionId>& partitions) {
  std::string text;
  for (const PartitionId& partition : partitions)
    StrAppend(&text, text.empty() ? "" : " ", partition);
  return text;
}

void Tabulate(const AggregationReport& report, StatusTable* table) {
  std::vector<DrawnServer> drawn;
  for (const AggregationServer& server : report.servers) {
    drawn.push_back({server.node.value(), server.parent, ""});
  }
  const std::vector<std::string> branches = absl::StrSplit(DrawTree(drawn), '\n');
  for (size_t i = 0; i < report.servers.size(); ++i) {
    const AggregationServer& server = report.servers[i];
    const MemberRecord said = server.record.value_or(MemberRecord());
    const auto time = [&](Duration t) { return server.record ? Millis(t) : std::string("-"); };
    table->AddRow(branches[i], Listed(server.partitions), Millis(server.estimated_load),
                  time(said.queue_time), time(said.local_end), time(said.answered),
                  time(said.reducing), server.record ? StrCat(said.reduction_count) : "no answer");
  }
}

}  // namespace

void AggregationLog::Keep(const ServiceName& service, const AggregationReport& report,
                          const Status& status) {
  Entry entry{service, report, status.code()};
  if (entry.report.servers.size() > kLoggedServerCountMax) {
    entry.report.servers.resize(kLoggedServerCountMax);
  }
  LeafLock lock(&mutex_);
  entries_.push_front(std::move(entry));
  if (entries_.size() > kAggregationLogSize) entries_.pop_back();
}

void AggregationLog::Describe(StatusReport* report) const {
  std::deque<Entry> entries;
  {
    LeafLock lock(&mutex_);
    entries = entries_;
  }
  for (const Entry& entry : entries) {
    const AggregationReport& call = entry.report;
    const size_t there = call.contributing_partitions.size();
    const std::string early =
        call.ended_early.empty() ? "" : StrCat(", ended early: ", Listed(call.ended_early));
    StatusTable table{
        StrCat(entry.service, ", tree ", Name(call.scheme), ": ",
               absl::StatusCodeToString(entry.outcome), ", ", there, " of ",
               there + call.missing.size(), " partitions in ", Millis(call.duration), " ms", early),
        {"server", "partitions", "load ms", "queued ms", "local ms", "answered ms", "reducing ms",
         "reductions"},
        {}};
    Tabulate(call, &table);
    report->tables.push_back(std::move(table));
  }
}

}  // namespace neptune
