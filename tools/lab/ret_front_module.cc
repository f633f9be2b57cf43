#include "tools/lab/ret_front_module.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/strings/numbers.h"
#include "neptune/base/strings.h"
#include "neptune/capsule/capsule_text.h"
#include "neptune/dac/dac.h"
#include "neptune/examples/micro/micro_aggregation.h"
#include "neptune/examples/micro/micro_work.h"
#include "neptune/thread/user_thread.h"
#include "tools/lab/dependency_parameters.h"

namespace search::lab {
namespace {

using neptune::AggregationRequest;
using neptune::CapsuleOutcome;
using neptune::CapsuleVisit;
using neptune::Data;
using neptune::ModuleContext;
using neptune::PartitionId;
using neptune::RequestContext;
using neptune::Status;
using neptune::StatusOr;
using neptune::examples::MicroRequest;

// The number of the own documents among the partitions', for the time that they take.
const PartitionId kOwn(1'000'000);

StatusOr<double> Share(const ModuleContext& context, const std::string& key) {
  const auto found = context.parameters.find(key);
  if (found == context.parameters.end()) return 0.0;
  double share = 0;
  if (!absl::SimpleAtod(found->second, &share) || !(share >= 0 && share <= 1)) {
    return neptune::InvalidArgument("parameter ", key, " '", found->second, "' is no share");
  }
  return share;
}

CapsuleOutcome OutcomeOfMissing(const Status& reason) {
  if (reason.code() == neptune::StatusCode::kDeadlineExceeded) return CapsuleOutcome::kTimedOut;
  if (reason.code() == neptune::StatusCode::kCancelled) return CapsuleOutcome::kCancelled;
  return CapsuleOutcome::kFailed;
}

void LeaveCapsules(const neptune::AggregationReport& report, std::vector<CapsuleVisit>* visits) {
  for (const PartitionId partition : report.contributing_partitions) {
    (*visits)[partition.value()].Leave(CapsuleOutcome::kDone);
  }
  for (const neptune::MissingPartition& missing : report.missing) {
    (*visits)[missing.partition.value()].Leave(OutcomeOfMissing(missing.reason));
  }
}

}  // namespace

Status RetFrontModule::Start(ModuleContext& context) {
  client_ = &context.client;
  NEPTUNE_ASSIGN_OR_RETURN(tier1_share_, Share(context, "tier1_share"));
  NEPTUNE_ASSIGN_OR_RETURN(quality_min_, Share(context, "quality_min"));
  if (!absl::SimpleAtoi(context.parameters["partition_count"], &partition_count_)) {
    return neptune::InvalidArgument("parameter partition_count is no number");
  }
  uncancelled_ = context.parameters["uncancelled"] == "true";
  NEPTUNE_ASSIGN_OR_RETURN(const auto capsules,
                           neptune::ParseCapsules(context.parameters["capsules"],
                                                  {.file = "parameter capsules"}, nullptr));
  NEPTUNE_RETURN_IF_ERROR(capsules_.Load(capsules));
  neptune::examples::RegisterMicroReduce(context);
  context.registrar.Method(neptune::MethodName(kRetSearchMethod), {.grain = neptune::Grain::kLong},
                           [this](RequestContext& request, const Data& in, Data* out) {
                             return Search(request, in, out);
                           });
  return neptune::OkStatus();
}

Status RetFrontModule::Search(RequestContext& context, const Data& request, Data* response) {
  NEPTUNE_ASSIGN_OR_RETURN(const MicroRequest* const asked, request.As<MicroRequest>());
  const auto search_ns = static_cast<double>(MicroLocalTime(*asked, kOwn).count());
  neptune::this_thread::Consume(context.world().processors(),
                                neptune::Duration(std::llround(tier1_share_ * search_ns)));
  neptune::ClientSession session(*client_, context);
  AggregationRequest aggregation = neptune::examples::MicroAggregation(
      neptune::ServiceName("ret"), partition_count_, *asked, context.Now() + kRetCollectTime);
  // One partition more or less than the least that is there: 0 means any.
  aggregation.aggregation_quality_min = std::max(quality_min_, 1e-6);
  aggregation.scheme = neptune::TreeScheme::kBase;
  aggregation.uncancelled = uncancelled_;
  std::vector<CapsuleVisit> visits(partition_count_);
  NEPTUNE_RETURN_IF_ERROR(EnterCapsules(&visits, &aggregation));
  neptune::AggregationReport report;
  const Status status = Aggregate(session, aggregation, response, &report);
  LeaveCapsules(report, &visits);
  return status;
}

Status RetFrontModule::EnterCapsules(std::vector<CapsuleVisit>* visits,
                                     AggregationRequest* aggregation) {
  std::vector<PartitionId> entered;
  Status refusal;
  for (const PartitionId partition : aggregation->partitions) {
    CapsuleVisit& visit = (*visits)[partition.value()];
    const Status status = visit.Enter(
        capsules_,
        neptune::NetworkOperation{.service = aggregation->service.value(), .partition = partition},
        {.deadline = aggregation->deadline});
    if (!status.ok()) {
      refusal = status;
      continue;
    }
    entered.push_back(partition);
    aggregation->deadline = std::min(aggregation->deadline, visit.deadline());
  }
  const bool enough =
      !entered.empty() && static_cast<double>(entered.size()) >= quality_min_ * partition_count_;
  aggregation->partitions = std::move(entered);
  return enough ? neptune::OkStatus() : refusal;
}

}  // namespace search::lab
