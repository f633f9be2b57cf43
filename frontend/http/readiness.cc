#include "frontend/http/readiness.h"

#include "cache/cache_service.h"
#include "docserver/document_service.h"
#include "index/tier/tier_service.h"
#include "neptune/base/strings.h"

namespace search::frontend {
namespace {

using neptune::StrAppend;

ServiceReadiness CountLive(const neptune::YellowPageView& view, const char* service,
                           uint32_t partition_count) {
  ServiceReadiness readiness{service, partition_count, 0};
  for (uint32_t p = 0; p < partition_count; ++p) {
    if (!view.Replicas(neptune::ServiceName(service), neptune::PartitionId(p)).empty()) {
      ++readiness.live_count;
    }
  }
  return readiness;
}

const char* JsonBool(bool value) { return value ? "true" : "false"; }

}  // namespace

Readiness ComputeReadiness(const neptune::YellowPageView& view, const SearchPlanOptions& options) {
  Readiness readiness;
  const auto count = [&](const char* service, uint32_t partition_count) {
    readiness.services.push_back(CountLive(view, service, partition_count));
    return readiness.services.back().live_count;
  };
  const uint32_t tier1 = count(index::kTier1Service, options.tier1_partitions);
  const uint32_t tier2 = count(index::kTier2Service, options.tier2_partitions);
  const uint32_t documents = count(docserver::kDocumentService, options.document_partitions);
  count(cache::kCacheService, options.cache_partitions);
  readiness.ready = tier1 + tier2 > 0;
  readiness.complete = tier1 == options.tier1_partitions && tier2 == options.tier2_partitions &&
                       documents == options.document_partitions;
  return readiness;
}

std::string Readiness::Json() const {
  std::string json =
      neptune::StrCat("{\"ready\": ", JsonBool(ready), ", \"complete\": ", JsonBool(complete));
  if (services.empty()) return json + "}\n";
  json += ", \"services\": [";
  for (size_t i = 0; i < services.size(); ++i) {
    StrAppend(&json, i == 0 ? "" : ", ", "{\"service\": \"", services[i].service,
              "\", \"partitions\": ", services[i].partition_count,
              ", \"live\": ", services[i].live_count, "}");
  }
  StrAppend(&json, "]}\n");
  return json;
}

}  // namespace search::frontend
