// A real cluster of replicated registers whose nodes are killed, stopped, cut off and starved of
// disk while sessions use them.

#include <gflags/gflags.h>
#include <stdlib.h>

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "neptune/base/file.h"
#include "neptune/base/strings.h"
#include "neptune/base/unique_port.h"
#include "neptune/node/cluster_spec.h"
#include "neptune/node/echo_module.h"
#include "neptune/thread/user_thread.h"
#include "neptune/world/random_source.h"
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
constexpr auto kPeaceMax = seconds(40);

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
  ChaosCluster()
      : random_(FLAGS_seed), load_({.seed = FLAGS_seed, .partition_count = kPartitionCount}) {}

  Status Run() {
    NEPTUNE_RETURN_IF_ERROR(Start());
    std::printf("%d nodes, seed %lu, folder %s\n", FLAGS_nodes,
                static_cast<unsigned long>(FLAGS_seed), folder_.path().c_str());
    for (int i = 0; i < kSessionCount; ++i) load_.Begin(client_->node(), i);
    ChaosFault();
    NEPTUNE_RETURN_IF_ERROR(Peace());
    return Judge();
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
        status = session.Call(neptune::ServiceName(history::kRegisterService),
                              neptune::PartitionId(p), neptune::MethodName("Append"),
                              neptune::AccessMode::kWrite, neptune::Data("ready=;"), &response,
                              {.deadline = neptune::this_thread::Now() + kPeaceMax});
      }
    });
    return neptune::Annotate(status, "waiting for a first write");
  }

  neptune::TimePoint Now() {
    neptune::TimePoint now;
    client_->Run([&] { now = neptune::this_thread::Now(); });
    return now;
  }

  void Sleep(neptune::Duration time) {
    client_->Run([&] { neptune::this_thread::SleepFor(time); });
  }

  void ChaosFault() {
    const neptune::TimePoint end = Now() + neptune::FromSeconds(FLAGS_seconds);
    while (Now() < end) {
      HurtOne(static_cast<size_t>(random_.Next() % servers_.size()));
      Rest(kFaultPauseMean);
    }
  }

  void Rest(neptune::Duration mean) {
    Sleep(neptune::FromSeconds(random_.Exponential(neptune::ToSeconds(mean))));
  }

  void HurtOne(size_t number) {
    ServerProcess& server = *servers_[number];
    const std::string name = StrCat("s", number);
    const uint64_t kind = random_.Next() % (hosts_ == nullptr ? 10 : 14);
    if (kind >= 10) {
      std::printf("isolated %s\n", name.c_str());
      SetLink(number, false);
      Rest(kDownMean);
      SetLink(number, true);
    } else if (kind < 5) {
      std::printf("kill %s\n", name.c_str());
      server.Kill();
      Rest(kDownMean);
      Restart(server);
    } else if (kind < 9) {
      std::printf("stop %s\n", name.c_str());
      server.Pause();
      Rest(kDownMean);
      server.Resume();
    } else {
      std::printf("starve %s\n", name.c_str());
      Note(server.StarveOfDisk());
      Rest(kDownMean);
      server.Kill();
      Restart(server);
    }
    std::fflush(stdout);
  }

  static void Note(const Status& status) {
    if (!status.ok()) std::printf("  %s\n", status.ToString().c_str());
  }

  void SetLink(size_t number, bool is_up) { Note(hosts_->SetLink(number, is_up)); }

  void Restart(ServerProcess& server) { Note(server.Start()); }

  Status Peace() {
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
        status = session.Call(neptune::ServiceName(history::kRegisterService),
                              neptune::PartitionId(partition), neptune::MethodName("Append"),
                              neptune::AccessMode::kWrite, neptune::Data(key + "="), &response);
        if (!status.ok()) return;
        (*contents)[{partition, key}] = response.bytes();
      }
    });
    return neptune::Annotate(status, "reading the registers");
  }

  Status Judge() {
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
  neptune::RandomSource random_;
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
