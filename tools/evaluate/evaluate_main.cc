// The program //tools:evaluate: measures the ranking on judged collections.

#include <gflags/gflags.h>
#include <stdlib.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "neptune/base/strings.h"
#include "tools/evaluate/evaluation.h"
#include "tools/evaluate/floors.h"
#include "tools/evaluate/held_out.h"
#include "tools/evaluate/judged_collection.h"
#include "tools/evaluate/known_item_evaluation.h"
#include "tools/evaluate/metrics.h"
#include "tools/evaluate/served_evaluation.h"
#include "tools/evaluate/started_search.h"
#include "tools/http/http_get.h"
#include "tools/terminal/caller_path.h"
#include "tools/terminal/command_line.h"

DEFINE_string(shared_data, "",
              "folder with collections/NAME/{docs.jsonl.zst,queries.tsv,qrels.tsv}; default: "
              "environment variable NEPTUNE_SHARED_DATA");
DEFINE_string(collections, "adi,med,cranfield,cisi,scifact",
              "collections, separated by commas; NAME:FILE takes the documents from FILE below the "
              "shared data");
DEFINE_string(index_directory, "",
              "folder for the indexes, one per document file, reused by later runs; "
              "default: a temporary one");
DEFINE_string(run_directory, "", "write NAME.run of each collection here");
DEFINE_string(setting, "", "parameters of the ranking, as NAME=VALUE separated by spaces");
DEFINE_string(baseline, "", "also measure this setting, and the difference of the other from it");
DEFINE_string(choose, "",
              "choose the best of all combinations of these values, NAME=VALUE,VALUE parts; "
              "compared to --baseline");
DEFINE_string(
    choose_on, "",
    "with --choose: collections on which to choose, separated by commas; the others confirm");
DEFINE_string(compare, "", "instead: two run files A.run,B.run to compare, with --qrels");
DEFINE_string(qrels, "", "judgments for --compare");
DEFINE_string(explain, "",
              "instead: explain the score of QUERY-ID,DOCUMENT-ID in the one collection");
DEFINE_uint64(seed, 1, "seed of the confidence intervals");
DEFINE_int32(depth, 1000, "documents ranked for each query, 1 to 10000");
DEFINE_string(
    served, "",
    "also ask the search that runs at this http://HOST:PORT over the documents of the one "
    "collection");
DEFINE_string(start, "",
              "also ask a search that is started for each collection: a cluster spec such as "
              "data/clusters/dev.textproto");
DEFINE_string(synonyms, "", "file of synonyms of the search that --start starts");
DEFINE_int32(served_depth, 100, "results read of each served answer, 10 to 1000");
DEFINE_int32(served_concurrency, 2, "queries asked at a time, 1 to 16");
DEFINE_bool(served_folded, false,
            "read folded pages of 10 results, as people get them; else all ranked results");
DEFINE_string(served_syntax, "typed",
              "how queries are asked: typed, in the query language; plain, as running text; or "
              "typed,plain, one after the other");
DEFINE_int32(served_timeout_ms, 10'000, "limit of one request");
DEFINE_int32(titles, 0,
             "with --served or --start: ask this many pages of each site by their own titles");
DEFINE_int32(known_items, 0,
             "instead: ask this many pages of each site of a linked corpus by what links and "
             "headings call them, with --choose (or --setting) beside --baseline");
DEFINE_string(known_half, "development",
              "with --known_items: the half of the pages that is asked; development, held_back or "
              "both");
DEFINE_int32(kind_size, 0,
             "with --served or --start: also measure groups of queries whose ids begin with the "
             "same characters, this many");
DEFINE_string(floors, "",
              "with --served or --start: a file of bounds; the status is 1 if a value is beyond "
              "its bound");

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
    "  bazel run //tools:evaluate -- --shared_data=DATA --baseline=second_phase=0\n"
    "  bazel run //tools:evaluate -- --shared_data=DATA --setting=\"k1=0.9 body_b=0.4\" "
    "--run_directory=runs\n"
    "  bazel run //tools:evaluate -- --shared_data=DATA --choose=\"k1=0.9,1.5 body_b=0.4,0.7\" "
    "--choose_on=med,cisi\n"
    "  bazel run //tools:evaluate -- --shared_data=DATA --collections=med "
    "--start=data/clusters/dev.textproto\n"
    "  bazel run //tools:evaluate -- --shared_data=data "
    "--collections=documentation:var/corpora/small.jsonl.zst --served=http://127.0.0.1:8080 "
    "--titles=64 --kind_size=1\n"
    "  bazel run //tools:evaluate -- --shared_data=data "
    "--collections=documentation:var/corpora/small.jsonl.zst --known_items=300 "
    "--choose=\"extra_weight=0.5,1,2\"\n"
    "  bazel run //tools:evaluate -- --compare=a.run,b.run --qrels=qrels.tsv\n"
    "  bazel run //tools:evaluate -- --shared_data=DATA --collections=med --explain=1,13\n\n"
    "A document matches if it has any word of the query. Intervals cover 95 % of the resampled "
    "means.";

// Lists are longer than the judged depth, for ties.
constexpr size_t kChoosingDepth = 100;

// Removed with everything in it.
class TemporaryFolder {
 public:
  StatusOr<std::string> Make() {
    std::string pattern = (fs::temp_directory_path() / "evaluate.XXXXXX").string();
    if (mkdtemp(pattern.data()) == nullptr) {
      return neptune::Unavailable(pattern, ": cannot create the folder");
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

constexpr char kMeanFormat[] = "%.3f [%.3f, %.3f]";
constexpr char kDifferenceFormat[] = "%+.3f [%+.3f,%+.3f]";

Status Measure(const Setting& setting, JudgedCollection* collection) {
  NEPTUNE_ASSIGN_OR_RETURN(const RankedLists run,
                           collection->Run(setting, static_cast<size_t>(FLAGS_depth)));
  const std::string& name = collection->name();
  PrintRow(name, Evaluate(run, collection->judgments(), FLAGS_seed), kMeanFormat);
  if (!FLAGS_baseline.empty()) {
    NEPTUNE_ASSIGN_OR_RETURN(const Setting other, ParseSetting(FLAGS_baseline));
    NEPTUNE_ASSIGN_OR_RETURN(const RankedLists baseline,
                             collection->Run(other, static_cast<size_t>(FLAGS_depth)));
    PrintRow("  baseline", Evaluate(baseline, collection->judgments(), FLAGS_seed), kMeanFormat);
    PrintRow("  difference", Compare(baseline, run, collection->judgments(), FLAGS_seed),
             kDifferenceFormat);
  }
  if (FLAGS_run_directory.empty()) return neptune::OkStatus();
  const std::string folder = CallerPath(FLAGS_run_directory);
  std::error_code error;
  fs::create_directories(folder, error);
  return WriteRun(folder + "/" + name + ".run", run, "neptune");
}

Status Explain(const Setting& setting, const std::string& query, const std::string& document,
               JudgedCollection* collection) {
  NEPTUNE_ASSIGN_OR_RETURN(const std::string text, collection->Explain(setting, query, document));
  std::printf("%s", text.c_str());
  return neptune::OkStatus();
}

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
  PrintRow("A", Evaluate(a, judgments, FLAGS_seed), kMeanFormat);
  PrintRow("B", Evaluate(b, judgments, FLAGS_seed), kMeanFormat);
  PrintRow("B - A", Compare(a, b, judgments, FLAGS_seed), kDifferenceFormat);
  return neptune::OkStatus();
}

// nDCG@10 of each judged query.
StatusOr<std::vector<double>> NdcgOf(const Setting& setting, JudgedCollection* collection) {
  NEPTUNE_ASSIGN_OR_RETURN(const RankedLists run, collection->Run(setting, kChoosingDepth));
  std::vector<double> values;
  for (const auto& [query, judged] : collection->judgments()) {
    if (RelevantCount(judged) == 0) continue;
    const auto entries = run.find(query);
    values.push_back(entries == run.end() ? 0
                                          : NdcgAt(10, DocumentsInOrder(entries->second), judged));
  }
  return values;
}

StatusOr<SettingValues> ValuesOf(const std::vector<Setting>& settings, const Setting& baseline,
                                 JudgedCollection* collection) {
  SettingValues values;
  values.collection = collection->name();
  NEPTUNE_ASSIGN_OR_RETURN(values.baseline, NdcgOf(baseline, collection));
  for (const Setting& setting : settings) {
    NEPTUNE_ASSIGN_OR_RETURN(values.by_setting.emplace_back(), NdcgOf(setting, collection));
  }
  return values;
}

void PrintChoice(const SettingValues& values, const char* role, const Setting& setting,
                 const Estimate& difference, size_t at) {
  std::printf("%-26s %-9s %.3f  ", values.collection.c_str(), role, MeanOf(values.by_setting[at]));
  std::printf(kDifferenceFormat, difference.mean, difference.low, difference.high);
  std::printf("  %s\n", setting.text.c_str());
}

void PrintChoices(const std::vector<Setting>& settings, const std::vector<SettingValues>& values,
                  const std::vector<std::string>& choosing) {
  std::printf("nDCG@10 of the best of %zu settings, and its difference to the baseline\n",
              settings.size());
  std::vector<bool> chooses;
  for (const SettingValues& of : values) {
    chooses.push_back(choosing.empty() ||
                      std::find(choosing.begin(), choosing.end(), of.collection) != choosing.end());
  }
  const size_t best = BestSetting(values, chooses);
  for (size_t i = 0; i < values.size(); ++i) {
    PrintChoice(values[i], chooses[i] ? "chose" : "confirms", settings[best],
                Difference(values[i], best, FLAGS_seed), best);
  }
  std::printf("Each collection held out, setting chosen on all others\n");
  const std::vector<HeldOut> held_out = LeaveOneOut(values, FLAGS_seed);
  for (size_t i = 0; i < values.size() && values.size() > 1; ++i) {
    PrintChoice(values[i], "left out", settings[held_out[i].setting], held_out[i].difference,
                held_out[i].setting);
  }
}

// The collections that the flags name, each opened when it is used.
class Collections {
 public:
  Status Prepare() {
    data_ = FLAGS_shared_data;
    if (data_.empty() && getenv("NEPTUNE_SHARED_DATA") != nullptr) {
      data_ = getenv("NEPTUNE_SHARED_DATA");
    }
    if (data_.empty()) return InvalidArgument("--shared_data or NEPTUNE_SHARED_DATA is needed");
    data_ = CallerPath(data_);
    indexes_ = CallerPath(FLAGS_index_directory);
    if (!indexes_.empty()) return neptune::OkStatus();
    NEPTUNE_ASSIGN_OR_RETURN(indexes_, temporary_.Make());
    return neptune::OkStatus();
  }

  // The documents of each collection, for indexes with their links in folders of their own.
  Status ForEachLinked(const std::function<Status(const KnownItemPaths&)>& use) const {
    for (const std::string& text : SplitList(FLAGS_collections)) {
      TemporaryFolder folder;
      const JudgedCollectionPaths paths = PathsOf(text);
      KnownItemPaths linked = {.documents = paths.documents, .folder = paths.folder};
      if (linked.documents.empty()) linked.documents = paths.folder + "/docs.jsonl.zst";
      NEPTUNE_ASSIGN_OR_RETURN(linked.index_folder, folder.Make());
      NEPTUNE_RETURN_IF_ERROR(use(linked));
    }
    return neptune::OkStatus();
  }

  Status ForEach(const std::function<Status(JudgedCollection*)>& use) const {
    for (const std::string& text : SplitList(FLAGS_collections)) {
      NEPTUNE_ASSIGN_OR_RETURN(const auto collection, Open(text));
      NEPTUNE_RETURN_IF_ERROR(use(collection.get()));
    }
    return neptune::OkStatus();
  }

 private:
  // NAME or NAME:FILE
  JudgedCollectionPaths PathsOf(const std::string& text) const {
    const size_t colon = text.find(':');
    const std::string name = text.substr(0, colon);
    JudgedCollectionPaths paths = {.folder = data_ + "/collections/" + name,
                                   .documents = "",
                                   .index_folder = indexes_ + "/" + name};
    if (colon != std::string::npos) {
      const std::string file = text.substr(colon + 1);
      paths.documents = data_ + "/" + file;
      paths.index_folder = indexes_ + "/" + fs::path(file).filename().string();
    }
    return paths;
  }

  StatusOr<std::unique_ptr<JudgedCollection>> Open(const std::string& text) const {
    NEPTUNE_ASSIGN_OR_RETURN(auto collection,
                             JudgedCollection::Open(text.substr(0, text.find(':')), PathsOf(text)));
    if (collection->index().left_out_count() > 0) {
      std::fprintf(stderr, "%zu lines skipped, the first %s\n",
                   collection->index().left_out_count(),
                   collection->index().first_left_out().c_str());
    }
    return collection;
  }

  TemporaryFolder temporary_;
  std::string data_;
  std::string indexes_;
};

Status ChooseSettings(const Collections& collections) {
  NEPTUNE_ASSIGN_OR_RETURN(const std::vector<Setting> settings, ExpandSettings(FLAGS_choose));
  NEPTUNE_ASSIGN_OR_RETURN(const Setting baseline, ParseSetting(FLAGS_baseline));
  std::vector<SettingValues> values;
  NEPTUNE_RETURN_IF_ERROR(collections.ForEach([&](JudgedCollection* collection) -> Status {
    std::fprintf(stderr, "%s\n", collection->name().c_str());
    NEPTUNE_ASSIGN_OR_RETURN(values.emplace_back(), ValuesOf(settings, baseline, collection));
    return neptune::OkStatus();
  }));
  if (values.empty()) return InvalidArgument("--collections names no collection");
  PrintChoices(settings, values, SplitList(FLAGS_choose_on));
  return neptune::OkStatus();
}

ServedEvaluationOptions ServedOptions(const Setting& setting) {
  ServedEvaluationOptions options{.setting = setting};
  options.served.depth = static_cast<size_t>(std::max(FLAGS_served_depth, 0));
  options.served.concurrency = FLAGS_served_concurrency;
  options.served.folds = FLAGS_served_folded;
  options.served.timeout = std::chrono::milliseconds(FLAGS_served_timeout_ms);
  options.titles.per_site_count_max = static_cast<size_t>(std::max(FLAGS_titles, 0));
  options.kind_size = static_cast<size_t>(std::max(FLAGS_kind_size, 0));
  options.run_directory = CallerPath(FLAGS_run_directory);
  options.seed = FLAGS_seed;
  return options;
}

// Whether queries are asked as running text, for each time that they are.
StatusOr<std::vector<bool>> ServedSyntaxes() {
  std::vector<bool> are_plain;
  for (const std::string& name : SplitList(FLAGS_served_syntax)) {
    if (name != "typed" && name != "plain") {
      return InvalidArgument("--served_syntax: typed, plain, or typed,plain");
    }
    are_plain.push_back(name == "plain");
  }
  if (are_plain.empty()) return InvalidArgument("--served_syntax names no syntax");
  return are_plain;
}

Status MeasureAt(const HttpOrigin& server, ServedEvaluationOptions options,
                 JudgedCollection* collection, MeasuredValues* values) {
  NEPTUNE_ASSIGN_OR_RETURN(const std::vector<bool> are_plain, ServedSyntaxes());
  for (const bool is_plain : are_plain) {
    options.served.is_plain = is_plain;
    NEPTUNE_RETURN_IF_ERROR(EvaluateServed(server, options, collection, values, stdout));
  }
  return neptune::OkStatus();
}

Status MeasureOneServed(const ServedEvaluationOptions& options, JudgedCollection* collection,
                        MeasuredValues* values) {
  if (!FLAGS_served.empty()) {
    NEPTUNE_ASSIGN_OR_RETURN(const HttpOrigin server, ParseHttpOrigin(FLAGS_served));
    return MeasureAt(server, options, collection, values);
  }
  StartedSearchOptions started{.spec = ProjectPath(FLAGS_start),
                               .documents = collection->documents_path(),
                               .index_arguments = {}};
  if (!FLAGS_synonyms.empty()) {
    started.index_arguments.push_back("--synonyms=" + ProjectPath(FLAGS_synonyms));
  }
  NEPTUNE_ASSIGN_OR_RETURN(const auto search, StartedSearch::Start(started));
  return MeasureAt(search->server(), options, collection, values);
}

Status MeasureServed(const Setting& setting, const Collections& collections) {
  NEPTUNE_RETURN_IF_ERROR(ServedSyntaxes().status());  // before anything is started
  if (!FLAGS_served.empty() && SplitList(FLAGS_collections).size() != 1) {
    return InvalidArgument("--served takes one of --collections: that of its documents");
  }
  std::vector<Floor> floors;
  if (!FLAGS_floors.empty()) {
    NEPTUNE_ASSIGN_OR_RETURN(floors, ReadFloors(ProjectPath(FLAGS_floors)));
  }
  const ServedEvaluationOptions options = ServedOptions(setting);
  MeasuredValues values;
  PrintHeader("collection");
  NEPTUNE_RETURN_IF_ERROR(collections.ForEach([&](JudgedCollection* collection) {
    return MeasureOneServed(options, collection, &values);
  }));
  return CheckFloors(floors, values);
}

Status MeasureKnownItems(const Collections& collections) {
  KnownItemEvaluationOptions options{.seed = FLAGS_seed};
  options.items.per_site_count_max = static_cast<size_t>(FLAGS_known_items);
  if (FLAGS_known_half == "held_back") options.half = ItemHalf::kHeldBack;
  if (FLAGS_known_half == "both") options.half = ItemHalf::kBoth;
  if (options.half == ItemHalf::kDevelopment && FLAGS_known_half != "development") {
    return InvalidArgument("--known_half is development, held_back or both");
  }
  NEPTUNE_ASSIGN_OR_RETURN(const std::vector<Setting> settings,
                           ExpandSettings(FLAGS_choose.empty() ? FLAGS_setting : FLAGS_choose));
  NEPTUNE_ASSIGN_OR_RETURN(const Setting baseline, ParseSetting(FLAGS_baseline));
  return collections.ForEachLinked([&](const KnownItemPaths& paths) -> Status {
    NEPTUNE_ASSIGN_OR_RETURN(const auto evaluation, KnownItemEvaluation::Open(paths, options));
    std::printf("%s\n", paths.documents.c_str());
    return evaluation->Print(baseline, settings, stdout);
  });
}

Status MeasureCollections() {
  if (FLAGS_depth < 1 || FLAGS_depth > 10'000) return InvalidArgument("--depth: 1 to 10000");
  const std::vector<std::string> explained = SplitList(FLAGS_explain);
  if (!explained.empty() && (explained.size() != 2 || SplitList(FLAGS_collections).size() != 1)) {
    return InvalidArgument("--explain takes QUERY-ID,DOCUMENT-ID and one of --collections");
  }
  Collections collections;
  NEPTUNE_RETURN_IF_ERROR(collections.Prepare());
  if (FLAGS_known_items > 0) return MeasureKnownItems(collections);
  if (!FLAGS_choose.empty()) return ChooseSettings(collections);
  NEPTUNE_ASSIGN_OR_RETURN(const Setting setting, ParseSetting(FLAGS_setting));
  if (!FLAGS_served.empty() || !FLAGS_start.empty()) return MeasureServed(setting, collections);
  if (explained.empty()) PrintHeader("collection");
  return collections.ForEach([&](JudgedCollection* collection) {
    return explained.empty() ? Measure(setting, collection)
                             : Explain(setting, explained[0], explained[1], collection);
  });
}

}  // namespace
}  // namespace search::tools

int main(int argc, char** argv) {
  using namespace search::tools;
  const std::vector<std::string> rest = ParseCommandLine(&argc, &argv, kUsage, __FILE__);
  if (!rest.empty()) {
    return ExitStatus(neptune::InvalidArgument("unexpected argument '", rest[0], "'"), "evaluate");
  }
  return ExitStatus(FLAGS_compare.empty() ? MeasureCollections() : CompareRuns(), "evaluate");
}
