// The admin HTTP server of a node: health, readiness, metrics, status.
//
// It has its own loop, so it answers while every other kernel thread of the node is busy or stuck,
// provided that its sources are read without waiting:
//
//   main loops ──atomics, LeafMutex sections──► MetricsRegistry, StatusSections, readiness
//                                                        ▲ read by
//   admin loop: ThreadScheduler ─ HttpServer ─ HttpRouter ┘
//
//   /          index of the pages
//   /healthz   200 "ok": the process is alive; or 503 with what hangs
//   /readyz    200 "ready", or 503 with the reasons as a problem document
//   /metrics   Prometheus text format
//   /statusz   every status section; ?section=NAME one of them, ?format=json as JSON,
//              ?refresh=SECONDS (1 to 3600) reloads the page periodically
//
// Requests that change something need "Authorization: Bearer TOKEN". A node without a token refuses
// all changes. Who may see pages is in admin_access.h; refusals are counted by their reason
// (neptune_admin_refusals_total). Both is looked at before a body is read.
//
// Threads: Start and Stop from any thread; all other functions state their own rule.
// Errors: Start reports why it could not listen.
// Limits: kAdminConnectionCountMax clients, kAdminBodySizeMax bytes the body of an action; handlers
//   share a few user-level threads.

#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "neptune/admin/admin_access.h"
#include "neptune/admin/admin_pages.h"
#include "neptune/base/metrics.h"
#include "neptune/base/status.h"
#include "neptune/base/status_section.h"
#include "neptune/thread/user_thread.h"
#include "neptune/wire/http/http_server.h"
#include "neptune/world/world.h"

namespace neptune {

inline constexpr size_t kAdminConnectionCountMax = 64;
inline constexpr size_t kAdminBodySizeMax = 64 * 1024;

// Returns the reasons why the node is not ready to serve; empty if it is. Called on the admin loop:
// must be thread-safe, read published state only and never wait.
using ReadinessCheck = std::function<std::vector<std::string>()>;

// The sources of the pages. Must outlive the server.
struct AdminSources {
  std::string node_name;
  MetricsRegistry* metrics = nullptr;
  const StatusSections* sections = nullptr;
  // Default: always ready.
  ReadinessCheck readiness;
  // The same for what hangs and should be restarted. Default: nothing.
  ReadinessCheck health;
  // Token required by actions; empty: all actions are refused. Never shown or logged.
  std::string token;
  // True for addresses from which nodes of the cluster are announced, whose users may see pages.
  // Called on the admin loop, as the checks above. Default: there are none.
  std::function<bool(uint32_t address)> is_member = nullptr;
  // See AdminAccessOptions. Default: false.
  bool for_network = false;
  // Network to listen on; outlives the server. Default: the loop's own.
  Network* network = nullptr;
};

class AdminServer {
 public:
  // `loop` is reserved for the admin server; other work that may block must not run there.
  AdminServer(World& world, Loop& loop, AdminSources sources);
  // REQUIRES: Stop has finished, or the loop has stopped, or the caller is on the loop.
  ~AdminServer();

  // Adds a page of another part of the node. REQUIRES: before Start. The handler runs on the admin
  // loop and must not wait for other loops.
  void AddPage(std::string_view path, std::string_view description, HttpHandler handler,
               AdminNeed need = AdminNeed::kRead);

  // Adds an action: like a page, but only for requests with the token. Others get 401, or 403 if
  // the node has no token, and the token is looked at before a body is read.
  void AddAction(std::string_view method, std::string_view path, HttpHandler handler);

  // Listens at `at`; `on_started` runs on the loop with the address or the error. Call it once.
  void Start(const Endpoint& at, absl::AnyInvocable<void(StatusOr<Endpoint>)> on_started);

  // Lets running requests finish for at most a second, then closes everything and waits for
  // handlers; `on_stopped` runs on the loop. Idempotent.
  void Stop(Task on_stopped);

 private:
  StatusOr<Endpoint> Listen(const Endpoint& at);
  void AddOwnPages();
  void FinishStop();
  AdminPageHeader PageHeader() const;
  std::vector<std::string> NotReadyReasons() const;
  void AddRoute(std::string_view method, std::string_view path, HttpHandler handler,
                AdminNeed need);
  HttpResponse Ready() const;
  HttpResponse Healthy() const;
  HttpResponse Metrics() const;
  HttpResponse StatusPage(const HttpRequest& request) const;

  World& world_;
  Loop& loop_;
  const AdminSources sources_;
  TimePoint started_;
  HttpRouter router_;
  std::vector<AdminPageLink> links_;
  HttpServerMetrics http_metrics_;
  std::array<Counter*, kAdminRefusalCount> refusals_{};  // null without a registry
  std::optional<AdminAccess> access_;                    // once the server listens
  // Used on the loop only.
  std::unique_ptr<ThreadScheduler> threads_;
  std::unique_ptr<HttpServer> server_;
  std::vector<Task> stop_waiters_;
};

}  // namespace neptune
