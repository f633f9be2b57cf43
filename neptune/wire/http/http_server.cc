#include "neptune/wire/http/http_server.h"

#include <array>
#include <optional>
#include <utility>
#include <vector>

#include "neptune/base/strings.h"
#include "neptune/wire/connection_choice.h"
#include "neptune/wire/connection_slots.h"
#include "neptune/wire/http/http_connection.h"

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

HttpServer::HttpServer(World& world, ThreadScheduler& threads, const HttpServerOptions& options,
                       HttpHandler handler)
    : core_(std::make_shared<HttpServerCore>(HttpServerCore{.world = world,
                                                            .threads = threads,
                                                            .loop = threads.loop(),
                                                            .options = options,
                                                            .handler = std::move(handler),
                                                            .server = this})) {}

HttpServer::~HttpServer() {
  core_->server = nullptr;
  listener_.reset();
  if (drain_timer_ != 0) core_->loop.CancelTimer(drain_timer_);
  CloseAll();
}

Status HttpServer::Listen(const Endpoint& at, const ListenOptions& options) {
  Network* const given = core_->options.network;
  ListenOptions listening = options;
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

// True if a connection of `peer` would exceed the limits, each raised by `more`.
bool HttpServer::AtLimit(const Endpoint& peer, size_t more) const {
  const HttpServerOptions& options = core_->options;
  if (connections_.size() >= options.connection_count_max + more) return true;
  constexpr uint32_t kNetShift = 24;
  if (peer.address >> kNetShift == kLoopbackAddress >> kNetShift) return false;
  const auto found = counts_by_address_.find(peer.address);
  return found != counts_by_address_.end() &&
         found->second >= options.connections_per_address_max + more;
}

bool HttpServer::TakeSlot(ConnectionSlot* slot) {
  const std::shared_ptr<ConnectionSlots>& slots = core_->options.slots;
  if (slot->TryTake(slots) || (EvictIdle() && slot->TryTake(slots))) return true;
  slots->NoteRefused();
  return false;
}

bool HttpServer::EvictIdle() {
  std::vector<ConnectionStanding> all;
  std::vector<std::shared_ptr<HttpConnection>> connections;
  for (const auto& [id, connection] : connections_) {
    all.push_back(connection->Standing());
    connections.push_back(connection);
  }
  const std::optional<size_t> idle = ChooseIdle(all);
  if (!idle) return false;
  core_->options.slots->NoteEvicted();
  connections[*idle]->Abort();
  return true;
}

void HttpServer::Serve(std::unique_ptr<Stream> stream) {
  const HttpServerOptions& options = core_->options;
  const Endpoint peer = stream->peer();
  const bool turned_away = AtLimit(peer, 0);
  if (options.metrics != nullptr) {
    (turned_away ? options.metrics->connections_turned_away : options.metrics->connections)
        ->Increment();
  }
  ConnectionSlot slot;
  if (draining_ || AtLimit(peer, options.turned_away_count_max) || !TakeSlot(&slot)) {
    return;  // the destructor of `stream` closes it
  }
  const uint64_t id = next_id_++;
  auto connection =
      std::make_shared<HttpConnection>(core_, id, std::move(stream), turned_away, std::move(slot));
  connections_.emplace(id, connection);
  ++counts_by_address_[peer.address];
  connection->Start();
}

void HttpServer::Drain(TimePoint deadline, Task on_drained) {
  draining_ = true;
  on_drained_ = std::move(on_drained);
  listener_.reset();
  // A copy, because a connection that ends is removed from the map.
  const auto connections = connections_;
  for (const auto& [id, connection] : connections) connection->Drain();
  if (drain_timer_ != 0) core_->loop.CancelTimer(drain_timer_);
  drain_timer_ = core_->loop.RunAt(deadline, [this] {
    drain_timer_ = 0;
    CloseAll();
  });
  CheckDrained();
}

void HttpServer::Remove(uint64_t id, const Endpoint& peer) {
  if (connections_.erase(id) > 0) {
    const auto count = counts_by_address_.find(peer.address);
    if (--count->second == 0) counts_by_address_.erase(count);
  }
  CheckDrained();
}

void HttpServer::CloseAll() {
  const auto connections = connections_;
  for (const auto& [id, connection] : connections) connection->Abort();
  connections_.clear();
  counts_by_address_.clear();
}

void HttpServer::CheckDrained() {
  if (!draining_ || !connections_.empty() || core_->running_count > 0 || !on_drained_) return;
  if (drain_timer_ != 0) core_->loop.CancelTimer(std::exchange(drain_timer_, 0));
  // Posted, so that the task may destroy this server.
  core_->loop.Post(std::exchange(on_drained_, nullptr));
}

}  // namespace neptune
