// An etcd server in the simulated world: what nodes ask of one, with leases that expire in virtual
// time; and lies. channel_conformance_test.cc holds it to what the real one does.
//
// Source: etcd 3.4, API v3.
// Threads: the simulation's.

#pragma once

#include <functional>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "neptune/security/secure_network.h"
#include "neptune/security/tls_context.h"
#include "neptune/thread/user_thread.h"
#include "neptune/wire/http/http_server.h"
#include "neptune/world/sim/simulator.h"

namespace neptune {

class SimulatedEtcd {
 public:
  // What it answers in place of the truth, if anything.
  using Lie = std::function<std::optional<HttpResponse>(const HttpRequest&)>;

  // With certificates it demands them of its clients.
  SimulatedEtcd(Simulator& simulator, const std::string& host,
                const std::shared_ptr<TlsContext>& tls = nullptr);
  ~SimulatedEtcd();

  Endpoint endpoint() const { return {address_, 2379}; }
  void Put(const std::string& key, const std::string& value);
  // Removes all data, as after a restart without them.
  void Empty();
  void set_lie(Lie lie) { lie_ = std::move(lie); }
  size_t key_count();
  size_t request_count() const { return request_count_; }

 private:
  struct Entry {
    std::string value;
    int64_t revision = 0;
    int64_t lease = 0;
  };
  HttpResponse Answer(const HttpRequest& request);
  HttpResponse Range(const nlohmann::json& request);
  void DropExpired();

  Simulator& simulator_;
  uint32_t address_ = 0;
  std::unique_ptr<ThreadScheduler> threads_;
  std::unique_ptr<SecureNetwork> network_;  // null: the loop's own
  std::unique_ptr<HttpServer> server_;
  Lie lie_;
  int64_t revision_ = 1;
  int64_t last_lease_ = 0;
  size_t request_count_ = 0;
  std::map<int64_t, std::pair<TimePoint, Duration>> leases_;  // end, and time to live
  std::map<std::string, Entry> entries_;
};

}  // namespace neptune
