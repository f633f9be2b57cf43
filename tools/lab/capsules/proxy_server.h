// Debian's Apache as a load balancer of replicas: a real program with a bounded pool of threads,
// one for each request, which block on their backend.
//
// One process with `thread_count` threads of the worker module; the balancer uses the replicas in
// turn.
//
// Source: [Chu05] VI.A (RUBiS: Apache before three servers).
// Threads: thread-compatible.
// Errors: kNotFound the program is not installed; kUnavailable it does not answer; the message has
//   the end of its log.
// Limits: the destructor kills the program and all its processes.

#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "neptune/base/process.h"
#include "neptune/base/status.h"
#include "neptune/world/network.h"

namespace search::lab {

struct ProxyServerOptions {
  std::vector<neptune::Endpoint> replicas;
  int thread_count = 64;
  // The preload library of neptune/interpose/preload and its capsule file; empty: none.
  std::string preload_library{};
  std::string capsules{};
};

class ProxyServer {
 public:
  static bool IsInstalled();
  static neptune::StatusOr<std::unique_ptr<ProxyServer>> Start(const ProxyServerOptions& options);
  ~ProxyServer();
  ProxyServer(const ProxyServer&) = delete;
  ProxyServer& operator=(const ProxyServer&) = delete;

  const neptune::Endpoint& endpoint() const { return endpoint_; }
  // The latest capsule status of the preload library; empty without it.
  std::string CapsuleStatus() const;
  // The contents of its log.
  std::string Log() const;

 private:
  ProxyServer(std::string folder, const neptune::Endpoint& endpoint)
      : folder_(std::move(folder)), endpoint_(endpoint) {}

  neptune::Status Launch(const ProxyServerOptions& options);
  // The variables that preload the capsules' library; writes its file.
  std::vector<std::string> Environment(const ProxyServerOptions& options) const;
  neptune::Status AwaitAnswer();
  bool HasEnded();

  const std::string folder_;
  const neptune::Endpoint endpoint_;
  std::optional<neptune::Process> process_;  // absent: it has ended
};

}  // namespace search::lab
