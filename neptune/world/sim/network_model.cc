#include "neptune/world/sim/network_model.h"

#include <glog/logging.h>

#include <algorithm>
#include <string>
#include <utility>

namespace neptune {

bool IsMulticast(uint32_t address) { return address >> 28 == 0xe; }
bool IsLoopback(uint32_t address) { return address >> 24 == 127; }

void NetworkModel::AddHost(HostState* state, uint32_t address) {
  CHECK(address != 0 && !IsMulticast(address) && !IsLoopback(address)) << "not a host's address";
  CHECK(host_of_address_.emplace(address, hosts_.size()).second) << "two hosts have one address";
  hosts_.push_back(std::make_unique<Host>());
  hosts_.back()->state = state;
  hosts_.back()->address = address;
}

void NetworkModel::CrashHost(int host, bool tell_peers) {
  Host& gone = *hosts_[host];
  for (auto& [port, sockets] : std::exchange(gone.listeners, {})) {
    for (const auto& socket : sockets) socket->open = false;
  }
  for (auto& [port, socket] : std::exchange(gone.datagrams, {})) socket->open = false;
  for (const auto& socket : std::exchange(gone.members, {})) socket->open = false;
  gone.next_listener.clear();
  for (const auto& [id, end] : std::exchange(gone.ends, {})) end->Crash(tell_peers);
}

void NetworkModel::RetryHeld() {
  for (const auto& host : hosts_) {
    const auto ends = host->ends;  // a copy, because an end may retire itself
    for (const auto& [id, end] : ends) end->RetryHeld();
  }
}

NetworkModel::Host* NetworkModel::Resolve(Host& from, uint32_t address) {
  if (IsLoopback(address)) return &from;
  const auto found = host_of_address_.find(address);
  return found == host_of_address_.end() ? nullptr : hosts_[found->second].get();
}

Status NetworkModel::CheckBindable(const Host& host, const Endpoint& at) const {
  if (at.address == 0 || IsLoopback(at.address) || at.address == host.address) return OkStatus();
  return InvalidArgument("binding ", at.ToString(), ": not an address of this host");
}

template <typename Ports>
StatusOr<uint16_t> NetworkModel::FreePort(Host& host, const Ports& ports) {
  for (int i = 0; i < kEphemeralPortEnd - kEphemeralPortFirst; ++i) {
    const uint16_t port = host.next_port;
    host.next_port = port + 1 == kEphemeralPortEnd ? kEphemeralPortFirst : port + 1;
    if (!ports.contains(port)) return port;
  }
  return ResourceExhausted("no free port on the host");
}

uint32_t NetworkModel::SourceAddress(const Host& from, uint32_t bound, uint32_t to) const {
  if (bound != 0) return bound;
  return IsLoopback(to) ? kLoopbackAddress : from.address;
}

StatusOr<std::shared_ptr<ListenSocket>> NetworkModel::Listen(LoopState* loop, const Endpoint& at,
                                                             const ListenOptions& options,
                                                             Network::AcceptHandler on_accept) {
  Host& host = *hosts_[loop->host->index];
  if (loop->stopped) return Unavailable("listening on ", at.ToString(), ": the loop has stopped");
  NEPTUNE_RETURN_IF_ERROR(CheckBindable(host, at));
  auto socket = std::make_shared<ListenSocket>();
  socket->loop = loop;
  socket->local = at;
  socket->options = options;
  socket->on_accept = std::move(on_accept);
  if (at.port == 0) {
    NEPTUNE_ASSIGN_OR_RETURN(socket->local.port, FreePort(host, host.listeners));
  }
  Listeners& present = host.listeners[socket->local.port];
  for (const auto& other : present) {
    if (options.share_port && other->options.share_port) continue;
    return InvalidArgument("listening on ", at.ToString(), ": address already in use");
  }
  present.push_back(socket);
  return socket;
}

void NetworkModel::CloseListener(ListenSocket& socket) {
  if (!std::exchange(socket.open, false)) return;
  Host& host = *hosts_[socket.loop->host->index];
  const auto found = host.listeners.find(socket.local.port);
  CHECK(found != host.listeners.end());
  std::erase_if(found->second, [&](const auto& other) { return other.get() == &socket; });
  if (found->second.empty()) host.listeners.erase(found);
}

std::shared_ptr<ListenSocket> NetworkModel::PickListener(Host& host, const Endpoint& to) {
  const auto found = host.listeners.find(to.port);
  if (found == host.listeners.end()) return nullptr;
  Listeners fitting;
  for (const auto& socket : found->second) {
    const uint32_t bound = socket->local.address;
    if (bound == 0 || bound == to.address) fitting.push_back(socket);
  }
  if (fitting.empty()) return nullptr;
  return fitting[host.next_listener[to.port]++ % fitting.size()];
}

StatusOr<std::shared_ptr<DatagramPort>> NetworkModel::OpenDatagram(
    LoopState* loop, const DatagramOptions& options, Network::DatagramHandler on_datagram) {
  Host& host = *hosts_[loop->host->index];
  if (loop->stopped) return Unavailable("opening a datagram socket: the loop has stopped");
  auto port = std::make_shared<DatagramPort>();
  port->loop = loop;
  port->on_datagram = std::move(on_datagram);
  port->peer = options.peer;
  port->on_refused = options.on_refused;
  if (options.multicast_group) {
    if (!IsMulticast(options.multicast_group->address) || options.multicast_group->port == 0) {
      return InvalidArgument("joining ", options.multicast_group->ToString(),
                             ": not a multicast group with a port");
    }
    port->in_group = true;
    port->group = *options.multicast_group;
    port->local = {0, port->group.port};
    host.members.push_back(port);
    return port;
  }
  NEPTUNE_RETURN_IF_ERROR(CheckBindable(host, options.bind));
  port->local = options.bind;
  if (port->local.port == 0) {
    NEPTUNE_ASSIGN_OR_RETURN(port->local.port, FreePort(host, host.datagrams));
  }
  if (!host.datagrams.emplace(port->local.port, port).second) {
    return InvalidArgument("binding ", options.bind.ToString(), ": address already in use");
  }
  return port;
}

void NetworkModel::CloseDatagram(DatagramPort& port) {
  if (!std::exchange(port.open, false)) return;
  Host& host = *hosts_[port.loop->host->index];
  if (port.in_group) {
    std::erase_if(host.members, [&](const auto& other) { return other.get() == &port; });
  } else {
    host.datagrams.erase(port.local.port);
  }
}

void NetworkModel::SendDatagram(const DatagramPort& from, const Endpoint& to_whom,
                                std::string_view bytes) {
  if (!from.open) return;
  const Endpoint to = from.peer.value_or(to_whom);
  Host& host = *hosts_[from.loop->host->index];
  const Endpoint source = {SourceAddress(host, from.local.address, to.address), from.local.port};
  std::string sent(bytes);
  if (!links_.Pass(Carrier::kDatagram, &sent)) return;
  const auto payload = std::make_shared<const std::string>(std::move(sent));
  if (IsMulticast(to.address)) {
    for (const auto& other : hosts_) SendToHost(host, other->state->index, source, to, payload);
    return;
  }
  const Host* target = Resolve(host, to.address);
  // A socket bound to the loopback interface cannot reach other hosts, as on Linux.
  if (target == nullptr || (IsLoopback(source.address) && target != &host)) return;
  SendToHost(host, target->state->index, source, to, payload);
}

void NetworkModel::SendToHost(const Host& from, int to_host, const Endpoint& source,
                              const Endpoint& to, const Payload& payload) {
  if (IsMulticast(to.address) && hosts_[to_host]->members.empty()) return;
  for (const Duration delay :
       links_.DatagramDelays(from.state->index, to_host, kernel_.now(), payload->size())) {
    kernel_.At(
        kernel_.now() + delay, EventKind::kModel, nullptr,
        [this, to_host, source, to, payload] { ArriveDatagram(to_host, source, to, payload); });
  }
}

void NetworkModel::ArriveDatagram(int host, const Endpoint& source, const Endpoint& to,
                                  const Payload& payload) {
  Host& here = *hosts_[host];
  const auto members = here.members;  // a copy, because a handler may open or close sockets
  if (IsMulticast(to.address)) {
    for (const auto& member : members) {
      if (member->group == to) HandOver(member, source, payload);
    }
    return;
  }
  const auto bound = here.datagrams.find(to.port);
  if (bound != here.datagrams.end()) {
    const uint32_t address = bound->second->local.address;
    if (address == 0 || address == to.address) HandOver(bound->second, source, payload);
    return;
  }
  for (const auto& member : members) {
    if (member->local.port == to.port) return HandOver(member, source, payload);
  }
  RefuseDatagram(here, source, to);
}

void NetworkModel::RefuseDatagram(const Host& here, const Endpoint& source, const Endpoint& to) {
  Host* const sender = Resolve(*hosts_[here.state->index], source.address);
  if (sender == nullptr) return;
  const auto bound = sender->datagrams.find(source.port);
  if (bound == sender->datagrams.end() || bound->second->peer != to) return;
  const std::shared_ptr<DatagramPort> port = bound->second;
  for (const Duration delay :
       links_.DatagramDelays(here.state->index, sender->state->index, kernel_.now(), 0)) {
    kernel_.At(kernel_.now() + delay, EventKind::kMessage, port->loop, [port] {
      if (port->open && port->on_refused) port->on_refused();
    });
  }
}

void NetworkModel::HandOver(const std::shared_ptr<DatagramPort>& port, const Endpoint& source,
                            const Payload& payload) {
  if (!port->open || (port->peer && *port->peer != source)) return;
  const bool waits = port->loop->host->paused || port->loop->hangs;
  if (waits && port->waiting_size + payload->size() > kDatagramBufferSize) return;
  kernel_.Trace(EventKind::kMessage, port->loop, *payload);
  port->waiting_size += payload->size();
  kernel_.RunOn(port->loop, EventKind::kMessage, [port, source, payload] {
    port->waiting_size -= payload->size();
    if (port->open) port->on_datagram(source, *payload);
  });
}

}  // namespace neptune
