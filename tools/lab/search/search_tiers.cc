// How often tier 2 need not be asked, under which rule, and whether the pages are those of a single
// index.

#include <stdlib.h>

#include <fstream>
#include <memory>

#include "neptune/base/strings.h"
#include "tools/lab/engine/experiment.h"
#include "tools/lab/search/tiered_index.h"
#include "tools/lab/workloads/synthetic_index.h"

namespace search::lab {
namespace {

using neptune::StatusOr;
using neptune::StrCat;

struct NamedRule {
  const char* name;
  TierRule rule;
};
constexpr NamedRule kRules[] = {{"always", TierRule::kAlways},
                                {"ten_hits", TierRule::kTenHits},
                                {"safe", TierRule::kSafe},
                                {"quality", TierRule::kQuality}};

Point PointOf(const std::string& rule) { return Point{{"rule", rule}}; }

// One question a line, of the file that the environment names; else made ones.
StatusOr<std::vector<std::string>> Questions(const RunContext& context) {
  std::vector<std::string> questions;
  const char* const path = getenv("NEPTUNE_TIERS_QUESTIONS");
  if (path == nullptr) {
    questions = UsualQuestions();
  } else {
    std::ifstream file(path);
    if (!file) return neptune::NotFound(path, ": cannot be read");
    for (std::string line; std::getline(file, line);) questions.push_back(line);
  }
  questions.resize(std::min(questions.size(), context.Pick<size_t>(100, 500, 10'000)));
  return questions;
}

StatusOr<std::unique_ptr<TieredIndex>> IndexOf(const RunContext& context) {
  const char* const folder = getenv("NEPTUNE_TIERS_INDEX");
  if (folder != nullptr) return TieredIndex::Open(folder);
  return TieredIndex::Make(context.Pick<size_t>(400, 8'000, 80'000));
}

StatusOr<Measurement> Run(const Point& point, const RunContext& context) {
  NEPTUNE_ASSIGN_OR_RETURN(const auto index, IndexOf(context));
  NEPTUNE_ASSIGN_OR_RETURN(const auto questions, Questions(context));
  for (const NamedRule& named : kRules) {
    if (named.name != point.Text("rule")) continue;
    NEPTUNE_ASSIGN_OR_RETURN(const RuleOutcome outcome, index->Ask(questions, named.rule));
    const auto count = static_cast<double>(std::max<uint64_t>(outcome.query_count, 1));
    return Measurement{
        {"skipped", 100 * static_cast<double>(outcome.skip_count) / count},
        {"same_page", 100 * static_cast<double>(outcome.same_count) / count},
        {"false_claims", static_cast<double>(outcome.false_count)},
        {"processor_us", 1000 * neptune::ToMillis(outcome.processor_time) / count},
    };
  }
  return neptune::InvalidArgument("unknown rule ", point.Text("rule"));
}

void Judge(const Results& results, Judgement* judgement) {
  const auto mean = [&](const char* rule, const char* metric) {
    return results.Mean(PointOf(rule), metric);
  };
  judgement->AtMost("results said to be sure that are others", "", mean("safe", "false_claims"), 0)
      .Shape();
  judgement->AtLeast("first pages of a single index, safe", "", mean("safe", "same_page"), 100, "%")
      .Shape();
  judgement->AtLeast("tier 2 skipped, safe", "", mean("safe", "skipped"), 50, "%")
      .ShortOfLine(
          "bounds by word add the best of different documents, and the most that a second phase "
          "can "
          "give; bounds of pairs of words would be needed");
  judgement->Shown("tier 2 skipped, quality", "", mean("quality", "skipped"), "%");
  judgement->Shown("first pages of a single index, quality", "", mean("quality", "same_page"), "%");
  judgement->Shown("tier 2 skipped, ten hits", "", mean("ten_hits", "skipped"), "%");
  judgement->Shown("first pages of a single index, ten hits", "", mean("ten_hits", "same_page"),
                   "%");
  for (const NamedRule& named : kRules) {
    judgement->Shown(StrCat("processor time of a query, ", named.name), "",
                     mean(named.name, "processor_us"), "us");
  }
}

}  // namespace

Experiment SearchTiers() {
  Experiment experiment;
  experiment.name = "search_tiers";
  experiment.title = "How often tier 2 need not be asked";
  experiment.source = "[Ntoulas07]";
  experiment.setup =
      "Both tiers in one process, four partitions each, the first page of ten results, 50 rated by "
      "the second phase. A quarter of the documents, of the highest static rank, is tier 1. With "
      "NEPTUNE_TIERS_INDEX and NEPTUNE_TIERS_QUESTIONS an index of tools/build_index and a file of "
      "one question a line. `ten_hits` takes ten hits of any score for enough; `always` is a "
      "single "
      "index.";
  experiment.worlds = {WorldKind::kReal};
  experiment.seeds = {.smoke = 1, .quick = 1, .full = 1};
  experiment.points = [](Length) {
    std::vector<Point> points;
    for (const NamedRule& named : kRules) points.push_back(PointOf(named.name));
    return points;
  };
  experiment.run = Run;
  experiment.judge = Judge;
  return experiment;
}

}  // namespace search::lab
