// The simulated network segment: the sockets of each host, and who receives what.
//
// Every host is reached by its own address; 127.0.0.0/8 is the host itself. All hosts share one
// segment, so a multicast group connects all hosts that join it, whatever interface they name.
//
// Source: observable behaviour of Linux sockets.
// Threads: the simulation's thread.
// Limits: ports 1-65535 a host, of which kEphemeralPortFirst up to kEphemeralPortEnd are for
//   sockets that request no port.

#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "neptune/base/status.h"
#include "neptune/world/network.h"
#include "neptune/world/sim/link_model.h"
#include "neptune/world/sim/sim_kernel.h"
#include "neptune/world/sim/stream_end.h"

namespace neptune {

// A listening socket. It stays valid while an accept is in progress, even if its owner is gone.
struct ListenSocket {
  LoopState* loop = nullptr;
  Endpoint local;
  ListenOptions options;
  Network::AcceptHandler on_accept;
  int pending_count = 0;
  bool open = true;
};

struct DatagramPort {
  LoopState* loop = nullptr;
  Endpoint local;
  bool in_group = false;
  Endpoint group;
  std::optional<Endpoint> peer;  // set if the socket is connected
  std::function<void()> on_refused;
  Network::DatagramHandler on_datagram;
  size_t waiting_size = 0;  // bytes queued for a paused host
  bool open = true;
};

// A connect in progress, on the loop that called Connect.
struct ConnectAttempt {
  LoopState* loop = nullptr;
  Endpoint to;
  Network::ConnectHandler on_done;
  EventId deadline_timer = 0;
  int retry_count = 0;
};

class NetworkModel {
 public:
  NetworkModel(SimKernel& kernel, const NetworkProfile& profile)
      : kernel_(kernel), links_(profile, kernel.random()) {}

  LinkModel& links() { return links_; }
  SimKernel& kernel() { return kernel_; }

  // Adds a host; hosts are numbered in the order of these calls. REQUIRES: no other host has
  // `address`.
  void AddHost(HostState* state, uint32_t address);
  // Removes the host's sockets. With `tell_peers` the peers of its streams are reset at once.
  void CrashHost(int host, bool tell_peers);
  // Sends the segments that a cut held back; call it after a cut ends.
  void RetryHeld();

  StatusOr<std::shared_ptr<ListenSocket>> Listen(LoopState* loop, const Endpoint& at,
                                                 const ListenOptions& options,
                                                 Network::AcceptHandler on_accept);
  void CloseListener(ListenSocket& socket);

  void Connect(std::shared_ptr<ConnectAttempt> attempt, TimePoint deadline);

  StatusOr<std::shared_ptr<DatagramPort>> OpenDatagram(LoopState* loop,
                                                       const DatagramOptions& options,
                                                       Network::DatagramHandler on_datagram);
  void SendDatagram(const DatagramPort& from, const Endpoint& to_whom, std::string_view bytes);
  void CloseDatagram(DatagramPort& port);

 private:
  using Listeners = std::vector<std::shared_ptr<ListenSocket>>;
  using Payload = std::shared_ptr<const std::string>;
  struct Host {
    HostState* state = nullptr;
    uint32_t address = 0;
    std::map<uint16_t, Listeners> listeners;
    std::map<uint16_t, size_t> next_listener;  // round robin among listeners that share a port
    std::map<uint16_t, std::shared_ptr<DatagramPort>> datagrams;
    // Sockets in any multicast group, in the order they joined
    std::vector<std::shared_ptr<DatagramPort>> members;
    std::map<uint64_t, std::shared_ptr<StreamEnd>> ends;
    uint16_t next_port = kEphemeralPortFirst;
  };

  // Returns the host that `address` denotes on `from`; null if there is none.
  Host* Resolve(Host& from, uint32_t address);
  Status CheckBindable(const Host& host, const Endpoint& at) const;
  template <typename Ports>
  StatusOr<uint16_t> FreePort(Host& host, const Ports& ports);
  uint32_t SourceAddress(const Host& from, uint32_t bound, uint32_t to) const;

  void FailConnect(const std::shared_ptr<ConnectAttempt>& attempt, Duration delay, Status why);
  void SendConnect(const std::shared_ptr<ConnectAttempt>& attempt);
  void RetryConnect(const std::shared_ptr<ConnectAttempt>& attempt);
  void ArriveConnect(const std::shared_ptr<ConnectAttempt>& attempt, int server_host);
  std::shared_ptr<ListenSocket> PickListener(Host& host, const Endpoint& to);
  void OpenStream(const std::shared_ptr<ConnectAttempt>& attempt,
                  const std::shared_ptr<ListenSocket>& listener);
  std::shared_ptr<StreamEnd> MakeEnd(LoopState* loop, const Endpoint& peer);

  void SendToHost(const Host& from, int to_host, const Endpoint& source, const Endpoint& to,
                  const Payload& payload);
  void ArriveDatagram(int host, const Endpoint& source, const Endpoint& to, const Payload& payload);
  void HandOver(const std::shared_ptr<DatagramPort>& port, const Endpoint& source,
                const Payload& payload);
  // The port is closed: reports it to the sender's socket if that is connected.
  void RefuseDatagram(const Host& here, const Endpoint& source, const Endpoint& to);

  SimKernel& kernel_;
  LinkModel links_;
  std::vector<std::unique_ptr<Host>> hosts_;
  std::map<uint32_t, int> host_of_address_;
  uint64_t next_end_id_ = 1;
};

bool IsMulticast(uint32_t address);
bool IsLoopback(uint32_t address);

// The Stream that owns a StreamEnd.
class SimStream : public Stream {
 public:
  explicit SimStream(std::shared_ptr<StreamEnd> end) : end_(std::move(end)) {}
  ~SimStream() override { end_->Abandon(); }

  void Start(StreamHandler* handler) override { end_->Start(handler); }
  void Write(std::string bytes) override { end_->Write(std::move(bytes)); }
  size_t unsent_size() const override { return end_->unsent_size(); }
  void SetReading(bool on) override { end_->SetReading(on); }
  void Close() override { end_->Close(); }
  Endpoint peer() const override { return end_->peer_endpoint(); }

 private:
  const std::shared_ptr<StreamEnd> end_;
};

}  // namespace neptune
