// The program //tools:evaluate: how good the ranking is on judged collections.

#include <gflags/gflags.h>
#include <stdlib.h>

#include <cstdio>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "neptune/base/strings.h"
#include "tools/evaluate/collection_index.h"
#include "tools/evaluate/evaluation.h"
#include "tools/terminal/caller_path.h"
#include "tools/terminal/command_line.h"

DEFINE_string(shared_data, "",
              "folder with collections/NAME/{docs.jsonl.zst,queries.tsv,qrels.tsv}; by default "
              "NEPTUNE_SHARED_DATA of the environment");
DEFINE_string(collections, "adi,med,cranfield,cisi,scifact", "which collections, by commas");
DEFINE_string(index_directory, "",
              "folder for the indexes, one for each collection, used again by the next run; by "
              "default a temporary one");
DEFINE_string(run_directory, "", "write NAME.run of each collection here");
DEFINE_string(compare, "", "instead: two run files A.run,B.run to compare, with --qrels");
DEFINE_string(qrels, "", "judgments for --compare");
DEFINE_string(explain, "",
              "instead: QUERY-ID,DOCUMENT-ID of the one collection; how the score is made");
DEFINE_uint64(seed, 1, "of the confidence intervals");
DEFINE_int32(depth, 1000, "documents ranked for each query, 1 to 10000");
DEFINE_double(k1, search::index::RankingOptions().k1, "BM25 k1");
DEFINE_double(body_b, search::index::RankingOptions().fields[1].b, "BM25 b of the body");
DEFINE_double(title_b, search::index::RankingOptions().fields[0].b, "BM25 b of the title");
DEFINE_double(title_weight, search::index::RankingOptions().fields[0].weight,
              "what a word of the title is worth in words of the body");

namespace search::tools {
namespace {

namespace fs = std::filesystem;
using neptune::InvalidArgument;
using neptune::Status;
using neptune::StatusOr;
using neptune::StrCat;

constexpr char kUsage[] =
    "Measures the ranking on judged collections.\n\n"
    "  bazel run //tools:evaluate -- --shared_data=DATA\n"
    "  bazel run //tools:evaluate -- --shared_data=DATA --k1=0.9 --run_directory=runs\n"
    "  bazel run //tools:evaluate -- --compare=a.run,b.run --qrels=qrels.tsv\n"
    "  bazel run //tools:evaluate -- --shared_data=DATA --collections=med --explain=1,13\n\n"
    "Any word of a query makes a match. Intervals hold 95 % of resampled means.";

// Removed with everything in it.
class TemporaryFolder {
 public:
  StatusOr<std::string> Make() {
    std::string pattern = (fs::temp_directory_path() / "evaluate.XXXXXX").string();
    if (mkdtemp(pattern.data()) == nullptr) {
      return neptune::Unavailable(pattern, ": cannot be made");
    }
    path_ = pattern;
    return pattern;
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    if (!path_.empty()) fs::remove_all(path_, ignored);
  }

 private:
  std::string path_;
};

index::RankingOptions Ranking() {
  index::RankingOptions ranking;
  ranking.k1 = static_cast<float>(FLAGS_k1);
  ranking.fields[0] = {static_cast<float>(FLAGS_title_weight), static_cast<float>(FLAGS_title_b)};
  ranking.fields[1].b = static_cast<float>(FLAGS_body_b);
  return ranking;
}

void PrintHeader(const char* first) {
  std::printf("%-20s %7s", first, "queries");
  for (const char* name : kMeasureNames) std::printf("  %-20s", name);
  std::printf("\n");
}

void PrintRow(const std::string& name, const Evaluation& evaluation, const char* format) {
  std::printf("%-20s %7zu", name.c_str(), evaluation.query_count);
  for (const Estimate& estimate : evaluation.measures) {
    std::printf("  ");
    std::printf(format, estimate.mean, estimate.low, estimate.high);
  }
  std::printf("\n");
  std::fflush(stdout);
}

class CollectionRun {
 public:
  CollectionRun(const std::string& data, const std::string& name, const std::string& indexes)
      : name_(name), folder_(data + "/collections/" + name), index_folder_(indexes + "/" + name) {}

  Status Load() {
    NEPTUNE_ASSIGN_OR_RETURN(queries_, ReadQueries(folder_ + "/queries.tsv"));
    NEPTUNE_ASSIGN_OR_RETURN(judgments_, ReadJudgments(folder_ + "/qrels.tsv"));
    NEPTUNE_ASSIGN_OR_RETURN(
        index_, CollectionIndex::Open(folder_ + "/docs.jsonl.zst", index_folder_, Ranking()));
    if (index_->left_out_count() > 0) {
      std::fprintf(stderr, "%zu lines left out, the first %s\n", index_->left_out_count(),
                   index_->first_left_out().c_str());
    }
    return neptune::OkStatus();
  }

  Status Measure() const {
    RankedLists run;
    for (const JudgedQuery& query : queries_) {
      if (!judgments_.contains(query.id)) continue;
      NEPTUNE_ASSIGN_OR_RETURN(run[query.id],
                               index_->Rank(query.text, static_cast<size_t>(FLAGS_depth)));
    }
    PrintRow(name_, Evaluate(run, judgments_, FLAGS_seed), "%.3f [%.3f, %.3f]");
    if (FLAGS_run_directory.empty()) return neptune::OkStatus();
    const std::string folder = CallerPath(FLAGS_run_directory);
    std::error_code error;
    fs::create_directories(folder, error);
    return WriteRun(folder + "/" + name_ + ".run", run, "neptune");
  }

  Status Explain(const std::string& query_id, const std::string& document) const {
    for (const JudgedQuery& query : queries_) {
      if (query.id != query_id) continue;
      NEPTUNE_ASSIGN_OR_RETURN(const std::string text, index_->Explain(query.text, document));
      std::printf("%s\n%s", query.text.c_str(), text.c_str());
      return neptune::OkStatus();
    }
    return neptune::NotFound("query '", query_id, "' is not in the collection");
  }

 private:
  const std::string name_;
  const std::string folder_;
  const std::string index_folder_;
  std::vector<JudgedQuery> queries_;
  JudgmentsByQuery judgments_;
  std::unique_ptr<CollectionIndex> index_;
};

Status CompareRuns() {
  const std::vector<std::string> paths = SplitList(FLAGS_compare);
  if (paths.size() != 2 || FLAGS_qrels.empty()) {
    return InvalidArgument("--compare takes two run files separated by a comma, and --qrels");
  }
  NEPTUNE_ASSIGN_OR_RETURN(const RankedLists a, ReadRun(CallerPath(paths[0])));
  NEPTUNE_ASSIGN_OR_RETURN(const RankedLists b, ReadRun(CallerPath(paths[1])));
  NEPTUNE_ASSIGN_OR_RETURN(const JudgmentsByQuery judgments,
                           ReadJudgments(CallerPath(FLAGS_qrels)));
  PrintHeader("run");
  PrintRow("A", Evaluate(a, judgments, FLAGS_seed), "%.3f [%.3f, %.3f]");
  PrintRow("B", Evaluate(b, judgments, FLAGS_seed), "%.3f [%.3f, %.3f]");
  PrintRow("B - A", Compare(a, b, judgments, FLAGS_seed), "%+.3f [%+.3f,%+.3f]");
  return neptune::OkStatus();
}

Status MeasureCollections() {
  std::string data = FLAGS_shared_data;
  if (data.empty() && getenv("NEPTUNE_SHARED_DATA") != nullptr)
    data = getenv("NEPTUNE_SHARED_DATA");
  if (data.empty()) return InvalidArgument("--shared_data or NEPTUNE_SHARED_DATA is needed");
  if (FLAGS_depth < 1 || FLAGS_depth > 10'000) return InvalidArgument("--depth: 1 to 10000");
  const std::vector<std::string> names = SplitList(FLAGS_collections);
  const std::vector<std::string> explained = SplitList(FLAGS_explain);
  if (!explained.empty() && (explained.size() != 2 || names.size() != 1)) {
    return InvalidArgument("--explain takes QUERY-ID,DOCUMENT-ID and one of --collections");
  }
  TemporaryFolder temporary;
  std::string indexes = CallerPath(FLAGS_index_directory);
  if (indexes.empty()) {
    NEPTUNE_ASSIGN_OR_RETURN(indexes, temporary.Make());
  }
  if (explained.empty()) PrintHeader("collection");
  for (const std::string& name : names) {
    CollectionRun run(CallerPath(data), name, indexes);
    NEPTUNE_RETURN_IF_ERROR(run.Load());
    NEPTUNE_RETURN_IF_ERROR(explained.empty() ? run.Measure()
                                              : run.Explain(explained[0], explained[1]));
  }
  return neptune::OkStatus();
}

}  // namespace
}  // namespace search::tools

int main(int argc, char** argv) {
  using namespace search::tools;
  const std::vector<std::string> rest = ParseCommandLine(&argc, &argv, kUsage, __FILE__);
  if (!rest.empty()) {
    return ExitStatus(neptune::InvalidArgument("argument '", rest[0], "' is not understood"),
                      "evaluate");
  }
  return ExitStatus(FLAGS_compare.empty() ? MeasureCollections() : CompareRuns(), "evaluate");
}
