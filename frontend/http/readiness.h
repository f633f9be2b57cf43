// Readiness of a frontend: which partitions have a live replica.
//
// No I/O.
// Threads: pure functions.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "frontend/policy/plan_options.h"
#include "neptune/membership/service_yellow_page.h"

namespace search::frontend {

struct ServiceReadiness {
  std::string service;
  uint32_t partition_count = 0;
  uint32_t live_count = 0;  // partitions with a live replica
};

struct Readiness {
  std::vector<ServiceReadiness> services;
  // At least one index partition has a live replica, so searches get an answer, possibly partial.
  bool ready = false;
  // Every partition of both tiers and of the document servers has a live replica.
  bool complete = false;

  // {"ready": ..., "complete": ..., "services": [...]}; without services that member is left out.
  std::string Json() const;
};

Readiness ComputeReadiness(const neptune::YellowPageView& view, const SearchPlanOptions& options);

}  // namespace search::frontend
