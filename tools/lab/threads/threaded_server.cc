#include "tools/lab/threads/threaded_server.h"

#include <charconv>

#include "neptune/base/strings.h"
#include "neptune/world/real/real_world.h"
#include "tools/mtrr/profiler.h"

namespace search::lab {
namespace {

using neptune::StatusOr;
using neptune::StrCat;

constexpr char kProgram[] = "tools/lab/threads/threaded_server";
constexpr char kService[] = "work";
constexpr char kToken[] = "lab";

StatusOr<uint16_t> ReadPort(PeerProcess& process) {
  NEPTUNE_ASSIGN_OR_RETURN(const std::string line, process.ReadLine());
  constexpr std::string_view kBegin = "port ";
  uint16_t port = 0;
  if (line.starts_with(kBegin)) {
    std::from_chars(line.data() + kBegin.size(), line.data() + line.size(), port);
  }
  if (port == 0) return neptune::Unavailable(kProgram, " said '", line, "' instead of a port");
  return port;
}

}  // namespace

StatusOr<std::unique_ptr<ThreadedServer>> ThreadedServer::Start(
    const ThreadedServerOptions& options) {
  const std::vector<std::string> arguments = {
      StrCat("--processor_ms=", options.processor_ms),
      StrCat("--device_ms=", options.device_ms),
      StrCat("--device_width=", options.device_width),
      StrCat("--queue_length_max=", options.queue_length_max),
      StrCat("--stratified=", options.stratified ? "true" : "false"),
      StrCat("--seed=", options.seed),
      StrCat("--token=", kToken)};
  // The program itself pins its threads to one processor.
  NEPTUNE_ASSIGN_OR_RETURN(auto process, PeerProcess::Start(kProgram, arguments, -1));
  NEPTUNE_ASSIGN_OR_RETURN(const uint16_t port, ReadPort(*process));
  tools::AdminAccess access{.nodes = {}, .token = kToken};
  NEPTUNE_ASSIGN_OR_RETURN(access.nodes, tools::ParseAdminNodes(StrCat("127.0.0.1:", port)));
  return std::unique_ptr<ThreadedServer>(
      new ThreadedServer(std::move(process), port, std::move(access)));
}

neptune::Status ThreadedServer::SetThreads(int count) {
  return tools::ApplySettings(access_, kService, {.concurrency = count, .classes = {}});
}

StatusOr<tools::ServiceProfile> ThreadedServer::Profile(const std::vector<int>& thread_counts,
                                                        double warm_up_s, double length_s) {
  tools::ProfileOptions options{.service = kService,
                                .service_class = {},
                                .thread_counts = thread_counts,
                                .requests_per_thread = 4,
                                .warm_up_s = warm_up_s,
                                .length_s = length_s,
                                .repetition_count = 1};
  options.target.servers = {endpoint()};
  options.target_options = {.timeout = std::chrono::seconds(30), .path = "/request?q="};
  const auto world = neptune::MakeRealWorld({});
  NEPTUNE_ASSIGN_OR_RETURN(neptune::Loop* const loop, world->StartLoop({.name = "profile"}));
  auto profile = tools::MeasureProfile(*loop, access_, tools::PlanOfQueries({"item"}, ""), options,
                                       [](int, int, double) {});
  world->Stop();
  return profile;
}

}  // namespace search::lab
