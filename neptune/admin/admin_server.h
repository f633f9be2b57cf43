// The administration of a node over HTTP: health, readiness, metrics, status.
//
// It has a loop to itself, so it answers while every other kernel thread of the node is busy or
// stuck, provided that what it shows is read without waiting:
//
//   main loops ──atomics, LeafMutex sections──► MetricsRegistry, StatusSections, readiness
//                                                        ▲ read by
//   admin loop: ThreadScheduler ─ HttpServer ─ HttpRouter ┘
//
//   /          index of the pages
//   /healthz   200 "ok": the process lives
//   /readyz    200 "ready", or 503 with the reasons as a problem document
//   /metrics   Prometheus text format
//   /statusz   every status section; ?section=NAME one of them, ?format=json as JSON,
//              ?refresh=SECONDS (1 to 3600) reloads by itself
//
// What changes something needs the token: "Authorization: Bearer TOKEN". Without one at this node, nothing is changed.
//
// Departs from source: none.
// Threads: Start and Stop from any thread; everything else says so itself.
// Errors: Start reports why it could not listen.
// Limits: kAdminConnectionCountMax clients, kAdminBodySizeMax bytes a body; handlers share a few user-level threads.

#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/functional/any_invocable.h"
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

// Why the node is not ready to serve; empty if it is. Called on the admin loop: thread-safe, reads
// what others published, never waits.
using ReadinessCheck = std::function<std::vector<std::string>()>;

// What is shown. Outlives the server.
struct AdminSources {
  std::string node_name;
  MetricsRegistry* metrics = nullptr;
  const StatusSections* sections = nullptr;
  // Default: always ready.
  ReadinessCheck readiness;
  // What actions must bring; empty: none is taken. Never shown or logged.
  std::string token;
};

class AdminServer {
 public:
  // `loop` is the administration's own; nothing else that may block runs there.
  AdminServer(World& world, Loop& loop, AdminSources sources);
  // REQUIRES: Stop has finished, or the loop runs no more, or the caller is on the loop.
  ~AdminServer();

  // Adds a page of another part of the node. REQUIRES: before Start. The handler runs on the admin
  // loop and must not wait for other loops.
  void AddPage(std::string_view path, std::string_view description, HttpHandler handler);

  // Adds an action: as a page, for requests that bring the token. Others are answered 401, or 403 where there is none.
  void AddAction(std::string_view method, std::string_view path, HttpHandler handler);

  // Listens at `at`; `on_started` runs on the loop with the address or the reason. Once.
  void Start(const Endpoint& at, absl::AnyInvocable<void(StatusOr<Endpoint>)> on_started);

  // Finishes what has begun, for a second at most, then closes everything and waits for handlers;
  // `on_stopped` runs on the loop. Idempotent.
  void Stop(Task on_stopped);

 private:
  StatusOr<Endpoint> Listen(const Endpoint& at);
  void AddOwnPages();
  void FinishStop();
  AdminPageHeader PageHeader() const;
  std::vector<std::string> NotReadyReasons() const;
  // Absent if the request may change something.
  std::optional<HttpResponse> WhyNotAllowed(const HttpRequest& request) const;
  HttpResponse Ready() const;
  HttpResponse Metrics() const;
  HttpResponse StatusPage(const HttpRequest& request) const;

  World& world_;
  Loop& loop_;
  const AdminSources sources_;
  TimePoint started_;
  HttpRouter router_;
  std::vector<AdminPageLink> links_;
  HttpServerMetrics http_metrics_;
  // On the loop only.
  std::unique_ptr<ThreadScheduler> threads_;
  std::unique_ptr<HttpServer> server_;
  std::vector<Task> stop_waiters_;
};

}  // namespace neptune
