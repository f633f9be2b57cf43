#include "tests/search_cluster/search_cluster.h"

#include <glog/logging.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string_view>
#include <utility>

#include "cache/persistent/persistent_cache_module.h"
#include "cache/service/cache_module.h"
#include "docserver/service/document_module.h"
#include "frontend/model/search_request.h"
#include "index/tier/service/tier_module.h"
#include "neptune/base/same_secret.h"
#include "neptune/base/strings.h"
#include "tools/search/answer_reader.h"

#if defined(__SANITIZE_ADDRESS__)
// A simulated crash abandons user-level threads without unwinding them, so their objects leak.
extern "C" const char* __asan_default_options() { return "detect_leaks=0"; }
#endif

namespace search::tests {

using frontend::SearchAnswer;
using neptune::ClusterSpec;
using neptune::HttpHeaders;
using neptune::HttpResponse;
using neptune::NodeSpec;
using neptune::Status;
using neptune::StatusOr;
using std::chrono::milliseconds;
using std::chrono::seconds;

namespace {

constexpr uint16_t kHttpPort = 8080;
// Longer than the sum of the plan's own deadlines.
constexpr neptune::Duration kUserPatience = seconds(3);

StatusOr<std::unique_ptr<neptune::ServiceModule>> MakeModule(const std::string& module) {
  if (module == "index_tier") return std::make_unique<index::TierModule>();
  if (module == "document_server") return std::make_unique<docserver::DocumentModule>();
  if (module == "query_cache") return std::make_unique<cache::CacheModule>();
  if (module == "persistent_cache_server") {
    return std::make_unique<cache::PersistentCacheModule>();
  }
  return neptune::NotFound("no module '", module, "'");
}

StatusOr<SearchAnswer> ReadResponse(const StatusOr<HttpResponse>& response) {
  if (!response.ok()) return response.status();
  if (response->status != 200) return tools::ReadProblem(response->status, response->body);
  return tools::ReadAnswer(response->body);
}

std::string AddressText(uint32_t address) {
  const std::string text = neptune::Endpoint{address, 0}.ToString();
  return text.substr(0, text.rfind(':'));
}

}  // namespace

ClusterSpec SpecOf(const std::string& name) {
  StatusOr<ClusterSpec> spec =
      neptune::LoadClusterSpec(neptune::StrCat("data/clusters/", name, ".textproto"));
  CHECK(spec.ok()) << spec.status();
  spec->clear_admin_token_file();  // made by the cluster tool, like the next file
  spec->clear_cluster_key_file();
  // Frontends at the addresses of simulated hosts refuse the demonstration keys.
  for (auto& one : *spec->mutable_service_classes()) {
    if (one.api_key_sha256().empty()) continue;
    one.clear_api_key_sha256();
    one.add_api_key_sha256(neptune::ApiKeyHash(one.name() + "-test-key"));
  }
  return *std::move(spec);
}

void SetParameter(ClusterSpec* spec, const std::string& service, const std::string& name,
                  const std::string& value) {
  for (auto& candidate : *spec->mutable_services()) {
    if (candidate.name() == service)
      neptune::SetParameter(name, value, candidate.mutable_parameters());
  }
}

void SetDocumentToken(const std::string& folder, ClusterSpec* spec) {
  const std::string token_file = folder + "/document.token";
  std::ofstream(token_file) << kDocumentToken << '\n';
  using std::filesystem::perms;
  std::filesystem::permissions(token_file, perms::owner_read | perms::owner_write);
  SetParameter(spec, "frontend", "document_token_file", token_file);
}

ClusterSpec LiveSpec(const std::string& folder) {
  ClusterSpec spec = DevSpec();
  for (auto& service : *spec.mutable_services()) {
    if (service.name() == "tier1" || service.name() == "tier2" || service.name() == "docs") {
      service.mutable_replication()->set_level("ordered_writes");
    }
  }
  // Changes belong to one version of the index.
  for (const char* service : {"tier1", "tier2", "docs", "frontend"}) {
    SetParameter(&spec, service, "versions", "");
  }
  SetParameter(&spec, "tier1", "live_path", folder + "/live");
  SetParameter(&spec, "tier2", "live_path", folder + "/live");
  SetParameter(&spec, "docs", "live", "true");
  SetParameter(&spec, "frontend", "documents_change", "true");
  SetDocumentToken(folder, &spec);
  SetParameter(&spec, "frontend", "tier1_rank_min", "0.5");
  return spec;
}

// A question that is passed from frontend to frontend until one answers.
struct SearchCluster::Attempt {
  std::string target;
  HttpHeaders headers;
  OnAnswer on_answer;
  size_t tried_count = 0;
  size_t next = 0;
};

SearchCluster::SearchCluster(uint64_t seed, const ClusterSpec& spec, const std::string& folder,
                             DiskTime disk_time)
    : spec_(spec),
      folder_(folder),
      disk_time_(std::move(disk_time)),
      nodes_({.seed = seed,
              .make_options = [this](const std::string& name) { return OptionsOf(name); },
              .on_start =
                  [this](const std::string& name, const Status& status) {
                    boot_errors_[name] = status.ok() ? std::string() : status.ToString();
                  }}) {
  for (NodeSpec& node : *spec_.mutable_nodes()) {
    for (auto& hosted : *node.mutable_hosts()) {
      if (hosted.service() != "frontend") continue;
      neptune::SetParameter("http_port", neptune::StrCat(kHttpPort), hosted.mutable_parameters());
    }
  }
  for (NodeSpec& node : *spec_.mutable_nodes()) AddHost(&node);
  neptune::SimWorld& user = simulator().AddHost({.name = "user"});
  user_loop_ = *user.StartLoop({.name = "browser"});
  user_ = std::make_unique<tools::HttpFetcher>(*user_loop_);
  simulator().RunFor(milliseconds(2 * spec_.announce_interval_ms()));
  for (const auto& [node, error] : boot_errors_) CHECK(error.empty()) << node << ": " << error;
}

SearchCluster::~SearchCluster() = default;

std::vector<std::string> SearchCluster::node_names() const {
  std::vector<std::string> names;
  for (const NodeSpec& node : spec_.nodes()) names.push_back(node.name());
  return names;
}

void SearchCluster::AddHost(NodeSpec* node) {
  const uint32_t address = nodes_.Add({.name = node->name()}).address();
  for (auto& hosted : *node->mutable_hosts()) {
    if (hosted.service() != "frontend") continue;
    neptune::SetParameter("http_address", AddressText(address), hosted.mutable_parameters());
    // The simulated users are on other machines.
    neptune::SetParameter("operator_pages", "anyone", hosted.mutable_parameters());
    frontends_[node->name()] = {address, kHttpPort};
  }
}

neptune::NodeOptions SearchCluster::OptionsOf(const std::string& name) {
  boot_errors_[name] = "still starting";
  neptune::NodeOptions options;
  options.spec = spec_;
  options.base_directory = folder_;
  options.modules =
      [this, name](const std::string& module) -> StatusOr<std::unique_ptr<neptune::ServiceModule>> {
    if (module != "frontend") return MakeModule(module);
    auto made = std::make_unique<frontend::FrontendModule>();
    modules_[name] = made.get();
    return made;
  };
  if (disk_time_) {
    options.device_time = [this, name](std::string_view path) { return disk_time_(name, path); };
  }
  return options;
}

StatusOr<HttpResponse> SearchCluster::Send(const std::string& web,
                                           const tools::HttpExchange& wanted) {
  tools::HttpExchange exchange = wanted;
  const bool is_change = std::string_view(exchange.target).starts_with("/documents");
  if (is_change && !exchange.headers.Has("Authorization")) {
    exchange.headers.Set("Authorization", neptune::StrCat("Bearer ", kDocumentToken));
  }
  bool done = false;
  StatusOr<HttpResponse> response = neptune::Unavailable("not done");
  user_loop_->Post([&] {
    user_->Send(frontends_.at(web), exchange, kUserPatience, [&](StatusOr<HttpResponse> result) {
      response = std::move(result);
      done = true;
    });
  });
  CHECK(simulator().RunUntilTrue([&] { return done; }, simulator().now() + 2 * kUserPatience));
  return response;
}

StatusOr<HttpResponse> SearchCluster::Get(const std::string& web, const std::string& target,
                                          const HttpHeaders& headers) {
  return Send(web, {.target = target, .headers = headers});
}

void SearchCluster::StartSearch(const Question& question, OnAnswer on_answer) {
  auto attempt = std::make_shared<Attempt>();
  attempt->target = frontend::SearchPath({.query = question.query,
                                          .start = question.start,
                                          .count = question.count,
                                          .format = frontend::PageFormat::kJson,
                                          .may_correct = question.may_correct,
                                          .may_relax = question.may_relax});
  if (!question.may_use_cache) attempt->headers.Set("Cache-Control", "no-cache");
  attempt->on_answer = std::move(on_answer);
  attempt->next = next_frontend_++;
  user_loop_->Post([this, attempt] { Ask(attempt); });
}

void SearchCluster::Ask(std::shared_ptr<Attempt> attempt) {
  const auto server =
      std::next(frontends_.begin(), static_cast<ptrdiff_t>(attempt->next++ % frontends_.size()));
  user_->Get(server->second, attempt->target, attempt->headers, kUserPatience,
             [this, attempt](const StatusOr<HttpResponse>& response) {
               StatusOr<SearchAnswer> answer = ReadResponse(response);
               if (answer.ok() || ++attempt->tried_count == frontends_.size()) {
                 return attempt->on_answer(std::move(answer));
               }
               Ask(attempt);
             });
}

StatusOr<SearchAnswer> SearchCluster::Search(const Question& question) {
  bool done = false;
  StatusOr<SearchAnswer> answer = neptune::Unavailable("not done");
  StartSearch(question, [&](StatusOr<SearchAnswer> result) {
    answer = std::move(result);
    done = true;
  });
  CHECK(simulator().RunUntilTrue([&] { return done; }, simulator().now() + seconds(30)));
  return answer;
}

void SearchCluster::Kill(const std::string& node) {
  down_.insert(node);
  simulator().Crash(node, neptune::CrashKind::kProcess);
}

void SearchCluster::Restart(const std::string& node) {
  down_.erase(node);
  simulator().Restart(node);
}

void SearchCluster::Pause(const std::string& node) {
  down_.insert(node);
  simulator().Pause(node);
}

void SearchCluster::Resume(const std::string& node) {
  down_.erase(node);
  simulator().Resume(node);
}

neptune::CapsuleStack& SearchCluster::Capsules(const std::string& node) const {
  return NodeNamed(node).capsules();
}

std::vector<neptune::HttpRoute> SearchCluster::RoutesOf(const std::string& web) const {
  return modules_.at(web)->routes();
}

MissingSet SearchCluster::Dead() const {
  std::map<std::string, std::set<uint32_t>> live;
  for (const NodeSpec& node : spec_.nodes()) {
    if (down_.contains(node.name())) continue;
    for (const auto& hosted : node.hosts()) {
      live[hosted.service()].insert(hosted.partitions().begin(), hosted.partitions().end());
    }
  }
  const auto dead = [&](const char* service) {
    std::set<uint32_t> partitions;
    for (uint32_t p = 0; p < neptune::FindService(spec_, service)->partition_count(); ++p) {
      if (!live[service].contains(p)) partitions.insert(p);
    }
    return partitions;
  };
  return {dead("tier1"), dead("tier2"), dead("docs")};
}

}  // namespace search::tests
