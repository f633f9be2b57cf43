// The frontend as a service module: an HTTP server on the node's serving loops over a search plan.
//
//   node ── Start ──► parameters ─► SearchPlan ─► HttpGateway ─► HttpServer on each serving loop
//        ── Stop ───► drain the servers ─► wait for insertions into the cache
//
// It registers no RPC method: users connect over HTTP, and it calls other services as a client.
//
// Threads: Start and Stop on a user-level thread of the node's first serving loop.
// Errors: Start: INVALID_ARGUMENT names the invalid parameter; an error to open the port.
// Limits: parameters, see README.md.

#pragma once

#include <memory>
#include <string>
#include <vector>

#include "frontend/http/audit_log.h"
#include "frontend/http/gateway_metrics.h"
#include "frontend/http/http_gateway.h"
#include "frontend/http/version_warmer.h"
#include "frontend/search_plan/search_plan.h"
#include "index/versions/followed_versions.h"
#include "neptune/security/secure_network.h"
#include "neptune/security/tls_context.h"
#include "neptune/service/node_loops.h"
#include "neptune/service/service_module.h"
#include "neptune/wire/http/http_server.h"

namespace search::frontend {

class FrontendModule final : public neptune::ServiceModule {
 public:
  FrontendModule();
  ~FrontendModule() override;

  void DeclareParameters(neptune::ParameterTable& table) override;
  neptune::Status Start(neptune::ModuleContext& context) override;
  void Stop() override;
  std::string implementation() const override { return "frontend"; }

  // Endpoint that users connect to. REQUIRES: Start succeeded.
  neptune::Endpoint http_endpoint() const { return http_endpoint_; }
  // The HTTP routes served there. REQUIRES: Start succeeded.
  std::vector<neptune::HttpRoute> routes() const { return gateway_->routes(); }

 private:
  struct Options;
  // The HTTP server of one serving loop; the loops share the port.
  struct LoopServer {
    neptune::NodeLoop* loop = nullptr;
    std::unique_ptr<neptune::Network> secured{};  // with a certificate
    std::unique_ptr<neptune::HttpServer> server{};
  };

  static void DeclareHttpParameters(neptune::ParameterTable& table, Options* options);
  // `folder`: base of relative paths.
  static neptune::Status CompleteOptions(const std::string& folder, Options* options);
  static neptune::Status SetAccess(const std::string& folder, Options* options);
  neptune::Status MakeWarmer(neptune::ModuleContext& context, const Options& options);
  neptune::Status FollowVersions(const neptune::ModuleContext& context, const Options& options);
  neptune::Status LoadCertificate(const neptune::ModuleContext& context, const Options& options);
  neptune::Status StartServers(const neptune::ModuleContext& context, const Options& options);
  void StopServers(neptune::Duration grace);
  neptune::Status OpenLog(neptune::ModuleContext& context, Options options);
  neptune::Status OpenAudit(neptune::ModuleContext& context, const Options& options);
  neptune::Status ShowGate(neptune::MetricsRegistry& metrics);
  neptune::Status ShowSearches(const neptune::ModuleContext& context,
                               const GatewayMetrics& metrics);

  const std::unique_ptr<Options> options_;
  neptune::HttpServerMetrics server_metrics_;
  std::shared_ptr<neptune::TlsContext> certificate_;  // null: plain HTTP
  neptune::RefusalLog handshakes_;                    // failed TLS handshakes
  std::unique_ptr<SearchPlan> plan_;
  neptune::StatusSection searches_;            // shows plan_ and its clients
  std::unique_ptr<DocumentWriter> writer_;     // null: documents do not change
  std::unique_ptr<AccessLog> log_;             // null: no access log
  std::unique_ptr<AuditLog> audit_;            // null: no audit log
  neptune::World* world_ = nullptr;            // set with audit_
  std::unique_ptr<HtmlThreads> html_threads_;  // null: documents do not change
  std::unique_ptr<HttpGateway> gateway_;
  neptune::SchedulerOptions scheduling_;
  std::unique_ptr<VersionWarmer> warmer_;
  std::vector<neptune::CallbackGauge> gauges_;  // of plan_, certificate_ and gateway_
  neptune::Endpoint http_endpoint_;
  neptune::Duration drain_grace_{};
  neptune::Duration leave_{};
  index::FollowedVersions followed_;  // without a list, any version that the servers have
  std::vector<LoopServer> servers_;
};

}  // namespace search::frontend
