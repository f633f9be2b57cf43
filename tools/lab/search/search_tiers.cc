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

struct Questions {
  std::vector<std::string> measured;
  std::vector<std::string> earlier;  // a log from which documents of tier 1 could be chosen
};

// One question a line, of the file that the environment names; else made ones. Those after the
// measured ones are the log.
StatusOr<Questions> ReadQuestions(const RunContext& context) {
  Questions questions;
  const char* const path = getenv("NEPTUNE_TIERS_QUESTIONS");
  if (path == nullptr) {
    questions.measured = UsualQuestions();
  } else {
    std::ifstream file(path);
    if (!file) return neptune::NotFound(path, ": cannot be read");
    for (std::string line; std::getline(file, line);) questions.measured.push_back(line);
  }
  const size_t count = std::min(questions.measured.size(), context.Pick<size_t>(100, 500, 10'000));
  const auto end = questions.measured.begin() + static_cast<ptrdiff_t>(count);
  questions.earlier.assign(end, questions.measured.end());
  questions.measured.erase(end, questions.measured.end());
  return questions;
}

StatusOr<std::unique_ptr<TieredIndex>> IndexOf(const RunContext& context) {
  const char* const folder = getenv("NEPTUNE_TIERS_INDEX");
  if (folder != nullptr) return TieredIndex::Open(folder);
  return TieredIndex::Make(context.Pick<size_t>(400, 8'000, 80'000));
}

StatusOr<Measurement> Run(const Point& point, const RunContext& context) {
  NEPTUNE_ASSIGN_OR_RETURN(const auto index, IndexOf(context));
  NEPTUNE_ASSIGN_OR_RETURN(const Questions questions, ReadQuestions(context));
  for (const NamedRule& named : kRules) {
    if (named.name != point.Text("rule")) continue;
    NEPTUNE_ASSIGN_OR_RETURN(const RuleOutcome outcome, index->Ask(questions.measured, named.rule));
    const auto count = static_cast<double>(std::max<uint64_t>(outcome.query_count, 1));
    Measurement measurement{
        {"skipped", 100 * static_cast<double>(outcome.skip_count) / count},
        {"same_page", 100 * static_cast<double>(outcome.same_count) / count},
        {"false_claims", static_cast<double>(outcome.false_count)},
        {"processor_us", 1000 * neptune::ToMillis(outcome.processor_time) / count},
        {"unchanged", 100 * static_cast<double>(outcome.unchanged_count) / count},
        {"exact", 100 * static_cast<double>(outcome.exact_count) / count},
    };
    if (named.rule == TierRule::kAlways) {
      NEPTUNE_ASSIGN_OR_RETURN(const double share,
                               index->ShareOfAsked(questions.earlier, questions.measured));
      measurement["from_log"] = 100 * share;
    }
    return measurement;
  }
  return neptune::InvalidArgument("unknown rule ", point.Text("rule"));
}

void Judge(const Results& results, Judgement* judgement) {
  const auto mean = [&](const char* rule, const char* metric) {
    // The questions are fixed, so that a run repeats every figure of another.
    return Estimate::Exact(results.Mean(PointOf(rule), metric).middle);
  };
  judgement->AtMost("results said to be sure that are others", "", mean("safe", "false_claims"), 0)
      .Shape();
  judgement->AtLeast("first pages of a single index, safe", "", mean("safe", "same_page"), 100, "%")
      .Shape();
  judgement->AtLeast("tier 2 skipped, safe", "", mean("safe", "skipped"), 50, "%")
      .ShortOfLine(
          "the second phase decides it: even if the best first-phase score of tier 2 were known, "
          "the "
          "most that the second phase can give a document would keep nearly as many questions from "
          "skipping; tighter bounds of words would not help, bounds of the second phase for groups "
          "of similar documents might");
  judgement->Shown("tier 1 alone has the page of a single index", "", mean("always", "unchanged"),
                   "%");
  judgement->Shown("pages of documents that were on pages of the log", "",
                   mean("always", "from_log"), "%");
  judgement->Shown("tier 2 skipped, safe, first-phase score of tier 2 known", "",
                   mean("safe", "exact"), "%");
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
      "one question a line, of which those after the first 10,000 are a log of earlier questions. "
      "`ten_hits` takes ten hits of any score for enough; `always` is a "
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
