// The cost of accounting for requests, and the time until the thread of a terminated request is
// free.

#include <map>
#include <memory>
#include <sstream>
#include <string>

#include "neptune/base/strings.h"
#include "tools/lab/engine/experiment.h"
#include "tools/lab/workloads/synthetic_index.h"
#include "tools/process/peer_process.h"

namespace search::lab {
namespace {

using neptune::StatusOr;
using neptune::StrCat;

constexpr const char* kWorks[] = {"search", "allocation"};

Point PointOf(const std::string& work, const std::string& library) {
  return Point{{"work", work}, {"library", library}};
}

std::vector<Point> Points(Length) {
  std::vector<Point> points;
  for (const char* work : kWorks) {
    for (const char* library : {"with", "without"}) points.push_back(PointOf(work, library));
  }
  points.push_back(PointOf("reuse", "with"));
  return points;
}

// Built by the first run.
StatusOr<std::string> IndexFolder(size_t document_count) {
  static std::map<size_t, std::unique_ptr<SyntheticIndex>> built;
  auto& index = built[document_count];
  if (index == nullptr) {
    NEPTUNE_ASSIGN_OR_RETURN(index, SyntheticIndex::Build(document_count));
  }
  return index->folder();
}

int RoundsOf(const std::string& work, const RunContext& context) {
  if (work == "search") return context.Pick(200, 1'000, 3'000);
  return work == "reuse" ? context.Pick(20, 300, 1'000) : context.Pick(2'000, 10'000, 20'000);
}

// "NAME_ns=VALUE ..." in microseconds.
Measurement Parse(const std::string& line) {
  Measurement measurement;
  std::istringstream words(line);
  for (std::string word; words >> word;) {
    const size_t end = word.find("_ns=");
    if (end != std::string::npos) {
      measurement[word.substr(0, end) + "_us"] = std::stod(word.substr(end + 4)) / 1e3;
    }
  }
  return measurement;
}

StatusOr<Measurement> Run(const Point& point, const RunContext& context) {
  const std::string work = point.Text("work");
  std::string folder = "-";
  if (work == "search") {
    NEPTUNE_ASSIGN_OR_RETURN(folder, IndexFolder(context.Pick<size_t>(2'000, 40'000, 40'000)));
  }
  const bool is_with = point.Text("library") == "with";
  NEPTUNE_ASSIGN_OR_RETURN(const auto program,
                           PeerProcess::Start(is_with ? "tools/lab/termination/sert_cost"
                                                      : "tools/lab/termination/sert_cost_plain",
                                              {work, folder, StrCat(RoundsOf(work, context))}, -1));
  NEPTUNE_ASSIGN_OR_RETURN(const std::string line, program->ReadLine());
  return Parse(line);
}

void Judge(const Results& results, Judgement* judgement) {
  const auto over = [&](const char* work) {
    return results.MedianRatio(PointOf(work, "with"), PointOf(work, "without"), "request_us");
  };
  judgement->AtMost("processor time of a search, relative to without the library", "",
                    over("search"), 1.01, "x");
  judgement->AtMost(
      "processor time of a request that only allocates and frees, relative to without", "",
      over("allocation"), 1.03, "x");
  for (const char* work : kWorks) {
    judgement->Shown(StrCat(work, ", without"), "",
                     results.Median(PointOf(work, "without"), "request_us"), "us");
  }
  const Point reuse = PointOf("reuse", "with");
  judgement->AtMost("time from the decision until the thread has returned, 99th percentile", "",
                    results.Median(reuse, "p99_us"), 1000, "us");
  judgement->Shown("the same, median", "", results.Median(reuse, "p50_us"), "us");
  judgement->AtLeast("threads that return", "", results.Median(reuse, "p99_us"), 0.001, "us")
      .Shape();
}

}  // namespace

Experiment SertCost() {
  Experiment experiment;
  experiment.name = "sert_cost";
  experiment.title = "Overhead of resource accounting, and time to terminate a request";
  experiment.source = "bounds of this system";
  experiment.setup =
      "One program with and without the library of neptune/interpose/sert, alternately. Measured "
      "are a search for two words in four partitions with 40,000 synthetic documents in total, "
      "and a request that allocates 200 objects of 16 to 416 bytes and frees them. With the "
      "library each is a request with a rollback point and a timer. Then two threads run "
      "requests that never end by themselves and may take 2 ms; half of them allocate, half "
      "compute without any check. The time is measured from the moment at which the timer finds "
      "a request over its limit until its thread continues at the rollback point.";
  experiment.worlds = {WorldKind::kReal};
  experiment.parallel = false;
  experiment.seeds = {.smoke = 1, .quick = 5, .full = 15};
  experiment.points = Points;
  experiment.run = Run;
  experiment.judge = Judge;
  return experiment;
}

}  // namespace search::lab
