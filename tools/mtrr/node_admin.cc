#include "tools/mtrr/node_admin.h"

#include <filesystem>
#include <utility>

#include "neptune/base/file.h"
#include "neptune/base/foreign_json.h"
#include "neptune/base/strings.h"
#include "neptune/node/cluster_spec.h"
#include "tools/cluster/state_directory.h"
#include "tools/terminal/caller_path.h"
#include "tools/terminal/command_line.h"

namespace search::tools {
namespace {

using neptune::InvalidArgument;
using neptune::NotFound;
using neptune::Status;
using neptune::StatusOr;
using neptune::StrCat;

constexpr size_t kTokenSizeMax = 4096;

const HttpGetOptions kOptions{.timeout = kNodeTimeout};

// The message of a problem document, or the status alone.
std::string Reason(const neptune::HttpResponse& response) {
  const auto document = neptune::ReadForeignJson(response.body);
  if (document.ok() && document->is_object()) {
    for (const char* member : {"detail", "title"}) {
      const auto found = document->find(member);
      if (found != document->end() && found->is_string() && !found->get<std::string>().empty()) {
        return found->get<std::string>();
      }
    }
  }
  return StrCat("HTTP status ", response.status);
}

Status StatusOfResponse(const neptune::HttpResponse& response) {
  switch (response.status) {
    case 200:
      return neptune::OkStatus();
    case 400:
      return InvalidArgument(Reason(response));
    case 401:
    case 403:
      return absl::PermissionDeniedError(Reason(response));
    case 404:
      return NotFound(Reason(response));
    default:
      return neptune::Unavailable(Reason(response));
  }
}

Status AtNode(const AdminNode& node, const Status& status) {
  return status.ok() ? status : neptune::Annotate(status, StrCat("node ", node.name));
}

Status PutSettings(const AdminNode& node, const std::string& token, std::string_view service,
                   const ThreadSettings& settings) {
  neptune::HttpHeaders headers{{"Content-Type", "application/json"}};
  if (!token.empty()) headers.Add("Authorization", StrCat("Bearer ", token));
  auto response = HttpExchange(node.address, "PUT", StrCat("/services/", service, "/threads"),
                               headers, ThreadSettingsJson(settings), kOptions);
  NEPTUNE_RETURN_IF_ERROR(AtNode(node, response.status()));
  return AtNode(node, StatusOfResponse(*response));
}

Status Change(const AdminNode& node, const std::string& token, std::string_view service,
              const ThreadSettings& settings) {
  NEPTUNE_RETURN_IF_ERROR(PutSettings(node, token, service, settings));
  NEPTUNE_ASSIGN_OR_RETURN(const ServiceState after, ReadService(node, service));
  if (SettingsOf(after) == settings) return neptune::OkStatus();
  return AtNode(node, neptune::Internal("accepted the thread settings and now reports ",
                                        ThreadSettingsJson(SettingsOf(after))));
}

}  // namespace

StatusOr<std::vector<AdminNode>> ParseAdminNodes(std::string_view list) {
  std::vector<AdminNode> nodes;
  for (const std::string& one : SplitList(list)) {
    NEPTUNE_ASSIGN_OR_RETURN(HttpOrigin address, ParseHttpOrigin(one));
    nodes.push_back({address.authority, std::move(address)});
  }
  if (nodes.empty()) return InvalidArgument("no administration port is given");
  return nodes;
}

StatusOr<std::vector<AdminNode>> NodesOfCluster(const std::string& spec_path,
                                                const std::string& state_directory,
                                                std::string_view service) {
  NEPTUNE_ASSIGN_OR_RETURN(const neptune::ClusterSpec spec, neptune::LoadClusterSpec(spec_path));
  if (neptune::FindService(spec, service) == nullptr) {
    return InvalidArgument("the cluster has no service '", service, "'");
  }
  const StateDirectory state(state_directory.empty()
                                 ? ProjectOutputPath("data/var/clusters/" + spec.name())
                                 : state_directory);
  std::vector<AdminNode> nodes;
  for (const neptune::NodeSpec& node : spec.nodes()) {
    bool hosts = false;
    for (const auto& hosted : node.hosts()) hosts = hosts || hosted.service() == service;
    if (!hosts) continue;
    const auto started = state.ReadStarted(node.name());
    if (!started) return neptune::Unavailable("node ", node.name(), " is not running");
    NEPTUNE_ASSIGN_OR_RETURN(HttpOrigin address, ParseHttpOrigin(started->admin));
    nodes.push_back({node.name(), std::move(address)});
  }
  if (nodes.empty()) return NotFound("no node hosts the service '", service, "'");
  return nodes;
}

StatusOr<std::string> ReadToken(const std::string& path, const std::string& spec_path) {
  std::string file = path;
  if (file.empty() && !spec_path.empty()) {
    NEPTUNE_ASSIGN_OR_RETURN(const neptune::ClusterSpec spec, neptune::LoadClusterSpec(spec_path));
    if (!spec.admin_token_file().empty())
      file = (std::filesystem::path(spec_path).parent_path() / spec.admin_token_file()).string();
  }
  if (file.empty()) return std::string();
  NEPTUNE_ASSIGN_OR_RETURN(std::string token, neptune::ReadFile(file, kTokenSizeMax));
  token.erase(token.find_last_not_of(" \t\r\n") + 1);
  return token;
}

StatusOr<ServiceState> ReadService(const AdminNode& node, std::string_view service) {
  auto response = HttpGet(node.address, "/services", {}, kOptions);
  NEPTUNE_RETURN_IF_ERROR(AtNode(node, response.status()));
  NEPTUNE_RETURN_IF_ERROR(AtNode(node, StatusOfResponse(*response)));
  const auto services = ParseServices(response->body);
  NEPTUNE_RETURN_IF_ERROR(AtNode(node, services.status()));
  const ServiceState* const found = services->Find(service);
  if (found == nullptr)
    return AtNode(node, NotFound("the node does not host service '", service, "'"));
  return *found;
}

Status ApplySettings(const AdminAccess& access, std::string_view service,
                     const ThreadSettings& settings) {
  std::vector<std::pair<const AdminNode*, ThreadSettings>> changed;
  for (const AdminNode& node : access.nodes) {
    Status status;
    auto before = ReadService(node, service);
    if (before.ok()) {
      changed.emplace_back(&node, SettingsOf(*before));
      status = Change(node, access.token, service, settings);
    } else {
      status = before.status();
    }
    if (status.ok()) continue;
    std::string kept;
    for (const auto& [other, old] : changed) {
      const auto now = ReadService(*other, service);
      if (now.ok() && SettingsOf(*now) == old) continue;
      if (!PutSettings(*other, access.token, service, old).ok()) kept += " " + other->name;
    }
    return neptune::Annotate(status, kept.empty() ? "the other nodes are unchanged"
                                                  : "could not be restored on:" + kept);
  }
  return neptune::OkStatus();
}

}  // namespace search::tools
