// The scheme `base`: the caller asks every partition itself and reduces results as they arrive.

#include "neptune/dac/dac.h"

#include <algorithm>
#include <cmath>
#include <exception>
#include <memory>
#include <utility>

#include "neptune/base/strings.h"

namespace neptune {
namespace {

// Shared with the threads that ask the partitions; it outlives a caller that stops waiting.
struct Aggregation {
  AggregationRequest request;
  ReduceOperator reduce;
  ClientSession session;
  ThreadRef caller;

  std::optional<Data> reduced;
  AggregationReport report;
  Status reduce_error;
  size_t outstanding_count = 0;
  size_t reducing_count = 0;  // reductions under way
  bool closed = false;        // later results are dropped

  Aggregation(const AggregationRequest& asked, ReduceOperator operation,
              const ClientSession& client)
      : request(asked),
        reduce(std::move(operation)),
        session(client),
        caller(UserThread::Current()) {}

  // An operator that throws fails this aggregation, not the node.
  Status Reduce(const Data& first, const Data& second, Data* combined) const {
    try {
      return reduce(first, second, request.reduce_parameters, combined);
    } catch (const std::exception& error) {
      return Internal("operator ", request.reduce, " threw: ", error.what());
    } catch (...) {
      return Internal("operator ", request.reduce, " threw");
    }
  }

  void Contribute(PartitionId partition, Data result, const CallReport& call) {
    report.contributing_partitions.push_back(partition);
    report.queue_time_max = std::max(report.queue_time_max, call.queue_time);
    report.run_time_max = std::max(report.run_time_max, call.run_time);
    ++reducing_count;
    Fold(std::move(result));
    --reducing_count;
  }

  // While the operator uses processor time another result may arrive and be folded, so what is being
  // reduced is taken out meanwhile.
  void Fold(Data result) {
    while (reduced) {
      const Data other = *std::exchange(reduced, std::nullopt);
      Data combined;
      const Status status = Reduce(other, result, &combined);
      if (!status.ok()) {
        reduce_error = Annotate(status, StrCat("reducing results of ", request.service));
        return;
      }
      result = std::move(combined);
    }
    reduced = std::move(result);
  }

  void Settle(PartitionId partition, const Status& status, Data result, const CallReport& call) {
    if (closed) return;
    if (status.ok()) {
      Contribute(partition, std::move(result), call);
    } else {
      report.missing.push_back({partition, status});
    }
    if (--outstanding_count == 0 || closed) caller->Wake();
  }
};

void AskPartition(const std::shared_ptr<Aggregation>& aggregation, PartitionId partition) {
  const AggregationRequest& request = aggregation->request;
  Data result;
  CallReport report;
  CallOptions options;
  if (request.deadline != kNever) options.deadline = request.deadline;
  ClientSession session = aggregation->session;
  const Status status = Call(session, request.service, partition, request.local, AccessMode::kRead,
                             request.local_parameters, &result, options, &report);
  aggregation->Settle(partition, status, std::move(result), report);
}

Status Check(const AggregationRequest& request) {
  if (!(request.aggregation_quality_min > 0 && request.aggregation_quality_min <= 1)) {
    return InvalidArgument("aggregation quality ", request.aggregation_quality_min,
                           " is outside (0, 1]");
  }
  if (request.deadline <= this_thread::Now()) {
    return InvalidArgument("the deadline of the aggregation has passed");
  }
  if (request.partitions.size() > kAggregationPartitionsMax) {
    return InvalidArgument(request.partitions.size(), " partitions are over ",
                           kAggregationPartitionsMax);
  }
  return OkStatus();
}

// What has not answered by now is missing, because of the deadline or because the node stops.
void CloseAggregation(Aggregation& aggregation, const Status& reason) {
  AggregationReport& report = aggregation.report;
  for (const PartitionId& partition : aggregation.request.partitions) {
    const auto same = [&](const MissingPartition& missing) {
      return missing.partition == partition;
    };
    const auto& there = report.contributing_partitions;
    if (std::find(there.begin(), there.end(), partition) != there.end()) continue;
    if (std::any_of(report.missing.begin(), report.missing.end(), same)) continue;
    report.missing.push_back({partition, reason});
  }
  std::sort(report.contributing_partitions.begin(), report.contributing_partitions.end());
  std::sort(report.missing.begin(), report.missing.end(),
            [](const auto& a, const auto& b) { return a.partition < b.partition; });
}

Status Conclude(Aggregation& aggregation, Data* result, AggregationReport* report) {
  const AggregationRequest& request = aggregation.request;
  const size_t all = request.partitions.size();
  const size_t needed = static_cast<size_t>(
      std::ceil(request.aggregation_quality_min * static_cast<double>(all) - 1e-9));
  const size_t there = aggregation.report.contributing_partitions.size();
  Status status = aggregation.reduce_error;
  if (status.ok() && there < needed) {
    const std::string reason = aggregation.report.missing.empty()
                                   ? std::string()
                                   : std::string(aggregation.report.missing[0].reason.message());
    status = Unavailable(there, " of ", all, " partitions of ", request.service, " contributed; ",
                         needed, " are needed; first reason: ", reason);
  }
  *report = std::move(aggregation.report);
  if (status.ok()) *result = aggregation.reduced ? *std::move(aggregation.reduced) : Data();
  return status;
}

}  // namespace

Status Aggregate(ClientSession& session, const AggregationRequest& request, Data* result,
                 AggregationReport* report) {
  *report = AggregationReport();
  NEPTUNE_RETURN_IF_ERROR(Check(request));
  NEPTUNE_ASSIGN_OR_RETURN(ReduceOperator reduce,
                           session.client().operators().Find(request.reduce));
  auto aggregation = std::make_shared<Aggregation>(request, std::move(reduce), session);
  std::vector<PartitionId>& partitions = aggregation->request.partitions;
  std::sort(partitions.begin(), partitions.end());
  partitions.erase(std::unique(partitions.begin(), partitions.end()), partitions.end());
  (void)aggregation->request.local_parameters.bytes();  // serialised once, before it is shared
  aggregation->outstanding_count = partitions.size();
  for (const PartitionId& partition : partitions) {
    const StatusOr<ThreadRef> asking = ThreadScheduler::Current()->Spawn(
        [aggregation, partition] { AskPartition(aggregation, partition); });
    if (!asking.ok()) aggregation->Settle(partition, asking.status(), Data(), CallReport());
  }
  ParkResult end = ParkResult::kWoken;
  while (aggregation->outstanding_count > 0 && end == ParkResult::kWoken) {
    end = this_thread::Park(request.deadline);
  }
  aggregation->closed = true;
  while (aggregation->reducing_count > 0) this_thread::ParkUntilWoken();
  if (end == ParkResult::kStopping && aggregation->outstanding_count > 0) {
    CloseAggregation(*aggregation, Cancelled("the node stops"));
    *report = std::move(aggregation->report);
    return Cancelled("aggregating over ", request.service, ": the node stops");
  }
  CloseAggregation(*aggregation, DeadlineExceeded("no result by the deadline"));
  return Conclude(*aggregation, result, report);
}

}  // namespace neptune
