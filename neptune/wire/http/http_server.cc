#include "neptune/wire/http/http_server.h"

#include <algorithm>
#include <array>
#include <utility>

#include "neptune/base/strings.h"
#include "neptune/wire/connection_slots.h"
#include "neptune/wire/http/http_body_budget.h"
#include "neptune/wire/http/http_connection.h"
#include "neptune/wire/http/http_connection_table.h"
#include "neptune/wire/http/message_writer.h"

namespace neptune {

StatusOr<HttpServerMetrics> HttpServerMetrics::Make(MetricsRegistry& registry,
                                                    std::string_view server) {
  const MetricLabels labels = {{"server", std::string(server)}};
  HttpServerMetrics metrics;
  NEPTUNE_ASSIGN_OR_RETURN(
      metrics.connections,
      registry.AddCounter("neptune_http_connections_total", "Connections accepted.", labels));
  NEPTUNE_ASSIGN_OR_RETURN(metrics.connections_turned_away,
                           registry.AddCounter("neptune_http_connections_turned_away_total",
                                               "Connections refused over a limit.", labels));
  NEPTUNE_ASSIGN_OR_RETURN(
      metrics.read_errors,
      registry.AddCounter("neptune_http_read_errors_total",
                          "Requests that were malformed or over a limit.", labels));
  NEPTUNE_ASSIGN_OR_RETURN(
      metrics.timeouts,
      registry.AddCounter("neptune_http_timeouts_total",
                          "Connections ended because the client was too slow.", labels));
  NEPTUNE_ASSIGN_OR_RETURN(
      metrics.refusals_held,
      registry.AddCounter("neptune_http_refusals_held_total",
                          "Refusals sent later because their clients came again too soon.",
                          labels));
  NEPTUNE_ASSIGN_OR_RETURN(
      metrics.short_answers,
      registry.AddCounter("neptune_http_short_answers_total",
                          "Responses made from the bytes of usual requests.", labels));
  NEPTUNE_ASSIGN_OR_RETURN(
      metrics.handler_failures,
      registry.AddCounter("neptune_http_handler_failures_total",
                          "Requests answered 500 because their handler threw an exception.",
                          labels));
  const auto add_refused = [&](const char* reason) {
    return registry.AddCounter("neptune_http_bodies_refused_total",
                               "Requests refused before their body was read, by reason.",
                               {{"server", std::string(server)}, {"reason", reason}});
  };
  NEPTUNE_ASSIGN_OR_RETURN(metrics.bodies_too_large, add_refused("size"));
  NEPTUNE_ASSIGN_OR_RETURN(metrics.bodies_without_room, add_refused("budget"));
  NEPTUNE_ASSIGN_OR_RETURN(metrics.bodies_refused_at_header, add_refused("check"));
  NEPTUNE_ASSIGN_OR_RETURN(metrics.body_bytes,
                           registry.AddGauge("neptune_http_body_bytes",
                                             "Bytes of request bodies that are held.", labels));
  NEPTUNE_ASSIGN_OR_RETURN(
      metrics.duration,
      registry.AddHistogram("neptune_http_request_duration_seconds",
                            "Time from the complete request to the write of its answer.", labels));
  constexpr std::array kClasses = {"", "1xx", "2xx", "3xx", "4xx", "5xx"};
  for (size_t i = 1; i < kClasses.size(); ++i) {
    NEPTUNE_ASSIGN_OR_RETURN(
        metrics.responses[i],
        registry.AddCounter("neptune_http_responses_total", "Responses by class of status.",
                            {{"server", std::string(server)}, {"status", kClasses[i]}}));
  }
  return metrics;
}

namespace {

constexpr size_t kAddressShare = 4;  // of the places, as a divisor
constexpr size_t kAddressPlacesMin = 256;
constexpr int kListenBacklog = 4096;  // a burst of new clients, while the loop is busy

HttpServerOptions WithDefaults(HttpServerOptions options) {
  if (options.connection_count_max == 0) {
    options.connection_count_max =
        options.slots == nullptr ? HttpServer::kPlaceCountMax : options.slots->limit();
  }
  if (options.connections_per_address_max == 0) {
    options.connections_per_address_max =
        std::max(kAddressPlacesMin, options.connection_count_max / kAddressShare);
  }
  if (options.bodies == nullptr) {
    options.bodies = MakeHttpBodyBudget(options.body_bytes_max, options.metrics);
  }
  return options;
}

}  // namespace

std::shared_ptr<HttpBodyBudget> MakeHttpBodyBudget(size_t size_max,
                                                   const HttpServerMetrics* metrics) {
  return std::make_shared<HttpBodyBudget>(size_max,
                                          metrics == nullptr ? nullptr : metrics->body_bytes);
}

PreparedHttpHead PrepareHead(HttpResponse response) {
  return PrepareHttpHead(std::move(response), /*security_headers=*/true);
}

HttpServer::HttpServer(World& world, ThreadScheduler& threads, const HttpServerOptions& options,
                       HttpHandler handler)
    : core_(std::make_shared<HttpServerCore>(
          HttpServerCore{.world = world,
                         .threads = threads,
                         .loop = threads.loop(),
                         .options = WithDefaults(options),
                         .handler = std::move(handler),
                         .small_memory = HttpSmallMemory(options.memory),
                         .refusals = RefusalHold({.time_max = options.refusal_hold_max,
                                                  .count_max = options.refusals_held_max}),
                         .server = this})),
      table_(std::make_unique<HttpConnectionTable>(core_)) {}

HttpServer::~HttpServer() {
  core_->server = nullptr;
  listener_.reset();
  if (drain_timer_ != 0) core_->loop.CancelTimer(drain_timer_);
}

size_t HttpServer::connection_count() const { return table_->size(); }

Status HttpServer::Listen(const Endpoint& at, const ListenOptions& options) {
  Network* const given = core_->options.network;
  ListenOptions listening = options;
  listening.backlog = std::max(listening.backlog, kListenBacklog);
  listening.on_exhausted = [core = core_.get()] {
    if (core->options.metrics != nullptr) {
      core->options.metrics->connections_turned_away->Increment();
    }
    if (core->options.slots != nullptr) core->options.slots->NoteRefused();
  };
  auto listener = (given == nullptr ? core_->loop.network() : *given)
                      .Listen(at, listening,
                              [this](std::unique_ptr<Stream> stream) { Serve(std::move(stream)); });
  if (!listener.ok()) return Annotate(listener.status(), "http server");
  listener_ = *std::move(listener);
  return OkStatus();
}

void HttpServer::Serve(std::unique_ptr<Stream> stream) {
  const HttpServerOptions& options = core_->options;
  const uint32_t address = stream->peer().address;
  const bool turned_away = !table_->MakeRoom(address);
  if (options.metrics != nullptr) {
    (turned_away ? options.metrics->connections_turned_away : options.metrics->connections)
        ->Increment();
  }
  ConnectionSlot slot;
  if (draining_ || table_->IsOverfull(address) || !table_->TakeSlot(&slot)) {
    return;  // the destructor of `stream` closes it
  }
  const uint64_t id = table_->NextId();
  const auto connection =
      std::make_shared<HttpConnection>(core_, id, std::move(stream), turned_away, std::move(slot));
  table_->Add(id, address, connection);
  connection->Start();
}

void HttpServer::Drain(TimePoint deadline, Task on_drained) {
  draining_ = true;
  on_drained_ = std::move(on_drained);
  listener_.reset();
  table_->DrainAll();
  if (drain_timer_ != 0) core_->loop.CancelTimer(drain_timer_);
  drain_timer_ = core_->loop.RunAt(deadline, [this] {
    drain_timer_ = 0;
    table_->CloseAll();
  });
  CheckDrained();
}

void HttpServer::CheckDrained() {
  if (!draining_ || table_->size() > 0 || core_->running_count > 0 || !on_drained_) return;
  if (drain_timer_ != 0) core_->loop.CancelTimer(std::exchange(drain_timer_, 0));
  // Posted, so that the task may destroy this server.
  core_->loop.Post(std::exchange(on_drained_, nullptr));
}

}  // namespace neptune
