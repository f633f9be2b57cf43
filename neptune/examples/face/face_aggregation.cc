#include "neptune/examples/face/face_aggregation.h"

#include "neptune/examples/face/eigenfaces.h"
#include "neptune/examples/face/face_module.h"

namespace neptune::examples {
namespace {

const char kReduce[] = "MergeFaceMatches";

// The parameter is the query without its picture.
Status Reduce(const Data& first, const Data& second, const Data& parameters, Data* result) {
  NEPTUNE_ASSIGN_OR_RETURN(const FaceMatches* const a, first.As<FaceMatches>());
  NEPTUNE_ASSIGN_OR_RETURN(const FaceMatches* const b, second.As<FaceMatches>());
  NEPTUNE_ASSIGN_OR_RETURN(const FaceQuery* const query, parameters.As<FaceQuery>());
  *result = Data::Of(MergeFaceMatches(*a, *b, query->match_count_max()));
  return OkStatus();
}

}  // namespace

void RegisterFaceReduce(ModuleContext& context) {
  context.registrar.Reduce(MethodName(kReduce), Reduce);
}

AggregationRequest FaceAggregation(const ServiceName& service, uint32_t partition_count,
                                   const FaceQuery& query, TimePoint deadline) {
  FaceQuery without_picture;
  without_picture.set_match_count_max(query.match_count_max());
  AggregationRequest aggregation;
  aggregation.service = service;
  for (uint32_t p = 0; p < partition_count; ++p) aggregation.partitions.emplace_back(p);
  aggregation.local = MethodName(kFaceMethod);
  aggregation.reduce = MethodName(kReduce);
  aggregation.local_parameters = Data::Of(query);
  aggregation.reduce_parameters = Data::Of(without_picture);
  aggregation.deadline = deadline;
  return aggregation;
}

}  // namespace neptune::examples
