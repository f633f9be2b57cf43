// An unmodified web server with three replicas, one of which is suspended: its own threads compared
// with capsules from a config file.

#include <algorithm>
#include <cmath>
#include <csignal>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "neptune/base/strings.h"
#include "tools/lab/capsules/proxy_server.h"
#include "tools/lab/engine/experiment.h"
#include "tools/lab/kit/http_load.h"
#include "tools/process/peer_process.h"

namespace search::lab {
namespace {

using neptune::Endpoint;
using neptune::StatusOr;
using neptune::StrAppend;
using neptune::StrCat;

constexpr int kReplicaCount = 3;
constexpr double kRate = 80;
constexpr char kServiceMs[] = "25";
// The pool of the runs with capsules; like the paper's, it is too small for a replica that hangs.
constexpr int kPool = 64;
constexpr int kSmokePool = 8;

// The configuration of the program: nothing, or capsules for the replicas.
constexpr char kThreads[] = "threads";
constexpr char kCapsules[] = "capsules";             // admit every call within the time limit
constexpr char kSmallCapsules[] = "small capsules";  // refuse all but a few calls
constexpr char kMigration[] = "migration";  // small capsules that forward to the next replica

// Seconds of a run. A replica is suspended in [begin, end).
struct Times {
  double begin = 0;
  double end = 0;
  double length = 0;
  double timeout = 0;
};

Times TimesOf(Length length) {
  switch (length) {
    case Length::kSmoke:
      return {.begin = 0.2, .end = 1, .length = 1, .timeout = 0.2};
    case Length::kQuick:
      return {.begin = 1, .end = 6, .length = 9, .timeout = 2};
    case Length::kFull:
      break;
  }
  return {.begin = 3, .end = 13, .length = 20, .timeout = 2};
}

Point PointOf(const std::string& program, int pool) {
  return Point{}.Set("program", program).Set("threads", pool);
}

std::vector<Point> Points(Length length) {
  // A smoke run is too short to block more than a few threads.
  if (length == Length::kSmoke) {
    return {PointOf(kThreads, kSmokePool), PointOf(kSmallCapsules, kSmokePool)};
  }
  std::vector<Point> points = {PointOf(kThreads, kPool)};
  if (length == Length::kFull) {
    for (const int pool : {16, 256}) points.push_back(PointOf(kThreads, pool));
  }
  for (const char* const capsules : {kCapsules, kSmallCapsules, kMigration}) {
    points.push_back(PointOf(capsules, kPool));
  }
  return points;
}

using Replicas = std::vector<std::unique_ptr<PeerProcess>>;

StatusOr<Endpoint> StartReplica(Replicas* replicas) {
  NEPTUNE_ASSIGN_OR_RETURN(auto replica,
                           PeerProcess::Start("tools/lab/capsules/http_replica",
                                              {StrCat("--service_ms=", kServiceMs)}, -1));
  NEPTUNE_ASSIGN_OR_RETURN(const std::string line, replica->ReadLine());
  std::istringstream words(line);
  std::string word;
  uint16_t port = 0;
  if (!(words >> word >> port)) return neptune::Unavailable("a replica said '", line, "'");
  replicas->push_back(std::move(replica));
  return Endpoint{neptune::kLoopbackAddress, port};
}

// The limit of a small capsule: more than a working replica ever needs, and a small part of the
// pool.
int SmallBound(const Point& point) {
  return std::min(8, static_cast<int>(point.Number("threads")) / 2);
}

std::string CapsuleFile(const Point& point, const std::vector<Endpoint>& replicas,
                        const Times& times) {
  const std::string& program = point.Text("program");
  std::string text;
  for (int i = 0; i < kReplicaCount; ++i) {
    StrAppend(&text, "capsule replica-", i, " {\n  match: inet:", replicas[i].ToString(),
              "\n  timeout_ms: ", static_cast<int>(1000 * times.timeout), "\n");
    if (program != kCapsules) StrAppend(&text, "  resident_count_max: ", SmallBound(point), "\n");
    if (program == kMigration) {
      StrAppend(&text, "  failure_count_max: 2\n  migrate_to: replica-", (i + 1) % kReplicaCount,
                "\n");
    }
    StrAppend(&text, "}\n");
  }
  return text;
}

// The sum of one column of the preload library's status file.
double ColumnOf(const std::string& status, const std::string& name) {
  std::istringstream lines(status);
  std::string line;
  std::string word;
  std::getline(lines, line);
  std::istringstream names(line);
  int column = 0;
  while (names >> word && word != name) ++column;
  double sum = 0;
  while (std::getline(lines, line)) {
    std::istringstream words(line);
    for (int i = 0; i <= column; ++i) words >> word;
    sum += std::stod(word);
  }
  return sum;
}

StatusOr<Measurement> Run(const Point& point, const RunContext& context) {
  const Times times = TimesOf(context.length);
  Replicas replicas;
  ProxyServerOptions options{.thread_count = static_cast<int>(point.Number("threads"))};
  for (int i = 0; i < kReplicaCount; ++i) {
    NEPTUNE_ASSIGN_OR_RETURN(const Endpoint replica, StartReplica(&replicas));
    options.replicas.push_back(replica);
  }
  const std::string& program = point.Text("program");
  if (program != kThreads) {
    NEPTUNE_ASSIGN_OR_RETURN(const std::string library,
                             FindProgram("neptune/interpose/preload/libneptune_preload.so"));
    options.preload_library = library;
    options.capsules = CapsuleFile(point, options.replicas, times);
  }
  NEPTUNE_ASSIGN_OR_RETURN(const auto server, ProxyServer::Start(options));

  const HttpLoadOptions load{.server = server->endpoint(),
                             .rate = kRate,
                             .length_s = times.length,
                             .timeout_s = times.timeout,
                             .seed = context.seed,
                             .actions = {{times.begin, [&] { replicas[0]->Signal(SIGSTOP); }},
                                         {times.end, [&] { replicas[0]->Signal(SIGCONT); }}}};
  NEPTUNE_ASSIGN_OR_RETURN(const auto measured, RunHttpLoad(load));
  replicas[0]->Signal(SIGCONT);

  const auto share = [&](double begin, double end) {
    return ShareOf(measured, begin, end, times.timeout);
  };
  Measurement measurement;
  measurement["loss_before_percent"] =
      share(times.begin / 3, times.begin - times.timeout / 2).loss_percent();
  measurement["loss_during_percent"] = share(times.begin, times.end).loss_percent();
  measurement["loss_after_percent"] = share(times.end, times.length).loss_percent();
  measurement["response_before_ms"] = share(times.begin / 3, times.begin).response_ms_mean;
  measurement["response_during_ms"] = share(times.begin, times.end).response_ms_mean;
  measurement["refused_count"] =
      program == kThreads ? 0 : ColumnOf(server->CapsuleStatus(), "refused");
  for (double second = 0; context.length != Length::kSmoke && second < times.length; ++second) {
    const LoadShare one = share(second, second + 1);
    measurement[StrCat("served_in_second_", static_cast<int>(second))] =
        static_cast<double>(one.request_count - one.lost_count);
  }
  return measurement;
}

std::string NameOf(const Point& point) {
  const std::string& program = point.Text("program");
  return program == kThreads ? StrCat(point.Text("threads"), " threads") : program;
}

plot::Plot ThroughputPlot(const Results& results) {
  plot::Plot plot{.name = "throughput",
                  .title = "Requests served in time",
                  .x = {.label = "second in which the request was due"},
                  .y = {.label = "per second", .low = 0}};
  const Times times = TimesOf(results.length());
  for (const Point& point : results.points()) {
    plot::Series series{.name = NameOf(point), .style = plot::Series::Style::kLines};
    for (int second = 0; second < static_cast<int>(times.length); ++second) {
      const Estimate served = results.Mean(point, StrCat("served_in_second_", second));
      series.dots.push_back({.x = second + 0.5, .y = served.middle});
    }
    plot.series.push_back(std::move(series));
  }
  plot.marks = {{"suspended", times.begin}, {"resumes", times.end}};
  return plot;
}

void ShowThreads(const Results& results, Judgement* judgement) {
  for (const Point& point : results.points()) {
    if (point.Text("program") != kThreads) continue;
    judgement->Shown(StrCat("lost during the suspension, ", NameOf(point)),
                     point.Number("threads") == kPool ? "62.6 %" : "",
                     results.Mean(point, "loss_during_percent"), "%");
  }
}

// The pool is blocked within a second in both runs.
void JudgeSmoke(const Results& results, Judgement* judgement) {
  const Estimate capsules =
      results.Mean(PointOf(kSmallCapsules, kSmokePool), "loss_during_percent");
  const Estimate threads = results.Mean(PointOf(kThreads, kSmokePool), "loss_during_percent");
  judgement
      ->AtMost("lost during the suspension, capsules relative to threads", "31.9 of 62.6 %",
               RatioOf(capsules, threads), 1, "x")
      .Shape();
}

void NoteOnRefusal(double refused_count, Judgement* judgement) {
  judgement->Note(
      StrCat("On refusal: for Apache, a connection that a capsule refuses is a connection that "
             "the peer refuses. It asks the next replica at once and excludes the refusing one "
             "for a minute, its default, so that ",
             NumberText(refused_count),
             " refusals per run were sufficient on average. When a capsule ends a wait "
             "(ETIMEDOUT), Apache answers with 502 and continues to use that replica."));
  judgement->Note(
      "A thread pool that is large enough loses only the requests that were sent to the "
      "suspended replica, as capsules without a bound do, at the price of one thread for each "
      "waiting request; the necessary size depends on how long the replica hangs.");
}

void Judge(const Results& results, Judgement* judgement) {
  ShowThreads(results, judgement);
  if (judgement->length() == Length::kSmoke) return JudgeSmoke(results, judgement);
  const Point capsules = PointOf(kCapsules, kPool);
  const Point small = PointOf(kSmallCapsules, kPool);
  const Point migration = PointOf(kMigration, kPool);
  const auto lost = [&](const Point& point) { return results.Mean(point, "loss_during_percent"); };
  judgement->AtMost("lost during the suspension, capsules by config file", "31.9 %", lost(capsules),
                    32, "%");
  judgement->Shown("lost during the suspension, capsules of 8", "", lost(small), "%");
  judgement->AtMost("lost during the suspension, with migration", "", lost(migration),
                    std::floor(lost(capsules).middle), "%");
  judgement->Shown(StrCat("response time before, ", kPool, " threads"), "29.4 ms",
                   results.Mean(PointOf(kThreads, kPool), "response_before_ms"), "ms");
  judgement->Shown("response time before, capsules", "28.9 ms",
                   results.Mean(capsules, "response_before_ms"), "ms");
  judgement->AddPlot(ThroughputPlot(results));
  NoteOnRefusal(results.Mean(small, "refused_count").middle, judgement);
}

}  // namespace

Experiment CapRubis() {
  Experiment experiment;
  experiment.name = "cap_rubis";
  experiment.title = "An unmodified web server with three replicas, one of which hangs";
  experiment.source = "[Chu05] VI.D, figure 9 and table IV";
  experiment.setup =
      "Debian's Apache with its worker module, which uses one thread per request, and its load "
      "balancer, which uses three replicas in turn; in the paper, Apache and mod_jk with three "
      "servers of RUBiS. Replicas answer after 25 ms at any load. 80 requests per second at "
      "random times are lost if not answered within 2 s. One replica is suspended (SIGSTOP) for "
      "10 s. Apache runs as built by Debian: without capsules, with pools of 16, 64 and 256 "
      "threads; and with 64 threads and the preload library, with a capsule for each replica. "
      "The first such configuration has a time limit of 2 s. The second also admits at most 8 "
      "calls. The third is the second, with capsules that are bypassed after two consecutive "
      "failures and redirect to the next replica's capsule.";
  experiment.worlds = {WorldKind::kReal};
  experiment.seeds = {.smoke = 1, .quick = 1, .full = 5};
  experiment.parallel = false;
  experiment.points = Points;
  experiment.run = Run;
  experiment.judge = Judge;
  return experiment;
}

}  // namespace search::lab
