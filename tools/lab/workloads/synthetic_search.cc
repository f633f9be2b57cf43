#include "tools/lab/workloads/synthetic_search.h"

#include "docserver/service/document_module.h"
#include "frontend/http/frontend_module.h"
#include "index/tier/service/tier_module.h"
#include "neptune/base/strings.h"
#include "neptune/thread/user_thread.h"
#include "tools/process/own_group.h"

namespace search::lab {
namespace {

using neptune::RealNode;
using neptune::Status;
using neptune::StatusOr;
using neptune::StrCat;

constexpr auto kMeetingTimeMax = std::chrono::seconds(10);
constexpr auto kMeetingLook = std::chrono::milliseconds(10);

// Like data/clusters/dev.textproto, with fewer nodes, without tier 2, and without what would answer
// repeated queries: the cache, and searches that wait for the answer to an equal one.
constexpr char kSpec[] = R"(
  name: 'made' multicast_group: '239.192.7.3:20000' announce_interval_ms: 100
  services { name: 'tier1' module: 'index_tier' partition_count: 4
             parameters { key: 'path' value: 'tier1' } $LIMITS }
  services { name: 'docs' module: 'document_server' partition_count: 4
             parameters { key: 'path' value: 'docs' }
             parameters { key: 'implementation' value: 'flat_file' } }
  services { name: 'frontend' module: 'frontend' $FIELDS
             parameters { key: 'trust_class_header' value: 'true' }
             parameters { key: 'tier1_partitions' value: '4' }
             parameters { key: 'tier2_partitions' value: '0' }
             parameters { key: 'docs_partitions' value: '4' }
             parameters { key: 'joined_search_count_max' value: '0' }
             parameters { key: 'cache_partitions' value: '0' } }
  nodes { name: 'web' hosts { service: 'frontend' } }
  nodes { name: 'store-1' hosts { service: 'tier1' partitions: [0, 1] }
          hosts { service: 'docs' partitions: [0, 1] } }
  nodes { name: 'store-2' hosts { service: 'tier1' partitions: [2, 3] }
          hosts { service: 'docs' partitions: [2, 3] } })";

StatusOr<neptune::ClusterSpec> MakeSpec(const MadeSearchOptions& options,
                                        const neptune::UniquePort& port) {
  std::string limits =
      StrCat("queue_length_max: ", options.queue_length_max, " ", options.service_fields);
  if (!options.time_limit.empty()) limits += StrCat(" time_limit { ", options.time_limit, " }");
  std::string text = kSpec;
  text.replace(text.find("$LIMITS"), 7, limits);
  text.replace(text.find("$FIELDS"), 7, options.service_fields);
  text += options.service_classes;
  NEPTUNE_ASSIGN_OR_RETURN(neptune::ClusterSpec spec, neptune::ParseClusterSpec(text, "made"));
  SetOwnGroup(port, &spec);
  return spec;
}

StatusOr<std::unique_ptr<neptune::ServiceModule>> MakeModule(const std::string& name,
                                                             frontend::FrontendModule** frontend) {
  if (name == "index_tier") return std::make_unique<index::TierModule>();
  if (name == "document_server") return std::make_unique<docserver::DocumentModule>();
  if (name != "frontend") return neptune::NotFound("no module '", name, "'");
  auto module = std::make_unique<frontend::FrontendModule>();
  *frontend = module.get();
  return module;
}

}  // namespace

StatusOr<std::unique_ptr<SyntheticSearch>> SyntheticSearch::Start(
    const SyntheticIndex& index, const MadeSearchOptions& options) {
  std::unique_ptr<SyntheticSearch> search(new SyntheticSearch());
  NEPTUNE_ASSIGN_OR_RETURN(const neptune::ClusterSpec spec, MakeSpec(options, search->port_));
  for (const neptune::NodeSpec& node : spec.nodes()) {
    NEPTUNE_RETURN_IF_ERROR(search->StartNode(spec, node.name(), index));
  }
  NEPTUNE_RETURN_IF_ERROR(search->Meet());
  return search;
}

// The frontend stops first, because it calls the others.
SyntheticSearch::~SyntheticSearch() {
  while (!nodes_.empty()) nodes_.erase(nodes_.begin());
}

Status SyntheticSearch::StartNode(const neptune::ClusterSpec& spec, const std::string& name,
                                  const SyntheticIndex& index) {
  neptune::NodeOptions options;
  options.spec = spec;
  options.name = neptune::NodeId(name);
  options.base_directory = index.folder();
  options.with_admin = false;
  options.modules = [this](const std::string& module) { return MakeModule(module, &frontend_); };
  nodes_.push_back(std::make_unique<RealNode>(std::move(options)));
  return nodes_.back()->Start();
}

Status SyntheticSearch::Meet() {
  neptune::Node& web = nodes_.front()->node();
  bool complete = false;
  nodes_.front()->Run([&] {
    const auto knows_all = [&](const char* service) {
      for (uint32_t p = 0; p < kMadePartitionCount; ++p) {
        if (web.View()->Replicas(neptune::ServiceName(service), neptune::PartitionId(p)).empty()) {
          return false;
        }
      }
      return true;
    };
    const neptune::TimePoint limit = neptune::this_thread::Now() + kMeetingTimeMax;
    while (!complete && neptune::this_thread::Now() < limit) {
      complete = knows_all("tier1") && knows_all("docs");
      if (!complete) neptune::this_thread::SleepFor(kMeetingLook);
    }
  });
  if (complete) return neptune::OkStatus();
  return neptune::Unavailable("the frontend does not find every partition within ",
                              neptune::ToSeconds(kMeetingTimeMax), " s");
}

neptune::Endpoint SyntheticSearch::http_endpoint() const { return frontend_->http_endpoint(); }

}  // namespace search::lab
