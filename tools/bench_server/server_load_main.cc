// Generates load on a server; kUsage describes the command.

#include <gflags/gflags.h>
#include <sys/resource.h>

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "neptune/base/status.h"
#include "tools/bench_server/client_sockets.h"
#include "tools/bench_server/load_run.h"
#include "tools/bench_server/request_file.h"
#include "tools/streams/byte_source.h"
#include "tools/terminal/command_line.h"

DEFINE_uint32(port, 0, "port of the server on the loopback interface");
DEFINE_string(protocol, "http", "http or redis");
DEFINE_string(requests, "", "file of requests, sent in turn");
DEFINE_uint64(first_request, 0, "number of the request that is sent first");
DEFINE_uint32(connections, 0, "closed loop: connections, each of which waits for its answer");
DEFINE_double(rate, 0, "open loop: requests a second, at random times");
DEFINE_double(seconds, 10, "time of sending");
DEFINE_double(timeout_ms, 30000, "a client that waited for this time leaves");
DEFINE_double(good_ms, 1000, "an answer within this time is good");
DEFINE_string(unwanted, "", "texts of incomplete answers, with a | between them");
DEFINE_uint32(idle_connections, 0, "connections besides that say nothing");
DEFINE_string(heavy, "", "file of further requests that are sent in a closed loop");
DEFINE_uint32(heavy_connections, 4, "connections of the requests of --heavy");
DEFINE_uint64(seed, 1, "seed of the random times");

namespace search::tools {
namespace {

using neptune::InvalidArgument;
using neptune::StatusOr;
using Requests = std::vector<std::string>;

constexpr char kUsage[] =
    "Sends requests to a server on the loopback interface and prints what became of them: one line "
    "of JSON.\n"
    "  server_load --port=8080 --requests=FILE --connections=8 --seconds=10\n"
    "  server_load --port=8080 --requests=FILE --rate=50 --timeout_ms=50 --idle_connections=10000\n"
    "  server_load --port=8080 --requests=FILE --rate=50 --heavy=FILE --heavy_connections=4";

constexpr double kNsPerMs = 1e6;
constexpr double kNsPerS = 1e9;
constexpr size_t kRequestFileSizeMax = size_t{1} << 30;
constexpr size_t kOwnDescriptors = 12'000;

std::vector<std::string> Split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find(separator, begin), text.size());
    if (end > begin) parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

StatusOr<Requests> ReadRequests(const std::string& path) {
  NEPTUNE_ASSIGN_OR_RETURN(const std::string bytes, ReadWholeFile(path, kRequestFileSizeMax));
  auto requests = ParseRequests(bytes);
  if (!requests.ok()) return neptune::Annotate(requests.status(), path);
  return requests;
}

neptune::Status CheckFlags() {
  if (FLAGS_port == 0 || FLAGS_port > 65535) return InvalidArgument("--port is missing or wrong");
  if (FLAGS_protocol != "http" && FLAGS_protocol != "redis") {
    return InvalidArgument("--protocol must be http or redis");
  }
  if ((FLAGS_rate > 0) == (FLAGS_connections > 0)) {
    return InvalidArgument("give either --rate or --connections");
  }
  if (!(FLAGS_seconds > 0) || !(FLAGS_timeout_ms > 0)) {
    return InvalidArgument("--seconds and --timeout_ms must be greater than 0");
  }
  return neptune::OkStatus();
}

double ProcessorSeconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

LoadSource SourceOf(const Requests& requests) {
  return {.requests = &requests,
          .timeout_ns = static_cast<int64_t>(FLAGS_timeout_ms * kNsPerMs),
          .meter = {.good_ns = static_cast<int64_t>(FLAGS_good_ms * kNsPerMs),
                    .unwanted_texts = Split(FLAGS_unwanted, '|')}};
}

StatusOr<nlohmann::json> RunLoad() {
  NEPTUNE_RETURN_IF_ERROR(CheckFlags());
  NEPTUNE_ASSIGN_OR_RETURN(const Requests requests, ReadRequests(FLAGS_requests));
  std::vector<LoadSource> sources = {SourceOf(requests)};
  sources[0].next_request = FLAGS_first_request;
  sources[0].connection_count = static_cast<int>(FLAGS_connections);
  sources[0].rate = FLAGS_rate;
  Requests heavy;
  if (!FLAGS_heavy.empty()) {
    NEPTUNE_ASSIGN_OR_RETURN(heavy, ReadRequests(FLAGS_heavy));
    sources.push_back(SourceOf(heavy));
    sources[1].connection_count = static_cast<int>(FLAGS_heavy_connections);
  }
  AllowDescriptors(FLAGS_idle_connections + kOwnDescriptors);
  const auto port = static_cast<uint16_t>(FLAGS_port);
  const IdleConnections idle(port, FLAGS_idle_connections);
  LoadRun run({.port = port,
               .scan = FLAGS_protocol == "redis" ? &ScanRedisAnswer : &ScanHttpAnswer,
               .duration_ns = static_cast<int64_t>(FLAGS_seconds * kNsPerS),
               .seed = FLAGS_seed},
              sources);
  run.Run();
  nlohmann::json result = run.meter(0).ToJson(FLAGS_seconds);
  if (sources.size() > 1) result["heavy"] = run.meter(1).ToJson(FLAGS_seconds);
  if (FLAGS_idle_connections > 0) {
    result["idle"] = {{"wanted", FLAGS_idle_connections},
                      {"opened", idle.opened_count()},
                      {"alive", idle.CountAlive()}};
  }
  result["generator_cpu_s"] = ProcessorSeconds();
  return result;
}

neptune::Status Run() {
  NEPTUNE_ASSIGN_OR_RETURN(const nlohmann::json result, RunLoad());
  std::printf("%s\n", result.dump().c_str());
  return neptune::OkStatus();
}

}  // namespace
}  // namespace search::tools

int main(int argc, char** argv) {
  const auto rest = search::tools::ParseCommandLine(&argc, &argv, search::tools::kUsage, __FILE__);
  if (!rest.empty()) {
    std::fprintf(stderr, "server_load: unexpected argument '%s'; see --help\n", rest[0].c_str());
    return 2;
  }
  return search::tools::ExitStatus(search::tools::Run(), "server_load");
}
