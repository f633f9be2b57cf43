// Debian's Apache as a load balancer before replicas: a real program with a thread for each request, which it blocks on
// its backend, and a bounded pool of them.
//
// One process with `thread_count` threads of the worker module; the balancer asks the replicas in turn.
//
// Source: [Chu05] VI.A (RUBiS: Apache before three servers).
// Threads: thread-compatible.
// Errors: kNotFound the program is not installed; kUnavailable it does not answer, with the end of its log.
// Limits: it is ended, with all its processes, when this object is destroyed.

#pragma once

#include <sys/types.h>

#include <memory>
#include <string>
#include <vector>

#include "neptune/base/status.h"
#include "neptune/world/network.h"

namespace search::lab {

struct ProxyServerOptions {
  std::vector<neptune::Endpoint> replicas;
  int thread_count = 64;
  // The preload library of neptune/interpose/preload and the capsules that it is given; empty: none.
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
  // What the preload library last told of the capsules; empty without it.
  std::string CapsuleStatus() const;
  // What it has written to its log.
  std::string Log() const;

 private:
  ProxyServer(std::string folder, const neptune::Endpoint& endpoint)
      : folder_(std::move(folder)), endpoint_(endpoint) {}

  neptune::Status Launch(const ProxyServerOptions& options);
  std::vector<std::string> Environment(const ProxyServerOptions& options) const;
  neptune::Status AwaitAnswer();
  bool HasEnded();

  const std::string folder_;
  const neptune::Endpoint endpoint_;
  pid_t process_ = -1;  // also the number of its group; -1: it has ended
};

}  // namespace search::lab
