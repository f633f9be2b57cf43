#include "tools/evaluate/served_evaluation.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <vector>

#include "neptune/base/strings.h"
#include "tools/evaluate/evaluation.h"

namespace search::tools {
namespace {

using neptune::Status;
using neptune::StrCat;

constexpr size_t kNdcg = 0;  // of kMeasureNames
constexpr size_t kMrr = 2;
// Depth at which a page asked by its title counts.
constexpr size_t kTitleDepth = 10;

struct Pair {
  Evaluation engine;
  Evaluation served;
};

double Share(size_t part, size_t whole) {
  return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

size_t EmptyCount(const RankedLists& lists, const JudgmentsByQuery& judgments) {
  size_t count = 0;
  for (const auto& [query, judged] : judgments) {
    const auto list = lists.find(query);
    count += list == lists.end() || list->second.empty() ? 1 : 0;
  }
  return count;
}

JudgmentsByQuery OfKind(const JudgmentsByQuery& judgments, const std::string& kind) {
  JudgmentsByQuery chosen;
  for (const auto& [query, judged] : judgments) {
    if (query.compare(0, kind.size(), kind) == 0) chosen[query] = judged;
  }
  return chosen;
}

// A list cut at the depth: beyond it a title counts as not found.
RankedLists CutAt(size_t depth, RankedLists lists) {
  for (auto& [query, entries] : lists) {
    SortForJudging(&entries);
    if (entries.size() > depth) entries.resize(depth);
  }
  return lists;
}

// Name of the row of served answers.
std::string ServedName(const ServedSearchOptions& options) {
  return StrCat("  served", options.is_plain ? ", plain" : "", options.folds ? ", folded" : "");
}

void PrintRow(const char* name, const Evaluation& evaluation, std::FILE* out) {
  std::fprintf(out, "%-20s %7zu", name, evaluation.query_count);
  for (const Estimate& estimate : evaluation.measures) {
    std::fprintf(out, "  %.3f [%.3f, %.3f]", estimate.mean, estimate.low, estimate.high);
  }
  std::fprintf(out, "\n");
}

class ServedEvaluator {
 public:
  ServedEvaluator(const HttpOrigin& server, const ServedEvaluationOptions& options,
                  JudgedCollection* collection, MeasuredValues* values, std::FILE* out)
      : options_(options),
        served_(options.served.is_plain ? "plain" : "served"),
        fetch_(PagesOf(server, options.served)),
        collection_(collection),
        values_(values),
        out_(out) {}

  Status Judged() {
    NEPTUNE_ASSIGN_OR_RETURN(const RankedLists engine,
                             collection_->Run(options_.setting, options_.served.depth));
    NEPTUNE_ASSIGN_OR_RETURN(const ServedRun served,
                             AskAll(collection_->judged_queries(), options_.served, fetch_));
    const Pair pair = Measure(engine, served.lists, collection_->judgments());
    PrintRow(collection_->name().c_str(), pair.engine, out_);
    PrintRow(ServedName(options_.served).c_str(), pair.served, out_);
    Keep(pair, served);
    PrintKinds(engine, served.lists);
    return WriteRuns(engine, served.lists);
  }

  Status Titles() {
    NEPTUNE_ASSIGN_OR_RETURN(const auto pages, ReadTitledPages(collection_->documents_path()));
    const KnownItems items = TitleQueries(pages, options_.titles);
    NEPTUNE_ASSIGN_OR_RETURN(RankedLists engine,
                             collection_->Run(items.queries, options_.setting, kTitleDepth));
    NEPTUNE_ASSIGN_OR_RETURN(ServedRun served, AskAll(items.queries, options_.served, fetch_));
    const Pair pair = Measure(CutAt(kTitleDepth, std::move(engine)),
                              CutAt(kTitleDepth, std::move(served.lists)), items.judgments);
    const Estimate& by_engine = pair.engine.measures[kMrr];
    const Estimate& by_served = pair.served.measures[kMrr];
    Set("titles.engine.mrr10", by_engine.mean);
    Set(StrCat("titles.", served_, ".mrr10"), by_served.mean);
    Set(StrCat("titles.", served_, ".empty_share"), Share(served.empty_count, served.query_count));
    std::fprintf(out_,
                 "  titles: %zu, MRR@10 engine %.3f [%.3f, %.3f], served %.3f [%.3f, %.3f]; %zu "
                 "served answers empty\n",
                 items.queries.size(), by_engine.mean, by_engine.low, by_engine.high,
                 by_served.mean, by_served.low, by_served.high, served.empty_count);
    return neptune::OkStatus();
  }

 private:
  Pair Measure(const RankedLists& engine, const RankedLists& served,
               const JudgmentsByQuery& judgments) const {
    return {Evaluate(engine, judgments, options_.seed), Evaluate(served, judgments, options_.seed)};
  }

  void Set(const std::string& measure, double value) {
    (*values_)[StrCat(collection_->name(), ".", measure)] = value;
  }

  void Keep(const Pair& pair, const ServedRun& served) {
    const double engine = pair.engine.measures[kNdcg].mean;
    const double ratio = engine == 0 ? 0 : pair.served.measures[kNdcg].mean / engine;
    Set("engine.ndcg10", engine);
    Set(StrCat(served_, ".ndcg10"), pair.served.measures[kNdcg].mean);
    Set(StrCat(served_, ".mrr"), pair.served.measures[kMrr].mean);
    Set(StrCat(served_, ".empty_share"), Share(served.empty_count, served.query_count));
    Set(StrCat(served_, ".partial_share"), Share(served.partial_count, served.query_count));
    Set(options_.served.is_plain ? "ratio.plain.ndcg10" : "ratio.ndcg10", ratio);
    std::fprintf(out_,
                 "  served / engine nDCG@10 %.3f; of %zu served answers %zu empty (%.1f %%), %zu "
                 "partial (%.1f %%)\n",
                 ratio, served.query_count, served.empty_count,
                 100 * Share(served.empty_count, served.query_count), served.partial_count,
                 100 * Share(served.partial_count, served.query_count));
  }

  void PrintKinds(const RankedLists& engine, const RankedLists& served) {
    if (options_.kind_size == 0) return;
    std::map<std::string, size_t> kinds;
    for (const JudgedQuery& query : collection_->judged_queries()) {
      ++kinds[query.id.substr(0, options_.kind_size)];
    }
    for (const auto& [kind, count] : kinds) {
      const JudgmentsByQuery judgments = OfKind(collection_->judgments(), kind);
      const Pair pair = Measure(engine, served, judgments);
      const double ndcg = pair.served.measures[kNdcg].mean;
      const size_t empty_count = EmptyCount(served, judgments);
      Set(StrCat(served_, ".", kind, ".ndcg10"), ndcg);
      Set(StrCat(served_, ".", kind, ".empty_share"), Share(empty_count, count));
      std::fprintf(out_, "  kind %-8s %7zu  nDCG@10 engine %.3f, served %.3f; %zu empty\n",
                   kind.c_str(), count, pair.engine.measures[kNdcg].mean, ndcg, empty_count);
    }
  }

  Status WriteRuns(const RankedLists& engine, const RankedLists& served) const {
    if (options_.run_directory.empty()) return neptune::OkStatus();
    std::error_code error;
    std::filesystem::create_directories(options_.run_directory, error);
    const std::string base = StrCat(options_.run_directory, "/", collection_->name());
    NEPTUNE_RETURN_IF_ERROR(WriteRun(base + ".run", engine, "engine"));
    return WriteRun(StrCat(base, ".", served_, ".run"), served, served_);
  }

  const ServedEvaluationOptions& options_;
  const std::string served_;  // in the names of values
  const FetchPage fetch_;
  JudgedCollection* const collection_;
  MeasuredValues* const values_;
  std::FILE* const out_;
};

}  // namespace

Status EvaluateServed(const HttpOrigin& server, const ServedEvaluationOptions& options,
                      JudgedCollection* collection, MeasuredValues* values, std::FILE* out) {
  ServedEvaluator evaluator(server, options, collection, values, out);
  NEPTUNE_RETURN_IF_ERROR(evaluator.Judged());
  if (options.titles.per_site_count_max > 0) NEPTUNE_RETURN_IF_ERROR(evaluator.Titles());
  std::fflush(out);
  return neptune::OkStatus();
}

}  // namespace search::tools
