#include "tools/evaluate/known_item_evaluation.h"

#include <filesystem>
#include <utility>

#include "neptune/base/strings.h"
#include "tools/evaluate/bootstrap.h"
#include "tools/evaluate/metrics.h"
#include "tools/evaluate/run_file.h"

namespace search::tools {
namespace {

using neptune::Status;
using neptune::StatusOr;
using neptune::StrCat;

constexpr size_t kDepth = 10;

bool IsAsked(const KnownItem& item, ItemHalf half) {
  return half == ItemHalf::kBoth || item.is_development == (half == ItemHalf::kDevelopment);
}

StatusOr<double> ValueOf(const JudgedQuery& query, const Judgments& judgments, bool is_graded,
                         const CollectionIndex& index) {
  NEPTUNE_ASSIGN_OR_RETURN(std::vector<RunEntry> entries, index.Rank(query.text, kDepth));
  const std::vector<std::string> ranked = DocumentsInOrder(std::move(entries));
  return is_graded ? NdcgAt(kDepth, ranked, judgments) : ReciprocalRank(ranked, judgments);
}

std::vector<double> Differences(const std::vector<double>& values,
                                const std::vector<double>& baseline) {
  std::vector<double> differences(values.size());
  for (size_t i = 0; i < values.size(); ++i) differences[i] = values[i] - baseline[i];
  return differences;
}

}  // namespace

KnownItemEvaluation::KnownItemEvaluation(KnownItemPaths paths,
                                         const KnownItemEvaluationOptions& options,
                                         LinkedPages pages)
    : paths_(std::move(paths)), options_(options), pages_(std::move(pages)) {}

StatusOr<std::unique_ptr<KnownItemEvaluation>> KnownItemEvaluation::Open(
    const KnownItemPaths& paths, const KnownItemEvaluationOptions& options) {
  NEPTUNE_ASSIGN_OR_RETURN(LinkedPages pages, LinkedPages::Read(paths.documents));
  std::unique_ptr<KnownItemEvaluation> evaluation(
      new KnownItemEvaluation(paths, options, std::move(pages)));
  evaluation->AddItems();
  evaluation->AddTitles();
  NEPTUNE_RETURN_IF_ERROR(evaluation->ReadJudged());
  return evaluation;
}

void KnownItemEvaluation::AddItems() {
  const std::vector<KnownItem> items = DrawKnownItems(pages_.pages(), options_.items);
  held_back_ = KeysOf(items);
  std::vector<Group> groups(kItemKindCount + 1);
  for (size_t i = 0; i < kItemKindCount; ++i) groups[i].name = kItemKindNames[i];
  groups[kItemKindCount].name = "link+heading";
  for (Group& group : groups) group.is_held_back = true;
  for (const KnownItem& item : items) {
    if (!IsAsked(item, options_.half)) continue;
    const auto kind = static_cast<size_t>(item.kind);
    const JudgedQuery query = {StrCat(kItemKindNames[kind], " ", item.url), item.text};
    for (const size_t i : {kind, kItemKindCount}) {
      if (i == kItemKindCount && item.kind == ItemKind::kName) continue;
      groups[i].queries.push_back(query);
      groups[i].judgments[query.id][item.url] = 1;
    }
  }
  for (Group& group : groups) groups_.push_back(std::move(group));
}

void KnownItemEvaluation::AddTitles() {
  std::vector<TitledPage> titled;
  for (const NamedPage& page : pages_.pages()) titled.push_back({page.url, page.title, page.site});
  KnownItems titles = TitleQueries(titled, options_.titles);
  groups_.push_back({.name = "title",
                     .is_held_back = false,
                     .is_graded = false,
                     .queries = std::move(titles.queries),
                     .judgments = std::move(titles.judgments)});
}

Status KnownItemEvaluation::ReadJudged() {
  const std::string queries = paths_.folder + "/queries.tsv";
  if (!std::filesystem::exists(queries)) return neptune::OkStatus();
  Group judged{
      .name = "judged", .is_held_back = false, .is_graded = true, .queries = {}, .judgments = {}};
  NEPTUNE_ASSIGN_OR_RETURN(const auto all, ReadQueries(queries));
  NEPTUNE_ASSIGN_OR_RETURN(judged.judgments, ReadJudgments(paths_.folder + "/qrels.tsv"));
  for (const JudgedQuery& query : all) {
    const auto found = judged.judgments.find(query.id);
    if (found == judged.judgments.end() || RelevantCount(found->second) == 0) continue;
    judged.queries.push_back(query);
  }
  groups_.push_back(std::move(judged));
  return neptune::OkStatus();
}

StatusOr<KnownItemEvaluation::Indexes*> KnownItemEvaluation::IndexesFor(
    const EvidenceOptions& evidence) {
  for (auto& [options, indexes] : indexes_) {
    if (options == evidence) return &indexes;
  }
  Indexes indexes;
  const std::string folder = StrCat(paths_.index_folder, "/", indexes_.size());
  NEPTUNE_ASSIGN_OR_RETURN(indexes.held_back,
                           CollectionIndex::Open(paths_.documents, folder + "-held-back",
                                                 pages_.Evidence(evidence, held_back_)));
  NEPTUNE_ASSIGN_OR_RETURN(indexes.whole, CollectionIndex::Open(paths_.documents, folder + "-whole",
                                                                pages_.Evidence(evidence, {})));
  return &indexes_.emplace_back(evidence, std::move(indexes)).second;
}

StatusOr<KnownItemEvaluation::Values> KnownItemEvaluation::Measure(const Setting& setting) {
  NEPTUNE_ASSIGN_OR_RETURN(Indexes * indexes, IndexesFor(setting.evidence));
  NEPTUNE_RETURN_IF_ERROR(indexes->held_back->Use(setting));
  NEPTUNE_RETURN_IF_ERROR(indexes->whole->Use(setting));
  Values values;
  for (const Group& group : groups_) {
    const CollectionIndex& index = group.is_held_back ? *indexes->held_back : *indexes->whole;
    std::vector<double>& of_group = values.emplace_back();
    for (const JudgedQuery& query : group.queries) {
      NEPTUNE_ASSIGN_OR_RETURN(of_group.emplace_back(), ValueOf(query, group.judgments.at(query.id),
                                                                group.is_graded, index));
    }
  }
  return values;
}

void KnownItemEvaluation::PrintRows(const Setting& setting, const Values& values,
                                    const Values& baseline, std::FILE* out) const {
  std::fprintf(out, "%s\n", setting.text.empty() ? "defaults" : setting.text.c_str());
  for (size_t i = 0; i < groups_.size(); ++i) {
    const Estimate mean = EstimateMean(values[i], options_.seed);
    const Estimate difference = EstimateMean(Differences(values[i], baseline[i]), options_.seed);
    std::fprintf(out, "  %-14s %6zu  %-7s %.3f [%.3f, %.3f]  %+.3f [%+.3f,%+.3f]\n",
                 groups_[i].name.c_str(), values[i].size(),
                 groups_[i].is_graded ? "nDCG@10" : "MRR@10", mean.mean, mean.low, mean.high,
                 difference.mean, difference.low, difference.high);
  }
  std::fflush(out);
}

Status KnownItemEvaluation::Print(const Setting& baseline, const std::vector<Setting>& settings,
                                  std::FILE* out) {
  NEPTUNE_ASSIGN_OR_RETURN(const Values base, Measure(baseline));
  std::fprintf(out, "baseline: ");
  PrintRows(baseline, base, base, out);
  for (const Setting& setting : settings) {
    NEPTUNE_ASSIGN_OR_RETURN(const Values values, Measure(setting));
    PrintRows(setting, values, base, out);
  }
  return neptune::OkStatus();
}

}  // namespace search::tools
