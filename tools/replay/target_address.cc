#include "tools/replay/target_address.h"

#include <charconv>
#include <utility>

#include "absl/synchronization/notification.h"
#include "index/tier/tier_service.h"
#include "neptune/base/strings.h"
#include "tools/replay/failover_target.h"
#include "tools/replay/http_target.h"
#include "tools/replay/neptune_target.h"
#include "tools/terminal/command_line.h"

namespace search::tools {
namespace {

using neptune::Endpoint;
using neptune::InvalidArgument;
using neptune::Status;
using neptune::StatusOr;

constexpr std::string_view kHttp = "http://";
constexpr std::string_view kNeptune = "neptune://";

StatusOr<Endpoint> ParseServer(std::string_view text) {
  while (text.ends_with('/')) text.remove_suffix(1);
  const StatusOr<Endpoint> endpoint = Endpoint::Parse(text);
  if (endpoint.ok() && endpoint->port != 0) return endpoint;
  return InvalidArgument("--target: '", text, "' is not an IPv4 address or localhost, and a port");
}

StatusOr<TargetAddress> ParseHttp(std::string_view text) {
  TargetAddress address;
  for (const std::string& part : SplitList(text)) {
    std::string_view server = part;
    if (server.starts_with(kHttp)) server.remove_prefix(kHttp.size());
    NEPTUNE_ASSIGN_OR_RETURN(address.servers.emplace_back(), ParseServer(server));
  }
  return address;
}

StatusOr<TargetAddress> ParseNeptune(std::string_view text) {
  const auto malformed = [&] {
    return InvalidArgument("--target: '", text,
                           "' is not neptune://HOST:PORT[,HOST:PORT]/SERVICE/PARTITION/METHOD");
  };
  std::string_view rest = text.substr(kNeptune.size());
  std::vector<std::string_view> parts;
  for (size_t end; (end = rest.find('/')) != rest.npos; rest.remove_prefix(end + 1)) {
    parts.push_back(rest.substr(0, end));
  }
  parts.push_back(rest);
  TargetAddress address{.is_http = false};
  if (parts.size() != 4 || parts[1].empty() || parts[3].empty()) return malformed();
  const char* const end = parts[2].data() + parts[2].size();
  const auto [stop, error] = std::from_chars(parts[2].data(), end, address.partition);
  if (error != std::errc() || stop != end) return malformed();
  address.service = parts[1];
  address.method = parts[3];
  for (const std::string& server : SplitList(parts[0])) {
    NEPTUNE_ASSIGN_OR_RETURN(address.servers.emplace_back(), ParseServer(server));
  }
  return address;
}

}  // namespace

StatusOr<TargetAddress> ParseTarget(std::string_view text) {
  if (!text.starts_with(kHttp) && !text.starts_with(kNeptune)) {
    return InvalidArgument("--target=", text, " must begin with http:// or neptune://");
  }
  NEPTUNE_ASSIGN_OR_RETURN(TargetAddress address,
                           text.starts_with(kHttp) ? ParseHttp(text) : ParseNeptune(text));
  if (address.servers.empty()) return InvalidArgument("--target=", text, " names no server");
  return address;
}

std::unique_ptr<LoadTarget> MakeTarget(neptune::Loop& loop, const ReplayPlan& plan,
                                       const TargetAddress& address, const TargetOptions& options) {
  if (address.is_http) {
    HttpTargetOptions http{.servers = address.servers,
                           .connection_count_max = options.connection_count_max};
    http.read_facts = options.path.empty();
    if (!options.path.empty()) http.path = options.path;
    if (!options.use_cache) http.headers = "Cache-Control: no-cache\r\n";
    if (options.failover_patience > neptune::Duration(0)) {
      return std::make_unique<FailoverTarget>(
          loop, plan, FailoverOptions{.http = http, .patience = options.failover_patience});
    }
    return std::make_unique<HttpTarget>(loop, plan, std::move(http));
  }
  NeptuneTargetOptions calls{.servers = address.servers,
                             .service = neptune::ServiceName(address.service),
                             .partition = neptune::PartitionId(address.partition),
                             .method = neptune::MethodName(address.method),
                             .timeout = options.timeout,
                             .keys = options.keys};
  if (address.method == index::kTierSearchMethod) calls.payload = NeptunePayload::kTierQuery;
  return std::make_unique<NeptuneTarget>(loop, plan, std::move(calls));
}

Status CheckReachable(neptune::Loop& loop, const std::vector<Endpoint>& servers) {
  for (const Endpoint& server : servers) {
    absl::Notification done;
    Status status;
    loop.Post([&] {
      loop.network().Connect(server, loop.Now() + std::chrono::seconds(3),
                             [&](StatusOr<std::unique_ptr<neptune::Stream>> stream) {
                               status = stream.status();
                               done.Notify();
                             });
    });
    done.WaitForNotification();
    if (!status.ok()) {
      return neptune::Unavailable(server.ToString(), " refuses connections (",
                                  neptune::ToStd(status.message()),
                                  "); is the cluster running? ./tools/up starts it");
    }
  }
  return neptune::OkStatus();
}

}  // namespace search::tools
