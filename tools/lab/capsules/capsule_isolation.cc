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
                                 {"connect", "a connection to nowhere"},
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
      ->AtLeast(what + ": answered in time, over healthy", "",
                results.Median(point, "goodput_ratio"), 0.97, "x")
      .Shape();
  judgement->AtMost(what + ": 99th percentile, over healthy", "",
                    results.Median(point, "p99_ratio"), 1.3, "x");
  judgement->AtLeast(what + ": the worst tenth of a second at its release", "",
                     results.Median(point, "release_ratio"), 0.90, "x");
  judgement->AtMost(what + ": slowest /metrics", "", results.Median(point, "metrics_ms_max"), 50,
                    "ms");
  judgement->AtLeast(what + ": waiting, for each kernel thread", "",
                     results.Median(point, "blocked_per_thread"), 10, "");
  judgement->AtMost(what + ": not answered after the release", "",
                    results.Median(point, "unanswered_count"), 0, "");
}

void Judge(const Results& results, Judgement* judgement) {
  judgement->Shown("answered in time, a kernel thread blocked by a silent peer", "",
                   results.Median(PointOf("peer", kThreads), "blocked_goodput"), "");
  judgement->Shown(
      "response while nobody waits, interposed over not", "",
      results.MedianRatio(PointOf("peer", kCapsules), PointOf("peer", kThreads), "healthy_p50_us"),
      "x");
  for (const Silence& silence : kSilences) JudgeSilence(results, silence, judgement);
}

}  // namespace

Experiment CapsuleIsolation() {
  Experiment experiment;
  experiment.name = "capsule_isolation";
  experiment.title = "Many requests that wait for something silent, and all others";
  experiment.source = "bounds of this system; [Chu05] I";
  experiment.setup =
      "A node with one worker thread serves two methods from one pool of 8: one computes 100 us, "
      "1,000 times a second at random times; the other asks a dependency with ordinary blocking "
      "calls. Of these 20 for each kernel thread of the process, so that 10 remain when a "
      "capsule's "
      "own are counted, are sent at once and get no answer: a peer that says nothing, a FIFO that "
      "nobody writes to, a port whose queue of connections is full, a name server that says "
      "nothing. Phases in which nobody waits and phases in which all do take turns; after each the "
      "dependency is let go and answers all of them. A request is in time within 50 ms. Beside it "
      "the same program without interposition. All on one processor.";
  experiment.worlds = {WorldKind::kReal};
  experiment.parallel = false;
  experiment.seeds = {.smoke = 1, .quick = 2, .full = 7};
  experiment.points = Points;
  experiment.run = Run;
  experiment.judge = Judge;
  return experiment;
}

}  // namespace search::lab
