// A real cluster of replicated registers whose nodes are killed, stopped, cut off and starved of
// disk while sessions use them.

#include <gflags/gflags.h>
#include <stdlib.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "neptune/base/file.h"
#include "neptune/base/strings.h"
#include "neptune/base/unique_port.h"
#include "neptune/node/cluster_spec.h"
#include "neptune/node/echo_module.h"
#include "neptune/thread/user_thread.h"
#include "neptune/world/faults/fault_draw.h"
#include "neptune/world/random_source.h"
#include "tools/chaos/process_faults.h"
#include "tools/chaos/server_process.h"
#include "tools/history/register_load.h"
#include "tools/process/linked_hosts.h"
#include "tools/process/peer_process.h"
#include "tools/process/real_node.h"
#include "tools/terminal/command_line.h"

DEFINE_double(seconds, 60, "duration of the faults");
DEFINE_uint64(seed, 1, "seed of the faults and the sessions");
DEFINE_int32(nodes, 5, "nodes with a replica of everything");
DEFINE_bool(links, true,
            "give every node a network namespace of its own and also take down its link");
DEFINE_string(faults, "", "file with a schedule of faults; empty: drawn from the seed");
DEFINE_bool(keep, false, "keep logs and data after the run");

namespace search::chaos {
namespace {

using neptune::Status;
using neptune::StatusOr;
using neptune::StrAppend;
using neptune::StrCat;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr char kUsage[] =
    "kills, stops, isolates and starves the nodes of a real cluster and checks what its clients "
    "saw\n\n"
    "  chaos --seconds=60 --seed=7";
constexpr uint32_t kPartitionCount = 2;
constexpr int kSessionCount = 6;
constexpr auto kFaultPauseMean = milliseconds(1500);
constexpr auto kDownMean = milliseconds(1200);
constexpr auto kRecoveryMax = seconds(40);
constexpr size_t kScheduleSizeMax = 1 << 20;
// How often each kind is drawn.
constexpr std::pair<neptune::Fault::Kind, int> kKinds[] = {
    {neptune::Fault::Kind::kCrash, 5},
    {neptune::Fault::Kind::kPause, 4},
    {neptune::Fault::Kind::kFullDisk, 1},
    {neptune::Fault::Kind::kIsolate, 4},
};

std::string SpecText(int nodes, uint16_t port) {
  std::string text = StrCat("name: 'chaos-", port, "' multicast_group: '239.192.7.9:", port,
                            "' services { name: 'registers' module: 'registers' partition_count: ",
                            kPartitionCount, " replication { level: 'staleness_bounded' } } ",
                            "services { name: 'sessions' module: 'echo' } ",
                            "nodes { name: 'client' hosts { service: 'sessions' } } ");
  for (int i = 0; i < nodes; ++i) {
    StrAppend(&text, "nodes { name: 's", i, "' hosts { service: 'registers' } } ");
  }
  return text;
}

// A folder removed with this object, unless it is to be kept.
class Folder {
 public:
  Folder() {
    std::string name = (std::filesystem::temp_directory_path() / "chaos-XXXXXX").string();
    if (mkdtemp(name.data()) != nullptr) path_ = name;
  }
  ~Folder() {
    std::error_code ignored;
    if (!FLAGS_keep) std::filesystem::remove_all(path_, ignored);
  }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

class ChaosCluster {
 public:
  ChaosCluster() : load_({.seed = FLAGS_seed, .partition_count = kPartitionCount}) {}

  Status Run() {
    NEPTUNE_RETURN_IF_ERROR(Start());
    std::printf("%d nodes, seed %lu, folder %s\n", FLAGS_nodes,
                static_cast<unsigned long>(FLAGS_seed), folder_.path().c_str());
    for (int i = 0; i < kSessionCount; ++i) load_.Begin(client_->node(), i);
    NEPTUNE_RETURN_IF_ERROR(CauseFaults());
    NEPTUNE_RETURN_IF_ERROR(AwaitRecovery());
    return Check();
  }

 private:
  Status Start() {
    if (FLAGS_nodes < 1 || FLAGS_nodes > 16)
      return neptune::InvalidArgument("--nodes must be 1 to 16");
    if (FLAGS_links) MakeHosts();
    const std::string spec_path = folder_.path() + "/spec.textproto";
    const std::string text = SpecText(FLAGS_nodes, port_.number());
    NEPTUNE_RETURN_IF_ERROR(neptune::WriteFileAtomically(spec_path, text));
    NEPTUNE_ASSIGN_OR_RETURN(const neptune::ClusterSpec spec,
                             neptune::ParseClusterSpec(text, spec_path));
    NEPTUNE_ASSIGN_OR_RETURN(const std::string program, lab::FindProgram("neptune/node/neptuned"));
    for (int i = 0; i < FLAGS_nodes; ++i) {
      const std::string name = StrCat("s", i);
      std::vector<std::string> arguments = {program, "--spec=" + spec_path, "--node=" + name,
                                            "--data_dir=" + folder_.path()};
      if (hosts_ != nullptr) arguments.push_back("--address=" + AddressOf(i));
      servers_.push_back(std::make_unique<ServerProcess>(
          std::move(arguments), StrCat(folder_.path(), "/", name, ".log"),
          hosts_ == nullptr ? -1 : hosts_->descriptor(i)));
      NEPTUNE_RETURN_IF_ERROR(servers_.back()->Start());
    }
    neptune::NodeOptions options;
    options.spec = spec;
    options.name = neptune::NodeId("client");
    options.with_admin = false;
    options.modules =
        [](const std::string& module) -> StatusOr<std::unique_ptr<neptune::ServiceModule>> {
      if (module != "echo") return neptune::NotFound("no module '", module, "'");
      return std::make_unique<neptune::EchoModule>();
    };
    NEPTUNE_RETURN_IF_ERROR(StartClient(std::move(options)));
    return AwaitWrites();
  }

  // If there are no hosts, everything is on loopback and links are not taken down.
  void MakeHosts() {
    auto hosts = lab::LinkedHosts::Make(static_cast<size_t>(FLAGS_nodes) + 1);
    if (hosts.ok()) {
      hosts_ = *std::move(hosts);
    } else {
      std::printf("links are not cut: %s\n", hosts.status().ToString().c_str());
    }
  }

  std::string AddressOf(size_t host) const {
    const std::string text = neptune::Endpoint{hosts_->address(host), 0}.ToString();
    return text.substr(0, text.find(':'));
  }

  // Runs on the last host.
  Status StartClient(neptune::NodeOptions options) {
    Status status;
    const auto start = [&] {
      client_ = std::make_unique<lab::RealNode>(std::move(options));
      status = client_->Start();
    };
    if (hosts_ == nullptr) {
      start();
    } else {
      options.address = hosts_->address(servers_.size());
      hosts_->RunIn(servers_.size(), start);
    }
    return status;
  }

  // Waits until every partition accepts a write.
  Status AwaitWrites() {
    Status status;
    client_->Run([&] {
      neptune::ReplicaSession session{neptune::ClientSession(client_->node().client())};
      for (uint32_t p = 0; p < kPartitionCount && status.ok(); ++p) {
        neptune::Data response;
        status =
            session.Call({neptune::ServiceName(history::kRegisterService), neptune::PartitionId(p),
                          neptune::MethodName("Append"), neptune::AccessMode::kWrite},
                         neptune::Data("ready=;"), &response,
                         {.deadline = neptune::this_thread::Now() + kRecoveryMax});
      }
    });
    return neptune::Annotate(status, "waiting for a first write");
  }

  neptune::TimePoint Now() {
    neptune::TimePoint now;
    client_->Run([&] { now = neptune::this_thread::Now(); });
    return now;
  }

  void SleepUntil(neptune::TimePoint time) { Sleep(std::max(time - Now(), neptune::Duration(0))); }

  void Sleep(neptune::Duration time) {
    client_->Run([&] { neptune::this_thread::SleepFor(time); });
  }

  // Draws the faults, or reads those of --faults. At most one node at a time has one.
  StatusOr<neptune::FaultSchedule> Schedule(const ProcessFaults& target) const {
    if (!FLAGS_faults.empty()) {
      NEPTUNE_ASSIGN_OR_RETURN(const std::string text,
                               neptune::ReadFile(FLAGS_faults, kScheduleSizeMax));
      NEPTUNE_ASSIGN_OR_RETURN(neptune::FaultSchedule schedule, neptune::ParseFaultSchedule(text));
      NEPTUNE_RETURN_IF_ERROR(neptune::Annotate(target.Check(schedule), FLAGS_faults));
      return schedule;
    }
    neptune::RandomFaultOptions options;
    for (int i = 0; i < FLAGS_nodes; ++i) options.hosts.push_back(StrCat("s", i));
    options.horizon = neptune::TimePoint(neptune::FromSeconds(FLAGS_seconds));
    options.interval_mean = kFaultPauseMean;
    options.duration_mean = kDownMean;
    options.kinds.clear();
    for (const auto& [kind, weight] : kKinds) {
      if (target.Supports(kind)) options.kinds.insert(options.kinds.end(), weight, kind);
    }
    neptune::RandomSource random(FLAGS_seed);
    return neptune::DrawFaults(random, options);
  }

  Status CauseFaults() {
    std::map<std::string, FaultyNode> nodes;
    for (size_t i = 0; i < servers_.size(); ++i) nodes[StrCat("s", i)] = {servers_[i].get(), i};
    ProcessFaults target(std::move(nodes), hosts_.get());
    NEPTUNE_ASSIGN_OR_RETURN(const neptune::FaultSchedule schedule, Schedule(target));
    std::printf("faults:\n%s", neptune::ToString(schedule).c_str());
    const neptune::TimePoint begin = Now();
    for (const neptune::FaultChange& change : ChangesOf(schedule)) {
      SleepUntil(begin + change.at.time_since_epoch());
      std::printf("%s %s\n", change.begins ? "begin" : "end  ", change.fault.ToString().c_str());
      std::fflush(stdout);
      NEPTUNE_RETURN_IF_ERROR(target.Apply(change));
    }
    return neptune::OkStatus();
  }

  Status AwaitRecovery() {
    for (size_t i = 0; i < servers_.size(); ++i) {
      if (servers_[i]->HasEnded()) return neptune::Internal("s", i, " exited on its own");
    }
    NEPTUNE_RETURN_IF_ERROR(AwaitWrites());
    Sleep(seconds(2));
    load_.End();
    while (load_.active_count() > 0) Sleep(milliseconds(20));
    return neptune::OkStatus();
  }

  // Reads the current contents of the registers from their primaries.
  Status ReadContents(history::RegisterContents* contents) {
    Status status;
    client_->Run([&] {
      neptune::ReplicaSession session{neptune::ClientSession(client_->node().client())};
      for (const auto& [partition, key] : load_.Registers()) {
        neptune::Data response;
        // An empty append returns the newest contents.
        status = session.Call(
            {neptune::ServiceName(history::kRegisterService), neptune::PartitionId(partition),
             neptune::MethodName("Append"), neptune::AccessMode::kWrite},
            neptune::Data(key + "="), &response);
        if (!status.ok()) return;
        (*contents)[{partition, key}] = response.bytes();
      }
    });
    return neptune::Annotate(status, "reading the registers");
  }

  Status Check() {
    history::RegisterContents contents;
    NEPTUNE_RETURN_IF_ERROR(ReadContents(&contents));
    size_t writes = 0;
    size_t reads = 0;
    size_t unanswered = 0;
    for (const history::RegisterOperation& operation : load_.history()) {
      ++(!operation.is_acknowledged ? unanswered : operation.is_write ? writes : reads);
    }
    const std::string wrong =
        history::CheckRegisters(load_.history(), contents, /*progressive=*/true);
    std::printf("%zu writes acknowledged, %zu reads, %zu calls without an answer in time: %s\n",
                writes, reads, unanswered, wrong.empty() ? "no violations" : wrong.c_str());
    return wrong.empty() ? neptune::OkStatus() : neptune::Internal(wrong);
  }

  const neptune::UniquePort port_;
  const Folder folder_;
  history::RegisterLoad load_;
  std::unique_ptr<lab::LinkedHosts> hosts_;  // null: all on loopback
  std::vector<std::unique_ptr<ServerProcess>> servers_;
  std::unique_ptr<lab::RealNode> client_;
};

}  // namespace
}  // namespace search::chaos

int main(int argc, char** argv) {
  search::tools::ParseCommandLine(&argc, &argv, search::chaos::kUsage, __FILE__);
  return search::tools::ExitStatus(search::chaos::ChaosCluster().Run(), "chaos");
}
