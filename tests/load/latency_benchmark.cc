// Measures a running cluster: distinct queries at a steady rate over HTTP, latency against a bound.

#include <gflags/gflags.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <string>
#include <vector>

#include "frontend/search_request.h"
#include "neptune/base/histogram.h"
#include "neptune/base/strings.h"
#include "neptune/world/real/real_world.h"
#include "tests/load/open_loop.h"
#include "tests/load/query_list.h"
#include "tools/search/answer_reader.h"
#include "tools/terminal/caller_path.h"
#include "tools/terminal/command_line.h"

DEFINE_string(servers, "127.0.0.1:8080,127.0.0.1:8081",
              "frontends, address:port, separated by commas; asked in turn");
DEFINE_string(corpus, "data/var/corpora/small.jsonl.zst",
              "JSON Lines whose words the queries are made of");
DEFINE_double(rate, 50, "queries a second");
DEFINE_uint64(queries, 3000, "queries measured");
DEFINE_uint64(warmup, 500, "other queries asked before, not measured");
DEFINE_uint64(seed, 1, "seed of queries and gaps");
DEFINE_string(format, "json", "json or html");
DEFINE_double(p50_ms_max, 5, "bound of the median; 0: none");
DEFINE_double(p99_ms_max, 25, "bound of the 99th percentile; 0: none");

namespace search::tests {
namespace {

using neptune::Duration;
using neptune::Histogram;
using neptune::Status;
using neptune::StatusOr;

constexpr char kUsage[] =
    "measures the latency of a running cluster with distinct, uncached queries\n\n"
    "  bazel run //tests/load:latency_benchmark -- --rate=50 --queries=3000\n\n"
    "Latency counts from the time at which a query was due. Exit status 0: the bounds hold and no\n"
    "query failed.";

double Millis(uint64_t ns) { return static_cast<double>(ns) / 1e6; }

void PrintRow(const char* name, const Histogram& times) {
  std::printf("%-22s %8.2f %8.2f %8.2f %8.2f %8.2f\n", name, Millis(times.Percentile(0.5)),
              Millis(times.Percentile(0.9)), Millis(times.Percentile(0.99)),
              Millis(times.Percentile(0.999)), Millis(times.max()));
}

StatusOr<std::vector<std::string>> MakeTargets(size_t count) {
  if (FLAGS_format != "json" && FLAGS_format != "html") {
    return neptune::InvalidArgument("--format=", FLAGS_format, " is not json or html");
  }
  NEPTUNE_ASSIGN_OR_RETURN(const std::vector<std::string> queries,
                           MakeQueries(tools::ProjectPath(FLAGS_corpus), count, FLAGS_seed));
  std::vector<std::string> targets;
  for (const std::string& query : queries) {
    targets.push_back("/search?q=" + frontend::EncodeParameter(query) + "&format=" + FLAGS_format);
  }
  return targets;
}

StatusOr<LoadPlan> MakePlan() {
  LoadPlan plan;
  for (const std::string& server : tools::SplitList(FLAGS_servers)) {
    NEPTUNE_ASSIGN_OR_RETURN(const neptune::Endpoint endpoint, neptune::Endpoint::Parse(server));
    plan.servers.push_back(endpoint);
  }
  if (plan.servers.empty()) return neptune::InvalidArgument("--servers names none");
  if (!(FLAGS_rate > 0)) return neptune::InvalidArgument("--rate must be above 0");
  plan.rate = FLAGS_rate;
  plan.seed = FLAGS_seed;
  return plan;
}

// What the answers say of themselves.
struct Tally {
  Histogram latency;
  Histogram send_delay;
  Histogram server;  // took_ms
  size_t answered = 0;
  size_t partial = 0;
  size_t empty = 0;
  size_t both_tiers = 0;
  size_t cached = 0;
  std::map<std::string, size_t> failures;
};

void Count(const Exchange& exchange, Tally* tally) {
  tally->send_delay.Record(
      static_cast<uint64_t>(std::max<int64_t>(0, exchange.send_delay.count())));
  if (!exchange.status.ok()) {
    ++tally->failures[exchange.status.ToString()];
    return;
  }
  if (exchange.http_status != 200) {
    ++tally->failures[neptune::StrCat("HTTP status ", exchange.http_status)];
    return;
  }
  ++tally->answered;
  tally->latency.Record(static_cast<uint64_t>(exchange.latency.count()));
  if (FLAGS_format != "json") return;
  const auto answer = tools::ReadAnswer(exchange.body);
  if (!answer.ok()) {
    ++tally->failures[answer.status().ToString()];
    return;
  }
  tally->server.Record(static_cast<uint64_t>(answer->took.count()));
  if (!answer->coverage.complete()) ++tally->partial;
  if (answer->results.empty()) ++tally->empty;
  if (answer->coverage.tiers.size() > 1) ++tally->both_tiers;
  if (answer->coverage.cache.outcome == frontend::CacheUse::Outcome::kHit) ++tally->cached;
}

void Print(const Tally& tally) {
  std::printf("%-22s %8s %8s %8s %8s %8s\n", "ms", "p50", "p90", "p99", "p99.9", "max");
  PrintRow("latency", tally.latency);
  if (tally.server.count() > 0) PrintRow("of it in the frontend", tally.server);
  PrintRow("sent late by", tally.send_delay);
  std::printf("answered %zu; partial %zu, without results %zu, of both tiers %zu, cached %zu\n",
              tally.answered, tally.partial, tally.empty, tally.both_tiers, tally.cached);
  for (const auto& [what, count] : tally.failures) {
    std::printf("failed %zu: %s\n", count, what.c_str());
  }
}

Status CheckBounds(const Tally& tally) {
  if (!tally.failures.empty()) return neptune::Unavailable("some queries failed");
  const auto check = [&](double fraction, double bound_ms) -> Status {
    const double measured = Millis(tally.latency.Percentile(fraction));
    if (bound_ms <= 0 || measured <= bound_ms) return neptune::OkStatus();
    return neptune::DeadlineExceeded("percentile ", fraction * 100, " is ", measured,
                                     " ms, over its bound of ", bound_ms, " ms");
  };
  NEPTUNE_RETURN_IF_ERROR(check(0.5, FLAGS_p50_ms_max));
  return check(0.99, FLAGS_p99_ms_max);
}

Status Measure() {
  NEPTUNE_ASSIGN_OR_RETURN(LoadPlan plan, MakePlan());
  NEPTUNE_ASSIGN_OR_RETURN(const std::vector<std::string> targets,
                           MakeTargets(FLAGS_warmup + FLAGS_queries));
  const auto world = neptune::MakeRealWorld({});
  NEPTUNE_ASSIGN_OR_RETURN(neptune::Loop* const loop, world->StartLoop({.name = "load"}));
  const auto measured = targets.begin() + static_cast<ptrdiff_t>(FLAGS_warmup);
  plan.targets.assign(targets.begin(), measured);
  (void)RunOpenLoop(*loop, plan);
  plan.targets.assign(measured, targets.end());
  const std::vector<Exchange> exchanges = RunOpenLoop(*loop, plan);
  world->Stop();
  Tally tally;
  for (const Exchange& exchange : exchanges) Count(exchange, &tally);
  Print(tally);
  return CheckBounds(tally);
}

}  // namespace
}  // namespace search::tests

int main(int argc, char** argv) {
  search::tools::ParseCommandLine(&argc, &argv, search::tests::kUsage, __FILE__);
  return search::tools::ExitStatus(search::tests::Measure(), "latency_benchmark");
}
