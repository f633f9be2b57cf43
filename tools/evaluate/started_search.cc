#include "tools/evaluate/started_search.h"

#include <google/protobuf/text_format.h>
#include <poll.h>
#include <stdlib.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <string_view>
#include <utility>

#include "neptune/base/file.h"
#include "neptune/base/strings.h"
#include "neptune/base/unique_port.h"
#include "neptune/node/cluster_spec.h"
#include "tools/process/program_run.h"

namespace search::tools {
namespace {

namespace fs = std::filesystem;
using neptune::Status;
using neptune::StatusOr;
using neptune::StrCat;

constexpr int kReadyPauseMs = 50;
constexpr std::chrono::milliseconds kReadyAttemptTimeout{2000};
constexpr std::string_view kPatienceMs = "5000";

bool IsFrontend(const neptune::ServiceSpec& service) { return service.module() == "frontend"; }

// Removes time limits and gives the frontends long ones.
void MakePatient(neptune::ClusterSpec* spec) {
  for (neptune::ServiceSpec& service : *spec->mutable_services()) {
    service.clear_time_limit();
    if (!IsFrontend(service)) continue;
    for (const char* name : {"tier_timeout_ms", "document_timeout_ms"}) {
      neptune::SetParameter(name, kPatienceMs, service.mutable_parameters());
    }
  }
}

// Gives each frontend a free port; returns that of the first, 0 if there is none.
uint16_t GivePorts(neptune::ClusterSpec* spec) {
  uint16_t first = 0;
  for (neptune::NodeSpec& node : *spec->mutable_nodes()) {
    for (neptune::HostedServiceSpec& hosted : *node.mutable_hosts()) {
      const neptune::ServiceSpec* const service = neptune::FindService(*spec, hosted.service());
      if (service == nullptr || !IsFrontend(*service)) continue;
      const uint16_t port = neptune::UniquePort().number();
      neptune::SetParameter("http_port", StrCat(port), hosted.mutable_parameters());
      if (first == 0) first = port;
    }
  }
  return first;
}

}  // namespace

StatusOr<std::unique_ptr<StartedSearch>> StartedSearch::Start(const StartedSearchOptions& options) {
  std::unique_ptr<StartedSearch> search(new StartedSearch());
  NEPTUNE_RETURN_IF_ERROR(search->MakeFolder());
  NEPTUNE_RETURN_IF_ERROR(search->BuildIndex(options));
  NEPTUNE_RETURN_IF_ERROR(search->WriteSpec(options.spec));
  NEPTUNE_RETURN_IF_ERROR(search->StartCluster());
  NEPTUNE_RETURN_IF_ERROR(search->WaitUntilReady());
  return search;
}

StartedSearch::~StartedSearch() {
  if (cluster_ != nullptr) cluster_->Signal(SIGTERM);
  cluster_.reset();
  std::error_code ignored;
  if (!folder_.empty()) fs::remove_all(folder_, ignored);
}

Status StartedSearch::MakeFolder() {
  std::string pattern = (fs::temp_directory_path() / "started_search.XXXXXX").string();
  if (mkdtemp(pattern.data()) == nullptr) {
    return neptune::Unavailable(pattern, ": cannot create the folder");
  }
  folder_ = std::move(pattern);
  return neptune::OkStatus();
}

Status StartedSearch::BuildIndex(const StartedSearchOptions& options) const {
  NEPTUNE_ASSIGN_OR_RETURN(const std::string program,
                           lab::FindProgram("tools/build_index/build_index"));
  std::vector<std::string> command = {program, "--input=" + options.documents,
                                      "--out=" + folder_ + "/index"};
  command.insert(command.end(), options.index_arguments.begin(), options.index_arguments.end());
  NEPTUNE_ASSIGN_OR_RETURN(const ProgramRun run, RunToEnd(command, folder_));
  if (run.exit_status == 0) return neptune::OkStatus();
  return neptune::FailedPrecondition("building the index of ", options.documents, ": ", run.output);
}

Status StartedSearch::WriteSpec(const std::string& source) {
  NEPTUNE_ASSIGN_OR_RETURN(neptune::ClusterSpec spec, neptune::LoadClusterSpec(source));
  const uint16_t port = GivePorts(&spec);
  if (port == 0) return neptune::InvalidArgument(source, ": no node hosts a frontend");
  const uint16_t group_port = neptune::UniquePort().number();
  spec.set_name(StrCat("evaluated-", group_port));
  if (!neptune::UsesDirectory(spec)) {
    spec.set_multicast_group(StrCat("239.193.", getpid() % 250, ".1:", group_port));
  }
  MakePatient(&spec);
  std::string text;
  if (!google::protobuf::TextFormat::PrintToString(spec, &text)) {
    return neptune::InvalidArgument(source, ": cannot be written as text");
  }
  const std::string address =
      spec.interface_address().empty() ? "127.0.0.1" : spec.interface_address();
  NEPTUNE_ASSIGN_OR_RETURN(server_, ParseHttpOrigin(StrCat("http://", address, ":", port)));
  return neptune::WriteFileAtomically(folder_ + "/cluster.textproto", text);
}

Status StartedSearch::StartCluster() {
  NEPTUNE_ASSIGN_OR_RETURN(
      cluster_,
      lab::PeerProcess::Start("tools/cluster/cluster",
                              {"--spec=" + folder_ + "/cluster.textproto",
                               "--data=" + folder_ + "/index", "--state=" + folder_ + "/state"},
                              -1));
  // It prints a line when all nodes have started; later output fits into the pipe.
  return cluster_->ReadLine().status();
}

Status StartedSearch::WaitUntilReady() const {
  const int attempt_count =
      static_cast<int>(std::chrono::milliseconds(kReadyTimeMax).count() / kReadyPauseMs);
  Status last;
  for (int i = 0; i < attempt_count; ++i) {
    const auto response =
        HttpGet(server_, "/readyz?complete=1", {}, {.timeout = kReadyAttemptTimeout});
    if (response.ok() && response->status == 200) return neptune::OkStatus();
    last = response.ok() ? neptune::Unavailable(response->body) : response.status();
    poll(nullptr, 0, kReadyPauseMs);
  }
  return neptune::Annotate(last, StrCat(server_.base_url, " does not serve every partition"));
}

}  // namespace search::tools
