// Measures how well the pages of a linked corpus are found by what links and headings call them
// (known_items.h), for settings beside a baseline.
//
// Texts that are asked are held back from the index that answers them. The same documents' titles
// (title_queries.h) and, if there are any, judged queries are asked over an index with all links
// and headings, as a guard.
// Reads files; builds an index for each value of EvidenceOptions.
// Threads: thread-compatible.
// Errors: those of the files, the index and the searcher.

#pragma once

#include <cstdint>
#include <cstdio>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "neptune/base/status.h"
#include "tools/evaluate/judged_queries.h"
#include "tools/evaluate/known_items.h"
#include "tools/evaluate/linked_pages.h"
#include "tools/evaluate/setting.h"
#include "tools/evaluate/title_queries.h"

namespace search::tools {

struct KnownItemPaths {
  std::string documents;
  std::string folder;        // queries.tsv and qrels.tsv, if there are judged queries
  std::string index_folder;  // empty; indexes are written into it
};

enum class ItemHalf : uint8_t { kDevelopment, kHeldBack, kBoth };

struct KnownItemEvaluationOptions {
  KnownItemOptions items;
  TitleQueryOptions titles;
  ItemHalf half = ItemHalf::kDevelopment;
  uint64_t seed = 1;  // of the intervals
};

class KnownItemEvaluation {
 public:
  static neptune::StatusOr<std::unique_ptr<KnownItemEvaluation>> Open(
      const KnownItemPaths& paths, const KnownItemEvaluationOptions& options);

  // Prints a table: for each setting and kind of questions the mean of the measure and of its
  // differences from the baseline, with intervals.
  neptune::Status Print(const Setting& baseline, const std::vector<Setting>& settings,
                        std::FILE* out);

 private:
  // Questions that are reported together.
  struct Group {
    std::string name;
    bool is_held_back = false;  // asked over the index without the asked texts
    bool is_graded = false;     // measured by nDCG@10, else by MRR@10
    std::vector<JudgedQuery> queries;
    JudgmentsByQuery judgments;
  };
  struct Indexes {
    std::unique_ptr<CollectionIndex> held_back;
    std::unique_ptr<CollectionIndex> whole;
  };
  // Values of each question, by group.
  using Values = std::vector<std::vector<double>>;

  KnownItemEvaluation(KnownItemPaths paths, const KnownItemEvaluationOptions& options,
                      LinkedPages pages);
  neptune::Status ReadJudged();
  void AddItems();
  void AddTitles();
  neptune::StatusOr<Indexes*> IndexesFor(const EvidenceOptions& evidence);
  neptune::StatusOr<Values> Measure(const Setting& setting);
  void PrintRows(const Setting& setting, const Values& values, const Values& baseline,
                 std::FILE* out) const;

  const KnownItemPaths paths_;
  const KnownItemEvaluationOptions options_;
  const LinkedPages pages_;
  HeldBackKeys held_back_;
  std::vector<Group> groups_;
  std::vector<std::pair<EvidenceOptions, Indexes>> indexes_;
};

}  // namespace search::tools
