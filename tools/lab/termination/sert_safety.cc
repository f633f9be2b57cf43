// Leaks of requests that are terminated at random instants.

#include <algorithm>
#include <numeric>
#include <sstream>
#include <string>
#include <vector>

#include "neptune/base/strings.h"
#include "tools/corpus/child_process.h"
#include "tools/lab/engine/experiment.h"
#include "tools/process/peer_process.h"
#include "tools/terminal/progress.h"

namespace search::lab {
namespace {

using neptune::StatusOr;
using neptune::StrCat;

constexpr char kProgram[] = "neptune/interpose/sert/safety_stress";
constexpr int kThreadCount = 8;
constexpr int64_t kTimeMsMax = 3'600'000;
constexpr double kWanted = 1'000'000;
constexpr const char* kKinds[] = {"allocations", "containers", "locks", "streams", "sockets",
                                  "exceptions",  "regexes",    "loops", "waits",   "processes"};

const Point kPoint = Point{{"threads", StrCat(kThreadCount)}};

StatusOr<Measurement> Run(const Point& point, const RunContext& context) {
  NEPTUNE_ASSIGN_OR_RETURN(const std::string program, FindProgram(kProgram));
  const int count = context.Pick(2'000, 100'000, 250'000);
  NEPTUNE_ASSIGN_OR_RETURN(
      const tools::ChildResult said,
      tools::RunChild({program, StrCat(count), point.Text("threads"), StrCat(context.seed)},
                      {.time_ms_max = kTimeMsMax}, tools::MonotonicNanoseconds));
  Measurement measurement;
  std::istringstream words(said.output);
  for (std::string word; words >> word;) {
    const size_t end = word.find('=');
    if (end != std::string::npos) {
      measurement[word.substr(0, end)] = std::stod(word.substr(end + 1));
    }
  }
  if (measurement.contains("hangs")) return measurement;
  return neptune::Unavailable(kProgram, " ended with status ", said.exit_status, ": ",
                              said.error_output);
}

void Judge(const Results& results, Judgement* judgement) {
  const auto sum = [&](const std::string& metric) {
    const std::vector<double> values = results.Values(kPoint, metric);
    return Estimate::OfAll(std::accumulate(values.begin(), values.end(), 0.0),
                           static_cast<int>(values.size()));
  };
  if (judgement->length() == Length::kFull) {
    judgement->AtLeast("requests terminated early", "", sum("ended"), kWanted);
  } else {
    judgement->Shown("requests terminated early", "", sum("ended"));
  }
  judgement->Shown("of these, between two instructions", "", sum("between"));
  judgement->AtMost("bytes lost", "0", sum("lost_bytes"), 0).Shape();
  judgement->AtMost("descriptors lost", "0", sum("lost_descriptors"), 0).Shape();
  judgement->AtMost("locks held forever", "0", sum("lost_locks"), 0).Shape();
  judgement->AtMost("processes lost", "", sum("lost_processes"), 0).Shape();
  judgement->AtMost("threads that hang", "", sum("hangs"), 0).Shape();
  for (const char* kind : kKinds) {
    judgement->Shown(StrCat("terminated early in ", kind), "", sum(kind));
  }
}

}  // namespace

Experiment SertSafety() {
  Experiment experiment;
  experiment.name = "sert_safety";
  experiment.title = "Termination of requests at random instants";
  experiment.source = "SERT, resource accounting";
  experiment.setup =
      "Eight kernel threads run one request after the other. Each is a loop of one kind that "
      "never ends by itself: allocation, containers, locks, stdio streams, sockets with "
      "mappings, exceptions, regular expressions, loops without any check, waits, processes. The "
      "library of neptune/interpose/sert terminates each after 50 us, at whatever instruction it "
      "is. A resource is lost if no request owns it and it was not released when all have ended: "
      "bytes of arenas, descriptors, locks, processes. A thread hangs if its program uses 20 s "
      "of processor time while no request ends.";
  experiment.worlds = {WorldKind::kReal};
  experiment.parallel = false;
  experiment.seeds = {.smoke = 1, .quick = 1, .full = 5};
  experiment.points = [](Length) { return std::vector<Point>{kPoint}; };
  experiment.run = Run;
  experiment.judge = Judge;
  return experiment;
}

}  // namespace search::lab
