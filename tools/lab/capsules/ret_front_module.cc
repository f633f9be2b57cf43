#include "tools/lab/capsules/ret_front_module.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/strings/numbers.h"
#include "neptune/base/strings.h"
#include "neptune/capsule/capsule_stack.h"
#include "neptune/dac/dac.h"
#include "neptune/examples/micro/micro_aggregation.h"
#include "neptune/examples/micro/micro_work.h"
#include "neptune/thread/user_thread.h"
#include "tools/lab/capsules/dependency_parameters.h"

namespace search::lab {
namespace {

using neptune::AggregationRequest;
using neptune::Data;
using neptune::ModuleContext;
using neptune::PartitionId;
using neptune::RequestContext;
using neptune::Status;
using neptune::StatusOr;
using neptune::examples::MicroRequest;

// The partition number of the tier-1 documents, which determines their time.
const PartitionId kOwn(1'000'000);

StatusOr<double> Share(const ModuleContext& context, const std::string& key) {
  const auto found = context.parameters.find(key);
  if (found == context.parameters.end()) return 0.0;
  double share = 0;
  if (!absl::SimpleAtod(found->second, &share) || !(share >= 0 && share <= 1)) {
    return neptune::InvalidArgument("parameter ", key, " '", found->second, "' is not a share");
  }
  return share;
}

}  // namespace

Status RetFrontModule::Start(ModuleContext& context) {
  client_ = &context.client;
  NEPTUNE_ASSIGN_OR_RETURN(tier1_share_, Share(context, "tier1_share"));
  NEPTUNE_ASSIGN_OR_RETURN(quality_min_, Share(context, "quality_min"));
  if (!absl::SimpleAtoi(context.parameters["partition_count"], &partition_count_)) {
    return neptune::InvalidArgument("parameter partition_count is not a number");
  }
  uncancelled_ = context.parameters["uncancelled"] == "true";
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
  // Never 0, which would accept any quality.
  aggregation.aggregation_quality_min = std::max(quality_min_, 1e-6);
  aggregation.scheme = neptune::TreeScheme::kBase;
  aggregation.uncancelled = uncancelled_;
  if (quality_min_ == 1) NEPTUNE_RETURN_IF_ERROR(AskCapsules(aggregation, context.Now()));
  neptune::AggregationReport report;
  return Aggregate(session, aggregation, response, &report);
}

Status RetFrontModule::AskCapsules(const AggregationRequest& aggregation,
                                   neptune::TimePoint now) const {
  for (const PartitionId partition : aggregation.partitions) {
    const auto capsule = client_->capsules().Find(
        neptune::NetworkOperation{.service = aggregation.service.value(), .partition = partition});
    if (capsule != nullptr && !capsule->WouldAdmit(now)) {
      return neptune::ResourceExhausted("partition ", partition, " would not be asked");
    }
  }
  return neptune::OkStatus();
}

}  // namespace search::lab
