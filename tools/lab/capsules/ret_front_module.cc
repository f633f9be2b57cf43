#include "tools/lab/capsules/ret_front_module.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "neptune/base/strings.h"
#include "neptune/capsule/capsule_stack.h"
#include "neptune/dac/dac.h"
#include "neptune/examples/micro/micro_aggregation.h"
#include "neptune/examples/micro/micro_work.h"
#include "neptune/service/parameter_table.h"
#include "neptune/thread/user_thread.h"
#include "tools/lab/aggregation/aggregation_run.h"
#include "tools/lab/capsules/dependency_parameters.h"

namespace search::lab {
namespace {

using neptune::AggregationRequest;
using neptune::Data;
using neptune::ModuleContext;
using neptune::PartitionId;
using neptune::RequestContext;
using neptune::Status;
using neptune::examples::MicroRequest;

// The partition number of the tier-1 documents, which determines their time.
const PartitionId kOwn(1'000'000);

}  // namespace

void RetFrontModule::DeclareParameters(neptune::ParameterTable& table) {
  table.Real("tier1_share", {0, 1}, &tier1_share_,
             "processor time of its own search, relative to that of a partition");
  table.Real("quality_min", {0, 1}, &quality_min_,
             "the minimum share of partitions that must answer");
  table.RequiredWhole("partition_count", {}, &partition_count_, "the number of partitions");
  table.Flag("uncancelled", &uncancelled_,
             "partitions continue with requests that have already failed, until the deadline");
}

Status RetFrontModule::Start(ModuleContext& context) {
  client_ = &context.client;
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
  aggregation.aggregation_quality_min =
      uncancelled_ ? kAnyQuality : std::max(quality_min_, kAnyQuality);
  aggregation.scheme = neptune::TreeScheme::kBase;
  if (quality_min_ == 1) NEPTUNE_RETURN_IF_ERROR(AskCapsules(aggregation, context.Now()));
  neptune::AggregationReport report;
  NEPTUNE_RETURN_IF_ERROR(Aggregate(session, aggregation, response, &report));
  if (report.quality() >= quality_min_) return neptune::OkStatus();
  return neptune::Unavailable("only ", report.contributing_partitions.size(), " of ",
                              partition_count_, " partitions answered");
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
