#include "neptune/service/loop_client.h"

#include <utility>

namespace neptune {
namespace {

ConnectionCacheOptions ConnectionsOf(const ClientOptions& options) {
  ConnectionCacheOptions connections = options.connections;
  connections.network = options.network;
  if (!connections.on_unanswered) connections.on_unanswered = options.doubt;
  return connections;
}

}  // namespace

LoopClient::LoopClient(Loop& loop, const ClientOptions& options)
    : options_(options),
      connections_(loop, ConnectionsOf(options)),
      view_(std::make_shared<YellowPageView>()) {}

StatusOr<std::unique_ptr<LoopClient>> LoopClient::Open(Loop& loop, const ClientOptions& options) {
  std::unique_ptr<LoopClient> client(new LoopClient(loop, options));
  ReplicaChooser::Environment environment;
  environment.bind = options.poll_bind;
  environment.network = options.network;
  environment.doubt = options.doubt;
  environment.slow_polls = options.slow_polls;
  NEPTUNE_ASSIGN_OR_RETURN(client->chooser_,
                           ReplicaChooser::Open(loop, options.balancing, environment));
  return client;
}

void LoopClient::ServeLocally(const Endpoint& own, std::shared_ptr<LocalCalls> local,
                              std::function<uint32_t()> load_index) {
  own_ = own;
  local_ = std::move(local);
  chooser_->PreferLocal(own, std::move(load_index));
}

StatusOr<std::shared_ptr<CallChannel>> LoopClient::ChannelTo(const Endpoint& to,
                                                             TimePoint deadline) {
  if (local_ != nullptr && to == own_) return std::shared_ptr<CallChannel>(local_);
  NEPTUNE_ASSIGN_OR_RETURN(std::shared_ptr<ClientConnection> connection,
                           connections_.Get(to, deadline));
  return std::shared_ptr<CallChannel>(std::move(connection));
}

std::shared_ptr<CallChannel> LoopClient::FindChannel(const Endpoint& to) {
  if (local_ != nullptr && to == own_) return local_;
  return connections_.Find(to);
}

bool LoopClient::FailsTooOften(const Endpoint& to) {
  if (connections_.failure_count(to) < options_.connection_failures_max) return false;
  connections_.ForgetFailures(to);
  return true;
}

LoopClient::Target LoopClient::TargetOf(const ServiceName& service, PartitionId partition) {
  const std::string& name = service.value();
  const size_t mark = name.empty() ? 0 : name.size() + 5 * static_cast<unsigned char>(name.back());
  Known& known = known_[(mark + partition.value()) % known_.size()];
  const bool is_known =
      known.target.replicas != nullptr && known.partition == partition && known.service == service;
  if (!is_known) {
    known = {service, partition, {&view_->Replicas(service, partition), &BudgetOf(name)}};
  }
  return known.target;
}

RetryBudget& LoopClient::BudgetOf(const std::string& service) {
  const auto found = retry_budgets_.find(service);
  if (found != retry_budgets_.end()) return found->second;
  const bool is_full = retry_budgets_.size() >= kRetryBudgetCountMax;
  return retry_budgets_
      .try_emplace(is_full ? std::string() : service, options_.retry_share, options_.retry_reserve)
      .first->second;
}

void LoopClient::set_view(std::shared_ptr<const YellowPageView> view) {
  view_ = std::move(view);
  for (Known& known : known_) known.target.replicas = nullptr;
  chooser_->SetView(view_);
}

}  // namespace neptune
