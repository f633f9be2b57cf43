#include "tools/deploy/placement.h"

#include <algorithm>
#include <cctype>
#include <set>
#include <sstream>
#include <utility>

#include "neptune/base/strings.h"
#include "neptune/world/network.h"

namespace search::tools {
namespace {

using neptune::InvalidArgument;
using neptune::Status;
using neptune::StatusOr;
using neptune::StrCat;

// Reads the lines, and records the nodes and ports that earlier lines use.
class PlacementReader {
 public:
  explicit PlacementReader(const neptune::ClusterSpec& spec) : spec_(spec) {}

  Status ParseLine(const std::string& line) {
    std::istringstream words(line.substr(0, line.find('#')));
    HostPlace host;
    if (!(words >> host.name)) return neptune::OkStatus();
    if (!IsDnsLabel(host.name)) {
      return InvalidArgument(
          "host '", host.name,
          "' is not a DNS label: lower-case letters, digits and '-', at most 63");
    }
    if (!hosts_.insert(host.name).second)
      return InvalidArgument("host '", host.name, "' is listed twice");
    if (!(words >> host.address)) return InvalidArgument("host '", host.name, "' has no address");
    NEPTUNE_RETURN_IF_ERROR(CheckAddress(host));
    std::set<uint32_t> ports;
    for (std::string node; words >> node; host.nodes.push_back(node)) {
      NEPTUNE_RETURN_IF_ERROR(AddNode(host, node, &ports));
    }
    if (host.nodes.empty()) return InvalidArgument("host '", host.name, "' has no nodes");
    placement_.hosts.push_back(std::move(host));
    return neptune::OkStatus();
  }

  StatusOr<Placement> Finish() {
    for (const auto& node : spec_.nodes()) {
      if (!nodes_.contains(node.name())) {
        return InvalidArgument("node '", node.name(), "' is on no host");
      }
    }
    return std::move(placement_);
  }

 private:
  Status CheckAddress(const HostPlace& host) {
    const auto endpoint = neptune::Endpoint::Parse(host.address + ":0");
    if (!endpoint.ok() || endpoint->address == 0 ||
        !std::isdigit(static_cast<unsigned char>(host.address[0]))) {
      return InvalidArgument("host '", host.name, "' has no address: '", host.address,
                             "' is not a.b.c.d");
    }
    if (!addresses_.insert(host.address).second) {
      return InvalidArgument("address ", host.address, " is listed twice");
    }
    return neptune::OkStatus();
  }

  Status AddNode(const HostPlace& host, const std::string& name, std::set<uint32_t>* ports) {
    const neptune::NodeSpec* const node = neptune::FindNode(spec_, neptune::NodeId(name));
    if (node == nullptr) return InvalidArgument("node '", name, "' is not in the cluster spec");
    if (!nodes_.insert(name).second) return InvalidArgument("node '", name, "' is on two hosts");
    for (const auto& [what, port] : FixedPorts(spec_, *node)) {
      if (!ports->insert(port).second) {
        return InvalidArgument("node '", name, "': ", what, " ", port,
                               " is taken by another node of host '", host.name, "'");
      }
    }
    return neptune::OkStatus();
  }

  const neptune::ClusterSpec& spec_;
  std::set<std::string> hosts_;
  std::set<std::string> addresses_;
  std::set<std::string> nodes_;
  Placement placement_;
};

}  // namespace

std::map<std::string, const HostPlace*> Placement::HostOfNodes() const {
  std::map<std::string, const HostPlace*> host_of;
  for (const HostPlace& host : hosts) {
    for (const std::string& node : host.nodes) host_of[node] = &host;
  }
  return host_of;
}

StatusOr<Placement> ParsePlacement(std::string_view text, std::string_view file,
                                   const neptune::ClusterSpec& spec) {
  if (text.size() > kHostFileSizeMax) {
    return InvalidArgument(file, ": over ", kHostFileSizeMax, " bytes");
  }
  PlacementReader reader(spec);
  std::istringstream lines{std::string(text)};
  int number = 0;
  for (std::string line; std::getline(lines, line);) {
    const Status status = reader.ParseLine(line);
    ++number;
    if (!status.ok()) return neptune::Annotate(status, StrCat(file, ":", number));
  }
  StatusOr<Placement> placement = reader.Finish();
  if (!placement.ok()) return neptune::Annotate(placement.status(), file);
  return placement;
}

bool IsDnsLabel(std::string_view name, size_t size_max) {
  const auto fits = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
  };
  return !name.empty() && name.size() <= size_max && name.front() != '-' && name.back() != '-' &&
         std::all_of(name.begin(), name.end(), fits);
}

std::vector<std::pair<std::string, uint32_t>> FixedPorts(const neptune::ClusterSpec& spec,
                                                         const neptune::NodeSpec& node) {
  std::vector<std::pair<std::string, uint32_t>> ports;
  if (node.call_port() != 0) ports.emplace_back("call_port", node.call_port());
  if (node.control_port() != 0) ports.emplace_back("control_port", node.control_port());
  if (node.admin_port() != 0) ports.emplace_back("admin_port", node.admin_port());
  for (const auto& hosted : node.hosts()) {
    const auto parameters = neptune::EffectiveParameters(spec, hosted);
    const auto port = parameters.find("http_port");
    if (port == parameters.end()) continue;
    const int number = std::atoi(port->second.c_str());
    if (number > 0 && number <= 65535) ports.emplace_back("http_port", number);
  }
  return ports;
}

}  // namespace search::tools
