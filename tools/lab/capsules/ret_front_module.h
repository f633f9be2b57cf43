// The tier-1 server of RET in the capsule paper: searches its own documents, queries its
// partitions, and answers with the results that arrive in time.
//
//   Search   long: MicroRequest of one partition's search → MicroResult of all answers
//
// The partitions are those of the MICRO service, which uses processor time like an index. A
// partition whose capsule does not admit the request is left out. If all partitions are required,
// all capsules are checked first, and one that is full rejects the request before any partition
// works for it.
//
// Source: [Chu05] VI.A (RET), figure 5 (A).
// Threads: those of ServiceModule.
// Errors: kUnavailable too few partitions answered; kResourceExhausted the capsule of a required
//   partition is full; kInvalidArgument the request or a parameter is invalid.
// Limits: waits at most kRetCollectTime for a partition, or as long as its capsule allows.

#pragma once

#include <string>

#include "neptune/dac/dac.h"
#include "neptune/service/service_module.h"

namespace search::lab {

inline constexpr char kRetSearchMethod[] = "Search";

class RetFrontModule final : public neptune::ServiceModule {
 public:
  void DeclareParameters(neptune::ParameterTable& table) override;
  neptune::Status Start(neptune::ModuleContext& context) override;
  std::string implementation() const override { return "ret_front"; }

 private:
  neptune::Status Search(neptune::RequestContext& context, const neptune::Data& request,
                         neptune::Data* response);
  // Errors: kResourceExhausted one of the capsules would not admit the request.
  neptune::Status AskCapsules(const neptune::AggregationRequest& aggregation,
                              neptune::TimePoint now) const;

  neptune::Client* client_ = nullptr;  // set by Start
  // Parameters, fixed before Start.
  double tier1_share_ = 0;
  double quality_min_ = 0;
  uint32_t partition_count_ = 0;
  bool uncancelled_ = false;
};

}  // namespace search::lab
