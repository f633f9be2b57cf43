// Any bytes as requests to the methods of a node that hosts a tier, its documents and a cache: each
// is answered, if with an error, and none takes the node along.
//
// The input is a byte for the method, then the request.

#include <glog/logging.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "cache/cache_service.h"
#include "cache/service/cache_module.h"
#include "docserver/document_service.h"
#include "docserver/service/document_module.h"
#include "index/core/testing/collection.h"
#include "index/tier/service/tier_module.h"
#include "index/tier/tier_service.h"
#include "neptune/base/strings.h"
#include "neptune/node/node.h"
#include "neptune/service/client.h"
#include "neptune/testing/simulated_nodes.h"
#include "tests/search_cluster/small_index.h"
#include "tools/bazel/fuzz/place.h"

namespace search::tests {
namespace {

using neptune::Data;
using neptune::Status;
using neptune::StatusOr;

constexpr char kNode[] = "n";
constexpr neptune::Duration kPatience = std::chrono::seconds(20);

constexpr char kSpec[] = R"(
name: "methods" multicast_group: "239.192.7.3:7000"
services { name: "tier1" module: "index_tier" parameters { key: "path" value: "tier1" } }
services {
  name: "docs" module: "document_server" parameters { key: "path" value: "docs" }
  parameters { key: "implementation" value: "flat_file" }
}
services { name: "cache" module: "query_cache" }
nodes { name: "n" hosts { service: "tier1" } hosts { service: "docs" } hosts { service: "cache" } }
)";

struct Method {
  const char* service;
  const char* method;
};

constexpr Method kMethods[] = {
    {"tier1", index::kTierSearchMethod},  {"tier1", index::kTierSuggestMethod},
    {"tier1", index::kTierSpellMethod},   {"tier1", index::kTierCountMethod},
    {"tier1", index::kTierExplainMethod}, {"tier1", index::kTierFacetMethod},
    {"tier1", index::kTierTitlesMethod},  {"docs", docserver::kFetchMethod},
    {"docs", docserver::kFindUrlsMethod}, {"cache", cache::kLookupMethod},
    {"cache", cache::kInsertMethod},
};

neptune::FuzzPlace answered_tier("a tier answers");
neptune::FuzzPlace answered_documents("documents are fetched");
neptune::FuzzPlace answered_cache("a cache answers");

StatusOr<std::unique_ptr<neptune::ServiceModule>> MakeModule(const std::string& name) {
  std::unique_ptr<neptune::ServiceModule> module;
  if (name == "index_tier") module = std::make_unique<index::TierModule>();
  if (name == "document_server") module = std::make_unique<docserver::DocumentModule>();
  if (name == "query_cache") module = std::make_unique<cache::CacheModule>();
  if (module == nullptr) return neptune::NotFound("no module ", name);
  return module;
}

SmallCorpus MakeCorpus() {
  SmallCorpus corpus;
  for (uint64_t i = 1; i <= 40; ++i) {
    corpus.documents.push_back({.doc_id = i,
                                .title = neptune::StrCat("document ", i % 7),
                                .body = neptune::StrCat("a bird is a bird ", i % 5),
                                .site = "docs.example.org",
                                .static_rank = 0.5F});
    corpus.urls.push_back(neptune::StrCat("http://docs.example.org/", i));
  }
  return corpus;
}

// Lives as long as the process: what it has answered makes no difference to later requests.
class Cluster {
 public:
  Cluster() {
    const SmallCorpus corpus = MakeCorpus();
    const Placement placement(corpus, {.tier1_partitions = 1,
                                       .tier2_partitions = 1,
                                       .document_partitions = 1,
                                       .store_implementation = "flat_file"});
    const Status built = BuildSmallIndex(folder_.path(), corpus, placement);
    CHECK(built.ok()) << built;
    const neptune::ClusterSpec spec = *neptune::ParseClusterSpec(kSpec, "spec");
    nodes_ = std::make_unique<neptune::SimulatedNodes>(
        neptune::SimulatedNodesOptions{.make_options = [this, spec](const std::string&) {
          return neptune::NodeOptions{.spec = spec,
                                      .base_directory = folder_.path(),
                                      .modules = &MakeModule,
                                      .with_admin = false};
        }});
    nodes_->AddAll(spec);
    nodes_->simulator().RunFor(std::chrono::seconds(1));
  }

  Status Call(const Method& method, std::string_view request) {
    Status status = neptune::Unavailable("not called");
    const bool has_ended = nodes_->Run(
        kNode,
        [&](neptune::ClientSession& session) {
          Data response;
          status = neptune::Call(session,
                                 {neptune::ServiceName(method.service), neptune::PartitionId(0),
                                  neptune::MethodName(method.method)},
                                 Data(std::string(request)), &response);
        },
        kPatience);
    CHECK(has_ended && nodes_->lives(kNode)) << method.service << " " << method.method;
    return status;
  }

 private:
  index::TemporaryFolder folder_;
  std::unique_ptr<neptune::SimulatedNodes> nodes_;
};

void Run(uint8_t which, std::string_view request) {
  static Cluster& cluster = *new Cluster;
  const Method& method = kMethods[which % std::size(kMethods)];
  const Status status = cluster.Call(method, request);
  CHECK(status.code() != neptune::StatusCode::kInternal) << method.method << ": " << status;
  if (!status.ok()) return;
  const std::string_view service = method.service;
  if (service == "tier1") answered_tier.Reach();
  if (service == "docs") answered_documents.Reach();
  if (service == "cache") answered_cache.Reach();
}

}  // namespace
}  // namespace search::tests

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  search::tests::Run(data[0], {reinterpret_cast<const char*>(data) + 1, size - 1});
  return 0;
}
