#include "tests/membership/simulated_etcd.h"

#include <glog/logging.h>

#include <utility>

#include "absl/strings/escaping.h"
#include "neptune/base/strings.h"

namespace neptune {
namespace {

using Json = nlohmann::json;

int64_t Number(const Json& json, const char* name) {
  return json.contains(name) ? std::stoll(json[name].get<std::string>()) : 0;
}

std::string Decoded(const Json& text) {
  std::string bytes;
  CHECK(absl::Base64Unescape(text.get<std::string>(), &bytes));
  return bytes;
}

HttpResponse Ok(const Json& json) { return HttpResponse::Json(200, json.dump()); }

}  // namespace

SimulatedEtcd::SimulatedEtcd(Simulator& simulator, const std::string& host,
                             const std::shared_ptr<TlsContext>& tls)
    : simulator_(simulator) {
  SimWorld& world = simulator.AddHost({.name = host});
  address_ = world.address();
  Loop* const loop = *world.StartLoop({.name = "etcd"});
  bool listens = false;
  loop->Post([this, &world, &listens, loop, tls] {
    threads_ = std::make_unique<ThreadScheduler>(*loop, ThreadSchedulerOptions{});
    HttpServerOptions options;
    if (tls != nullptr) {
      SecureNetworkOptions secured;
      secured.tls = tls;
      network_ = std::make_unique<SecureNetwork>(*loop, secured);
      options.network = network_.get();
    }
    server_ = std::make_unique<HttpServer>(
        world, *threads_, options, [this](const HttpRequest& request) { return Answer(request); });
    listens = server_->Listen({0, 2379}).ok();
  });
  CHECK(simulator.RunUntilTrue([&] { return listens; }, kNever));
}

SimulatedEtcd::~SimulatedEtcd() {
  server_.reset();
  threads_->Stop();
  simulator_.RunFor(std::chrono::seconds(100));
}

void SimulatedEtcd::Put(const std::string& key, const std::string& value) {
  entries_[key] = {value, ++revision_, 0};
}

void SimulatedEtcd::Empty() {
  leases_.clear();
  entries_.clear();
  revision_ = 1;
}

size_t SimulatedEtcd::key_count() {
  DropExpired();
  return entries_.size();
}

void SimulatedEtcd::DropExpired() {
  std::erase_if(leases_, [&](const auto& lease) { return lease.second.first < simulator_.now(); });
  std::erase_if(entries_, [&](const auto& entry) {
    return entry.second.lease != 0 && !leases_.contains(entry.second.lease);
  });
}

HttpResponse SimulatedEtcd::Answer(const HttpRequest& request) {
  ++request_count_;
  if (lie_) {
    if (std::optional<HttpResponse> lie = lie_(request)) return *std::move(lie);
  }
  DropExpired();
  const Json json = Json::parse(request.body);
  if (request.path == "/v3/lease/grant") {
    const Duration ttl = std::chrono::seconds(Number(json, "TTL"));
    leases_[++last_lease_] = {simulator_.now() + ttl, ttl};
    return Ok({{"ID", StrCat(last_lease_)}, {"TTL", json["TTL"]}});
  }
  if (request.path == "/v3/lease/keepalive") {
    const auto found = leases_.find(Number(json, "ID"));
    if (found == leases_.end()) return Ok({{"result", {{"ID", json["ID"]}}}});
    found->second.first = simulator_.now() + found->second.second;
    return Ok({{"result", {{"ID", json["ID"]}, {"TTL", "5"}}}});
  }
  if (request.path == "/v3/kv/range") return Range(json);
  CHECK_EQ(request.path, "/v3/kv/put");
  const int64_t lease = Number(json, "lease");
  if (!leases_.contains(lease)) {
    return HttpResponse::Json(404, R"({"error":"etcdserver: requested lease not found","code":5})");
  }
  entries_[Decoded(json["key"])] = {Decoded(json["value"]), ++revision_, lease};
  return Ok({{"header", {{"revision", StrCat(revision_)}}}});
}

HttpResponse SimulatedEtcd::Range(const Json& request) {
  Json answer = {{"header", {{"revision", StrCat(revision_)}}}};
  const int64_t limit = Number(request, "limit");
  const int64_t since = Number(request, "min_mod_revision");
  const std::string end = Decoded(request["range_end"]);
  for (auto entry = entries_.lower_bound(Decoded(request["key"]));
       entry != entries_.end() && entry->first < end; ++entry) {
    if (entry->second.revision < since) continue;
    if (answer.contains("kvs") && static_cast<int64_t>(answer["kvs"].size()) == limit) {
      answer["more"] = true;
      break;
    }
    answer["kvs"].push_back({{"key", absl::Base64Escape(entry->first)},
                             {"value", absl::Base64Escape(entry->second.value)},
                             {"mod_revision", StrCat(entry->second.revision)}});
  }
  return Ok(answer);
}

}  // namespace neptune
