// The tier-1 server of RET as the capsule paper has it: searches its own documents, asks its partitions, answers with
// what came in time.
//
//   Search   long: MicroRequest of one partition's search → MicroResult of all that answered
//
// The partitions are those of the MICRO service, which uses processor time as an index does. With capsules a request
// enters one for each partition before any is asked: a partition whose capsule does not let it in is left out, or, where
// all are needed, the request is turned away.
//
// Parameters of the service:
//   tier1_share      processor time of the own search, of that of a partition. Default: 0.
//   quality_min      least share of the partitions that must answer. Default: 0.
//   partition_count  how many partitions are asked. Required.
//   uncancelled      "true": partitions go on with a request that can no longer succeed. Default: false.
//   capsules         those of the partitions, as a capsule file has them. Default: none.
//
// Source: dependency capsules VI.A (RET), figure 5 (A).
// Layer: tools. Threads: as ServiceModule says.
// Errors: kUnavailable fewer partitions answered, or may be asked; kResourceExhausted a capsule is full;
//   kInvalidArgument the request, or a parameter.
// Limits: partitions are waited for kRetCollectTime, or as long as their capsules allow, the least of them.

#pragma once

#include <string>
#include <vector>

#include "neptune/capsule/capsule_stack.h"
#include "neptune/capsule/capsule_visit.h"
#include "neptune/dac/dac.h"
#include "neptune/service/service_module.h"

namespace search::lab {

inline constexpr char kRetSearchMethod[] = "Search";

class RetFrontModule final : public neptune::ServiceModule {
 public:
  neptune::Status Start(neptune::ModuleContext& context) override;
  std::string implementation() const override { return "ret_front"; }

 private:
  neptune::Status Search(neptune::RequestContext& context, const neptune::Data& request,
                         neptune::Data* response);
  // Leaves those out of the request that may not be asked now, of the others one visit each. `visits` is as long as
  // there are partitions.
  neptune::Status EnterCapsules(std::vector<neptune::CapsuleVisit>* visits,
                                neptune::AggregationRequest* aggregation);

  neptune::CapsuleStack capsules_;
  neptune::Client* client_ = nullptr;  // set by Start
  double tier1_share_ = 0;
  double quality_min_ = 0;
  uint32_t partition_count_ = 0;
  bool uncancelled_ = false;
};

}  // namespace search::lab
