// How many lines of code aggregation adds to a service.
//
// Counts everything that would go if the service did not aggregate: the files with the reduce
// operator, its registration and the request, and the functions of other files that only merge
// answers. Headers, which repeat the declarations, are shown separately.

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
  // A further file, and the definitions in it that exist for merging only.
  std::string merging_file;
  std::vector<std::string> merging;
};

const std::vector<Service>& Services() {
  static const auto& services = *new std::vector<Service>{
      {"RET",
       "142",
       {"frontend/search_plan/tier_aggregation", "index/tier/tier_reduce"},
       "index/tier/operators.cc",
       {"MergeTierAnswers", "JoinImplementations", "AddSaturated", "kMergedSitesMax", "KeepLargest",
        "MergeSites", "MergeFields", "MergeWordCounts", "MergeCuts", "AddBounds"}},
      {"BLAST",
       "307",
       {"neptune/examples/blast/blast_aggregation"},
       "neptune/examples/blast/blast_hits.cc",
       {"MergeBlastHits"}},
      {"FACE",
       "190",
       {"neptune/examples/face/face_aggregation"},
       "neptune/examples/face/eigenfaces.cc",
       {"MergeFaceMatches"}},
      {"MICRO",
       "77",
       {"neptune/examples/micro/micro_aggregation"},
       "neptune/examples/micro/micro_work.cc",
       {"CombineMicroResults", "MicroReduceTime", "TakenIn"}},
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

// The text of the definition of `name` at the first column: to its closing brace there, or to the
// semicolon of its first line. Errors: kNotFound there is none.
StatusOr<std::string> DefinitionOf(const std::string& name, const std::string& source) {
  std::istringstream lines(source);
  std::string definition;
  for (std::string line; std::getline(lines, line);) {
    if (definition.empty()) {
      const size_t at = line.find(name);
      const bool begins = at != std::string::npos && line[0] != ' ' && line[0] != '/' &&
                          at + name.size() < line.size() &&
                          (line[at + name.size()] == '(' || line[at + name.size()] == ' ');
      if (!begins) continue;
    }
    neptune::StrAppend(&definition, line, "\n");
    if (line[0] == '}' || (line[0] != ' ' && line.ends_with(';'))) return definition;
  }
  return neptune::NotFound(name, " is not defined in the file that the count names");
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
  Measurement lines = {{"lines", 0}, {"header_lines", 0}, {"merging_lines", 0}};
  for (const std::string& file : Find(point.Text("service")).files) {
    NEPTUNE_ASSIGN_OR_RETURN(const std::string source, ReadSource(file + ".cc"));
    NEPTUNE_ASSIGN_OR_RETURN(const std::string header, ReadSource(file + ".h"));
    lines["lines"] += CountLines(source);
    lines["header_lines"] += CountLines(header);
  }
  const Service& service = Find(point.Text("service"));
  NEPTUNE_ASSIGN_OR_RETURN(const std::string source, ReadSource(service.merging_file));
  for (const std::string& name : service.merging) {
    NEPTUNE_ASSIGN_OR_RETURN(const std::string definition, DefinitionOf(name, source));
    lines["merging_lines"] += CountLines(definition);
  }
  lines["all_lines"] = lines["lines"] + lines["merging_lines"];
  return lines;
}

constexpr char kWhyMore[] =
    "an answer of a tier has far more in it than hits: totals, bounds of the other tier, what was "
    "cut "
    "and why, sites and fields for pages without hits; each has a rule of its own for two answers, "
    "which the call cannot know";

void Judge(const Results& results, Judgement* judgement) {
  for (const Service& service : Services()) {
    const auto count = [&](const char* metric) {
      return Estimate::Exact(results.Mean(PointOf(service), metric).middle);
    };
    judgement
        ->AtMost(StrCat(service.name, ": all that aggregation adds"), service.paper,
                 count("all_lines"), kLineCountMax, "lines")
        .ShortOfLine(kWhyMore);
    judgement
        ->AtMost(StrCat(service.name, ": of these, operator and request"), "", count("lines"),
                 kLineCountMax, "lines")
        .Shape();
    judgement->Shown(StrCat(service.name, ": of these, functions that merge two answers"), "",
                     count("merging_lines"), "lines");
    judgement->Shown(StrCat(service.name, ": declarations, beside them"), "", count("header_lines"),
                     "lines");
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
      "service's reduce operator, its registration and the request, and of the functions elsewhere "
      "that exist only to merge two answers: the search tiers (RET) and the services of "
      "neptune/examples.";
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
