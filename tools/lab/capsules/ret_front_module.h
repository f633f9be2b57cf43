// The tier-1 server of RET as the capsule paper has it: searches its own documents, asks its partitions, answers with
// what came in time.
//
//   Search   long: MicroRequest of one partition's search → MicroResult of all that answered
//
// The partitions are those of the MICRO service, which uses processor time as an index does. A partition whose capsule
// does not let it in is left out; where all are needed, all capsules are asked first, and one that would not turns the
// request away before any partition has worked for it.
//
// Parameters of the service:
//   tier1_share      processor time of the own search, of that of a partition. Default: 0.
//   quality_min      least share of the partitions that must answer. Default: 0.
//   partition_count  how many partitions are asked. Required.
//   uncancelled      "true": partitions go on with a request that can no longer succeed. Default: false.
//
// Source: [Chu05] VI.A (RET), figure 5 (A).
// Threads: as ServiceModule says.
// Errors: kUnavailable fewer partitions answered; kResourceExhausted one that is needed may not be asked;
//   kInvalidArgument the request, or a parameter.
// Limits: a partition is waited for kRetCollectTime, or as long as its capsule allows.

#pragma once

#include <string>

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
  // Errors: kResourceExhausted one of them would not be let in.
  neptune::Status AskCapsules(const neptune::AggregationRequest& aggregation,
                              neptune::TimePoint now) const;

  neptune::Client* client_ = nullptr;  // set by Start
  double tier1_share_ = 0;
  double quality_min_ = 0;
  uint32_t partition_count_ = 0;
  bool uncancelled_ = false;
};

}  // namespace search::lab
