#include "frontend/http/frontend_module.h"

#include <glog/logging.h>

#include <filesystem>
#include <utility>

#include "frontend/documents/replicated_writer.h"
#include "frontend/http/version_synonyms.h"
#include "frontend/model/client_class.h"
#include "frontend/search_plan/plan_capsules.h"
#include "index/tier/detail_reduce.h"
#include "index/tier/suggest_reduce.h"
#include "index/tier/tier_reduce.h"
#include "index/tier/tier_service.h"
#include "neptune/base/secret_file.h"
#include "neptune/base/strings.h"
#include "neptune/service/client.h"
#include "neptune/service/parameter_table.h"
#include "neptune/thread/synchronization.h"
#include "neptune/thread/user_thread.h"

namespace search::frontend {
namespace {

using neptune::Duration;
using neptune::Endpoint;
using neptune::NodeLoop;
using neptune::OneShotEvent;
using neptune::Status;
using neptune::StatusOr;
using neptune::StrCat;
using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::seconds;

// A query of maximum size with every byte encoded as %XX must fit.
constexpr size_t kTargetSizeMax = SearchRequestLimits::kParametersSizeMax + 64;
constexpr size_t kHeaderSizeMax = kTargetSizeMax + (16 << 10);

// Runs `work` on the loop and waits until it returns.
void RunOn(NodeLoop& loop, absl::AnyInvocable<void()> work) {
  if (loop.loop == neptune::Loop::Current()) return work();
  OneShotEvent done;
  loop.loop->Post([&] {
    work();
    done.Set();
  });
  while (!done.is_set()) neptune::this_thread::ParkUntilWoken();
}

neptune::HttpServerOptions ServerOptions(const neptune::HttpServerMetrics& metrics) {
  neptune::HttpServerOptions options;
  options.reader.target_size_max = kTargetSizeMax;
  options.reader.header_size_max = kHeaderSizeMax;
  options.reader.body_size_max = kBulkSizeMax;  // the route limits it
  options.metrics = &metrics;
  return options;
}

// Sets the address that absolute links begin with if the spec gives one or a request has no usable
// Host header.
Status SetAddress(const std::string& base_url, GatewayOptions* gateway) {
  if (base_url.empty()) {
    if (gateway->is_https) gateway->site.base_url = "https://127.0.0.1:8443";
    return neptune::OkStatus();
  }
  if (!IsBaseUrl(base_url)) {
    return neptune::InvalidArgument("parameter base_url is '", base_url,
                                    "'; expected for example https://search.example");
  }
  gateway->has_fixed_address = true;
  gateway->site.base_url = base_url;
  return neptune::OkStatus();
}

// Reads the secret from the file that a parameter names; without a name it stays empty.
Status SetToken(const std::string& folder, const std::string& file, std::string* token) {
  if (file.empty()) return neptune::OkStatus();
  const std::filesystem::path path = std::filesystem::path(folder) / file;
  NEPTUNE_ASSIGN_OR_RETURN(*token, neptune::LoadSecret(path.string()));
  return neptune::OkStatus();
}

// Beyond logs: no core file holds queries, and what names cached answers does not show them.
Status HideQueries(const neptune::ModuleContext& context, SearchPlanOptions* plan) {
  NEPTUNE_RETURN_IF_ERROR(neptune::ForbidCoreFiles());
  plan->hides_cache_keys = true;
  if (context.derive_secrets == nullptr) return neptune::OkStatus();
  const std::vector<std::string> secrets = context.derive_secrets("cache keys");
  if (!secrets.empty()) plan->cache_key_secret = secrets.front();
  return neptune::OkStatus();
}

bool IsLoopback(const Endpoint& endpoint) { return endpoint.address >> 24 == 127; }

// The host of base_url if this frontend serves that address itself. With another scheme or port a
// proxy is between it and the clients, and requests with that Host come from others.
std::string OwnHost(const std::string& base_url, bool is_https, const Endpoint& at) {
  const std::string_view scheme = is_https ? "https://" : "http://";
  if (!base_url.starts_with(scheme)) return {};
  const std::string_view host = std::string_view(base_url).substr(scheme.size());
  const size_t colon = host.find(':', host.starts_with('[') ? host.find(']') : 0);
  const std::string port =
      colon == host.npos ? (is_https ? "443" : "80") : std::string(host.substr(colon + 1));
  if (port != StrCat(at.port)) return {};
  return std::string(host.substr(0, colon));
}

Status FindTlsFiles(const std::string& folder, neptune::TlsFiles* files) {
  if (files->certificate.empty() != files->key.empty()) {
    return neptune::InvalidArgument(
        "parameters http_certificate_file and http_key_file must be given together");
  }
  for (std::string* const file : {&files->certificate, &files->key}) {
    if (!file->empty()) *file = (std::filesystem::path(folder) / *file).string();
  }
  return neptune::OkStatus();
}

}  // namespace

struct FrontendModule::Options {
  SearchPlanOptions plan;
  GatewayOptions gateway;
  Endpoint http;
  size_t connection_count_max = 0;
  size_t connections_per_address_max = 0;
  size_t bodies_mb = neptune::kBodyBytesMax >> 20;
  neptune::TlsFiles tls;  // empty: plain HTTP
  Duration drain_grace = seconds(5);
  // Delay between reporting "not ready" and closing the port. Larger: balancers that poll /readyz
  // rarely still notice before the port closes; stops take longer.
  Duration leave{0};
  bool documents_change = false;
  ReplicatedWriterOptions writer;
  AccessLogOptions access_log;
  // Parameters that CompleteOptions makes into the options above.
  std::string http_address = "127.0.0.1";
  std::string base_url;
  std::string operator_pages = "loopback";
  std::string operator_token_file;
  std::string document_token_file;
  std::string audit_log_path;
  std::string synonyms_file;
  bool private_logs = false;
  uint64_t access_log_days = 30;
  VersionWarmerOptions warmer;
};

FrontendModule::FrontendModule() : options_(std::make_unique<Options>()) {}
FrontendModule::~FrontendModule() { followed_.Stop(); }

void FrontendModule::DeclareParameters(neptune::ParameterTable& table) {
  Options& options = *options_;
  DeclareSearchPlanParameters(table, &options.plan);
  DeclareHttpParameters(table, &options);
  table.Flag("trust_class_header", &options.gateway.trusts_class_header,
             "a request may name a class that has API keys without sending a key");
  table.Real("trace_share", {0, 1}, &options.gateway.sampled_share,
             "fraction of the searches without a caller's trace that leave spans");
  table.Text("audit_log", &options.audit_log_path,
             "file with one line per change of documents and per switch of the index version; "
             "default: none");
  table.Flag(
      "private_logs", &options.private_logs,
      "store queries neither in the access log, under /tracez, in cache keys nor in core files");
  table.Whole("page_cache_mb", {0, 64 * 1024}, &options.gateway.page_cache_mb,
              "size in MiB of the pages that the frontend repeats; 0: none");
  table.Whole("warm_question_count", {0, 1'000'000}, &options.warmer.question_count,
              "most asked questions that a new index version is asked before it is switched to");
  table.Millis("warm_time_ms", {milliseconds(0), seconds(600)}, &options.warmer.time_max,
               "how long a new index version is asked these questions");
  table.Text("access_log", &options.access_log.path,
             "file with one line per search; default: none");
  table.Whole("access_log_days", {0, 3650}, &options.access_log_days,
              "days after which lines of the access log are removed; 0: only its size bounds it");
  table.Text("synonyms_file", &options.synonyms_file,
             "file of synonyms in the folder of each index version; empty: none");
  table.Text("site_name", &options.gateway.site.name, "name shown on pages");
  table.Text("base_url", &options.base_url,
             "base of absolute links, for example https://search.example");
  table.Whole("document_count", {0, UINT64_MAX}, &options.gateway.site.document_count,
              "number of documents shown on pages; 0: not shown");
  table.Flag("documents_change", &options.documents_change,
             "accept changes at /documents; needs live_path and live of the services, and "
             "document_token_file unless http_address is of the loopback interface");
  table.Text("document_token_file", &options.document_token_file,
             "file with the secret by which clients may change documents; default: none, clients "
             "on this machine may");
  table.Real("reload_share_max", {0, 1}, &options.gateway.reload_share_max,
             "reloads past the caches per search that misses them, of clients that are no "
             "operators; 1: no limit");
  followed_.DeclareParameters(table);
  table.Millis("meeting_timeout_ms", {milliseconds(0), seconds(60)},
               &options.gateway.meeting_timeout,
               "how long after its start a frontend delays answers until it knows every partition");
  table.Real("tier1_rank_min", {0, 1}, &options.writer.tier1_rank_min,
             "minimum static rank for a document with a given rank to go to tier 1");
  table.Millis("document_write_timeout_ms", {milliseconds(1), seconds(600)},
               &options.gateway.document_write_timeout, "time limit of a change");
}

void FrontendModule::DeclareHttpParameters(neptune::ParameterTable& table, Options* options) {
  table.Text("http_address", &options->http_address, "IPv4 address to listen at");
  table.Whole("http_port", {0, 65535}, &options->http.port, "port to listen at; 0: any free one");
  table.Whole("http_connection_count_max", {0, 1'000'000}, &options->connection_count_max,
              "maximum client connections of one serving loop; 0: as many as the node accepts");
  table.Whole("http_connections_per_address_max", {0, 1'000'000},
              &options->connections_per_address_max,
              "maximum connections of one client address per serving loop; 0: a quarter of all");
  table.Whole("http_bodies_mb", {1, 64 * 1024}, &options->bodies_mb,
              "size in MiB that the bodies of all requests may have together");
  table.Text("http_certificate_file", &options->tls.certificate,
             "PEM file with the certificate for HTTPS; default: plain HTTP");
  table.Text("http_key_file", &options->tls.key,
             "PEM file with the certificate's key, readable by its owner only");
  table.Real("http_rate_per_second", {0, 1e6}, &options->gateway.rate_limit.per_second,
             "rate limit per client; 0: no limit");
  table.Real("http_rate_burst", {0, 1e6}, &options->gateway.rate_limit.burst,
             "burst above the rate limit; 0: twice the rate");
  table.Flag("trust_forwarded_for", &options->gateway.trusts_forwarded,
             "take the client's address from the end of X-Forwarded-For");
  table.Choice("operator_pages", {"loopback", "anyone"}, &options->operator_pages,
               "who may see the operators' pages: clients on this machine, or anyone");
  table.Text("operator_token_file", &options->operator_token_file,
             "file with the secret by which clients may see the operators' pages from anywhere; "
             "with it, clients on this machine need it, too");
  table.Flag("public_status", &options->gateway.access.public_status,
             "show /metrics and the counts of /readyz to everyone");
  table.Flag("key_required", &options->gateway.requires_key,
             "answer searches, completions and documents for clients with an API key only");
  table.Millis("http_strict_transport_ms", {milliseconds(0), hours(24 * 730)},
               &options->gateway.strict_transport,
               "with HTTPS: how long browsers keep to it once they have used it; 0: not at all");
  table.Millis("http_drain_timeout_ms", {milliseconds(0), seconds(60)}, &options->drain_grace,
               "maximum time for requests in flight when the node stops");
  table.Millis("http_leave_ms", {milliseconds(0), seconds(60)}, &options->leave,
               "how long /readyz answers 503 before the port is closed");
}

// Derives the options that depend on several parameters or on the node.
Status FrontendModule::CompleteOptions(const std::string& folder, Options* options) {
  options->access_log.keeps_queries = !options->private_logs;
  options->access_log.age_max = std::chrono::hours(24 * options->access_log_days);
  options->gateway.keeps_queries = !options->private_logs;
  options->writer.partitions = {.tier1 = options->plan.tier1_partitions,
                                .tier2 = options->plan.tier2_partitions,
                                .documents = options->plan.document_partitions};
  const StatusOr<Endpoint> parsed = Endpoint::Parse(options->http_address + ":0");
  if (!parsed.ok()) {
    return neptune::InvalidArgument("parameter http_address is '", options->http_address,
                                    "'; expected an IPv4 address");
  }
  options->http.address = parsed->address;
  NEPTUNE_RETURN_IF_ERROR(FindTlsFiles(folder, &options->tls));
  options->gateway.is_https = !options->tls.certificate.empty();
  NEPTUNE_RETURN_IF_ERROR(SetAddress(options->base_url, &options->gateway));
  return SetAccess(folder, options);
}

// Sets who may see the operators' pages and change documents. What may be changed by everyone who
// reaches the port is not served.
Status FrontendModule::SetAccess(const std::string& folder, Options* options) {
  AccessOptions& access = options->gateway.access;
  access.pages_for_anyone = options->operator_pages == "anyone";
  access.own_host = OwnHost(options->base_url, options->gateway.is_https, options->http);
  NEPTUNE_RETURN_IF_ERROR(SetToken(folder, options->operator_token_file, &access.operator_token));
  NEPTUNE_RETURN_IF_ERROR(SetToken(folder, options->document_token_file, &access.document_token));
  if (!options->documents_change || !access.document_token.empty() || IsLoopback(options->http)) {
    return neptune::OkStatus();
  }
  return neptune::InvalidArgument(
      "parameter documents_change: everyone who reaches http_address ", options->http_address,
      " could change documents; set document_token_file to a file with a secret, or http_address "
      "to an address of the loopback interface");
}

Status FrontendModule::Start(neptune::ModuleContext& context) {
  NEPTUNE_RETURN_IF_ERROR(CompleteOptions(context.base_directory, options_.get()));
  if (options_->private_logs) NEPTUNE_RETURN_IF_ERROR(HideQueries(context, &options_->plan));
  const Options& options = *options_;
  if (!IsLoopback(options.http)) {
    NEPTUNE_RETURN_IF_ERROR(CheckDemonstrationKeys(context.class_of_api_key_hash));
    LOG_IF(WARNING, options.gateway.trusts_class_header)
        << "trust_class_header lets every client at " << options.http
        << " choose its service class";
  }
  NEPTUNE_ASSIGN_OR_RETURN(const PlanMetrics plan_metrics, PlanMetrics::Make(context.metrics));
  NEPTUNE_ASSIGN_OR_RETURN(GatewayMetrics gateway_metrics,
                           GatewayMetrics::Make(context.metrics, context.scheduling));
  gateway_metrics.cache_misses = plan_metrics.cache_miss;
  NEPTUNE_ASSIGN_OR_RETURN(server_metrics_,
                           neptune::HttpServerMetrics::Make(context.metrics, "frontend"));
  NEPTUNE_RETURN_IF_ERROR(MakePlanCapsules(context.client.capsules(), options.plan));
  index::RegisterTierReduceOperator(context.registrar);
  index::RegisterSuggestReduceOperators(context.registrar);
  index::RegisterDetailReduceOperators(context.registrar);
  drain_grace_ = options.drain_grace;
  leave_ = options.leave;
  plan_ = std::make_unique<SearchPlan>(context.client, context.world, options.plan,
                                       context.scheduling, plan_metrics);
  NEPTUNE_RETURN_IF_ERROR(ShowGate(context.metrics));
  NEPTUNE_RETURN_IF_ERROR(ShowSearches(context, gateway_metrics));
  gateway_ = std::make_unique<HttpGateway>(*plan_, context, gateway_metrics, options.gateway);
  NEPTUNE_RETURN_IF_ERROR(MakeWarmer(context, options));
  if (!options.audit_log_path.empty()) NEPTUNE_RETURN_IF_ERROR(OpenAudit(context, options));
  NEPTUNE_RETURN_IF_ERROR(FollowVersions(context, options));
  NEPTUNE_RETURN_IF_ERROR(gateway_->pages().Show(context.metrics, &gauges_));
  if (!options.access_log.path.empty()) NEPTUNE_RETURN_IF_ERROR(OpenLog(context, options));
  if (options.documents_change) {
    writer_ = std::make_unique<ReplicatedWriter>(context.client, context.world, options.writer);
    html_threads_ = std::make_unique<HtmlThreads>(context.world, gateway_metrics.exceptions);
    gateway_->AddDocumentRoutes(*writer_, *html_threads_);
  }
  NEPTUNE_RETURN_IF_ERROR(LoadCertificate(context, options));
  const std::vector<NodeLoop*>& loops = context.client.loops().serving();
  for (NodeLoop* const loop : loops) servers_.push_back({.loop = loop});
  const Status status = StartServers(context, options);
  if (!status.ok()) {
    StopServers(Duration(0));
    if (log_ != nullptr) log_->Close();
    if (audit_ != nullptr) audit_->Close();
    return neptune::Annotate(status, "serving HTTP at " + options.http.ToString());
  }
  LOG(INFO) << "searches are answered at " << (certificate_ == nullptr ? "http" : "https") << "://"
            << http_endpoint_ << "/";
  return neptune::OkStatus();
}

Status FrontendModule::MakeWarmer(neptune::ModuleContext& context, const Options& options) {
  NEPTUNE_ASSIGN_OR_RETURN(const VersionWarmer::Metrics metrics,
                           VersionWarmer::Metrics::Make(context.metrics));
  scheduling_ = context.scheduling;
  warmer_ = std::make_unique<VersionWarmer>(
      VersionWarmer::Parts{.plan = *plan_,
                           .pages = gateway_->pages(),
                           .home = *context.client.loops().serving().front(),
                           .scheduling = scheduling_},
      options.warmer, metrics);
  return neptune::OkStatus();
}

// The plan asks for the current version, with its synonyms; a version that may become current is
// prepared.
Status FrontendModule::FollowVersions(const neptune::ModuleContext& context,
                                      const Options& options) {
  const auto synonyms =
      std::make_shared<VersionSynonyms>(context.base_directory, options.synonyms_file);
  NEPTUNE_ASSIGN_OR_RETURN(const auto of_folder, synonyms->ReadOnly());
  return followed_.Start(
      context, options.documents_change ? "documents_change" : nullptr,
      [plan = plan_.get(), warmer = warmer_.get(), audit = audit_.get(), &world = context.world,
       synonyms, of_folder](const index::VersionList* list) {
        if (list == nullptr) {
          plan->AskIndex({.version = 0, .synonyms = of_folder});
          return neptune::OkStatus();
        }
        const Status status = synonyms->Follow(*list);
        const index::IndexVersion& current = list->Current();
        plan->AskIndex({.version = current.index_version, .synonyms = synonyms->Of(current)});
        warmer->Follow(*list, [&](const auto& version) { return synonyms->Of(version); });
        if (audit != nullptr) {
          audit->Add(AuditLine(VersionAudit{.at = world.wall_time(),
                                            .change = list->change,
                                            .current = list->current,
                                            .number = current.index_version}));
        }
        return status;
      },
      [warmer = warmer_.get()] { return warmer->is_ready(); });
}

Status FrontendModule::LoadCertificate(const neptune::ModuleContext& context,
                                       const Options& options) {
  if (options.tls.certificate.empty()) return neptune::OkStatus();
  NEPTUNE_ASSIGN_OR_RETURN(
      certificate_,
      neptune::TlsContext::Load(neptune::TlsUse::kWebServer, options.tls,
                                [&world = context.world] { return world.wall_time(); }));
  certificate_->KeepFresh(context.world);
  NEPTUNE_ASSIGN_OR_RETURN(
      auto failures,
      context.metrics.AddCallbackCounter(
          "search_tls_failures_total", "User connections whose TLS handshake failed.", {}, [this] {
            return static_cast<double>(handshakes_.count(neptune::Refusal::kAccepted) +
                                       handshakes_.count(neptune::Refusal::kLate) +
                                       handshakes_.count(neptune::Refusal::kCrowded));
          }));
  gauges_.push_back(std::move(failures));
  NEPTUNE_ASSIGN_OR_RETURN(
      auto left, context.metrics.AddCallbackGauge(
                     "search_certificate_left_seconds", "Time until the web certificate expires.",
                     {}, [tls = certificate_] { return tls->SecondsLeft(); }));
  gauges_.push_back(std::move(left));
  return neptune::OkStatus();
}

// A relative path is resolved against the base directory, like those of all parameters.
Status FrontendModule::OpenLog(neptune::ModuleContext& context, Options options) {
  options.access_log.path = std::filesystem::path(context.base_directory) / options.access_log.path;
  options.access_log.may_write = context.may_log;
  NEPTUNE_ASSIGN_OR_RETURN(
      log_, AccessLog::Open(options.access_log, context.client.capsules(), context.metrics));
  gateway_->LogTo(*log_);
  return neptune::OkStatus();
}

Status FrontendModule::OpenAudit(neptune::ModuleContext& context, const Options& options) {
  const std::filesystem::path path =
      std::filesystem::path(context.base_directory) / options.audit_log_path;
  NEPTUNE_ASSIGN_OR_RETURN(audit_, AuditLog::Open(path.string(), context.may_log,
                                                  context.client.capsules(), context.metrics));
  world_ = &context.world;
  gateway_->AuditTo(*audit_);
  return neptune::OkStatus();
}

Status FrontendModule::ShowGate(neptune::MetricsRegistry& metrics) {
  const neptune::AdmissionGate& gate = plan_->gate();
  const auto add = [&](const char* name, const char* help, std::function<double()> read) -> Status {
    NEPTUNE_ASSIGN_OR_RETURN(auto gauge, metrics.AddCallbackGauge(name, help, {}, std::move(read)));
    gauges_.push_back(std::move(gauge));
    return neptune::OkStatus();
  };
  NEPTUNE_RETURN_IF_ERROR(add("search_gate_limit",
                              "Current limit of concurrent searches that miss the cache.",
                              [&gate] { return static_cast<double>(gate.limit()); }));
  NEPTUNE_RETURN_IF_ERROR(add("search_gate_under_way",
                              "Searches that missed the cache and are in progress.",
                              [&gate] { return static_cast<double>(gate.under_way()); }));
  return add("search_gate_waiting", "Searches that wait for admission.",
             [&gate] { return static_cast<double>(gate.waiting()); });
}

Status FrontendModule::ShowSearches(const neptune::ModuleContext& context,
                                    const GatewayMetrics& metrics) {
  const neptune::AdmissionGate& gate = plan_->gate();
  NEPTUNE_ASSIGN_OR_RETURN(
      searches_, context.status.Add(StrCat("searches at ", context.service),
                                    [&gate, metrics](neptune::StatusReport* report) {
                                      report->AddFact("limit of concurrent cache misses",
                                                      gate.limit());
                                      report->AddFact("in progress", gate.under_way());
                                      report->AddFact("waiting for admission", gate.waiting());
                                      metrics.Describe(report);
                                    }));
  return neptune::OkStatus();
}

Status FrontendModule::StartServers(const neptune::ModuleContext& context, const Options& options) {
  http_endpoint_ = options.http;
  const neptune::ListenOptions listen{.share_port = servers_.size() > 1};
  const auto bodies = neptune::MakeHttpBodyBudget(options.bodies_mb << 20, &server_metrics_);
  for (LoopServer& entry : servers_) {
    Status status;
    RunOn(*entry.loop, [&] {
      neptune::HttpServerOptions http = ServerOptions(server_metrics_);
      http.at_header = [gateway = gateway_.get()](neptune::HttpRequest* head) {
        return gateway->AtHeader(head);
      };
      http.bodies = bodies;
      http.memory = context.memory;
      http.slots = context.connection_slots;
      http.short_way = gateway_->ShortWayOf(entry.loop->loop);
      http.connection_count_max = options.connection_count_max;
      http.connections_per_address_max = options.connections_per_address_max;
      if (certificate_ != nullptr) {
        neptune::SecureNetworkOptions secured;
        secured.tls = certificate_;
        secured.refusals = &handshakes_;
        secured.handshake_timeout = http.header_timeout;
        entry.secured = std::make_unique<neptune::SecureNetwork>(*entry.loop->loop, secured);
        http.network = entry.secured.get();
      }
      entry.server = std::make_unique<neptune::HttpServer>(
          context.world, *entry.loop->scheduler, http,
          [gateway = gateway_.get()](const neptune::HttpRequest& request) {
            return gateway->Handle(request);
          });
      status = entry.server->Listen(http_endpoint_, listen);
      if (status.ok()) http_endpoint_ = entry.server->local();
    });
    NEPTUNE_RETURN_IF_ERROR(status);
  }
  return neptune::OkStatus();
}

void FrontendModule::Stop() {
  if (gateway_ == nullptr) return;
  gateway_->StartDraining();
  if (audit_ != nullptr) audit_->Add(AuditLineOfDrain(world_->wall_time()));
  if (leave_ > Duration(0)) (void)neptune::this_thread::SleepFor(leave_);
  StopServers(drain_grace_);
  followed_.Stop();
  warmer_->Stop();
  plan_->FinishInserts();
  gateway_->Finish();
  if (log_ != nullptr) log_->Close();
  if (audit_ != nullptr) audit_->Close();
  html_threads_.reset();
}

void FrontendModule::StopServers(Duration grace) {
  for (LoopServer& entry : servers_) {
    if (entry.server == nullptr) continue;
    OneShotEvent drained;
    entry.loop->loop->Post([&] {
      entry.server->Drain(neptune::Loop::Current()->Now() + grace, [&] { drained.Set(); });
    });
    while (!drained.is_set()) neptune::this_thread::ParkUntilWoken();
    RunOn(*entry.loop, [&] {
      entry.server.reset();
      entry.secured.reset();
    });
  }
  servers_.clear();
}

}  // namespace search::frontend
