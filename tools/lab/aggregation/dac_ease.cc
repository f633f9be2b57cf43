// How many lines of code aggregation adds to a service.
//
// Counts the files with everything that the service adds: the reduce operator, its registration and
// the request. Their headers, which repeat the declarations, are shown separately.

#include <algorithm>
#include <filesystem>
#include <sstream>

#include "neptune/base/file.h"
#include "neptune/base/strings.h"
#include "tools/lab/engine/experiment.h"

namespace search::lab {
namespace {

using neptune::StatusOr;
using neptune::StrCat;

constexpr size_t kSourceSizeMax = 1 << 20;
constexpr double kLineCountMax = 60;

struct Service {
  const char* name;
  const char* paper;               // lines changed, DAC figure 13
  std::vector<std::string> files;  // without their endings
};

const std::vector<Service>& Services() {
  static const auto& services = *new std::vector<Service>{
      {"RET", "142", {"frontend/search_plan/tier_aggregation", "index/tier/tier_reduce"}},
      {"BLAST", "307", {"neptune/examples/blast/blast_aggregation"}},
      {"FACE", "190", {"neptune/examples/face/face_aggregation"}},
      {"MICRO", "77", {"neptune/examples/micro/micro_aggregation"}},
  };
  return services;
}

// The sources are in the program's runfiles, or in the tree from which it was started.
StatusOr<std::string> ReadSource(const std::string& path) {
  std::error_code ignored;
  const std::string self = std::filesystem::read_symlink("/proc/self/exe", ignored).string();
  for (const std::string& root : {std::string("."), self + ".runfiles/neptune_search"}) {
    if (std::filesystem::exists(root + "/" + path, ignored)) {
      return neptune::ReadFile(root + "/" + path, kSourceSizeMax);
    }
  }
  return neptune::NotFound(path, " is neither here nor among the program's files");
}

// Lines that are neither empty nor a comment.
int CountLines(const std::string& source) {
  std::istringstream lines(source);
  int count = 0;
  for (std::string line; std::getline(lines, line);) {
    const size_t begin = line.find_first_not_of(" \t");
    if (begin != std::string::npos && line.compare(begin, 2, "//") != 0) ++count;
  }
  return count;
}

const Service& Find(const std::string& name) {
  return *std::find_if(Services().begin(), Services().end(),
                       [&](const Service& service) { return service.name == name; });
}

Point PointOf(const Service& service) { return Point{{"service", service.name}}; }

StatusOr<Measurement> Run(const Point& point, const RunContext&) {
  Measurement lines = {{"lines", 0}, {"header_lines", 0}};
  for (const std::string& file : Find(point.Text("service")).files) {
    NEPTUNE_ASSIGN_OR_RETURN(const std::string source, ReadSource(file + ".cc"));
    NEPTUNE_ASSIGN_OR_RETURN(const std::string header, ReadSource(file + ".h"));
    lines["lines"] += CountLines(source);
    lines["header_lines"] += CountLines(header);
  }
  return lines;
}

void Judge(const Results& results, Judgement* judgement) {
  for (const Service& service : Services()) {
    const Point point = PointOf(service);
    judgement
        ->AtMost(StrCat(service.name, ": operator and request"), service.paper,
                 results.Mean(point, "lines"), kLineCountMax, "lines")
        .Shape();
    judgement->Shown(StrCat(service.name, ": their declarations"), "",
                     results.Mean(point, "header_lines"), "lines");
  }
  judgement->Note(
      "The paper counts the lines that changed when a client's loop over the partitions was "
      "replaced by the call, in services of 400 to 1,060,000 lines. Our services were written "
      "with the call, so the count is of all lines that would be removed if they did not "
      "aggregate.");
}

}  // namespace

Experiment DacEase() {
  Experiment experiment;
  experiment.name = "dac_ease";
  experiment.title = "Lines of code that aggregation adds to a service";
  experiment.source = "[Chu03] 5.2, figure 13";
  experiment.setup =
      "Counted are the lines, without empty lines and comments, of the files that hold a "
      "service's reduce operator, its registration and the request: the search tiers (RET) and "
      "the services of neptune/examples.";
  experiment.worlds = {WorldKind::kReal};
  experiment.seeds = {.smoke = 1, .quick = 1, .full = 1};
  experiment.points = [](Length) {
    std::vector<Point> points;
    for (const Service& service : Services()) points.push_back(PointOf(service));
    return points;
  };
  experiment.run = Run;
  experiment.judge = Judge;
  return experiment;
}

}  // namespace search::lab
