// The quiet load on etcd, for comparison.

#include <poll.h>
#include <stdlib.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>
#include <vector>

#include "neptune/base/strings.h"
#include "neptune/base/unique_port.h"
#include "tools/chaos/server_process.h"
#include "tools/http/http_get.h"
#include "tools/lab/replication/fault_cases.h"
#include "tools/process/peer_process.h"

namespace search::lab {
namespace {

using chaos::ServerProcess;
using neptune::Status;
using neptune::StatusOr;
using neptune::StrAppend;
using neptune::StrCat;

constexpr char kEtcd[] = "/usr/bin/etcd";
constexpr char kLoadProgram[] = "tools/lab/replication/etcd_load";
constexpr int kMemberCount = 3;
constexpr int kAttemptCount = 150;
constexpr int kAttemptMs = 100;

std::string Url(uint16_t port) { return StrCat("http://127.0.0.1:", port); }

// Three members on loopback; their data in a folder that is removed at the end.
class EtcdCluster {
 public:
  static StatusOr<std::unique_ptr<EtcdCluster>> Start() {
    std::unique_ptr<EtcdCluster> cluster(new EtcdCluster);
    NEPTUNE_RETURN_IF_ERROR(cluster->StartAll());
    return cluster;
  }
  ~EtcdCluster() {
    members_.clear();
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }

  // The client port of the leader.
  StatusOr<uint16_t> Leader() {
    for (int i = 0; i < kAttemptCount; ++i) {
      for (const uint16_t port : ports_) {
        if (Leads(port)) return port;
      }
      poll(nullptr, 0, kAttemptMs);
    }
    return neptune::DeadlineExceeded("waiting for a leader of etcd");
  }
  double ProcessorSeconds() const {
    double seconds = 0;
    for (const auto& member : members_) seconds += member->ProcessorSeconds();
    return seconds;
  }

 private:
  EtcdCluster() = default;

  Status StartAll() {
    std::string name = (std::filesystem::temp_directory_path() / "etcd-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) return neptune::Unavailable("creating ", name);
    folder_ = name;
    std::vector<uint16_t> peers;
    std::string all;
    for (int i = 0; i < kMemberCount; ++i) {
      ports_.push_back(neptune::UniquePort().number());
      peers.push_back(neptune::UniquePort().number());
      StrAppend(&all, i == 0 ? "" : ",", "m", i, "=", Url(peers.back()));
    }
    for (int i = 0; i < kMemberCount; ++i) {
      const auto at = static_cast<size_t>(i);
      const std::string member = StrCat("m", i);
      members_.push_back(std::make_unique<ServerProcess>(
          std::vector<std::string>{
              kEtcd, "--name", member, "--data-dir", folder_ + "/" + member, "--listen-client-urls",
              Url(ports_[at]), "--advertise-client-urls", Url(ports_[at]), "--listen-peer-urls",
              Url(peers[at]), "--initial-advertise-peer-urls", Url(peers[at]), "--initial-cluster",
              all, "--initial-cluster-token", name, "--log-level", "error"},
          StrCat(folder_, "/", member, ".log")));
      NEPTUNE_RETURN_IF_ERROR(members_.back()->Start());
    }
    return neptune::OkStatus();
  }

  static bool Leads(uint16_t port) {
    const auto origin = tools::ParseHttpOrigin(StrCat("127.0.0.1:", port));
    if (!origin.ok()) return false;
    const auto answer = tools::HttpExchange(*origin, "POST", "/v3/maintenance/status", {}, "{}",
                                            {.timeout = std::chrono::milliseconds(1000)});
    if (!answer.ok() || answer->status != 200) return false;
    const auto page = nlohmann::json::parse(answer->body, nullptr, /*allow_exceptions=*/false);
    if (!page.is_object() || !page.contains("leader") || !page.contains("header")) return false;
    return page["header"].is_object() && page["header"].contains("member_id") &&
           page["leader"] == page["header"]["member_id"];
  }

  std::string folder_;
  std::vector<uint16_t> ports_;
  std::vector<std::unique_ptr<ServerProcess>> members_;
};

double Field(const std::string& line, const std::string& name) {
  std::istringstream words(line);
  for (std::string word; words >> word;) {
    if (word.starts_with(name + "=")) return strtod(word.c_str() + name.size() + 1, nullptr);
  }
  return 0;
}

Measurement NotMeasured() {
  return {{"is_measured", 0},
          {"writes_per_s", 0},
          {"writes_per_processor_s", 0},
          {"p50_ms", 0},
          {"p99_ms", 0}};
}

}  // namespace

StatusOr<Measurement> RunEtcd(const RunContext& context, int connections) {
  std::error_code error;
  if (!std::filesystem::exists(kEtcd, error) || !FindProgram(kLoadProgram).ok())
    return NotMeasured();
  NEPTUNE_ASSIGN_OR_RETURN(const auto cluster, EtcdCluster::Start());
  NEPTUNE_ASSIGN_OR_RETURN(const uint16_t leader, cluster->Leader());
  NEPTUNE_ASSIGN_OR_RETURN(
      const auto load,
      PeerProcess::Start(kLoadProgram,
                         {StrCat("--port=", leader), StrCat("--connections=", connections),
                          StrCat("--seconds=", context.Pick(0.5, 4.0, 15.0))},
                         -1));
  const StatusOr<std::string> begins = load->ReadLine();         // after the warm-up
  if (!begins.ok() || *begins != "begin") return NotMeasured();  // built without gRPC
  const double used_before = cluster->ProcessorSeconds();
  NEPTUNE_ASSIGN_OR_RETURN(const std::string line, load->ReadLine());
  const double used = cluster->ProcessorSeconds() - used_before;
  constexpr double kUsPerMs = 1000;
  const double count = Field(line, "count");
  return Measurement{{"is_measured", count > 0 ? 1.0 : 0.0},
                     {"writes_per_s", count / std::max(Field(line, "seconds"), 1e-3)},
                     {"writes_per_processor_s", count / std::max(used, 1e-3)},
                     {"p50_ms", Field(line, "p50_us") / kUsPerMs},
                     {"p99_ms", Field(line, "p99_us") / kUsPerMs}};
}

}  // namespace search::lab
