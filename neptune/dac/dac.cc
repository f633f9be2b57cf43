#include "neptune/dac/dac.h"

#include <glog/logging.h>

#include "neptune/dac/aggregator.h"

namespace neptune {

Status Aggregate(ClientSession& session, const AggregationRequest& request, Data* result,
                 AggregationReport* report) {
  Aggregator* const aggregator = session.client().aggregator();
  CHECK(aggregator != nullptr) << "this client belongs to no node that aggregates";
  return aggregator->Aggregate(session, request, result, report);
}

Status AggregateStream(ClientSession& session, const AggregationRequest& request,
                       const std::function<Status(const Data& message)>& take,
                       AggregationReport* report) {
  Aggregator* const aggregator = session.client().aggregator();
  CHECK(aggregator != nullptr) << "this client belongs to no node that aggregates";
  return aggregator->AggregateStream(session, request, take, report);
}

}  // namespace neptune
