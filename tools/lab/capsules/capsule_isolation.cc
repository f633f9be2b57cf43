// Many more requests than kernel threads wait for a silent dependency: the effect on all other
// requests.

#include <unistd.h>

#include <sstream>
#include <string>
#include <vector>

#include "neptune/base/strings.h"
#include "tools/lab/engine/experiment.h"
#include "tools/process/peer_process.h"

namespace search::lab {
namespace {

using neptune::StatusOr;
using neptune::StrCat;

// The silent dependencies and their names.
struct Silence {
  const char* dependency;
  const char* what;
};
constexpr Silence kSilences[] = {{"peer", "a read from a silent peer"},
                                 {"fifo", "a read from a FIFO"},
                                 {"connect", "a connection that is never established"},
                                 {"name", "getaddrinfo without an answer"}};

// Everything runs on one processor, with real-time priority.
constexpr int kProcessor = 1;

constexpr char kCapsules[] = "capsules";
constexpr char kThreads[] = "blocked threads";

Point PointOf(const char* dependency, const char* waiting) {
  return Point{{"dependency", dependency}, {"waiting", waiting}};
}

std::vector<Point> Points(Length length) {
  std::vector<Point> points = {PointOf("peer", kThreads)};
  for (const Silence& silence : kSilences) points.push_back(PointOf(silence.dependency, kCapsules));
  if (length == Length::kSmoke) points.resize(2);
  return points;
}

// "NAME=VALUE ..."
StatusOr<Measurement> Parse(const std::string& line) {
  Measurement measurement;
  std::istringstream words(line);
  for (std::string word; words >> word;) {
    const size_t end = word.find('=');
    if (end == std::string::npos) return neptune::Unavailable("isolation_node said '", line, "'");
    measurement[word.substr(0, end)] = std::stod(word.substr(end + 1));
  }
  measurement["goodput_ratio"] = measurement["blocked_goodput"] / measurement["healthy_goodput"];
  measurement["p99_ratio"] = measurement["blocked_p99_us"] / measurement["healthy_p99_us"];
  measurement["release_ratio"] = measurement["release_low"] / measurement["healthy_goodput"];
  measurement["blocked_per_thread"] =
      measurement["resident_count"] / measurement["kernel_thread_count"];
  return measurement;
}

StatusOr<Measurement> Run(const Point& point, const RunContext& context) {
  const bool has_capsules = point.Text("waiting") == kCapsules;
  NEPTUNE_ASSIGN_OR_RETURN(
      const auto program,
      PeerProcess::Start(
          has_capsules ? "tools/lab/capsules/isolation_node"
                       : "tools/lab/capsules/isolation_node_plain",
          {StrCat("--dependency=", point.Text("dependency")),
           StrCat("--cycles=", has_capsules ? context.Pick(1, 1, 2) : 1),
           StrCat("--phase_ms=", context.Pick(300, 1'000, 3'000)), StrCat("--seed=", context.seed),
           StrCat("--multicast_port=", 20'000 + getpid() % 20'000)},
          kProcessor));
  NEPTUNE_ASSIGN_OR_RETURN(const std::string line, program->ReadLine());
  return Parse(line);
}

void JudgeSilence(const Results& results, const Silence& silence, Judgement* judgement) {
  const Point point = PointOf(silence.dependency, kCapsules);
  if (!results.Has(point)) return;
  const std::string what = silence.what;
  judgement
      ->AtLeast(what + ": answered in time, relative to healthy", "",
                results.Median(point, "goodput_ratio"), 0.97, "x")
      .Shape();
  judgement->AtMost(what + ": 99th percentile, relative to healthy", "",
                    results.Median(point, "p99_ratio"), 1.3, "x");
  judgement->AtLeast(what + ": the worst tenth of a second while it is released", "",
                     results.Median(point, "release_ratio"), 0.90, "x");
  judgement->AtMost(what + ": slowest /metrics", "", results.Median(point, "metrics_ms_max"), 50,
                    "ms");
  judgement->AtLeast(what + ": waiting requests per kernel thread", "",
                     results.Median(point, "blocked_per_thread"), 10, "");
  judgement->AtMost(what + ": not answered after the release", "",
                    results.Largest(point, "unanswered_count"), 0, "");
}

void Judge(const Results& results, Judgement* judgement) {
  judgement->Shown("answered in time while a silent peer blocks a kernel thread", "",
                   results.Median(PointOf("peer", kThreads), "blocked_goodput"), "");
  judgement->Shown(
      "response time without waiting requests, with interposition relative to without", "",
      results.MedianRatio(PointOf("peer", kCapsules), PointOf("peer", kThreads), "healthy_p50_us"),
      "x");
  for (const Silence& silence : kSilences) JudgeSilence(results, silence, judgement);
}

}  // namespace

Experiment CapsuleIsolation() {
  Experiment experiment;
  experiment.name = "capsule_isolation";
  experiment.title = "Isolation of requests from others that wait for a silent dependency";
  experiment.source = "bounds of this system; [Chu05] I";
  experiment.setup =
      "A node with one worker thread serves two methods from one pool of 8 places. One computes "
      "for 100 us, 1,000 times per second at random times; the other queries a dependency with "
      "ordinary blocking calls. Of the latter, 20 requests per kernel thread of the process are "
      "sent at once, so that 10 remain if the capsule's own threads are counted, and none gets "
      "an answer: the dependency is a peer that sends nothing, a FIFO without a writer, a port "
      "whose queue of connections is full, or a name server that does not answer. Phases without "
      "waiting requests and phases in which all wait alternate; after each phase the dependency "
      "is released and answers all of them. A request is in time if it takes at most 50 ms. The "
      "same program without interposition is measured for comparison. All processes share one "
      "processor.";
  experiment.worlds = {WorldKind::kReal};
  experiment.parallel = false;
  experiment.seeds = {.smoke = 1, .quick = 2, .full = 7};
  experiment.points = Points;
  experiment.run = Run;
  experiment.judge = Judge;
  return experiment;
}

}  // namespace search::lab
