#include "tools/lab/search/search_processes.h"

#include <fcntl.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>

#include "neptune/base/descriptor.h"
#include "neptune/base/file.h"
#include "neptune/base/notification.h"
#include "neptune/base/process.h"
#include "neptune/base/strings.h"
#include "neptune/base/time.h"
#include "neptune/world/real/real_world.h"
#include "tools/cluster/state_directory.h"
#include "tools/replay/server_check.h"

namespace search::lab {
namespace {

using neptune::Endpoint;
using neptune::Status;
using neptune::StatusOr;
using neptune::StrCat;

constexpr auto kMeetingTimeMax = std::chrono::seconds(20);
// A separate address, so that no connection from 127.0.0.1 takes the port of a stopped frontend.
constexpr char kHttpAddress[] = "127.0.0.2";
constexpr size_t kFrontendCount = 2;
constexpr char kStateFolder[] = "/state";
constexpr char kVersionList[] = "versions.json";

constexpr char kSpec[] = R"(
  name: '$NAME' trust_network: true multicast_group: '239.192.7.3:$PORT'
  services { name: 'tier1' module: 'index_tier' partition_count: 4 scheduling: 'waiting_cost'
             parameters { key: 'path' value: 'tier1' } $INDEX
             time_limit { lower_bound_ms: 50 upper_bound_ms: 500 } }
  services { name: 'docs' module: 'document_server' partition_count: 4
             parameters { key: 'path' value: 'docs' }
             parameters { key: 'implementation' value: 'flat_file' } $DOCUMENTS }
  services { name: 'cache' module: 'query_cache' partition_count: 2 }
  services { name: 'frontend' module: 'frontend' scheduling: 'waiting_cost'
             parameters { key: 'trust_class_header' value: 'true' }
             parameters { key: 'tier1_partitions' value: '4' }
             parameters { key: 'tier2_partitions' value: '0' }
             parameters { key: 'docs_partitions' value: '4' }
             parameters { key: 'cache_partitions' value: '2' } $FRONTEND }
  nodes { name: 'web-1' hosts { service: 'frontend' $HTTP1 } }
  nodes { name: 'web-2' hosts { service: 'frontend' $HTTP2 } }
  nodes { name: 'cache-1' hosts { service: 'cache' } }
  nodes { name: 'cache-2' hosts { service: 'cache' } }
  nodes { name: 'store-1' hosts { service: 'tier1' partitions: [0, 1] }
          hosts { service: 'docs' partitions: [0, 1] } }
  nodes { name: 'store-2' hosts { service: 'tier1' partitions: [2, 3] }
          hosts { service: 'docs' partitions: [2, 3] } }
  nodes { name: 'store-3' hosts { service: 'tier1' partitions: [1, 2] }
          hosts { service: 'docs' partitions: [1, 2] } }
  nodes { name: 'store-4' hosts { service: 'tier1' partitions: [3, 0] }
          hosts { service: 'docs' partitions: [3, 0] } }
)";
constexpr char kReplication[] = "replication { level: 'ordered_writes' witness: 'cache-1' }";
constexpr const char* kNodes[] = {"web-1",   "web-2",   "cache-1", "cache-2",
                                  "store-1", "store-2", "store-3", "store-4"};

std::string Parameter(const std::string& name, const std::string& value) {
  return StrCat("parameters { key: '", name, "' value: '", value, "' } ");
}

// The index of its host; frontends come first.
size_t HostOf(const std::string& node) {
  return static_cast<size_t>(std::find(std::begin(kNodes), std::end(kNodes), node) - kNodes);
}

std::string AddressText(uint32_t address) {
  const std::string text = Endpoint{address, 0}.ToString();
  return text.substr(0, text.find(':'));
}

void Fill(const std::string& name, const std::string& value, std::string* text) {
  text->replace(text->find(name), name.size(), value);
}

double ProcessorSecondsOf(pid_t process) {
  clockid_t clock{};
  timespec used{};
  if (process == 0 || clock_getcpuclockid(process, &clock) != 0) return 0;
  if (clock_gettime(clock, &used) != 0) return 0;
  return static_cast<double>(used.tv_sec) + 1e-9 * static_cast<double>(used.tv_nsec);
}

}  // namespace

std::vector<uint32_t> SearchProcesses::PartitionsOf(const std::string& node) {
  static const std::map<std::string, std::vector<uint32_t>> kPartitions = {
      {"store-1", {0, 1}}, {"store-2", {2, 3}}, {"store-3", {1, 2}}, {"store-4", {3, 0}}};
  const auto entry = kPartitions.find(node);
  return entry == kPartitions.end() ? std::vector<uint32_t>{} : entry->second;
}

StatusOr<std::unique_ptr<SearchProcesses>> SearchProcesses::Start(
    const SyntheticIndex& index, const SearchProcessesOptions& options) {
  std::unique_ptr<SearchProcesses> search(new SearchProcesses());
  search->base_folder_ = index.folder();
  NEPTUNE_RETURN_IF_ERROR(search->FindModules());
  if (options.on_hosts) NEPTUNE_RETURN_IF_ERROR(search->MakeHosts());
  NEPTUNE_RETURN_IF_ERROR(search->WriteSpec(options));
  if (options.supervised) {
    NEPTUNE_RETURN_IF_ERROR(search->StartSupervisor());
  } else {
    for (const char* node : kNodes) NEPTUNE_RETURN_IF_ERROR(search->StartNode(node));
  }
  NEPTUNE_RETURN_IF_ERROR(search->Meet());
  return search;
}

SearchProcesses::~SearchProcesses() {
  for (const auto& [node, process] : processes_) process->Signal(SIGKILL);
  processes_.clear();
  if (supervisor_ != nullptr) (void)Command("tools/cluster/cluster", {"--stop"});
  supervisor_.reset();
  std::error_code ignored;
  if (!folder_.empty()) std::filesystem::remove_all(folder_, ignored);
}

Status SearchProcesses::FindModules() {
  for (const char* module :
       {"frontend/frontend.so", "index/tier/service/index_tier.so",
        "docserver/service/document_server.so", "cache/service/query_cache.so"}) {
    NEPTUNE_ASSIGN_OR_RETURN(const std::string path, FindProgram(module));
    if (!module_folders_.empty()) module_folders_ += ':';
    module_folders_ += std::filesystem::path(path).parent_path().string();
  }
  return neptune::OkStatus();
}

Status SearchProcesses::WriteSpec(const SearchProcessesOptions& options) {
  folder_ = (std::filesystem::temp_directory_path() / "search_processes_XXXXXX").string();
  if (mkdtemp(folder_.data()) == nullptr) {
    return neptune::Unavailable("making a folder like ", std::exchange(folder_, ""));
  }
  for (size_t i = 0; i < kFrontendCount; ++i) http_ports_.push_back(neptune::UniquePort().number());
  std::string text = kSpec + options.service_classes;
  Fill("$NAME", StrCat("lab-", port_.number()), &text);
  Fill("$PORT", StrCat(port_.number()), &text);
  for (size_t i = 0; i < kFrontendCount; ++i) {
    Fill(StrCat("$HTTP", i + 1),
         Parameter("http_address", HttpAddress(i)) + Parameter("http_port", StrCat(http_ports_[i])),
         &text);
  }
  const bool change = options.documents_change;
  Fill("$INDEX",
       change ? Parameter("live_path", folder_ + "/live") + Parameter("tier1_partitions", "4") +
                    Parameter("statistics_period_ms", "5000") + kReplication
              : "",
       &text);
  Fill("$DOCUMENTS", change ? Parameter("live", "true") + kReplication : "", &text);
  // The client checks frontends every 250 ms, so the next restart has to wait that long.
  const std::string leave = options.supervised ? Parameter("http_leave_ms", "500") : "";
  const std::string sampled = Parameter("trace_share", StrCat(options.sampled_share));
  span_logs_ = options.span_logs;
  // Loads that are to reach the servers pass the caches with every question, from any host.
  const std::string reloads = Parameter("reload_share_max", "1");
  Fill("$FRONTEND",
       leave + sampled + reloads + (change ? Parameter("documents_change", "true") : ""), &text);
  if (options.supervised) {
    for (const char* after : {"value: 'tier1' } ", "value: 'flat_file' } ", "value: 'true' }\n"}) {
      text.insert(text.find(after) + std::string_view(after).size(),
                  Parameter("versions", kVersionList));
    }
  }
  spec_path_ = folder_ + "/cluster.textproto";
  return neptune::WriteFileAtomically(spec_path_, text);
}

// The last host is the client's.
Status SearchProcesses::MakeHosts() {
  NEPTUNE_ASSIGN_OR_RETURN(hosts_, LinkedHosts::Make(std::size(kNodes) + 1));
  return neptune::OkStatus();
}

std::string SearchProcesses::HttpAddress(size_t frontend) const {
  return hosts_ == nullptr ? kHttpAddress : AddressText(hosts_->address(frontend));
}

Status SearchProcesses::StartNode(const std::string& node) {
  const tools::StateDirectory state(folder_ + kStateFolder);
  NEPTUNE_RETURN_IF_ERROR(state.MakeNode(node));
  state.ForgetStarted(node);
  std::vector<std::string> arguments = {"--spec=" + spec_path_,
                                        "--node=" + node,
                                        "--base_dir=" + base_folder_,
                                        "--data_dir=" + folder_ + "/data",
                                        "--module_dir=" + module_folders_,
                                        "--started_file=" + state.StartedFile(node),
                                        "--minloglevel=2"};
  if (span_logs_) arguments.push_back("--span_log=" + state.SpanFile(node));
  int network = -1;
  if (hosts_ != nullptr) {
    arguments.push_back("--address=" + AddressText(hosts_->address(HostOf(node))));
    arguments.push_back("--allow_root");
    network = hosts_->descriptor(HostOf(node));
  }
  NEPTUNE_ASSIGN_OR_RETURN(processes_[node],
                           PeerProcess::Start("neptune/node/neptuned", arguments, -1, network));
  return neptune::OkStatus();
}

StatusOr<std::vector<tools::StatusTable>> SearchProcesses::StatusOf(
    const std::string& node, const std::string& section) const {
  const auto started = tools::StateDirectory(folder_ + kStateFolder).ReadStarted(node);
  if (!started) return neptune::Unavailable(node, " has not reported its administration address");
  return ReadNodeStatus(started->admin, section);
}

std::vector<std::string> SearchProcesses::ToolArguments() const {
  return {"--spec=" + spec_path_, "--data=" + base_folder_, "--state=" + folder_ + kStateFolder};
}

Status SearchProcesses::StartSupervisor() {
  std::error_code ignored;
  std::filesystem::remove(base_folder_ + "/" + kVersionList, ignored);
  NEPTUNE_ASSIGN_OR_RETURN(supervisor_,
                           PeerProcess::Start("tools/cluster/cluster", ToolArguments(), -1));
  // It prints a line when all nodes have started; later output fits into the pipe.
  return supervisor_->ReadLine().status();
}

Status SearchProcesses::Command(const std::string& tool,
                                const std::vector<std::string>& arguments) const {
  NEPTUNE_ASSIGN_OR_RETURN(const std::string path, FindProgram(tool));
  std::vector<std::string> words = {path};
  for (const std::string& word : ToolArguments()) words.push_back(word);
  words.insert(words.end(), arguments.begin(), arguments.end());
  const std::string log = StrCat(folder_, "/command.log");
  const neptune::Descriptor output(
      open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644));
  if (!output.open()) return neptune::Unavailable("opening ", log, ": ", std::strerror(errno));
  NEPTUNE_ASSIGN_OR_RETURN(
      neptune::Process process,
      neptune::Process::Start(
          {.command = words, .output = output.number(), .error = output.number()}));
  const neptune::ProcessEnd end = process.Wait();
  if (end.signal == 0 && end.exit_status == 0) return neptune::OkStatus();
  const auto said = neptune::ReadFile(log, size_t{1} << 20);
  return neptune::FailedPrecondition(tool, " failed: ", said.value_or(""));
}

void SearchProcesses::Signal(const std::string& node, int signal) const {
  processes_.at(node)->Signal(signal);
}

Status SearchProcesses::StartAgain(const std::string& node) {
  processes_.at(node).reset();
  return StartNode(node);
}

double SearchProcesses::ProcessorSeconds() const {
  double used_s = 0;
  for (const auto& [node, process] : processes_) used_s += process->ProcessorSeconds();
  if (supervisor_ == nullptr) return used_s;
  const tools::StateDirectory state(folder_ + kStateFolder);
  for (const char* node : kNodes) used_s += ProcessorSecondsOf(state.RunningPid(node));
  return used_s;
}

StatusOr<std::vector<Endpoint>> SearchProcesses::admin_endpoints() const {
  const tools::StateDirectory state(folder_ + kStateFolder);
  std::vector<Endpoint> endpoints;
  for (const char* node : kNodes) {
    const auto started = state.ReadStarted(node);
    if (!started) return neptune::Unavailable(node, " has not reported its administration address");
    NEPTUNE_ASSIGN_OR_RETURN(const Endpoint admin, Endpoint::Parse(started->admin));
    endpoints.push_back(admin);
  }
  return endpoints;
}

double SearchProcesses::SpanBytes() const {
  const tools::StateDirectory state(folder_ + kStateFolder);
  double bytes = 0;
  for (const char* node : kNodes) {
    std::error_code absent;
    const auto size = std::filesystem::file_size(state.SpanFile(node), absent);
    if (!absent) bytes += static_cast<double>(size);
  }
  return bytes;
}

std::vector<Endpoint> SearchProcesses::http_endpoints() const {
  std::vector<Endpoint> endpoints;
  for (const uint16_t port : http_ports_) {
    const std::string address = HttpAddress(endpoints.size());
    endpoints.push_back({Endpoint::Parse(address + ":0")->address, port});
  }
  return endpoints;
}

void SearchProcesses::RunAsClient(const std::function<void()>& body) const {
  if (hosts_ == nullptr) return body();
  hosts_->RunIn(std::size(kNodes), body);
}

Status SearchProcesses::SetLink(const std::string& node, bool is_up) const {
  return hosts_->SetLink(HostOf(node), is_up);
}

Status SearchProcesses::Meet() const {
  Status status;
  RunAsClient([&] { status = MeetAsClient(); });
  return status;
}

Status SearchProcesses::MeetAsClient() const {
  const auto world = neptune::MakeRealWorld({});
  NEPTUNE_ASSIGN_OR_RETURN(neptune::Loop* const loop, world->StartLoop({.name = "meet"}));
  std::vector<std::unique_ptr<tools::ServerCheck>> checks;
  size_t ready_count = 0;
  neptune::Notification all_ready;
  loop->Post([&] {
    for (const Endpoint& server : http_endpoints()) {
      checks.push_back(std::make_unique<tools::ServerCheck>(
          *loop, tools::ServerCheckOptions{.server = server, .path = "/readyz?complete=1"}, [&] {
            if (++ready_count == http_ports_.size()) all_ready.Notify();
          }));
      checks.back()->Begin();
    }
  });
  const bool met =
      all_ready.WaitForNotificationWithTimeout(absl::Seconds(neptune::ToSeconds(kMeetingTimeMax)));
  neptune::Notification gone;
  loop->Post([&] {
    checks.clear();
    gone.Notify();
  });
  gone.WaitForNotification();
  world->Stop();
  if (met) return neptune::OkStatus();
  return neptune::Unavailable("not every frontend finds every partition within ",
                              neptune::ToSeconds(kMeetingTimeMax), " s");
}

}  // namespace search::lab
