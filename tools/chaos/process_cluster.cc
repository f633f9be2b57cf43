#include "tools/chaos/process_cluster.h"

#include <stdlib.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <string_view>

#include "neptune/base/file.h"
#include "neptune/base/strings.h"
#include "neptune/node/cluster_spec.h"
#include "neptune/node/echo_module.h"
#include "neptune/thread/user_thread.h"
#include "tools/chaos/nemesis_module.h"
#include "tools/history/register_load.h"
#include "tools/http/http_get.h"
#include "tools/process/peer_process.h"

namespace search::chaos {
namespace {

using neptune::Status;
using neptune::StatusOr;
using neptune::StrAppend;
using neptune::StrCat;
using std::chrono::milliseconds;

constexpr std::chrono::milliseconds kPageTimeMax{1500};
constexpr neptune::Duration kAwaitStep = milliseconds(20);
// Entries that a replica in good order may be behind another when both are asked in turn.
constexpr double kLagMax = 500;
constexpr neptune::Duration kAttemptMax = std::chrono::seconds(3);

std::string TextOf(uint32_t address) {
  const std::string text = neptune::Endpoint{address, 0}.ToString();
  return text.substr(0, text.find(':'));
}

bool HasLabel(std::string_view line, std::string_view label) {
  return line.find(label) != std::string_view::npos;
}

// The value of a line of metrics.
double ValueOf(std::string_view line) {
  const size_t space = line.rfind(' ');
  double value = 0;
  if (space == std::string_view::npos) return 0;
  std::from_chars(line.data() + space + 1, line.data() + line.size(), value);
  return value;
}

// Adds one line to the figures.
void Add(std::string_view line, ReplicaFigures& figures) {
  const std::string_view name = line.substr(0, line.find('{'));
  const double value = ValueOf(line);
  const auto count = static_cast<size_t>(value);
  if (name == "neptune_replicas") {
    const bool serves = HasLabel(line, "role=\"primary\"") ||
                        HasLabel(line, "role=\"secondary\"") || HasLabel(line, "role=\"peer\"");
    figures.count += count;
    if (serves) figures.serving_count += count;
    if (HasLabel(line, "role=\"primary\"")) figures.primary_count += count;
  }
  const std::string_view total = name.substr(0, name.find(' '));
  if (total == "neptune_replicas_failed") figures.failed_count += count;
  if (total == "neptune_replicas_epochs") figures.epoch_sum += value;
  if (total == "neptune_replicas_received_entries") figures.received_lsn_sum += value;
  if (total == "neptune_replicas_executed_entries") figures.executed_lsn_sum += value;
  if (total == "neptune_replicas_log_size_bytes") figures.log_size_sum += value;
  if (total == "neptune_replicas_snapshots_sent") figures.snapshots_sent += value;
}

neptune::CalledMethod AppendTo(uint32_t partition) {
  return {neptune::ServiceName(history::kRegisterService), neptune::PartitionId(partition),
          neptune::MethodName("Append"), neptune::AccessMode::kWrite};
}

}  // namespace

ReplicaFigures ReplicaFiguresOf(const std::string& metrics) {
  ReplicaFigures figures;
  std::string_view rest = metrics;
  while (!rest.empty()) {
    const size_t end = std::min(rest.find('\n'), rest.size());
    Add(rest.substr(0, end), figures);
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return figures;
}

std::string ProcessCluster::NameOf(int node) { return StrCat("s", node); }

StatusOr<std::unique_ptr<ProcessCluster>> ProcessCluster::Start(
    const ProcessClusterOptions& options) {
  if (options.node_count < 1 || options.node_count > kProcessClusterNodeCountMax) {
    return neptune::InvalidArgument("a cluster has 1 to ", kProcessClusterNodeCountMax, " nodes");
  }
  std::unique_ptr<ProcessCluster> cluster(new ProcessCluster(options));
  NEPTUNE_RETURN_IF_ERROR(cluster->StartAll());
  return cluster;
}

StatusOr<std::unique_ptr<ProcessCluster>> ProcessCluster::StartReady(
    const ProcessClusterOptions& options, neptune::Duration time_max) {
  NEPTUNE_ASSIGN_OR_RETURN(std::unique_ptr<ProcessCluster> cluster, Start(options));
  NEPTUNE_RETURN_IF_ERROR(cluster->AwaitWrites(time_max));
  return cluster;
}

ProcessCluster::~ProcessCluster() {
  client_.reset();
  nodes_.clear();
  std::error_code ignored;
  if (!options_.keep && !folder_.empty()) std::filesystem::remove_all(folder_, ignored);
}

Status ProcessCluster::StartAll() {
  std::string name = (std::filesystem::temp_directory_path() / "chaos-XXXXXX").string();
  if (mkdtemp(name.data()) == nullptr) return neptune::Unavailable("creating ", name);
  folder_ = std::filesystem::canonical(name).string();
  if (options_.on_hosts) MakeHosts();
  for (int i = 0; i < options_.node_count; ++i) {
    nodes_.emplace_back();
    nodes_.back().call_port = neptune::UniquePort().number();
    nodes_.back().admin_port = neptune::UniquePort().number();
  }
  NEPTUNE_ASSIGN_OR_RETURN(const std::string spec, SpecText());
  const std::string spec_path = folder_ + "/spec.textproto";
  NEPTUNE_RETURN_IF_ERROR(neptune::WriteFileAtomically(spec_path, spec));
  std::string program = options_.program;
  if (program.empty()) {
    NEPTUNE_ASSIGN_OR_RETURN(program, lab::FindProgram("neptune/node/neptuned"));
  }
  for (int i = 0; i < options_.node_count; ++i) {
    NEPTUNE_RETURN_IF_ERROR(StartNode(i, spec_path, program));
  }
  return StartClient(spec);
}

// If there are no hosts, everything is on loopback and links are not taken down.
void ProcessCluster::MakeHosts() {
  auto hosts = lab::LinkedHosts::Make(static_cast<size_t>(options_.node_count) + 1);
  if (hosts.ok()) {
    hosts_ = *std::move(hosts);
  } else {
    std::fprintf(stderr, "links are not cut: %s\n", hosts.status().ToString().c_str());
  }
}

StatusOr<std::string> ProcessCluster::NemesisText() const {
  if (!options_.with_nemesis) return std::string();
  NEPTUNE_ASSIGN_OR_RETURN(const std::string module, lab::FindProgram("tools/chaos/nemesis.so"));
  return StrCat("services { name: '", kNemesisService, "' module: '",
                std::filesystem::absolute(module).string(), "' } ");
}

StatusOr<std::string> ProcessCluster::SpecText() const {
  NEPTUNE_ASSIGN_OR_RETURN(const std::string nemesis, NemesisText());
  std::string text =
      StrCat("name: 'chaos-", port_.number(),
             "' trust_network: true admin_access: 'network' multicast_group: '239.192.7.9:",
             port_.number(), "' services { name: 'registers' module: 'registers' partition_count: ",
             options_.partition_count, " replication { ", options_.replication, " } } ", nemesis,
             "services { name: '", kProbeService, "' module: 'echo' } ",
             "services { name: 'sessions' module: 'echo' } ",
             "nodes { name: 'client' hosts { service: 'sessions' } } ");
  const std::string hosts_nemesis =
      nemesis.empty() ? "" : StrCat("hosts { service: '", kNemesisService, "' } ");
  for (int i = 0; i < options_.node_count; ++i) {
    const ClusterNode& node = nodes_[static_cast<size_t>(i)];
    StrAppend(&text, "nodes { name: '", NameOf(i), "' call_port: ", node.call_port,
              " admin_port: ", node.admin_port, " ", options_.node_fields,
              " hosts { service: 'registers' } ", hosts_nemesis, "hosts { service: '",
              kProbeService, "' } } ");
  }
  return text;
}

uint32_t ProcessCluster::AddressOf(int host) const {
  return hosts_ == nullptr ? neptune::kLoopbackAddress : hosts_->address(static_cast<size_t>(host));
}

neptune::Endpoint ProcessCluster::calls(int node) const {
  return {AddressOf(node), nodes_[static_cast<size_t>(node)].call_port};
}

Status ProcessCluster::StartNode(int node, const std::string& spec, const std::string& program) {
  ClusterNode& made = nodes_[static_cast<size_t>(node)];
  const std::string name = NameOf(node);
  std::filesystem::create_directories(DataFolderOf(node));
  std::vector<std::string> arguments;
  if (options_.with_disk_faults) {
    NEPTUNE_ASSIGN_OR_RETURN(
        made.disk, DiskFaults::Make(DataFolderOf(node), StrCat(folder_, "/", name, ".page")));
    arguments = made.disk->command_prefix();
  }
  for (std::string argument :
       {program, "--spec=" + spec, "--node=" + name, "--data_dir=" + folder_ + "/data"}) {
    arguments.push_back(std::move(argument));
  }
  if (hosts_ != nullptr) {
    arguments.push_back("--address=" + TextOf(AddressOf(node)));
    arguments.push_back("--allow_root");
  }
  made.process = std::make_unique<ServerProcess>(
      std::move(arguments), LogOf(node),
      hosts_ == nullptr ? -1 : hosts_->descriptor(static_cast<size_t>(node)));
  if (options_.with_log_pipes) {
    NEPTUNE_ASSIGN_OR_RETURN(made.log, LogPipe::Make(LogOf(node)));
    made.process->SetOutput(made.log->descriptor());
  }
  return made.process->Start();
}

// The client runs on the last host.
Status ProcessCluster::StartClient(const std::string& spec) {
  neptune::NodeOptions options;
  NEPTUNE_ASSIGN_OR_RETURN(options.spec, neptune::ParseClusterSpec(spec, "spec"));
  options.name = neptune::NodeId("client");
  options.with_admin = false;
  options.modules =
      [](const std::string& module) -> StatusOr<std::unique_ptr<neptune::ServiceModule>> {
    if (module != "echo") return neptune::NotFound("no module '", module, "'");
    return std::make_unique<neptune::EchoModule>();
  };
  Status status;
  const auto start = [&] {
    client_ = std::make_unique<neptune::RealNode>(std::move(options));
    status = client_->Start();
  };
  if (hosts_ == nullptr) {
    start();
  } else {
    options.address = AddressOf(node_count());
    hosts_->RunIn(static_cast<size_t>(node_count()), start);
  }
  return status;
}

std::unique_ptr<ProcessFaults> ProcessCluster::MakeFaults(uint64_t seed) {
  std::map<std::string, FaultyNode> faulty;
  for (int i = 0; i < node_count(); ++i) {
    ClusterNode& node = nodes_[static_cast<size_t>(i)];
    FaultyNode& made = faulty[NameOf(i)];
    made = {.process = node.process.get(),
            .host = static_cast<size_t>(i),
            .disk = node.disk.get(),
            .log = node.log.get(),
            .calls = options_.with_nemesis ? std::optional(calls(i)) : std::nullopt,
            .hang_file = StrCat(folder_, "/", NameOf(i), ".hang"),
            .is_whole = [this, i] { return IsWhole(i); }};
    if (hosts_ != nullptr) made.network = hosts_->descriptor(static_cast<size_t>(node_count()));
  }
  return std::make_unique<ProcessFaults>(std::move(faulty), hosts_.get(), seed);
}

double ProcessCluster::ProcessorSeconds() const {
  double seconds = 0;
  for (const ClusterNode& node : nodes_) seconds += node.process->ProcessorSeconds();
  return seconds;
}

StatusOr<std::string> ProcessCluster::Get(int node, const std::string& path) const {
  const std::string at =
      StrCat(TextOf(AddressOf(node)), ":", nodes_[static_cast<size_t>(node)].admin_port);
  StatusOr<neptune::HttpResponse> response = neptune::Unavailable("not asked");
  const auto ask = [&] {
    const StatusOr<tools::HttpOrigin> origin = tools::ParseHttpOrigin(at);
    response = origin.ok() ? tools::HttpGet(*origin, path, {}, {.timeout = kPageTimeMax})
                           : StatusOr<neptune::HttpResponse>(origin.status());
  };
  if (hosts_ == nullptr) {
    ask();
  } else {
    hosts_->RunIn(static_cast<size_t>(node_count()), ask);
  }
  if (!response.ok()) return response.status();
  if (response->status != 200) return neptune::Unavailable(path, " answers ", response->status);
  return response->body;
}

StatusOr<ReplicaFigures> ProcessCluster::Replicas(int node) const {
  NEPTUNE_ASSIGN_OR_RETURN(const std::string metrics, Get(node, "/metrics"));
  return ReplicaFiguresOf(metrics);
}

bool ProcessCluster::IsWhole(int node) const {
  const StatusOr<ReplicaFigures> figures = Replicas(node);
  if (!figures.ok() || figures->failed_count > 0 ||
      figures->serving_count != options_.partition_count) {
    return false;
  }
  for (int other = 0; other < node_count(); ++other) {
    if (other == node || !nodes_[static_cast<size_t>(other)].process->lives()) continue;
    const StatusOr<ReplicaFigures> theirs = Replicas(other);
    if (theirs.ok() && figures->executed_lsn_sum + kLagMax < theirs->executed_lsn_sum) return false;
  }
  return true;
}

int ProcessCluster::Primary() const {
  int primary = -1;
  size_t most = 0;
  for (int i = 0; i < node_count(); ++i) {
    if (!nodes_[static_cast<size_t>(i)].process->lives()) continue;
    const StatusOr<ReplicaFigures> figures = Replicas(i);
    if (!figures.ok() || figures->primary_count <= most) continue;
    most = figures->primary_count;
    primary = i;
  }
  return primary;
}

Status ProcessCluster::AwaitWrites(neptune::Duration time_max) {
  Status status;
  client_->Run([&] {
    neptune::ReplicaSession session{neptune::ClientSession(client_->node().client())};
    const neptune::TimePoint end = neptune::this_thread::Now() + time_max;
    for (uint32_t p = 0; p < options_.partition_count && status.ok(); ++p) {
      do {  // a session learns of another primary by failing
        neptune::Data response;
        const neptune::TimePoint attempt = neptune::this_thread::Now() + kAttemptMax;
        status = session.Call(AppendTo(p), neptune::Data("ready="), &response,
                              {.deadline = std::min(end, attempt)});
        if (!status.ok()) neptune::this_thread::SleepFor(kAwaitStep);
      } while (!status.ok() && neptune::this_thread::Now() < end);
    }
  });
  return neptune::Annotate(status, "waiting for a write");
}

Status ProcessCluster::ReadContents(const std::set<std::pair<uint32_t, std::string>>& registers,
                                    history::RegisterContents* contents) {
  Status status;
  client_->Run([&] {
    neptune::ReplicaSession session{neptune::ClientSession(client_->node().client())};
    for (const auto& [partition, key] : registers) {
      neptune::Data response;
      // An empty append returns the newest contents.
      status = session.Call(AppendTo(partition), neptune::Data(key + "="), &response);
      if (!status.ok()) return;
      (*contents)[{partition, key}] = response.bytes();
    }
  });
  return neptune::Annotate(status, "reading the registers");
}

void ProcessCluster::Sleep(neptune::Duration time) {
  client_->Run([&] { neptune::this_thread::SleepFor(time); });
}

neptune::TimePoint ProcessCluster::Now() {
  neptune::TimePoint now;
  client_->Run([&] { now = neptune::this_thread::Now(); });
  return now;
}

bool ProcessCluster::Await(neptune::Duration time_max, const std::function<bool()>& is_true) {
  const neptune::TimePoint end = Now() + time_max;
  while (!is_true()) {
    if (Now() >= end) return false;
    Sleep(kAwaitStep);
  }
  return true;
}

}  // namespace search::chaos
